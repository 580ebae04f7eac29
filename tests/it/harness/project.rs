//! The files of the project.

use std::fs;
use std::path::{Path, PathBuf};

/// The directory of the project. The tests are targets of `crates/cli`, because only the package of a binary knows
/// where it is.
pub fn project() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// The text of a file.
pub fn project_file(path: &str) -> String {
    fs::read_to_string(project().join(path)).unwrap()
}

/// The files below a folder whose names end so, in order, without what was installed or built.
pub fn files_below(folder: &Path, end: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        let foreign = ["data", "dist", "node_modules", "screenshots", "target"];
        if path.is_dir() && !name.starts_with('.') && !foreign.contains(&name) {
            found.extend(files_below(&path, end));
        } else if name.ends_with(end) {
            found.push(path);
        }
    }
    found.sort();
    found
}
