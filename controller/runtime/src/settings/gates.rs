//! Feature gates, as Karpenter reads them.

use millwright_models::catalog::Gates;

/// Reads `A=true,B=false`. Names that are not known are passed over: an
/// operator's values file may be newer, or older, than the program.
pub fn gates(text: &str) -> Result<Gates, String> {
    let mut known = Vec::new();
    for part in text.split(',').map(str::trim).filter(|p| !p.is_empty()) {
        let (name, value) = part.split_once('=').ok_or_else(|| format!("{part:?} is not of the form NAME=true"))?;
        let value = match value.trim() {
            "1" | "t" | "T" | "true" | "TRUE" | "True" => true,
            "0" | "f" | "F" | "false" | "FALSE" | "False" => false,
            other => return Err(format!("{name}: {other:?} is neither true nor false")),
        };
        match Gates::NAMES.contains(&name.trim()) {
            true => known.push(format!("{}={value}", name.trim())),
            false => tracing::warn!(gate = name, "unknown feature gate"),
        }
    }
    known.join(",").parse().map_err(|e: millwright_models::catalog::gates::GateError| e.to_string())
}
