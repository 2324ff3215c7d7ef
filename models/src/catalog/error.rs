//! What can be wrong with a catalogue.

use super::money::DecimalError;
use crate::quantity::QuantityError;

/// Why a catalogue or its use is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CatalogError {
    #[error("{file}: not a catalogue: {problem}")]
    Syntax { file: String, problem: String },
    #[error("{file}: {field}: {problem}")]
    Document { file: String, field: String, problem: String },
    #[error("{file}: type {name}: {field}: {problem}")]
    Type { file: String, name: String, field: String, problem: Problem },
    #[error("no embedded catalogue for region {region:?}; there is one for {known}; give a file with --catalog")]
    Region { region: String, known: String },
    #[error("embedded table {table}, line {line}: {problem}")]
    Table { table: &'static str, line: usize, problem: String },
    #[error("EC2NodeClass {class}: {field}: {problem}")]
    NodeClass { class: String, field: String, problem: String },
}

/// What is wrong with a field of a type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    #[error("{0}")]
    Shape(String),
    #[error("missing")]
    Missing,
    #[error("given twice")]
    Duplicate,
    #[error("must not be empty")]
    Empty,
    #[error("{0}")]
    Quantity(#[from] QuantityError),
    #[error("{0}")]
    Price(#[from] DecimalError),
    #[error("price {0} is not above zero; only a reservation may be free")]
    NotPositive(String),
    #[error("price {0} is negative")]
    NegativePrice(String),
    #[error("price {0} is out of range")]
    PriceRange(String),
    #[error("{value:?} is unknown; known are {known}")]
    Unknown { value: String, known: &'static str },
    #[error("{0} exceeds the capacity")]
    AboveCapacity(String),
    #[error("only a reserved offering has one")]
    OnlyReserved,
    #[error("missing, and the embedded table has no hardware figures for this type to compute it from")]
    NoHardware,
}
