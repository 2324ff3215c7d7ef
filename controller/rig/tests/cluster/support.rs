//! A plane with our kinds, and a controller on it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use http::StatusCode;
use millwright_core::control::brain::{Brain, Piece};
use millwright_core::control::desk::Part;
use millwright_kwok::classes;
use millwright_kwok::kubelet::{Pace as Span, play};
use millwright_kwok::provider::Kwok;
use millwright_models::karpenter::crds;
use millwright_rig::api::Api as Admin;
use millwright_rig::plane::{Plane, Programs};
use millwright_rig::say;
use millwright_runtime::api::Api;
use millwright_runtime::fence::Fence;
use millwright_runtime::pace::Pace;
use millwright_runtime::run::{RunError, run};
use millwright_runtime::settings::{Flags, Settings};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::JoinHandle;

pub const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
pub const CLAIMS: &str = "/apis/karpenter.sh/v1/nodeclaims";
pub const PODS: &str = "/api/v1/namespaces/default/pods";

/// A control plane with everything a test needs of it.
pub struct Stage {
    plane: Plane,
    pub admin: Admin,
}

/// Runs a test on a plane of its own, or says why it is skipped.
pub fn on_stage<F: Future<Output = ()>>(name: &str, with_kinds: bool, test: impl FnOnce(Arc<Stage>) -> F) {
    let programs = match Programs::locate() {
        Ok(programs) => programs,
        Err(missing) => return say(&format!("SKIPPED {name}: {missing}")),
    };
    let plane = Plane::start(&programs).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let admin = Admin::new(plane.client().await.unwrap());
        let stage = Arc::new(Stage { plane, admin });
        if with_kinds {
            stage.install(|_| true).await;
        }
        test(stage).await;
    });
}

impl Stage {
    pub async fn client(&self) -> kube::Client {
        self.plane.client().await.unwrap()
    }

    /// A client that has the rights of another user only.
    pub async fn client_as(&self, user: &str) -> kube::Client {
        let mut config = self.plane.config().await.unwrap();
        config.auth_info.impersonate = Some(user.to_owned());
        kube::Client::try_from(config).unwrap()
    }

    /// A client as production code has it.
    pub async fn api(&self) -> Api {
        Api::new(self.client().await, Pace::new(1000.0, 1000.0), Fence::open())
    }

    /// Installs our kinds and waits until objects can be made.
    pub async fn install(&self, which: impl Fn(&str) -> bool) {
        for crd in crds::ALL.iter().filter(|c| which(c.name)) {
            let definition: Value = serde_saphyr::from_str(crd.yaml).unwrap();
            self.admin.post(DEFINITIONS, &definition).await.unwrap();
        }
        let is_there = |crd: &Value| {
            let conditions = crd["status"]["conditions"].as_array();
            conditions.into_iter().flatten().any(|c| c["type"] == "Established" && c["status"] == "True")
        };
        self.until("definitions are established", DEFINITIONS, |all| all.iter().all(is_there)).await;
    }

    /// Makes an object; a definition that is just established may not be
    /// served yet.
    pub async fn make(&self, path: &str, object: &Value) -> Value {
        let start = Instant::now();
        loop {
            match self.admin.post(path, object).await {
                Err(e)
                    if (e.is(StatusCode::NOT_FOUND) || e.is(StatusCode::TOO_MANY_REQUESTS))
                        && start.elapsed() < Duration::from_secs(30) =>
                {
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
                other => return other.unwrap(),
            }
        }
    }

    /// Waits until a list is as it should be.
    pub async fn until(&self, what: &str, path: &str, holds: impl Fn(&[Value]) -> bool) -> Vec<Value> {
        let start = Instant::now();
        loop {
            let all = self.admin.list(path).await.unwrap_or_default();
            if holds(&all) {
                return all;
            }
            assert!(start.elapsed() < Duration::from_secs(60), "not within a minute: {what}; {all:#?}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// A node class and a NodePool that are called `default`.
    pub async fn pool(&self) {
        let class = json!({
            "apiVersion": "karpenter.k8s.aws/v1", "kind": "EC2NodeClass", "metadata": {"name": "default"},
            "spec": {
                "role": "r", "amiSelectorTerms": [{"alias": "al2023@latest"}],
                "subnetSelectorTerms": [{"id": "subnet-1"}], "securityGroupSelectorTerms": [{"id": "sg-1"}],
            },
        });
        self.make("/apis/karpenter.k8s.aws/v1/ec2nodeclasses", &class).await;
        self.pool_only().await;
    }

    pub async fn pool_only(&self) {
        let reference = json!({"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"});
        let pool = json!({
            "apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "default"},
            "spec": {"template": {"spec": {"nodeClassRef": reference, "requirements": []}}},
        });
        self.make("/apis/karpenter.sh/v1/nodepools", &pool).await;
    }

    /// Kubelets that are quick.
    pub async fn kubelets(&self) -> JoinHandle<()> {
        let span = Span { boot: Duration::from_millis(300), spread: Duration::ZERO, end: Duration::ZERO };
        tokio::spawn(play(self.api().await, span))
    }

    /// A controller that consists of `piece`.
    pub async fn controller(&self, piece: impl Piece + Send + 'static) -> Controller {
        let ports = [free_port(), free_port()];
        let flags = Flags {
            metrics_port: Some(ports[0]),
            health_probe_port: Some(ports[1]),
            leader_election_namespace: Some("default".to_owned()),
            ..Flags::default()
        };
        let settings = Settings::of(&flags, &|_| None).unwrap();
        let config = self.plane.config().await.unwrap();
        let brain = Brain::of(settings.core.clone(), vec![(Part::Lifecycle, Box::new(piece))]);
        let (stop, stopped) = watch::channel(false);
        let running = tokio::spawn(async move {
            let provider = |api: Api| -> Arc<dyn millwright_runtime::provider::Provider> {
                tokio::spawn(classes::tend(api.clone()));
                Arc::new(Kwok::new(api))
            };
            run(&settings, config, brain, provider, stopped).await
        });
        Controller { ports, stop, running }
    }
}

/// A controller that runs.
pub struct Controller {
    /// Of metrics and health.
    pub ports: [u16; 2],
    stop: watch::Sender<bool>,
    pub running: JoinHandle<Result<(), RunError>>,
}

impl Controller {
    /// Ends it as SIGTERM does.
    pub async fn stop(self) {
        self.stop.send_replace(true);
        self.running.await.unwrap().unwrap();
    }

    /// Ends it as a power cut does.
    pub async fn kill(self) {
        self.running.abort();
        assert!(self.running.await.is_err());
    }
}

fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// What a port answers: status and body.
pub async fn get(port: u16, path: &str) -> (u16, String) {
    let path = path.to_owned();
    tokio::task::spawn_blocking(move || {
        use std::io::{Read, Write};
        let mut stream = std::net::TcpStream::connect(("127.0.0.1", port)).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        let status = text.split(' ').nth(1).and_then(|c| c.parse().ok()).unwrap_or(0);
        (status, text.split_once("\r\n\r\n").map(|(_, body)| body.to_owned()).unwrap_or_default())
    })
    .await
    .unwrap()
}

/// A pod that asks for some room.
pub fn pod(name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
        "spec": {"terminationGracePeriodSeconds": 1,
            "containers": [{"name": "c", "image": "none", "resources": {"requests": {"cpu": "500m", "memory": "256Mi"}}}]},
    })
}
