//! What a provider may ask of a node before it is let in. (spec 40 §4.1)

use jiff::SignedDuration;
use millwright_models::karpenter::nodeclaim::NodeClaim;
use millwright_models::kube::meta::Labels;
use millwright_models::kube::node::Node;

/// A condition of the provider's own on registration.
pub trait Hook {
    fn name(&self) -> &str;

    /// Judges a node that has joined for the claim.
    fn judge(&mut self, claim: &NodeClaim, node: &Node) -> Verdict;
}

/// What a hook finds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The node may register; these labels go to claim and node.
    Passed(Labels),
    /// Not yet: look again after this.
    Pending(SignedDuration),
    /// It could not be found out.
    Failed(String),
}

/// What all hooks found.
#[derive(Clone, Debug, Default)]
pub(super) struct Findings {
    pub labels: Labels,
    /// Names of those that do not let the node in.
    pub pending: Vec<String>,
    pub again: Option<SignedDuration>,
    pub errors: Vec<String>,
}

pub(super) fn judge(hooks: &mut [Box<dyn Hook + Send>], claim: &NodeClaim, node: &Node) -> Findings {
    let mut findings = Findings::default();
    for hook in hooks {
        match hook.judge(claim, node) {
            Verdict::Passed(labels) => findings.labels.extend(labels),
            Verdict::Pending(after) => {
                findings.pending.push(hook.name().to_owned());
                findings.again = Some(findings.again.map_or(after, |a| a.min(after)));
            }
            Verdict::Failed(message) => {
                findings.pending.push(hook.name().to_owned());
                findings.errors.push(format!("{}: {message}", hook.name()));
            }
        }
    }
    findings
}
