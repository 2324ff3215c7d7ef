//! Source files, and which of their lines are code that ships.

use std::fs;
use std::path::{Path, PathBuf};

/// A source file.
pub struct Source {
    pub path: String,
    pub text: String,
}

/// The root of the repository.
pub fn workspace() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crate lies in the workspace");
    root.to_path_buf()
}

/// Rust files below `directory`, in the order of their paths.
pub fn sources(directory: &Path) -> Vec<Source> {
    let mut found = Vec::new();
    collect(directory, &mut found);
    assert!(!found.is_empty(), "no Rust file below {}", directory.display());
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

fn collect(directory: &Path, found: &mut Vec<Source>) {
    for entry in fs::read_dir(directory).unwrap_or_else(|e| panic!("{}: {e}", directory.display())) {
        let path = entry.expect("a readable entry").path();
        let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        if path.is_dir() {
            // Hidden folders, and what cargo or a fuzzer made.
            if !name.starts_with('.') && !name.starts_with("target") && name != "node_modules" {
                collect(&path, found);
            }
        } else if path.extension().is_some_and(|e| e == "rs") {
            let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            found.push(Source { path: path.display().to_string(), text });
        }
    }
}

impl Source {
    /// How long it is.
    pub fn lines(&self) -> usize {
        self.text.lines().count()
    }

    /// Numbered lines without comments and without test modules. Files that
    /// hold only tests have none.
    pub fn production(&self) -> impl Iterator<Item = (usize, &str)> {
        let only_tests = ["/tests/", "/tests.rs", "/testing/"].iter().any(|t| self.path.contains(t));
        let mut inside_tests = false;
        self.text.lines().enumerate().filter_map(move |(i, line)| {
            if line.starts_with("#[cfg(test)]") || line.starts_with("#![cfg(test)]") {
                inside_tests = true;
                return None;
            }
            if inside_tests {
                // A test module ends with the brace in the first column, a
                // declaration with its semicolon.
                inside_tests = !(line.starts_with('}') || line.ends_with(';') && !line.starts_with(' '));
                return None;
            }
            let code = line.split("//").next().unwrap_or_default();
            (!only_tests && !code.trim().is_empty()).then_some((i + 1, code))
        })
    }
}
