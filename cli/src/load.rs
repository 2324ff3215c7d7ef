//! From files to the world and the catalogue.

use std::path::Path;

use millwright_models::catalog::{self, Catalog};

use crate::failure::Failure;
use crate::input;

/// Region of the embedded catalogue where none is named.
const REGION: &str = "us-east-1";

/// The catalogue in `file`, else the embedded one of `region`.
pub fn catalog(region: Option<&str>, file: Option<&Path>) -> Result<Catalog, Failure> {
    let read = match file {
        Some(path) => {
            let source = input::read_one(path)?;
            Catalog::parse(&source.name, &source.text)
        }
        None => catalog::embedded(region.unwrap_or(REGION)),
    };
    read.map_err(|e| Failure::input(e.to_string()))
}
