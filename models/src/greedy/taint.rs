//! Which pods tolerate which taints, asked once per pair of lists.

use rustc_hash::FxHashMap;

use crate::kube::node::{Taint, untolerated};
use crate::kube::pod::Toleration;

/// Number of a list of taints.
pub(super) type TaintsId = u32;
/// Number of a list of tolerations.
pub(super) type TolerationsId = u32;

/// All lists met so far.
#[derive(Debug, Default)]
pub(super) struct TaintBook {
    taints: Vec<Vec<Taint>>,
    tolerations: Vec<Vec<Toleration>>,
    taint_ids: FxHashMap<Vec<Taint>, TaintsId>,
    toleration_ids: FxHashMap<Vec<Toleration>, TolerationsId>,
    known: FxHashMap<(TaintsId, TolerationsId), bool>,
}

impl TaintBook {
    pub fn taints_id(&mut self, taints: &[Taint]) -> TaintsId {
        let mut sorted = taints.to_vec();
        sorted.sort_by(|a, b| (&a.key, &a.value, &a.effect).cmp(&(&b.key, &b.value, &b.effect)));
        *self.taint_ids.entry(sorted).or_insert_with_key(|list| {
            self.taints.push(list.clone());
            self.taints.len() as TaintsId - 1
        })
    }

    pub fn tolerations_id(&mut self, tolerations: &[Toleration]) -> TolerationsId {
        *self.toleration_ids.entry(tolerations.to_vec()).or_insert_with_key(|list| {
            self.tolerations.push(list.clone());
            self.tolerations.len() as TolerationsId - 1
        })
    }

    pub fn tolerates(&mut self, tolerations: TolerationsId, taints: TaintsId) -> bool {
        *self.known.entry((taints, tolerations)).or_insert_with(|| {
            untolerated(&self.taints[taints as usize], &self.tolerations[tolerations as usize]).is_none()
        })
    }

    /// The first taint in the way.
    pub fn obstacle(&self, tolerations: TolerationsId, taints: TaintsId) -> Option<&Taint> {
        untolerated(&self.taints[taints as usize], &self.tolerations[tolerations as usize])
    }
}
