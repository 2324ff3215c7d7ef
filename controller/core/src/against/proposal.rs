//! Moves that somebody proposes: what goes, what comes.

use millwright_models::karpenter::labels::{CAPACITY_TYPE, INSTANCE_TYPE, NODEPOOL, ZONE};
use millwright_models::kube::selector::{Expression, Operator};
use serde::Deserialize;
use serde_json::Value;

/// The `apiVersion` and `kind` of a proposal of our own form.
pub const API_VERSION: &str = "millwright.dev/v1";
pub const KIND: &str = "Proposal";

/// Nodes that go and machines that come, together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Proposal {
    /// Names of nodes or of their NodeClaims.
    pub remove: Vec<String>,
    pub launch: Vec<Launch>,
}

/// A machine to launch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Launch {
    pub name: String,
    /// Its NodePool; where it is not told, that of the first node that goes.
    pub pool: Option<String>,
    /// What it must be.
    pub requirements: Vec<Expression>,
}

/// Why a document is no proposal.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProposalError {
    #[error("document {0}: it is neither a NodeClaim, nor a {KIND} ({API_VERSION}), nor a line of Karpenter's log")]
    Form(usize),
    #[error("document {document}: {field}: {message}")]
    Field { document: usize, field: String, message: String },
    #[error("it holds nothing to remove and nothing to launch")]
    Empty,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Written {
    #[serde(rename = "apiVersion")]
    _api_version: String,
    #[serde(rename = "kind")]
    _kind: String,
    #[serde(default)]
    remove: Vec<String>,
    #[serde(default)]
    launch: Vec<WrittenLaunch>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct WrittenLaunch {
    node_pool: Option<String>,
    instance_type: String,
    zone: Option<String>,
    capacity_type: Option<String>,
    count: Option<usize>,
}

/// Machines of one entry, at most.
const MOST: usize = 10_000;

impl Proposal {
    /// Puts all documents together. NodeClaims are machines to launch.
    pub fn read(documents: &[Value]) -> Result<Self, ProposalError> {
        let mut all = Self::default();
        for (i, value) in documents.iter().enumerate().filter(|(_, v)| !v.is_null()) {
            all.add(i + 1, value)?;
        }
        if all.remove.is_empty() && all.launch.is_empty() { Err(ProposalError::Empty) } else { Ok(all) }
    }

    fn add(&mut self, document: usize, value: &Value) -> Result<(), ProposalError> {
        let text = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default();
        match (text("apiVersion"), text("kind")) {
            (API_VERSION, KIND) => self.add_written(document, value),
            (_, "NodeClaim") => self.add_claim(document, value),
            (_, "List" | "NodeClaimList") => {
                let items = value.get("items").and_then(Value::as_array);
                items.into_iter().flatten().try_for_each(|item| self.add(document, item))
            }
            _ if value.get("disrupted-nodes").is_some() => self.add_logged(document, value),
            _ => self.add_told(document, text("message")),
        }
    }

    fn add_written(&mut self, document: usize, value: &Value) -> Result<(), ProposalError> {
        let written: Written = serde_json::from_value(value.clone()).map_err(|e| ProposalError::Field {
            document,
            field: KIND.to_owned(),
            message: e.to_string(),
        })?;
        self.remove.extend(written.remove);
        for (i, launch) in written.launch.into_iter().enumerate() {
            let count = launch.count.unwrap_or(1);
            if count == 0 || count > MOST {
                let message = format!("{count} is not from 1 to {MOST}");
                return Err(ProposalError::Field { document, field: format!("launch[{i}].count"), message });
            }
            let mut requirements = vec![is(INSTANCE_TYPE, &[launch.instance_type])];
            requirements.extend(launch.zone.map(|z| is(ZONE, &[z])));
            requirements.extend(launch.capacity_type.map(|c| is(CAPACITY_TYPE, &[c])));
            for _ in 0..count {
                self.launch(None, launch.node_pool.clone(), requirements.clone());
            }
        }
        Ok(())
    }

    fn add_claim(&mut self, document: usize, value: &Value) -> Result<(), ProposalError> {
        let given = value.pointer("/spec/requirements").cloned().unwrap_or(Value::Array(Vec::new()));
        let requirements: Vec<Expression> = serde_json::from_value(given).map_err(|e| ProposalError::Field {
            document,
            field: "spec.requirements".to_owned(),
            message: e.to_string(),
        })?;
        let label = |key: &str| value.pointer("/metadata/labels")?.get(key)?.as_str().map(str::to_owned);
        let named = |key: &str| requirements.iter().find(|e| e.key == key && e.values.len() == 1);
        let pool = label(NODEPOOL).or_else(|| named(NODEPOOL).map(|e| e.values[0].clone()));
        let name = value.pointer("/metadata/name").and_then(Value::as_str).map(str::to_owned);
        let requirements = requirements.into_iter().filter(|e| e.key != NODEPOOL).collect();
        self.launch(name, pool, requirements);
        Ok(())
    }

    /// A structured line about a command, as of Karpenter 1.3.
    fn add_logged(&mut self, document: usize, value: &Value) -> Result<(), ProposalError> {
        let list = |key: &str| value.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
        for (i, node) in list("disrupted-nodes").iter().enumerate() {
            let name = ["/Node/name", "/NodeClaim/name"].iter().find_map(|p| node.pointer(p)?.as_str());
            let Some(name) = name else {
                let field = format!("disrupted-nodes[{i}]");
                return Err(ProposalError::Field { document, field, message: "it names no node".to_owned() });
            };
            self.remove.push(name.to_owned());
        }
        for (i, node) in list("replacement-nodes").iter().enumerate() {
            let text = |key: &str| node.get(key).and_then(Value::as_str).filter(|t| !t.is_empty());
            let Some(types) = text("instance-types") else {
                let field = format!("replacement-nodes[{i}].instance-types");
                return Err(ProposalError::Field { document, field, message: "it is missing".to_owned() });
            };
            let mut requirements = vec![is(INSTANCE_TYPE, &types_of(types))];
            requirements.extend(text("capacity-type").map(|c| is(CAPACITY_TYPE, &capacity_types(c))));
            self.launch(None, text("nodepool").map(str::to_owned), requirements);
        }
        Ok(())
    }

    /// A line in words, as before: `… terminating 2 nodes (3 pods)
    /// NAME/TYPE/CAPACITY, … and replacing with spot node from types A, B and 3
    /// other(s)`.
    fn add_told(&mut self, document: usize, text: &str) -> Result<(), ProposalError> {
        let form = ProposalError::Form(document);
        let Some((_, rest)) = text.split_once("terminating ") else { return Err(form) };
        let (goes, comes) = match rest.split_once(" and replacing with ") {
            Some((goes, comes)) => (goes, Some(comes)),
            None => (rest, None),
        };
        let before = self.remove.len();
        let names = goes.split([',', ' ']).filter_map(|word| word.split_once('/')).map(|(name, _)| name);
        self.remove.extend(names.filter(|n| !n.is_empty()).map(str::to_owned));
        if self.remove.len() == before {
            return Err(form);
        }
        if let Some(comes) = comes {
            let Some((head, types)) = comes.split_once(" from types ") else { return Err(form) };
            let kinds: Vec<String> = head.split_whitespace().map(str::to_owned).collect();
            let mut requirements = vec![is(INSTANCE_TYPE, &types_of(types))];
            let kind = kinds.iter().find(|w| ["spot", "on-demand", "reserved"].contains(&w.as_str()));
            requirements.extend(kind.map(|k| is(CAPACITY_TYPE, std::slice::from_ref(k))));
            self.launch(None, None, requirements);
        }
        Ok(())
    }

    fn launch(&mut self, name: Option<String>, pool: Option<String>, requirements: Vec<Expression>) {
        let name = name.unwrap_or_else(|| format!("proposed-{}", self.launch.len()));
        self.launch.push(Launch { name, pool, requirements });
    }
}

fn is(key: &str, values: &[String]) -> Expression {
    Expression { key: key.to_owned(), operator: Operator::In, values: values.to_vec(), min_values: None }
}

/// `A, B and 28 other(s)`: those that are named, which are the cheapest.
fn types_of(text: &str) -> Vec<String> {
    let named = text.split(" and ").next().unwrap_or_default();
    named.split(',').map(|t| t.trim().to_owned()).filter(|t| !t.is_empty()).collect()
}

fn capacity_types(text: &str) -> Vec<String> {
    text.split([',', '/', ' ']).filter(|t| !t.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn types(l: &Launch) -> Vec<&str> {
        l.requirements.iter().find(|e| e.key == INSTANCE_TYPE).unwrap().values.iter().map(String::as_str).collect()
    }

    #[test]
    fn our_own_form() {
        let value = json!({"apiVersion": "millwright.dev/v1", "kind": "Proposal", "remove": ["a", "b"],
            "launch": [{"nodePool": "p", "instanceType": "m.large", "zone": "z", "capacityType": "spot", "count": 2}]});
        let p = Proposal::read(&[value]).unwrap();
        assert_eq!(p.remove, ["a", "b"]);
        assert_eq!(p.launch.len(), 2);
        assert_eq!((p.launch[1].name.as_str(), p.launch[1].pool.as_deref()), ("proposed-1", Some("p")));
        assert_eq!(p.launch[0].requirements.len(), 3);
    }

    #[test]
    fn claims_are_machines_to_launch() {
        let value = json!({"kind": "List", "items": [{"apiVersion": "karpenter.sh/v1", "kind": "NodeClaim",
            "metadata": {"name": "c", "labels": {"karpenter.sh/nodepool": "p"}},
            "spec": {"requirements": [{"key": INSTANCE_TYPE, "operator": "In", "values": ["x", "y"]}]}}]});
        let p = Proposal::read(&[value]).unwrap();
        assert_eq!((p.launch[0].name.as_str(), p.launch[0].pool.as_deref()), ("c", Some("p")));
        assert_eq!(types(&p.launch[0]), ["x", "y"]);
    }

    #[test]
    fn lines_of_karpenters_log() {
        let line = json!({"message": "disrupting node(s)", "decision": "replace",
            "disrupted-nodes": [{"Node": {"name": "ip-1"}, "NodeClaim": {"name": "c1"}, "instance-type": "m.large"}],
            "replacement-nodes": [{"capacity-type": "spot", "instance-types": "a.large, b.large and 28 other(s)"}]});
        let p = Proposal::read(&[line]).unwrap();
        assert_eq!((p.remove.as_slice(), types(&p.launch[0])), (&["ip-1".to_owned()][..], vec!["a.large", "b.large"]));
        let told = json!({"message": "disrupting nodeclaim(s) via replace, terminating 2 nodes (3 pods) \
            ip-1/r6i.large/on-demand, ip-2/r6i.large/spot and replacing with on-demand node from types r5.large, \
            r5.metal and 8 other(s)"});
        let p = Proposal::read(&[told]).unwrap();
        assert_eq!(p.remove, ["ip-1", "ip-2"]);
        assert_eq!(types(&p.launch[0]), ["r5.large", "r5.metal"]);
        assert_eq!(p.launch[0].requirements[1].values, ["on-demand"]);
        let delete = json!({"message": "disrupting via drift delete, terminating 1 nodes (4 pods) ip-3/t/spot"});
        assert_eq!(Proposal::read(&[delete]).unwrap().remove, ["ip-3"]);
    }

    #[test]
    fn what_is_no_proposal() {
        assert_eq!(Proposal::read(&[]), Err(ProposalError::Empty));
        assert_eq!(Proposal::read(&[json!({"kind": "Pod"})]), Err(ProposalError::Form(1)));
        let wrong = json!({"apiVersion": "millwright.dev/v1", "kind": "Proposal", "delete": ["a"]});
        assert!(Proposal::read(&[wrong]).unwrap_err().to_string().contains("unknown field `delete`"));
        let none = json!({"apiVersion": "millwright.dev/v1", "kind": "Proposal",
            "launch": [{"instanceType": "m", "count": 0}]});
        assert!(Proposal::read(&[none]).unwrap_err().to_string().contains("launch[0].count"));
    }
}
