//! The query results in the README are those of the demo. `UPDATE_GOLDEN=1 cargo test` updates them.

mod sandbox;

use sandbox::Sandbox;

#[test]
fn the_readme_shows_the_rows_of_the_demo() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/README.md");
    let readme = std::fs::read_to_string(path).unwrap();
    let sandbox = Sandbox::new();
    sandbox.ok(&["sync", "--demo", "--quiet"]);
    let mut parts = readme.split("```sql\n");
    let mut updated = parts.next().unwrap().to_string();
    let mut count = 0;
    for part in parts {
        let (sql, rest) = part.split_once("```\n\n```text\n").unwrap();
        let (_, rest) = rest.split_once("```\n").unwrap();
        let rows = sandbox.ok(&["query", "--sql", sql]);
        updated.push_str(&format!("```sql\n{sql}```\n\n```text\n{rows}```\n{rest}"));
        count += 1;
    }
    assert_eq!(count, 5);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(path, &updated).unwrap();
    }
    let readme = std::fs::read_to_string(path).unwrap();
    assert!(
        readme == updated,
        "README.md is out of date; UPDATE_GOLDEN=1 cargo test writes it"
    );
}
