//! How tables look.

use comfy_table::{CellAlignment, ContentArrangement, LineStyle, Table, TableStyle};

/// Columns that paragraphs fill.
pub const WIDTH: u16 = 100;

/// Header, a line, rows; no frame, so that rows can be cut and sorted.
const PLAIN: TableStyle = TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));

/// An empty table with these columns; those from `right` on hold numbers.
pub fn table(header: &[&str], right: usize) -> Table {
    let mut table = Table::new();
    // A name that is broken over two lines can be neither read nor searched.
    table.load_style(PLAIN).set_content_arrangement(ContentArrangement::Disabled).set_header(header.iter().copied());
    for column in table.column_iter_mut().skip(right) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// Text broken at spaces into lines of `width`.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// A paragraph whose first line starts with `first` and the others with as
/// many spaces.
pub fn paragraph(first: &str, text: &str) -> String {
    let indent = first.chars().count();
    let lines = wrap(text, (WIDTH as usize).saturating_sub(indent).max(20));
    let mut out = String::new();
    for (i, line) in lines.iter().enumerate() {
        let lead = if i == 0 { first.to_owned() } else { " ".repeat(indent) };
        out += &format!("{lead}{line}\n");
    }
    out
}

/// `1 pod`, `2 pods`.
pub fn counted(count: usize, noun: &str) -> String {
    let number = super::money::thousands(count as i128);
    if count == 1 { format!("{number} {noun}") } else { format!("{number} {noun}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_hang() {
        let text = paragraph("  - ", &"word ".repeat(40));
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.len(), 3);
        assert!(lines[0].starts_with("  - word") && lines[1].starts_with("    word"));
        assert!(lines.iter().all(|l| l.chars().count() <= WIDTH as usize));
        assert_eq!(paragraph("  ", ""), "");
    }
}
