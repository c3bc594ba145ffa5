//! Embeds the folders of SQL and the demo home into the program, so that adding a file is enough.

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

fn main() {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let mut code = String::new();
    for (folder, name) in [
        ("sql/views", "VIEWS"),
        ("sql/derive", "DERIVE"),
        ("sql/checks", "CHECKS"),
        ("sql/advice", "ADVICE"),
        ("sql/export", "EXPORT"),
        ("queries", "QUERIES"),
    ] {
        embed(&root, folder, name, "include_str!", "&str", &mut code);
    }
    embed(
        &root,
        "examples/home",
        "DEMO_HOME",
        "include_bytes!",
        "&[u8]",
        &mut code,
    );
    statements(&root, &mut code);
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets it")).join("embedded.rs");
    fs::write(out, code).expect("the build folder can be written");
}

/// Writes a constant with the path (relative to the folder, without `.sql`) and the content of every file below it.
fn embed(root: &Path, folder: &str, name: &str, include: &str, content: &str, code: &mut String) {
    println!("cargo::rerun-if-changed={folder}");
    let mut files = Vec::new();
    collect(&root.join(folder), &mut files);
    files.sort();
    writeln!(code, "pub const {name}: &[(&str, {content})] = &[").unwrap();
    for file in files {
        let relative = file
            .strip_prefix(root.join(folder))
            .expect("it was found there");
        let relative = relative
            .to_str()
            .expect("names of ours are UTF-8")
            .replace('\\', "/");
        let name = relative.trim_end_matches(".sql");
        writeln!(
            code,
            "    ({name:?}, {include}({:?})),",
            file.display().to_string()
        )
        .unwrap();
    }
    writeln!(code, "];").unwrap();
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
