//! Why a pod stays pending, and what would help.

mod change;
mod relax;
mod whereabouts;

use millwright_models::catalog::Catalog;
use millwright_models::lift::Lifted;
use millwright_models::lower::Witness;
use millwright_models::world::World;
use millwright_solver::instance::Micros;

use crate::provision::{Clock, Options, PlanError, Solved, fall_back, solved};

pub use change::Change;
pub use relax::Relaxation;
pub use whereabouts::Whereabouts;

/// Why a pod cannot be explained.
#[derive(Debug, thiserror::Error)]
pub enum ExplainError {
    /// The input has no such pod.
    #[error("there is no pod {name}{hint}")]
    NoPod { name: String, hint: String },
    /// There is no plan.
    #[error(transparent)]
    Plan(#[from] PlanError),
}

/// What becomes of a pod.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// `namespace/name`.
    pub pod: String,
    pub whereabouts: Whereabouts,
    /// The smallest set of reasons that it stays pending; none if it does not.
    pub reasons: Vec<String>,
    /// What would help, the cheapest first.
    pub relaxations: Vec<Relaxation>,
    /// Price of what the plan buys.
    pub cost: Micros,
    pub warnings: Vec<String>,
}

/// Explains the pod `namespace/name` by the plan that [`crate::provision::plan`]
/// makes with the same options.
pub fn pod(
    world: &World,
    catalog: &Catalog,
    options: &Options,
    clock: Clock<'_>,
    namespace: &str,
    name: &str,
) -> Result<Explanation, ExplainError> {
    let index = find(world, namespace, name)?;
    let mut solved = solved(world, catalog, options, clock)?;
    if options.baseline {
        fall_back(&mut solved, options, clock);
    }
    let Solved { lowered, outcome, lifted, .. } = solved;
    let whereabouts = Whereabouts::of(world, &lifted, index);
    let mut out = Explanation {
        pod: world.pods[index].full_name(),
        reasons: lifted.unscheduled.iter().find(|(p, _)| *p == index).map(|(_, why)| why.clone()).unwrap_or_default(),
        whereabouts,
        relaxations: Vec::new(),
        cost: lifted.cost,
        warnings: world.warnings.clone(),
    };
    out.warnings.extend(lowered.warnings.iter().filter(|w| !world.warnings.contains(w)).cloned());
    let shape = lowered.shape_pods.iter().position(|pods| pods.binary_search(&index).is_ok());
    if let (Whereabouts::Pending, Some(shape)) = (&out.whereabouts, shape) {
        let mut witness = Witness::new(&lowered, &outcome.plan);
        let why = witness.why(index, shape);
        out.reasons.extend(witness.bystanders(shape, &why));
        let tries = relax::proposals(&lowered, &witness, &why, index);
        out.relaxations = relax::helpful(world, catalog, options, clock, index, &lifted, tries)?;
    }
    Ok(out)
}

fn find(world: &World, namespace: &str, name: &str) -> Result<usize, ExplainError> {
    let at = world.pods.binary_search_by(|p| (&*p.namespace, &*p.name).cmp(&(namespace, name)));
    at.map_err(|_| {
        let elsewhere = world.pods.iter().find(|p| p.name == name);
        let longer = || world.pods.iter().find(|p| p.namespace == namespace && p.name.starts_with(name));
        let alike = elsewhere.or_else(longer);
        let hint = alike.map_or_else(String::new, |p| format!("; is {} meant?", p.full_name()));
        ExplainError::NoPod { name: format!("{namespace}/{name}"), hint }
    })
}

/// Whether a plan places the pod.
fn places(lifted: &Lifted, pod: usize) -> bool {
    lifted.unscheduled.iter().all(|(p, _)| *p != pod)
}
