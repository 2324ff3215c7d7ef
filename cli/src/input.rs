//! Files, directories and standard input, as text with a name.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// A text and where it came from.
pub struct Source {
    pub name: String,
    pub text: String,
    /// Not named by the user, but met in a directory.
    pub found: bool,
}

impl Source {
    /// Whether the text may hold an object: false only for a sound mapping
    /// that names no kind. What is broken is for the reader to report.
    pub fn has_object(&self) -> bool {
        let names_kind = |line: &str| line.trim_start_matches(['-', ' ']).starts_with("kind:");
        if self.text.contains("\"kind\"") || self.text.lines().any(names_kind) || self.is_blank() {
            return true;
        }
        if self.text.trim_start().starts_with('{') {
            return serde_json::from_str::<serde::de::IgnoredAny>(&self.text).is_err();
        }
        let is_key = |line: &str| line.starts_with(|c: char| c.is_ascii_alphabetic()) && line.contains(':');
        !self.text.lines().any(is_key)
    }

    /// Nothing but comments and separators.
    pub fn is_blank(&self) -> bool {
        self.text.lines().map(str::trim).all(|l| l.is_empty() || l.starts_with('#') || l.starts_with("---"))
    }
}

/// Reads everything that `paths` name: files as they are, directories
/// recursively for YAML and JSON, `-` for standard input. Each path that
/// cannot be read adds a complaint, none hides another.
pub fn read_all(paths: &[PathBuf]) -> (Vec<Source>, Vec<String>) {
    let mut sources = Vec::new();
    let mut complaints = Vec::new();
    let mut stdin_read = false;
    for path in paths {
        if path.as_os_str() == "-" {
            // A second `-` finds the stream empty; it is not read twice.
            if !std::mem::replace(&mut stdin_read, true) {
                keep(read_stdin(), &mut sources, &mut complaints);
            }
        } else if path.is_dir() {
            let mut files = Vec::new();
            walk(path, &mut files, &mut complaints);
            if files.is_empty() && complaints.is_empty() {
                complaints.push(format!("{}: no .yaml, .yml or .json file in this directory", path.display()));
            }
            for file in files {
                let read = read_file(&file).map(|source| Source { found: true, ..source });
                keep(read, &mut sources, &mut complaints);
            }
        } else {
            keep(read_file(path), &mut sources, &mut complaints);
        }
    }
    (sources, complaints)
}

/// Reads one file, or standard input for `-`.
pub fn read_one(path: &Path) -> Result<Source, Failure> {
    let read = if path.as_os_str() == "-" { read_stdin() } else { read_file(path) };
    read.map_err(Failure::input)
}

fn keep(read: Result<Source, String>, sources: &mut Vec<Source>, complaints: &mut Vec<String>) {
    match read {
        Ok(source) => sources.push(source),
        Err(complaint) => complaints.push(complaint),
    }
}

fn read_stdin() -> Result<Source, String> {
    let mut bytes = Vec::new();
    let name = "standard input".to_owned();
    std::io::stdin().lock().read_to_end(&mut bytes).map_err(|e| format!("{name}: {e}"))?;
    text(name, bytes)
}

fn read_file(path: &Path) -> Result<Source, String> {
    let name = path.display().to_string();
    let bytes = fs::read(path).map_err(|e| format!("{name}: {e}"))?;
    text(name, bytes)
}

fn text(name: String, bytes: Vec<u8>) -> Result<Source, String> {
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Source { name, text, found: false }),
        Err(e) => Err(format!("{name}: not UTF-8 text (byte {})", e.utf8_error().valid_up_to())),
    }
}

/// Files below `directory` in the order of their paths.
fn walk(directory: &Path, files: &mut Vec<PathBuf>, complaints: &mut Vec<String>) {
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(e) => return complaints.push(format!("{}: {e}", directory.display())),
    };
    let mut paths = Vec::new();
    for entry in entries {
        match entry {
            Ok(entry) => paths.push(entry.path()),
            Err(e) => complaints.push(format!("{}: {e}", directory.display())),
        }
    }
    paths.sort();
    for path in paths {
        // A link to a directory could lead back up: it is not followed.
        let linked = path.symlink_metadata().is_ok_and(|m| m.is_symlink());
        if path.is_dir() {
            if !linked {
                walk(&path, files, complaints);
            }
        } else if path.extension().is_some_and(|e| e == "yaml" || e == "yml" || e == "json") {
            files.push(path);
        }
    }
}
