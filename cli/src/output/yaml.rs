//! NodeClaims as a stream of YAML documents.

use std::io::{Error, Result, Write};

use millwright_core::consolidate::Audit;
use serde_json::Value;

use super::money;
use crate::answer::Answer;

/// Writes the claims; what else the plan says stands in comments.
pub fn write(decision: &Answer, out: &mut dyn Write) -> Result<()> {
    let (cost, bound) = (money::text(decision.cost, 6), money::text(decision.bound, 6));
    writeln!(out, "# {} NodeClaims, {cost} per hour, lower bound {bound}", decision.claims.len())?;
    for warning in &decision.warnings {
        writeln!(out, "# warning: {}", one_line(warning))?;
    }
    for (pod, reasons) in &decision.unscheduled {
        writeln!(out, "# unscheduled: {pod}: {}", one_line(&reasons.join("; ")))?;
    }
    claims(&decision.claims, out)
}

/// Writes what an audit's first wave buys; what else it does stands in
/// comments.
pub fn write_audit(audit: &Audit, out: &mut dyn Write) -> Result<()> {
    let first = &audit.waves[0];
    let (cost, bound) = (money::text(first.cost, 6), money::text(first.bound, 6));
    writeln!(out, "# {} NodeClaims, {cost} per hour afterwards, lower bound {bound}", audit.claims.len())?;
    for warning in &audit.warnings {
        writeln!(out, "# warning: {}", one_line(warning))?;
    }
    for node in &first.removed {
        writeln!(out, "# remove: {node}")?;
    }
    for m in &first.moves {
        writeln!(out, "# move: {} from {} to {}", m.pod, m.from, m.to)?;
    }
    claims(&audit.claims, out)
}

fn claims(claims: &[Value], out: &mut dyn Write) -> Result<()> {
    for claim in claims {
        let text = serde_saphyr::to_string(claim).map_err(Error::other)?;
        writeln!(out, "---\n{}", text.trim_end())?;
    }
    Ok(())
}

/// A comment ends with its line, so the text must not hold another.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
