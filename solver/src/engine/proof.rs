use crate::bound::{Certifier, Round, Served, served};
use crate::certificate::Certificate;
use crate::instance::{Instance, Micros};
use crate::plan::Plan;
use std::sync::atomic::{AtomicI64, Ordering};

/// A bound for what a plan serves.
#[derive(Clone, Debug)]
pub struct Proof {
    /// The pods it is for.
    pub served: Vec<Served>,
    /// The bound.
    pub bound: Micros,
    /// Its certificate.
    pub certificate: Certificate,
}

/// Rounds of proof until `stop`, at most `rounds`. The bound so far is told
/// to `tell`.
pub fn prove(
    instance: &Instance,
    served: Vec<Served>,
    rounds: u64,
    tell: &AtomicI64,
    stop: &dyn Fn() -> bool,
) -> Proof {
    let mut certifier = Certifier::new(instance, &served);
    tell.fetch_max(certifier.fluid(), Ordering::Relaxed);
    let mut done = 0;
    while done < rounds && !stop() {
        done += 1;
        match certifier.round(stop) {
            Round::Better => {
                tell.fetch_max((certifier.estimate() * 1e6).floor() as i64, Ordering::Relaxed);
            }
            Round::Same => {}
            Round::Converged | Round::Stopped => break,
        }
    }
    let (bound, certificate) = certifier.best();
    let certificate = certificate.clone();
    Proof { served, bound, certificate }
}

/// The proof for a plan: the one at hand if it is for the same pods, else
/// that of the fluid relaxation.
pub fn settle(instance: &Instance, plan: &Plan, proof: Option<Proof>) -> (Micros, Certificate) {
    let wanted = served(instance, plan);
    if let Some(proof) = proof
        && proof.served == wanted
    {
        return (proof.bound, proof.certificate);
    }
    let mut certifier = Certifier::new(instance, &wanted);
    certifier.fluid();
    let (bound, certificate) = certifier.best();
    (bound, certificate.clone())
}
