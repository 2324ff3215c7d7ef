//! Log lines: JSON objects as Karpenter writes them, or text for people.

use std::fmt;
use std::io;

use clap::ValueEnum;
use jiff::Timestamp;
use serde_json::{Map, Value};
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

/// How lines look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    #[default]
    Json,
    Text,
}

/// Sends lines of `level` and above to standard output from now on.
pub fn begin(format: Format, level: LevelFilter) {
    let lines = Lines { format, with_place: level >= LevelFilter::DEBUG };
    let subscriber =
        tracing_subscriber::fmt().event_format(lines).with_max_level(level).with_writer(io::stdout).finish();
    // Only a second call can fail, and then the first one holds.
    drop(tracing::subscriber::set_global_default(subscriber));
}

struct Lines {
    format: Format,
    /// Where in the sources the line comes from.
    with_place: bool,
}

impl<S, N> FormatEvent<S, N> for Lines
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(&self, _: &FmtContext<'_, S, N>, mut writer: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        let meta = event.metadata();
        // The client's own chatter is ours to judge.
        let mut fields = Fields::default();
        event.record(&mut fields);
        let place = self.with_place.then(|| format!("{}:{}", meta.file().unwrap_or("?"), meta.line().unwrap_or(0)));
        let line = Line { at: Timestamp::now(), level: *meta.level(), place, fields };
        match self.format {
            Format::Json => writeln!(writer, "{}", line.json()),
            Format::Text => writeln!(writer, "{}", line.text()),
        }
    }
}

struct Line {
    at: Timestamp,
    level: Level,
    place: Option<String>,
    fields: Fields,
}

impl Line {
    fn json(self) -> Value {
        let mut line = Map::new();
        line.insert("level".to_owned(), self.level.as_str().into());
        line.insert("time".to_owned(), millis(self.at).into());
        line.insert("logger".to_owned(), "controller".into());
        line.insert("message".to_owned(), self.fields.message.into());
        if let Some(place) = self.place {
            line.insert("caller".to_owned(), place.into());
        }
        line.extend(self.fields.others);
        Value::Object(line)
    }

    fn text(self) -> String {
        let mut text = format!("{} {:5} {}", millis(self.at), self.level.as_str(), self.fields.message);
        for (name, value) in self.fields.others {
            match value {
                Value::String(value) if !value.contains([' ', '"', '=']) => text.push_str(&format!(" {name}={value}")),
                value => text.push_str(&format!(" {name}={value}")),
            }
        }
        text
    }
}

fn millis(at: Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%S.%3fZ").to_string()
}

/// What a line says.
#[derive(Default)]
struct Fields {
    message: String,
    others: Map<String, Value>,
}

impl Fields {
    fn add(&mut self, field: &Field, value: Value) {
        match (field.name(), value) {
            ("message", Value::String(text)) => self.message = text,
            ("message", other) => self.message = other.to_string(),
            (name, value) => {
                self.others.insert(name.to_owned(), value);
            }
        }
    }
}

impl Visit for Fields {
    fn record_f64(&mut self, field: &Field, value: f64) {
        self.add(field, value.into());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.add(field, value.into());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.add(field, value.into());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.add(field, value.into());
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.add(field, value.into());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.add(field, format!("{value:?}").into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line() -> Line {
        let mut fields = Fields { message: "created nodeclaim".to_owned(), ..Fields::default() };
        fields.others.insert("NodeClaim".to_owned(), "default-x".into());
        fields.others.insert("reason".to_owned(), "a b".into());
        let at = "2026-05-01T10:00:00.25Z".parse().unwrap();
        Line { at, level: Level::INFO, place: None, fields }
    }

    #[test]
    fn lines_have_the_fields_that_runbooks_grep() {
        let json = line().json();
        assert_eq!(
            json.to_string(),
            r#"{"level":"INFO","time":"2026-05-01T10:00:00.250Z","logger":"controller","message":"created nodeclaim","NodeClaim":"default-x","reason":"a b"}"#
        );
        assert_eq!(
            line().text(),
            r#"2026-05-01T10:00:00.250Z INFO  created nodeclaim NodeClaim=default-x reason="a b""#
        );
    }
}
