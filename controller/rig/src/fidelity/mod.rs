//! How much of a tight plan comes true on the real scheduler.
//!
//! Nodes turn Ready some seconds apart, as real ones do. Left to itself the
//! scheduler fills whatever comes first.

mod cluster;
mod node;

use std::ops::Range;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::api::{ApiError, Patch};
use crate::legality::unschedulable;
use crate::objects;
use crate::room::{Room, RoomError};
use cluster::Cluster;

const PODS: &str = "/api/v1/namespaces/default/pods";
const DAEMON_SETS: &str = "/apis/apps/v1/namespaces/default/daemonsets";
/// The scheduler tries again after 10 seconds at most; who has waited longer
/// waits for good.
const PATIENCE: Duration = Duration::from_secs(12);

/// How pods come to the nodes that were planned for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// The scheduler does as it likes.
    Plain,
    /// Each pod is nominated to its node before there is one.
    Nominated,
    /// Each node is held by a cordon until its pods are bound.
    Landed,
}

/// What came true.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Score {
    pub pods: usize,
    pub bound: usize,
    pub as_planned: usize,
    pub clusters: usize,
    /// Clusters all of whose pods are bound.
    pub complete: usize,
    /// Clusters all of whose pods are bound as planned.
    pub exact: usize,
    pub nodes: usize,
    /// Nodes whose DaemonSet pod is there in the end.
    pub daemons: usize,
}

/// Measures a way over the clusters of some seeds.
pub async fn measure(room: &Room, way: Way, seeds: Range<u64>) -> Result<Score, RoomError> {
    let mut score = Score::default();
    for seed in seeds {
        let cluster = Cluster::of(seed);
        room.clear().await?;
        let pods = run(room, way, &cluster).await?;
        let at =
            |name: &str| pods.iter().find(|p| objects::name(p) == name).and_then(|p| p["spec"]["nodeName"].as_str());
        let places: Vec<(Option<&str>, &str)> = cluster.pods.iter().map(|p| (at(&p.name), p.node.as_str())).collect();
        let bound = places.iter().filter(|(at, _)| at.is_some()).count();
        let as_planned = places.iter().filter(|(at, planned)| *at == Some(*planned)).count();
        let runs_daemon = |node: &str| {
            let here = |p: &&Value| p["metadata"]["labels"]["daemon"] == "agent" && p["spec"]["nodeName"] == node;
            pods.iter().any(|p| here(&p))
        };
        score.pods += places.len();
        score.bound += bound;
        score.as_planned += as_planned;
        score.clusters += 1;
        score.complete += usize::from(bound == places.len());
        score.exact += usize::from(as_planned == places.len());
        score.nodes += cluster.nodes.len();
        score.daemons += cluster.nodes.iter().filter(|n| runs_daemon(&n.name)).count();
    }
    Ok(score)
}

/// Runs one cluster to the end; its pods.
async fn run(room: &Room, way: Way, cluster: &Cluster) -> Result<Vec<Value>, RoomError> {
    room.make_all(vec![(DAEMON_SETS.to_owned(), cluster::daemon_set())]).await?;
    room.make_all(cluster.pods.iter().map(|p| (PODS.to_owned(), p.object())).collect()).await?;
    // Pods come first: each has been refused once before there is a node.
    room.until(PODS, "pods are tried", |all| all.iter().all(|p| unschedulable(p).is_some())).await?;
    if way == Way::Nominated {
        let nominate = |api: crate::api::Api, (path, node): (String, String)| async move {
            api.patch(&path, Patch::Merge, &json!({"status": {"nominatedNodeName": node}})).await
        };
        let all = cluster.pods.iter().map(|p| (format!("{PODS}/{}/status", p.name), p.node.clone())).collect();
        room.each(all, nominate).await?.into_iter().collect::<Result<Vec<_>, ApiError>>()?;
    }
    let nodes = cluster.nodes.iter().map(|n| (n.clone(), cluster.on(&n.name))).collect();
    let lives =
        room.each(nodes, move |api, (planned, pods)| async move { node::live(&api, way, &planned, &pods).await });
    lives.await?.into_iter().collect::<Result<Vec<_>, _>>()?;
    // Until everybody has a place, or nothing has moved for long.
    let (mut bound, mut since) = (0, Instant::now());
    loop {
        let pods = room.api.list(PODS).await?;
        let now = pods.iter().filter(|p| !p["spec"]["nodeName"].is_null()).count();
        if now != bound {
            (bound, since) = (now, Instant::now());
        }
        if now == cluster.pods.len() + cluster.nodes.len() || since.elapsed() > PATIENCE {
            return Ok(pods);
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}
