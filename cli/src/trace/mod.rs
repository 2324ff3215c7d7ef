//! Published traces of pods and VMs as Kubernetes objects.
//!
//! What a trace says in terms that Kubernetes has no word for is dropped and
//! counted, never guessed.

mod azure;
mod dlrm;
mod lifetime;
mod manifest;
mod openb;
mod table;
mod tianchi;

use std::io::{self, Write};

use serde_json::Value;

use crate::args::{TraceArgs, TraceFormat};
use crate::failure::Failure;
use crate::output::style::counted;
use table::Table;

/// What to take from a trace.
#[derive(Clone, Copy, Debug, Default)]
struct Selection {
    /// Only what runs at this second.
    at: Option<i64>,
    /// Pods that may still be taken.
    left: Option<u64>,
}

impl Selection {
    /// How many of `count` pods still fit under the limit; they are taken.
    fn take(&mut self, count: u64) -> u64 {
        let taken = self.left.map_or(count, |left| left.min(count));
        if let Some(left) = &mut self.left {
            *left -= taken;
        }
        taken
    }

    /// Whether the limit is used up.
    fn is_full(&self) -> bool {
        self.left == Some(0)
    }
}

/// A trace in Kubernetes' words.
#[derive(Debug, Default)]
pub struct Trace {
    documents: Vec<Value>,
    pods: u64,
    workloads: usize,
    /// What was rounded, dropped or assumed, a line each.
    pub notes: Vec<String>,
}

impl Trace {
    fn add(&mut self, workload: &manifest::Workload) {
        self.pods += workload.replicas;
        self.workloads += 1;
        self.documents.push(workload.document());
    }

    /// Adds a note if there was anything to count.
    fn note(&mut self, count: u64, noun: &str, what: &str) {
        if count > 0 {
            self.notes.push(format!("{} {what}", counted(count as usize, noun)));
        }
    }

    /// The line that heads the stream.
    pub fn summary(&self) -> String {
        format!("{} pods in {} Deployments", self.pods, self.workloads)
    }

    /// Writes a stream of documents, one line of JSON each.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "# {}", self.summary())?;
        for note in &self.notes {
            writeln!(out, "# {note}")?;
        }
        for document in &self.documents {
            writeln!(out, "---\n{document}")?;
        }
        Ok(())
    }
}

/// Reads the trace that `args` name.
pub fn read(args: &TraceArgs) -> Result<Trace, Failure> {
    let mut selection = Selection { at: args.at, left: args.limit };
    if args.gpu_spec33 && args.format != TraceFormat::Openb {
        return Err(Failure::Usage("--gpu-spec33 goes with --format openb only".to_owned()));
    }
    if args.at.is_some() && args.format == TraceFormat::Tianchi {
        return Err(Failure::Usage("--at does not go with --format tianchi: that trace has no times".to_owned()));
    }
    let table = Table::open(&args.file).map_err(Failure::input)?;
    match args.format {
        TraceFormat::Openb => openb::read(table, &mut selection, args.gpu_spec33),
        TraceFormat::Tianchi => tianchi::read(table, &mut selection),
        TraceFormat::Dlrm => dlrm::read(table, &mut selection),
        TraceFormat::Azure => azure::read(table, &mut selection),
    }
    .map_err(Failure::input)
}
