//! `millwright crds`.

use millwright_models::karpenter::crds;

use crate::failure::{Failure, Outcome};
use crate::stdio;

/// Prints all definitions, for `kubectl apply --server-side -f -`.
pub fn run() -> Result<Outcome, Failure> {
    stdio::print(|out| {
        for crd in crds::ALL {
            write!(out, "---\n{}", crd.yaml)?;
        }
        Ok(())
    })?;
    Ok(Outcome::Done)
}
