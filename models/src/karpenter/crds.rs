//! The CustomResourceDefinitions of the kinds that are Karpenter's, as they
//! are installed. (10-api §1 to §6, 50-aws §1)

/// A definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crd {
    /// `nodepools.karpenter.sh`
    pub name: &'static str,
    pub yaml: &'static str,
}

/// All of them, by name.
pub const ALL: [Crd; 5] = [
    Crd {
        name: "capacitybuffers.autoscaling.x-k8s.io",
        yaml: include_str!("../../../deploy/crds/autoscaling.x-k8s.io_capacitybuffers.yaml"),
    },
    Crd {
        name: "ec2nodeclasses.karpenter.k8s.aws",
        yaml: include_str!("../../../deploy/crds/karpenter.k8s.aws_ec2nodeclasses.yaml"),
    },
    Crd { name: "nodeclaims.karpenter.sh", yaml: include_str!("../../../deploy/crds/karpenter.sh_nodeclaims.yaml") },
    Crd {
        name: "nodeoverlays.karpenter.sh",
        yaml: include_str!("../../../deploy/crds/karpenter.sh_nodeoverlays.yaml"),
    },
    Crd { name: "nodepools.karpenter.sh", yaml: include_str!("../../../deploy/crds/karpenter.sh_nodepools.yaml") },
];

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn definitions() -> Vec<Value> {
        ALL.iter().map(|crd| serde_saphyr::from_str(crd.yaml).unwrap()).collect()
    }

    /// `Name`, or `Name@1` where only wide output has it.
    fn columns(definition: &Value) -> Vec<String> {
        let all = definition["spec"]["versions"][0]["additionalPrinterColumns"].as_array().unwrap();
        let name = |c: &Value| match c["priority"].as_i64() {
            Some(p) => format!("{}@{p}", c["name"].as_str().unwrap()),
            None => c["name"].as_str().unwrap().to_owned(),
        };
        all.iter().map(name).collect()
    }

    #[test]
    fn each_is_what_its_name_says() {
        let definitions = definitions();
        for (crd, definition) in ALL.iter().zip(&definitions) {
            let spec = &definition["spec"];
            let text = |v: &Value| v.as_str().unwrap().to_owned();
            assert_eq!(definition["metadata"]["name"], crd.name);
            assert_eq!(format!("{}.{}", text(&spec["names"]["plural"]), text(&spec["group"])), crd.name);
            let versions = spec["versions"].as_array().unwrap();
            assert_eq!(versions.len(), 1);
            assert!(versions[0]["served"] == true && versions[0]["storage"] == true);
            assert!(versions[0]["subresources"]["status"].is_object(), "{}", crd.name);
        }
        let facts: Vec<Value> = definitions
            .iter()
            .map(|d| {
                let spec = &d["spec"];
                let version = &spec["versions"][0];
                json!([
                    spec["names"]["kind"],
                    version["name"],
                    spec["scope"],
                    spec["names"]["shortNames"],
                    spec["names"]["categories"][0]
                ])
            })
            .collect();
        assert_eq!(
            facts,
            [
                json!(["CapacityBuffer", "v1beta1", "Namespaced", ["cb"], "autoscaling"]),
                json!(["EC2NodeClass", "v1", "Cluster", ["ec2nc", "ec2ncs"], "karpenter"]),
                json!(["NodeClaim", "v1", "Cluster", null, "karpenter"]),
                json!(["NodeOverlay", "v1alpha1", "Cluster", ["overlays"], "karpenter"]),
                json!(["NodePool", "v1", "Cluster", null, "karpenter"]),
            ]
        );
        let scale = &definitions[4]["spec"]["versions"][0]["subresources"]["scale"];
        assert_eq!(*scale, json!({"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.nodes"}));
    }

    #[test]
    fn columns_are_those_that_users_know() {
        let expected: [&[&str]; 5] = [
            &["Strategy", "PodTemplate", "Replicas", "ConditionsType", "ConditionsStatus", "ConditionsReason", "Age"],
            &["Ready", "Age", "Role@1"],
            &[
                "Type",
                "Capacity",
                "Zone",
                "Node",
                "Ready",
                "Age",
                "ImageID@1",
                "ID@1",
                "NodePool@1",
                "NodeClass@1",
                "Drifted@1",
            ],
            &["Ready", "Age", "Weight@1"],
            &["NodeClass", "Nodes", "Ready", "Age", "Weight@1", "CPU@1", "Memory@1"],
        ];
        let found: Vec<Vec<String>> = definitions().iter().map(columns).collect();
        assert_eq!(found, expected);
    }
}
