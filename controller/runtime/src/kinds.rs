//! What is watched.

pub use millwright_client::kinds::Watched;
use millwright_client::kinds::{ALWAYS, BUFFERS, OVERLAYS};
use millwright_models::catalog::Gates;

/// Everything that decisions under these gates look at.
pub fn watched(gates: &Gates) -> Vec<Watched> {
    let mut all = ALWAYS.to_vec();
    if gates.node_overlay {
        all.extend(OVERLAYS);
    }
    if gates.capacity_buffer {
        all.extend(BUFFERS);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn collections_and_gates() {
        let all = watched(&Gates { node_overlay: true, capacity_buffer: true, ..Gates::default() });
        let paths: Vec<String> = all.iter().map(Watched::path).collect();
        assert!(paths.contains(&"/api/v1/pods".to_owned()));
        assert!(paths.contains(&"/apis/karpenter.sh/v1/nodeclaims".to_owned()));
        assert!(paths.contains(&"/apis/autoscaling.x-k8s.io/v1beta1/capacitybuffers".to_owned()));
        assert_eq!(all.len(), 22);
        assert_eq!(watched(&Gates::default()).len(), 16);
    }
}
