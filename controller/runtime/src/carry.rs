//! Carries out what the brain asks for.

use std::sync::Arc;
use std::time::Instant;

use millwright_core::control::ask::{Ask, Kind, Refusal, Reply, Target};
use millwright_models::catalog::{Catalog, Gates};
use millwright_models::world::World;
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use crate::answer::{Verb, refusal};
use crate::api::{Api, ApiError};
use crate::events::Events;
use crate::metrics::Metrics;
use crate::pace::Pace;
use crate::provider::{Order, Provider};

/// Requests to the API server, and to the provider, at a time.
const AT_A_TIME: usize = 64;
/// Owner of the fields that we write.
const MANAGER: &str = "fieldManager=millwright";

/// Does what is asked, some at a time.
pub struct Carrier {
    api: Api,
    events: Events,
    provider: Arc<dyn Provider>,
    catalog: Arc<Catalog>,
    gates: Gates,
    metrics: Metrics,
    writes: Semaphore,
    machines: Semaphore,
    /// Apart, and slower: news must not hold up what it is about.
    news: Semaphore,
}

impl Carrier {
    pub fn new(api: Api, provider: Arc<dyn Provider>, catalog: Arc<Catalog>, gates: Gates, metrics: Metrics) -> Self {
        Self {
            events: Events::new(api.paced(Pace::new(50.0, 100.0))),
            api,
            provider,
            catalog,
            gates,
            metrics,
            writes: Semaphore::new(AT_A_TIME),
            machines: Semaphore::new(AT_A_TIME),
            news: Semaphore::new(AT_A_TIME),
        }
    }

    /// Carries out `ask`, which was asked while the cluster looked like
    /// `world`. The pods that a [`Ask::Refresh`] found come beside the answer.
    pub async fn carry(&self, ask: &Ask, world: &Arc<World>) -> (Reply, Option<Vec<Value>>) {
        if let Ask::Refresh { node } = ask {
            return match self.pods_on(node).await {
                Ok(pods) => (Reply::Done, Some(pods)),
                Err(error) => (Reply::Refused(refusal(Verb::Other, &error)), None),
            };
        }
        (self.write(ask, world).await, None)
    }

    /// Pods that are bound to a node, as the API server has them now.
    async fn pods_on(&self, node: &str) -> Result<Vec<Value>, ApiError> {
        let mut all = self.api.get(&format!("/api/v1/pods?fieldSelector=spec.nodeName%3D{node}")).await?;
        let Value::Array(mut pods) = all["items"].take() else { return Ok(Vec::new()) };
        for pod in &mut pods {
            pod["apiVersion"] = json!("v1");
            pod["kind"] = json!("Pod");
        }
        Ok(pods)
    }

    async fn write(&self, ask: &Ask, world: &Arc<World>) -> Reply {
        let lanes = match ask {
            Ask::Launch { .. } | Ask::Terminate { .. } | Ask::Describe { .. } | Ask::Instances => &self.machines,
            Ask::Event(_) => &self.news,
            _ => &self.writes,
        };
        // None is ever closed.
        let _lane = lanes.acquire().await.ok();
        match ask {
            Ask::Create { target, object } => {
                stored(self.api.post(&format!("{}?{MANAGER}", collection(target)), object).await)
            }
            Ask::Patch { target, status, body } => {
                let part = if *status { "/status" } else { "" };
                stored(self.api.patch(&format!("{}{part}?{MANAGER}", path(target)), body).await)
            }
            Ask::Delete { target, uid, grace_seconds } => {
                let mut options = json!({"preconditions": {"uid": uid}, "propagationPolicy": "Background"});
                if let Some(seconds) = grace_seconds {
                    options["gracePeriodSeconds"] = json!(seconds);
                }
                done(Verb::Other, self.api.delete(&path(target), &options).await)
            }
            Ask::Bind { pod, uid, node } => {
                let body = json!({
                    "apiVersion": "v1",
                    "kind": "Binding",
                    "metadata": {"name": pod.name, "namespace": pod.namespace, "uid": uid},
                    "target": {"apiVersion": "v1", "kind": "Node", "name": node},
                });
                done(Verb::Other, self.api.post(&format!("{}/binding?{MANAGER}", path(pod)), &body).await)
            }
            Ask::Evict { pod, uid } => self.evict(pod, uid).await,
            Ask::Event(event) => done(Verb::Other, self.events.tell(event).await.map(|()| Value::Null)),
            Ask::Launch { claim, uid, object } => {
                let order = Order {
                    claim: claim.clone(),
                    uid: uid.clone(),
                    object: object.clone(),
                    world: world.clone(),
                    catalog: self.catalog.clone(),
                    gates: self.gates,
                };
                let pool = object["metadata"]["labels"]["karpenter.sh/nodepool"].as_str().unwrap_or_default();
                let launched = self.timed("Create", pool, self.provider.launch(order)).await;
                launched.map_or_else(Reply::Refused, Reply::Launched)
            }
            Ask::Terminate { claim, provider_id } => {
                let pool = world.node_claim(claim).and_then(|c| c.meta.labels.get("karpenter.sh/nodepool"));
                let pool = pool.map_or("", String::as_str);
                let ended = self.timed("Delete", pool, self.provider.terminate(provider_id)).await;
                ended.map_or_else(Reply::Refused, |()| Reply::Done)
            }
            Ask::Describe { provider_id, .. } => {
                let found = self.timed("Get", "", self.provider.describe(provider_id)).await;
                found.map_or_else(Reply::Refused, |one| Reply::Instances(vec![one]))
            }
            // Is no write; see `carry`.
            Ask::Refresh { .. } => Reply::Done,
            Ask::Instances => {
                self.timed("List", "", self.provider.instances()).await.map_or_else(Reply::Refused, Reply::Instances)
            }
        }
    }

    async fn evict(&self, pod: &Target, uid: &str) -> Reply {
        let body = json!({
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {"name": pod.name, "namespace": pod.namespace},
            "deleteOptions": {"preconditions": {"uid": uid}},
        });
        let answer = self.api.post(&format!("{}/eviction", path(pod)), &body).await;
        done(Verb::Evict, answer)
    }

    /// A call of the provider, with how long it took and how it failed.
    async fn timed<T>(
        &self,
        method: &str,
        pool: &str,
        call: impl Future<Output = Result<T, Refusal>>,
    ) -> Result<T, Refusal> {
        let begun = Instant::now();
        let answer = call.await;
        let provider = self.provider.name();
        let labels = [("controller", ""), ("method", method), ("provider", provider)];
        self.metrics.observe("cloudprovider_duration_seconds", &labels, begun.elapsed());
        if let Err(error) = &answer {
            let [controller, method, provider] = labels;
            let labels = [controller, method, provider, ("error", error_name(error)), ("nodepool", pool)];
            self.metrics.count("cloudprovider_errors_total", &labels);
        }
        answer
    }
}

/// As the label `error` has it.
fn error_name(error: &Refusal) -> &'static str {
    match error {
        Refusal::NotFound => "NodeClaimNotFoundError",
        Refusal::InsufficientCapacity { .. } => "InsufficientCapacityError",
        Refusal::NodeClassNotReady { .. } => "NodeClassNotReadyError",
        _ => "unknown",
    }
}

/// The answer that brings the object as it is stored now.
fn stored(answer: Result<Value, ApiError>) -> Reply {
    match answer {
        Ok(mut object) => {
            if let Some(meta) = object["metadata"].as_object_mut() {
                meta.remove("managedFields");
            }
            Reply::Object(object)
        }
        Err(error) => Reply::Refused(refusal(Verb::Other, &error)),
    }
}

/// The answer of which only success counts.
fn done(verb: Verb, answer: Result<Value, ApiError>) -> Reply {
    match answer {
        Ok(_) => Reply::Done,
        Err(error) => Reply::Refused(refusal(verb, &error)),
    }
}

fn collection(target: &Target) -> String {
    let version = target.kind.api_version();
    let root = if version.contains('/') { "/apis" } else { "/api" };
    let namespace = match target.namespace.as_str() {
        "" => String::new(),
        name => format!("/namespaces/{name}"),
    };
    format!("{root}/{version}{namespace}/{}", target.kind.plural())
}

fn path(target: &Target) -> String {
    format!("{}/{}", collection(target), target.name)
}

/// The object that news of a watch or an answer is about, if it is of a kind
/// that is written.
pub fn target(api_version: &str, kind: &str, namespace: &str, name: &str) -> Option<Target> {
    const WRITTEN: [Kind; 6] =
        [Kind::Pod, Kind::Node, Kind::NodeClaim, Kind::NodePool, Kind::NodeClass, Kind::CapacityBuffer];
    let of = |k: &Kind| k.name() == kind && k.api_version() == api_version;
    WRITTEN.into_iter().find(of).map(|kind| Target::new(kind, namespace, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_have_their_paths() {
        assert_eq!(path(&Target::pod("web", "p1")), "/api/v1/namespaces/web/pods/p1");
        assert_eq!(path(&Target::claim("c1")), "/apis/karpenter.sh/v1/nodeclaims/c1");
        let buffer = Target::new(Kind::CapacityBuffer, "web", "b");
        assert_eq!(path(&buffer), "/apis/autoscaling.x-k8s.io/v1beta1/namespaces/web/capacitybuffers/b");
        assert_eq!(target("v1", "Node", "", "n1"), Some(Target::node("n1")));
        assert_eq!(target("apps/v1", "DaemonSet", "x", "d"), None);
    }

    #[test]
    fn the_stored_object_comes_without_its_managers() {
        let object = json!({"metadata": {"name": "a", "managedFields": [{}]}});
        assert_eq!(stored(Ok(object)), Reply::Object(json!({"metadata": {"name": "a"}})));
    }
}
