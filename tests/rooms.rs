//! Modules that could be crates of their own stay so.

use std::fs;
use std::path::{Path, PathBuf};

fn files_of(module: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("src")
        .join(module);
    let files = fs::read_dir(&folder).unwrap();
    let files = files.map(|entry| entry.unwrap().path());
    files.chain([folder.with_extension("rs")]).collect()
}

#[test]
fn the_page_writer_and_the_json_reader_use_nothing_else_of_the_program() {
    for module in ["sqlite_bulk", "json"] {
        let files = files_of(module);
        assert!(files.len() > 3, "{module}");
        for file in files {
            let code = fs::read_to_string(&file).unwrap();
            for word in ["crate::", "super::super", "cc_etl", "claude", "Claude"] {
                assert!(!code.contains(word), "{}: {word}", file.display());
            }
        }
    }
}
