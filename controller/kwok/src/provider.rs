//! Buying and ending simulated machines.

use futures::future::BoxFuture;
use jiff::Timestamp;
use millwright_core::control::ask::{Instance, Refusal};
use millwright_core::launch::{self, LaunchError, Offer};
use millwright_runtime::answer::{Verb, refusal};
use millwright_runtime::api::{Api, ApiError};
use millwright_runtime::provider::{Order, Provider};
use serde_json::{Value, json};

use crate::machine::{self, CLAIM_UID, ENDED, MACHINE};

const NODES: &str = "/api/v1/nodes";

/// Makes Node objects in place of machines.
pub struct Kwok {
    api: Api,
}

impl Kwok {
    pub fn new(api: Api) -> Self {
        Self { api }
    }

    /// The node of a machine, or [`Refusal::NotFound`]. One that is not of our
    /// making is none.
    async fn node(&self, name: &str) -> Result<Value, Refusal> {
        let node = self.api.get(&format!("{NODES}/{name}")).await.map_err(said)?;
        let is_ours = !node["metadata"]["labels"][MACHINE].is_null();
        if is_ours { Ok(node) } else { Err(Refusal::NotFound) }
    }

    async fn buy(&self, order: Order) -> Result<Instance, Refusal> {
        let asked = order.clone();
        let chosen = tokio::task::spawn_blocking(move || cheapest(&asked)).await;
        let offer = chosen.map_err(|e| Refusal::Unavailable { message: e.to_string() })?.map_err(unfit)?;
        match self.api.post(NODES, &machine::node(&order.object, &offer)).await {
            Ok(node) => Ok(machine::instance(&node)),
            Err(error) if error.is_conflict() => self.bought(&order).await,
            Err(error) => Err(said(error)),
        }
    }

    /// What was bought for this claim before.
    async fn bought(&self, order: &Order) -> Result<Instance, Refusal> {
        let name = machine::node_name(&order.claim);
        let node = self.api.get(&format!("{NODES}/{name}")).await.map_err(said)?;
        if node["metadata"]["annotations"][CLAIM_UID] == json!(order.uid) {
            return Ok(machine::instance(&node));
        }
        let message = format!("node {name} is there already, and was not made for this NodeClaim");
        Err(Refusal::Create { reason: "NodeNameTaken".to_owned(), message })
    }

    /// Ends the machine: at once, but its Node goes when its finalizers do.
    async fn end(&self, provider_id: &str) -> Result<(), Refusal> {
        let name = machine::of_provider_id(provider_id).ok_or(Refusal::NotFound)?;
        let node = self.node(name).await?;
        if machine::has_ended(&node) {
            return Err(Refusal::NotFound);
        }
        let path = format!("{NODES}/{name}");
        let ended = json!({"metadata": {"annotations": {ENDED: Timestamp::now().to_string()}}});
        self.api.patch(&path, &ended).await.map_err(said)?;
        let options = json!({"preconditions": {"uid": node["metadata"]["uid"]}});
        match self.api.delete(&path, &options).await {
            Err(error) if !error.is_not_found() => Err(said(error)),
            _ => Ok(()),
        }
    }

    async fn all(&self) -> Result<Vec<Instance>, Refusal> {
        let list = self.api.get(&format!("{NODES}?labelSelector={MACHINE}")).await.map_err(said)?;
        let nodes = list["items"].as_array().into_iter().flatten();
        Ok(nodes.filter(|n| !machine::has_ended(n)).map(machine::instance).collect())
    }
}

impl Provider for Kwok {
    fn name(&self) -> &'static str {
        "kwok"
    }

    fn launch(&self, order: Order) -> BoxFuture<'_, Result<Instance, Refusal>> {
        Box::pin(self.buy(order))
    }

    fn terminate<'a>(&'a self, provider_id: &'a str) -> BoxFuture<'a, Result<(), Refusal>> {
        Box::pin(self.end(provider_id))
    }

    fn describe<'a>(&'a self, provider_id: &'a str) -> BoxFuture<'a, Result<Instance, Refusal>> {
        Box::pin(async move {
            let node = self.node(machine::of_provider_id(provider_id).ok_or(Refusal::NotFound)?).await?;
            if machine::has_ended(&node) { Err(Refusal::NotFound) } else { Ok(machine::instance(&node)) }
        })
    }

    fn instances(&self) -> BoxFuture<'_, Result<Vec<Instance>, Refusal>> {
        Box::pin(self.all())
    }
}

/// What the order becomes.
fn cheapest(order: &Order) -> Result<Offer, LaunchError> {
    let claim = launch::claim(&order.object)?;
    let offers = launch::offers(&order.world, &order.catalog, &claim, &order.gates)?;
    // There is at least one, or it would have been an error.
    offers.into_iter().next().ok_or(LaunchError::NoOffering(0))
}

fn said(error: ApiError) -> Refusal {
    refusal(Verb::Other, &error)
}

fn unfit(error: LaunchError) -> Refusal {
    let message = error.to_string();
    match error {
        LaunchError::NoType(_) | LaunchError::NoOffering(_) => Refusal::InsufficientCapacity { message },
        LaunchError::Catalog(_) => Refusal::NodeClassNotReady { message },
        _ => Refusal::Create { reason: "LaunchFailed".to_owned(), message },
    }
}
