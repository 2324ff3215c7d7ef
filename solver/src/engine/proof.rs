use super::timing::Timing;
use crate::bound::{Certifier, Round, Served, served};
use crate::certificate::{Certificate, Item};
use crate::check;
use crate::instance::{Instance, Micros};
use crate::plan::Plan;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

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

/// Rounds of proof until `timing` or `done` says stop, at most `rounds`. The
/// bound so far is told to `tell`.
pub fn prove(
    instance: &Instance,
    served: Vec<Served>,
    rounds: u64,
    tell: &AtomicI64,
    mut timing: Timing,
    done: &AtomicBool,
) -> Proof {
    let mut certifier = Certifier::new(instance, &served);
    certifier.start();
    // Verifying the first bound tells how long the last one will take.
    let first = timing.landing(|| certifier.best().0);
    tell.fetch_max(first, Ordering::Relaxed);
    let stop = || timing.up() || done.load(Ordering::Relaxed);
    for _ in 0..rounds {
        if stop() {
            break;
        }
        match certifier.round(&stop) {
            Round::Better => {
                tell.fetch_max((certifier.estimate() * 1e6).floor() as i64, Ordering::Relaxed);
            }
            Round::Same => {}
            Round::Converged | Round::Stopped => break,
        }
    }
    let due = timing.due();
    let (bound, certificate) = certifier.best_until(&|| due.up());
    let certificate = certificate.clone();
    Proof { served, bound, certificate }
}

/// Everybody in the first tier, as far as somewhere admits them.
pub fn everyone(instance: &Instance) -> Vec<Served> {
    let shapes = instance.shapes.iter().enumerate();
    shapes.filter(|(_, s)| s.count > 0 && !s.tiers.is_empty()).map(|(s, shape)| (s, 0, shape.count)).collect()
}

/// The proof for a plan: the one at hand, fitted to the pods that the plan
/// serves, else that of the fluid relaxation.
pub fn settle(instance: &Instance, plan: &Plan, proof: Option<Proof>) -> (Micros, Certificate) {
    let wanted = served(instance, plan);
    if let Some(proof) = proof {
        if proof.served == wanted {
            return (proof.bound, proof.certificate);
        }
        let fitted = fitted(proof.certificate, &wanted);
        if let Ok(bound) = check::certificate(instance, plan, &fitted)
            && bound > 0
        {
            return (bound, fitted);
        }
    }
    let mut certifier = Certifier::new(instance, &wanted);
    certifier.fluid();
    let (bound, certificate) = certifier.best();
    (bound, certificate.clone())
}

/// The same values for other pods: those without a value of their own take
/// that of another tier of their shape, since a bin is worth no more for it
/// only where the check says so.
fn fitted(mut certificate: Certificate, wanted: &[Served]) -> Certificate {
    let of: BTreeMap<(usize, usize), Item> =
        certificate.items.drain(..).map(|item| ((item.shape, item.tier), item)).collect();
    let item = |&(shape, tier, count): &Served| {
        let known = of.get(&(shape, tier)).or_else(|| of.range((shape, 0)..=(shape, usize::MAX)).next().map(|x| x.1));
        match known {
            Some(item) => Item { shape, tier, count, ..item.clone() },
            None => Item { shape, tier, count, dual: 0, by_domain: None },
        }
    };
    certificate.items = wanted.iter().filter(|s| s.2 > 0).map(item).collect();
    certificate
}
