//! What the user chooses.

use crate::catalog::Gates;
pub use crate::greedy::{MinValuesPolicy, PreferencePolicy};

/// Options of the compiler.
#[derive(Clone, Debug)]
pub struct Settings {
    pub preferences: PreferencePolicy,
    pub min_values: MinValuesPolicy,
    pub gates: Gates,
    /// How many spot types each spot launch must be able to choose from.
    pub spot_types: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            preferences: PreferencePolicy::Respect,
            min_values: MinValuesPolicy::Strict,
            gates: Gates::default(),
            spot_types: 5,
        }
    }
}
