//! Rows of a CSV file; each complaint names file, line and column.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;

/// A CSV file with a header.
pub struct Table {
    file: String,
    reader: csv::Reader<Box<dyn Read>>,
    header: Vec<String>,
}

/// A line of it.
pub struct Row<'a> {
    file: &'a str,
    line: u64,
    header: &'a [String],
    fields: csv::StringRecord,
}

impl Table {
    /// Opens a file, unpacking it if its name ends in `.gz`; `-` is standard
    /// input.
    pub fn open(path: &Path) -> Result<Self, String> {
        let file = path.display().to_string();
        let source: Box<dyn Read> = if path.as_os_str() == "-" {
            Box::new(std::io::stdin())
        } else {
            let opened = BufReader::new(File::open(path).map_err(|e| format!("{file}: {e}"))?);
            match path.extension() {
                Some(e) if e == "gz" => Box::new(MultiGzDecoder::new(opened)),
                _ => Box::new(opened),
            }
        };
        Self::new(file, source)
    }

    fn new(file: String, source: Box<dyn Read>) -> Result<Self, String> {
        let mut reader = csv::Reader::from_reader(source);
        let header = reader.headers().map_err(|e| complaint(&file, &e))?.iter().map(str::to_owned).collect();
        Ok(Self { file, reader, header })
    }

    /// A table given as text.
    #[cfg(test)]
    pub fn of(text: &'static str) -> Self {
        Self::new("test.csv".to_owned(), Box::new(text.as_bytes())).unwrap()
    }

    /// Refuses a table that lacks one of `columns`.
    pub fn need(&self, columns: &[&str]) -> Result<(), String> {
        let missing: Vec<&str> = columns.iter().copied().filter(|c| !self.header.iter().any(|h| h == c)).collect();
        if missing.is_empty() {
            return Ok(());
        }
        Err(format!("{}: line 1: no column {} (is this the format you named?)", self.file, missing.join(", ")))
    }

    /// The next row.
    pub fn next(&mut self) -> Result<Option<Row<'_>>, String> {
        let mut fields = csv::StringRecord::new();
        match self.reader.read_record(&mut fields) {
            Ok(false) => Ok(None),
            Ok(true) => {
                let line = fields.position().map_or(0, csv::Position::line);
                Ok(Some(Row { file: &self.file, line, header: &self.header, fields }))
            }
            Err(e) => Err(complaint(&self.file, &e)),
        }
    }
}

fn complaint(file: &str, error: &csv::Error) -> String {
    let line = error.position().map_or(String::new(), |p| format!(" line {}:", p.line()));
    match error.kind() {
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!("{file}:{line} {len} fields, the header has {expected_len}")
        }
        csv::ErrorKind::Utf8 { err, .. } => format!("{file}:{line} field {} is not UTF-8 text", err.field() + 1),
        csv::ErrorKind::Io(e) => format!("{file}:{line} {e}"),
        _ => format!("{file}:{line} {error}"),
    }
}

impl Row<'_> {
    /// The text in `column`; empty if there is no such column.
    pub fn text(&self, column: &str) -> &str {
        self.header.iter().position(|h| h == column).and_then(|i| self.fields.get(i)).unwrap_or_default()
    }

    /// A whole number that is not negative; an empty field is `None`.
    pub fn maybe(&self, column: &str) -> Result<Option<i64>, String> {
        match self.text(column) {
            "" => Ok(None),
            text => match text.parse::<i64>() {
                Ok(n) if n >= 0 => Ok(Some(n)),
                _ => Err(self.wrong(column, "is no whole number from 0 up")),
            },
        }
    }

    /// A whole number that must be there.
    pub fn number(&self, column: &str) -> Result<i64, String> {
        self.maybe(column)?.ok_or_else(|| self.wrong(column, "is empty"))
    }

    /// A decimal in thousandths, rounded up.
    pub fn milli(&self, column: &str) -> Result<i64, String> {
        let amount: f64 = self.text(column).parse().map_err(|_| self.wrong(column, "is no number"))?;
        // Beyond this a float no longer holds every thousandth.
        if !(0.0..1e12).contains(&amount) {
            return Err(self.wrong(column, "is out of range"));
        }
        Ok((amount * 1000.0 - 1e-6).ceil().max(0.0) as i64)
    }

    /// A text that can be a Kubernetes name or part of one.
    pub fn name(&self, column: &str) -> Result<&str, String> {
        let text = self.text(column);
        let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
        let fits = (1..=40).contains(&text.len())
            && text.bytes().all(|b| plain(b) || b == b'-')
            && text.bytes().next().is_some_and(plain)
            && text.bytes().last().is_some_and(plain);
        if fits { Ok(text) } else { Err(self.wrong(column, "cannot be a Kubernetes name")) }
    }

    /// A complaint about what stands in `column`.
    pub fn wrong(&self, column: &str, why: &str) -> String {
        format!("{}: line {}: column {column}: {:?} {why}", self.file, self.line, self.text(column))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complaints_name_file_line_and_column() {
        let mut table = Table::of("a,b\n1,x\n2\n");
        assert_eq!(
            table.need(&["a", "c"]),
            Err("test.csv: line 1: no column c (is this the format you named?)".into())
        );
        let row = table.next().unwrap().unwrap();
        assert_eq!(row.number("a"), Ok(1));
        assert_eq!(row.number("b"), Err("test.csv: line 2: column b: \"x\" is no whole number from 0 up".into()));
        drop(row);
        assert_eq!(table.next().err(), Some("test.csv: line 3: 1 fields, the header has 2".into()));
    }

    #[test]
    fn decimals_round_up_to_thousandths() {
        let mut table = Table::of("a\n0.5\n1\n0.0001\n4.8\nx\n-1\n");
        let mut milli = || table.next().unwrap().unwrap().milli("a").ok();
        assert_eq!(
            [milli(), milli(), milli(), milli(), milli(), milli()],
            [Some(500), Some(1000), Some(1), Some(4800), None, None]
        );
    }
}
