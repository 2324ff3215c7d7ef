//! Kubernetes objects, as text, into a validated [`World`].
//!
//! Accepts YAML streams, JSON values one after another, and lists of either,
//! in any order; the result does not depend on the order. Reports every bad
//! object of every file.

mod canonical;
mod collector;
mod daemons;
mod defaults;
mod error;
mod expand;
mod finish;
mod intern;
mod kind;
pub mod live;
mod owners;
mod raw;
mod source;
mod split;
mod stream;
#[cfg(test)]
mod tests;
mod tree;
mod written;

pub use error::{ReadError, ReadErrors};
pub use kind::kinds;
pub use written::{Body, Written};

use crate::world::World;
use collector::Collector;
use written::Desk;

/// A text and the name to call it by.
#[derive(Clone, Debug, Default)]
pub struct Document {
    pub file: String,
    pub text: String,
}

/// What the reader adds of its own.
#[derive(Clone, Debug)]
pub struct ReadOptions {
    /// Use the default pools where the input has no NodePool.
    pub default_pools: bool,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self { default_pools: true }
    }
}

/// Reads all documents into one world.
pub fn read(documents: &[Document], options: &ReadOptions) -> Result<World, ReadErrors> {
    read_watched(documents, options, &mut |_| {})
}

/// As [`read`]; `watch` sees every object first, as it is written.
pub fn read_watched(
    documents: &[Document],
    options: &ReadOptions,
    watch: &mut dyn FnMut(&Written<'_>),
) -> Result<World, ReadErrors> {
    let mut collector = Collector { files: documents.iter().map(|d| d.file.clone()).collect(), ..Collector::default() };
    for (document, file) in documents.iter().zip(0..) {
        stream::file(&document.text, file, &mut Desk { collector: &mut collector, watch: &mut *watch });
    }
    finish::finish(collector, options)
}
