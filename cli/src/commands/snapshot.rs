//! `millwright snapshot`.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use millwright_client::capture::capture_now;
use millwright_models::redact::redact;
use serde_json::Value;

use crate::args::SnapshotArgs;
use crate::failure::{Failure, Outcome};
use crate::stdio;

/// Captures a cluster and writes it down.
pub fn run(args: &SnapshotArgs) -> Result<Outcome, Failure> {
    let capture = capture_now(args.kubeconfig.as_deref(), args.context.as_deref())
        .map_err(|error| Failure::input(error.to_string()))?;
    for warning in &capture.warnings {
        stdio::complain(&format!("warning: {warning}"));
    }
    let objects = if args.redact { redact(&capture.objects) } else { capture.objects };
    match &args.output {
        Some(path) => {
            let failed = |error: io::Error| Failure::input(format!("{}: {error}", path.display()));
            whole(path, &objects).map_err(failed)?;
        }
        None => stdio::print(|out| write(out, &objects))?,
    }
    let count = |kind: &str| objects.iter().filter(|o| o["kind"] == kind).count();
    let (nodes, pods) = (count("Node"), count("Pod"));
    stdio::complain(&format!("captured {} objects, {nodes} nodes and {pods} pods among them", objects.len()));
    Ok(Outcome::Done)
}

/// A file that is complete or not there.
fn whole(path: &Path, objects: &[Value]) -> io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    let part = path.with_file_name(name);
    let written = (|| {
        let mut out = BufWriter::new(std::fs::File::create(&part)?);
        write(&mut out, objects)?;
        out.into_inner().map_err(|e| e.into_error())?.sync_all()
    })();
    match written {
        Ok(()) => std::fs::rename(&part, path),
        Err(error) => {
            // What is left of it is of no use, and may not be there at all.
            drop(std::fs::remove_file(&part));
            Err(error)
        }
    }
}

/// A `List`, one object a line.
fn write(out: &mut dyn Write, objects: &[Value]) -> io::Result<()> {
    writeln!(out, "{{\"apiVersion\": \"v1\", \"kind\": \"List\", \"items\": [")?;
    for (i, object) in objects.iter().enumerate() {
        let end = if i + 1 < objects.len() { "," } else { "" };
        writeln!(out, "{object}{end}")?;
    }
    writeln!(out, "]}}")
}
