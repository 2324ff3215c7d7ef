//! Documents into objects: single ones, lists, JSON values one after another.

use serde::Deserialize;
use serde::de::DeserializeSeed;
use serde_json::Value;
use serde_json::value::RawValue;

use super::error::Place;
use super::source::Source;
use super::split::{LineCounter, Piece, pieces};
use super::tree::Document;
use super::written::Desk;

/// Lists within lists, at most.
const NESTING: u32 = 8;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Header<'a> {
    #[serde(default)]
    api_version: Option<String>,
    #[serde(default)]
    kind: Option<String>,
    #[serde(borrow, default)]
    items: Option<&'a RawValue>,
}

/// Reads every object of one file.
pub(super) fn file(text: &str, file: u32, desk: &mut Desk<'_>) {
    let mut place = Place { file, document: 0, line: 0 };
    for piece in pieces(text) {
        let braced = piece.text.trim_start().starts_with('{');
        match if braced { json(piece, &mut place, desk) } else { Err(None) } {
            Ok(()) => {}
            Err(not_json) => {
                place = Place { document: place.document + 1, line: piece.line, ..place };
                yaml(piece, place, not_json, desk);
            }
        }
    }
}

/// Reads JSON values one after another; an error if the very first one is no
/// JSON, since `{` also starts a YAML flow mapping.
fn json(piece: Piece<'_>, place: &mut Place, desk: &mut Desk<'_>) -> Result<(), Option<serde_json::Error>> {
    let mut lines = LineCounter::new(piece);
    let mut values = serde_json::Deserializer::from_str(piece.text).into_iter::<&RawValue>();
    let mut any = false;
    while let Some(value) = values.next() {
        let value = match value {
            Err(error) if !any => return Err(Some(error)),
            value => value,
        };
        let start = match &value {
            Ok(raw) => (raw.get().as_ptr() as usize).saturating_sub(piece.text.as_ptr() as usize),
            Err(_) => values.byte_offset(),
        };
        *place = Place { document: place.document + 1, line: lines.line_at(start), ..*place };
        match value {
            Ok(raw) => json_object(raw.get(), None, *place, 0, desk),
            Err(error) => desk.syntax(*place, format!("not JSON: {error}")),
        }
        any = true;
    }
    Ok(())
}

/// One JSON object; `listed` is what a typed list says of its items.
fn json_object(text: &str, listed: Option<(&str, &str)>, place: Place, depth: u32, desk: &mut Desk<'_>) {
    if text == "null" {
        return;
    }
    let header: Header<'_> = match serde_json::from_str(text) {
        Ok(header) => header,
        Err(error) => return desk.syntax(place, format!("not an object with apiVersion and kind: {error}")),
    };
    let Some((api_version, kind)) = names(header.api_version.as_deref(), header.kind.as_deref(), listed) else {
        return desk.syntax(place, "the object has no kind");
    };
    let Some(item) = kind.strip_suffix("List") else {
        return desk.accept(place, api_version, kind, Source::Json(text));
    };
    if depth == NESTING {
        return desk.syntax(place, "lists are nested too deep");
    }
    let items = header.items.map_or(Ok(Vec::new()), |raw| serde_json::from_str::<Vec<&RawValue>>(raw.get()));
    match items {
        Ok(items) => {
            let listed = Some((api_version, item)).filter(|_| !item.is_empty());
            items.into_iter().for_each(|raw| json_object(raw.get(), listed, place, depth + 1, desk));
        }
        Err(error) => desk.syntax(place, format!("{kind}: items: {error}")),
    }
}

/// One YAML document; `not_json` says why it is no JSON, if it looks like it.
fn yaml(piece: Piece<'_>, place: Place, not_json: Option<serde_json::Error>, desk: &mut Desk<'_>) {
    let mut budget = serde_saphyr::Budget::default();
    // Size is no attack here; depth and the growth of aliases stay bounded.
    budget.max_events = usize::MAX;
    budget.max_nodes = usize::MAX;
    budget.max_total_scalar_bytes = usize::MAX;
    let mut options = serde_saphyr::Options::default();
    options.budget = Some(budget);
    options.with_snippet = false;
    options.emit_comments = false;
    // `n` and `on` are names, as in YAML 1.2.
    options.strict_booleans = true;
    // The field that holds one says what is wrong with it.
    options.non_finite_float_policy = serde_saphyr::NonFiniteFloatPolicy::AsString;
    let read = serde_saphyr::with_deserializer_from_str_with_options(piece.text, options, |deserializer| {
        let mut sink = |item: Value| tree_object(item, None, place, 1, desk);
        Document { sink: &mut sink }.deserialize(deserializer)
    });
    match read {
        Ok(rest) if rest.streamed => {
            // What the list held beside complete objects.
            let left = rest
                .tree
                .get("items")
                .and_then(Value::as_array)
                .is_some_and(|items| items.iter().any(|item| !item.is_null()));
            if left {
                tree_object(rest.tree, None, place, 0, desk);
            }
        }
        Ok(rest) => tree_object(rest.tree, None, place, 0, desk),
        Err(error) => {
            let line = error.location().map_or(0, |l| l.line().saturating_sub(1));
            let line = piece.line.saturating_add(u32::try_from(line).unwrap_or(u32::MAX));
            let mut message = format!("not YAML: {}", words(&error));
            if let Some(not_json) = not_json {
                message = format!("neither JSON ({not_json}) nor YAML ({})", words(&error));
            }
            if piece.text.contains("{{") && piece.text.contains("}}") {
                message += "; a chart's templates have to be rendered first (helm template)";
            }
            desk.syntax(Place { line, ..place }, message);
        }
    }
}

/// What is wrong with a document, in words of the format.
fn words(error: &serde_saphyr::Error) -> String {
    match error.without_snippet() {
        serde_saphyr::Error::Budget { .. } => "nested too deep, or its aliases grow without measure".to_owned(),
        serde_saphyr::Error::AliasError { error, .. } => words(error),
        serde_saphyr::Error::DuplicateMappingKey { key, .. } => {
            format!("key {} is given twice in one mapping", key.as_deref().unwrap_or("(no text)"))
        }
        other => other.to_string(),
    }
}

/// One object as a tree.
fn tree_object(mut tree: Value, listed: Option<(&str, &str)>, place: Place, depth: u32, desk: &mut Desk<'_>) {
    if tree.is_null() {
        return;
    }
    if tree.is_array() {
        return desk.syntax(place, "a list without kind: objects are given one after another, or as kind List");
    }
    if !tree.is_object() {
        return desk.syntax(place, "not an object with apiVersion and kind");
    }
    let text = |field: &str| tree.get(field).and_then(Value::as_str).map(str::to_owned);
    let (api_version, kind) = (text("apiVersion"), text("kind"));
    let Some((api_version, kind)) = names(api_version.as_deref(), kind.as_deref(), listed) else {
        return desk.syntax(place, "the object has no kind");
    };
    let Some(item) = kind.strip_suffix("List") else {
        return desk.accept(place, api_version, kind, Source::Tree(tree));
    };
    if depth == NESTING {
        return desk.syntax(place, "lists are nested too deep");
    }
    match tree.get_mut("items").map(Value::take) {
        None | Some(Value::Null) => {}
        Some(Value::Array(items)) => {
            let listed = Some((api_version, item)).filter(|_| !item.is_empty());
            items.into_iter().for_each(|item| tree_object(item, listed, place, depth + 1, desk));
        }
        Some(_) => desk.syntax(place, format!("{kind}: items: not a list")),
    }
}

/// Version and kind: the object's own, else those its list implies.
fn names<'a>(
    api_version: Option<&'a str>,
    kind: Option<&'a str>,
    listed: Option<(&'a str, &'a str)>,
) -> Option<(&'a str, &'a str)> {
    let kind = kind.filter(|k| !k.is_empty()).or(listed.map(|(_, kind)| kind))?;
    Some((api_version.or(listed.map(|(version, _)| version)).unwrap_or_default(), kind))
}
