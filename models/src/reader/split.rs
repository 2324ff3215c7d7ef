//! Text into documents: YAML streams and JSON values one after another.

use super::error::Place;

/// A piece of text that holds one YAML document, or any number of JSON values.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece<'a> {
    pub text: &'a str,
    /// Line of its first character, from 1.
    pub line: u32,
}

/// The pieces between document markers, without those that hold nothing but
/// comments. `---` and `...` at the start of a line are markers wherever they
/// stand: YAML allows them inside no scalar.
pub(super) fn pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut rest = Some((text, 1_u32));
    std::iter::from_fn(move || {
        loop {
            let (text, line) = rest?;
            let (piece, next) = cut(text, line);
            rest = next;
            if let Some(piece) = trim(piece) {
                return Some(piece);
            }
        }
    })
}

/// The text up to the first marker, and what follows the marker.
fn cut(text: &str, line: u32) -> (Piece<'_>, Option<(&str, u32)>) {
    let mut from = 0;
    let mut lines = line;
    while from <= text.len() {
        if is_marker(&text[from..]) {
            return (Piece { text: &text[..from], line }, Some((&text[from + 3..], lines)));
        }
        match text[from..].find('\n') {
            Some(end) => {
                from += end + 1;
                lines = lines.saturating_add(1);
            }
            None => break,
        }
    }
    (Piece { text, line }, None)
}

fn is_marker(text: &str) -> bool {
    let after = text.strip_prefix("---").or_else(|| text.strip_prefix("..."));
    after.is_some_and(|a| a.is_empty() || a.starts_with([' ', '\t', '\n', '\r']))
}

/// Drops leading blank, comment and directive lines; `None` if nothing is
/// left.
fn trim(mut piece: Piece<'_>) -> Option<Piece<'_>> {
    loop {
        let (first, rest) = match piece.text.split_once('\n') {
            Some((first, rest)) => (first, Some(rest)),
            None => (piece.text, None),
        };
        let content = first.trim();
        if !content.is_empty() && !content.starts_with('#') && !first.starts_with('%') {
            return Some(piece);
        }
        piece = Piece { text: rest?, line: piece.line.saturating_add(1) };
    }
}

/// Counts lines of a text up to growing offsets.
pub(super) struct LineCounter<'a> {
    text: &'a str,
    offset: usize,
    line: u32,
}

impl<'a> LineCounter<'a> {
    pub fn new(piece: Piece<'a>) -> Self {
        Self { text: piece.text, offset: 0, line: piece.line }
    }

    pub fn line_at(&mut self, offset: usize) -> u32 {
        let offset = offset.clamp(self.offset, self.text.len());
        let between = &self.text.as_bytes()[self.offset..offset];
        let passed = between.iter().filter(|b| **b == b'\n').count();
        self.line = self.line.saturating_add(u32::try_from(passed).unwrap_or(u32::MAX));
        self.offset = offset;
        self.line
    }
}

impl Place {
    /// `cluster.yaml, document 3 (line 40)`.
    pub fn describe(self, files: &[String]) -> String {
        let file = files.get(self.file as usize).map_or("input", String::as_str);
        if self.document == 0 {
            return file.to_owned();
        }
        format!("{file}, document {} (line {})", self.document, self.line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> Vec<(&str, u32)> {
        pieces(text).map(|p| (p.text.trim(), p.line)).collect()
    }

    #[test]
    fn markers_comments_and_empty_documents() {
        let text = "---\n# Source: a\na: 1\n--- # next\n\n# only this\n---\n---\nb: |\n  --- text\n  c\n...\n%YAML 1.2\n---\nc: 3";
        assert_eq!(split(text), [("a: 1", 3), ("b: |\n  --- text\n  c", 9), ("c: 3", 15)]);
    }

    #[test]
    fn content_may_follow_the_marker() {
        assert_eq!(split("--- {a: 1}\n---\r\nb: 2\r\n"), [("{a: 1}", 1), ("b: 2", 3)]);
        assert_eq!(split("----\n"), [("----", 1)]);
        assert_eq!(split("\u{feff}a: 1"), [("a: 1", 1)]);
        assert!(split("").is_empty() && split("---").is_empty() && split("\n# x\n\n").is_empty());
    }
}
