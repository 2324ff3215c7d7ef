//! The kubelets of all nodes, in one: machines boot, pods run, what is asked
//! to end ends.

mod nodes;
mod pods;

use std::sync::Arc;
use std::time::Duration;

use millwright_runtime::api::Api;
use millwright_runtime::kinds::Watched;
use millwright_runtime::watch::{News, follow};
use serde_json::Value;
use tokio::sync::{Semaphore, mpsc};

/// Requests at a time.
const AT_A_TIME: usize = 32;

const PODS: Watched = Watched { api_version: "v1", kind: "Pod", plural: "pods", required: true };
const NODES: Watched = Watched { api_version: "v1", kind: "Node", plural: "nodes", required: true };

/// How long things take.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// From the creation of a node until it is Ready.
    pub boot: Duration,
    /// Nodes of different names differ by up to this.
    pub spread: Duration,
    /// From being asked to end until a pod is gone, its grace period at most.
    pub end: Duration,
}

/// Plays the kubelets until the task is dropped.
pub async fn play(api: Api, pace: Pace) {
    let (news, mut taken) = mpsc::channel(1024);
    let pods = follow(api.clone(), PODS, news.clone());
    let nodes = follow(api.clone(), NODES, news);
    let permits = Arc::new(Semaphore::new(AT_A_TIME));
    let playing = async {
        while let Some(one) = taken.recv().await {
            let News::Applied(object) = one else { continue };
            let Some((wait, step)) = due(&object, pace) else { continue };
            let (api, permits) = (api.clone(), permits.clone());
            tokio::spawn(async move {
                tokio::time::sleep(wait).await;
                // Never closed.
                let _permit = permits.acquire().await.ok();
                step.take(&api, &object).await;
            });
        }
    };
    tokio::join!(pods, nodes, playing);
}

/// Something that a kubelet does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Boot,
    Run,
    End,
}

/// What a kubelet does about an object next, and after how long.
fn due(object: &Value, pace: Pace) -> Option<(Duration, Step)> {
    match object["kind"].as_str() {
        Some("Node") => Some((nodes::boots_in(object, pace)?, Step::Boot)),
        Some("Pod") => pods::next(object, pace),
        _ => None,
    }
}

impl Step {
    async fn take(self, api: &Api, object: &Value) {
        let done = match self {
            Self::Boot => nodes::boot(api, object).await,
            Self::Run => pods::run(api, object).await,
            Self::End => pods::end(api, object).await,
        };
        match done {
            Err(error) if !error.is_not_found() && !error.is_conflict() => {
                tracing::warn!(step = ?self, error = %error, "a kubelet failed");
            }
            _ => {}
        }
    }
}
