//! Embeds the folders of SQL and the compressed demo home into the program, so that adding a file is enough.

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

fn main() {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets it"));
    let mut code = String::new();
    for (folder, name) in [
        ("sql/views", "VIEWS"),
        ("sql/derive", "DERIVE"),
        ("sql/checks", "CHECKS"),
        ("sql/advice", "ADVICE"),
        ("sql/export", "EXPORT"),
        ("queries", "QUERIES"),
    ] {
        let text = |file: &Path, _: &Path| format!("include_str!({file:?})");
        embed(&root.join(folder), name, "&str", &text, &mut code);
    }
    let compressed = |file: &Path, relative: &Path| {
        let path = out.join("home").join(relative);
        compress(file, &path);
        format!("include_bytes!({path:?})")
    };
    let home = root.join("examples/home");
    embed(&home, "DEMO_HOME", "&[u8]", &compressed, &mut code);
    statements(&root, &mut code);
    fs::write(out.join("embedded.rs"), code).expect("the build folder can be written");
}

/// Writes a constant with the path (relative to the folder, without `.sql`) and the content of every file below it.
fn embed(
    folder: &Path,
    name: &str,
    kind: &str,
    content: &dyn Fn(&Path, &Path) -> String,
    code: &mut String,
) {
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut files = Vec::new();
    collect(folder, &mut files);
    files.sort();
    writeln!(code, "pub const {name}: &[(&str, {kind})] = &[").unwrap();
    for file in files {
        let relative = file.strip_prefix(folder).expect("it was found there");
        let content = content(&file, relative);
        let relative = relative
            .to_str()
            .expect("names of ours are UTF-8")
            .replace('\\', "/");
        let name = relative.trim_end_matches(".sql");
        writeln!(code, "    ({name:?}, {content}),").unwrap();
    }
    writeln!(code, "];").unwrap();
}

fn compress(file: &Path, path: &Path) {
    let content = fs::read(file).expect("the demo home can be read");
    let content = zstd::bulk::compress(&content, 19).expect("any bytes can be compressed");
    let folder = path.parent().expect("a file is in a folder");
    fs::create_dir_all(folder).expect("the build folder can be written");
    fs::write(path, content).expect("the build folder can be written");
}

/// Writes a constant for every statement: the text between its `-- name:` heading and the next.
fn statements(root: &Path, code: &mut String) {
    let mut files = Vec::new();
    println!("cargo::rerun-if-changed=sql/statements");
    collect(&root.join("sql/statements"), &mut files);
    files.sort();
    writeln!(code, "pub mod statements {{").unwrap();
    for file in files {
        let text = fs::read_to_string(&file).expect("statements can be read");
        let mut parts = text.split("-- name: ");
        let head = parts.next().unwrap_or_default();
        assert!(head.is_empty(), "{} begins with a name", file.display());
        for part in parts {
            let (name, statement) = part.split_once('\n').expect("a statement follows its name");
            let statement = statement.trim();
            writeln!(
                code,
                "    pub const {}: &str = {statement:?};",
                name.trim().to_uppercase()
            )
            .unwrap();
        }
    }
    writeln!(code, "}}").unwrap();
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries {
        let path = entry.expect("the folder can be listed").path();
        println!("cargo::rerun-if-changed={}", path.display());
        if path.is_dir() {
            collect(&path, files);
        } else {
            files.push(path);
        }
    }
}
