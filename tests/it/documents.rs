//! The documents for people who work on the code: what they name exists, and their lines can be read.

use std::fs;
use std::path::Path;

use crate::harness::project::{files_below, project, project_file};

/// The longest line, in characters. Rows of tables, lines with links, blocks of code and string literals may be longer.
const LONGEST: usize = 120;

/// Folders that a path in a document begins with.
const FOLDERS: [&str; 11] = [
    "benches/",
    "clients/",
    "config/",
    "crates/",
    "dashboard/",
    "docs/",
    "examples/",
    "migrations/",
    "scripts/",
    "src/",
    "tests/",
];

#[test]
fn every_path_that_the_architecture_names_exists() {
    let page = project_file("ARCHITECTURE.md");
    let is_path = |text: &&str| FOLDERS.iter().any(|folder| text.starts_with(folder));
    let paths: Vec<&str> = page.split('`').skip(1).step_by(2).filter(is_path).collect();
    assert!(paths.len() > 50, "{paths:?}");
    let missing: Vec<_> = paths.into_iter().filter(|path| !project().join(path).exists()).collect();
    assert!(missing.is_empty(), "{missing:#?}");
}

/// The table of resources names files of each layer without the layer.
#[test]
fn every_file_of_a_resource_exists() {
    let page = project_file("ARCHITECTURE.md");
    let mut rows =
        page.lines().skip_while(|line| !line.starts_with("| Resource |")).take_while(|line| !line.is_empty());
    let head: Vec<&str> = rows.next().unwrap().split('|').map(|cell| cell.trim().trim_matches('`')).collect();
    let mut missing = Vec::new();
    for row in rows.skip(1) {
        for (folder, cell) in head.iter().zip(row.split('|')).filter(|(folder, _)| folder.starts_with("src/")) {
            let names = cell.split('`').skip(1).step_by(2).map(|name| Path::new(folder).join(name));
            missing.extend(names.filter(|path| !project().join(path).exists()));
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

#[test]
fn lines_of_comments_and_pages_are_short() {
    let (code, pages) = (files_below(project(), ".rs"), files_below(project(), ".md"));
    assert!(code.len() > 10 && pages.len() > 10, "{code:?} {pages:?}");
    let mut long = Vec::new();
    for file in code {
        let text = fs::read_to_string(&file).unwrap();
        long.extend(too_long(&file, text.lines().map(|line| (line, line.trim_start().starts_with("//")))));
    }
    // `docs/errors.md` is generated from the codes.
    for file in pages.into_iter().filter(|file| !file.ends_with("docs/errors.md")) {
        let text = fs::read_to_string(&file).unwrap();
        let mut in_code = false;
        long.extend(too_long(
            &file,
            text.lines().map(|line| {
                let is_fence = line.trim_start().starts_with("```");
                in_code ^= is_fence;
                let may_be_long = in_code || is_fence || line.trim_start().starts_with('|') || line.contains("](");
                (line, !may_be_long)
            }),
        ));
    }
    assert!(long.is_empty(), "{long:#?}");
}

fn too_long<'a>(file: &Path, lines: impl Iterator<Item = (&'a str, bool)>) -> Vec<String> {
    let numbered = lines.zip(1..).filter(|((line, is_checked), _)| *is_checked && line.chars().count() > LONGEST);
    numbered.map(|(_, number)| format!("{}:{number}", file.strip_prefix(project()).unwrap().display())).collect()
}
