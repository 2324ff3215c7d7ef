//! What the user chooses.

use crate::catalog::Gates;

/// How preferences of pods are treated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PreferencePolicy {
    /// As requirements first, given up in a fixed order where they cannot be met.
    #[default]
    Respect,
    /// Not looked at.
    Ignore,
}

/// What happens where `minValues` cannot be met.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MinValuesPolicy {
    /// The launch is refused.
    #[default]
    Strict,
    /// The demand is lowered to what there is.
    BestEffort,
}

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
