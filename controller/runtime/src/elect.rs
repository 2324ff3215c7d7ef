//! Leader election, on a thread of its own: however busy the controller is,
//! the lease is renewed in time.

use kube::config::Config;
use tokio::runtime::Builder;
use tokio::sync::{oneshot, watch};

use crate::api::Api;
use crate::fence::Fence;
use crate::lease::{Candidate, Role};
use crate::pace::Pace;
use crate::run::{RunError, client};
use crate::settings::Settings;

/// An election under way. Dropping it breaks it off, as a crash would.
pub struct Electing {
    /// Held as long as the role counts, where nobody elects.
    _role: Option<watch::Sender<Role>>,
    _alive: oneshot::Sender<()>,
    over: oneshot::Receiver<()>,
}

impl Electing {
    /// Waits until the lease is given back.
    pub async fn end(self) {
        // An error means that the thread has ended: just as well.
        drop(self.over.await);
    }
}

/// Begins to lead when the lease allows it, at once without one.
pub fn elect(
    settings: &Settings,
    config: Config,
    fence: Fence,
    stop: watch::Receiver<bool>,
) -> Result<(watch::Receiver<Role>, Electing), RunError> {
    let (alive, dead) = oneshot::channel();
    let (done, over) = oneshot::channel();
    if !settings.leader_election {
        let (role, seen) = watch::channel(Role::Leading);
        return Ok((seen, Electing { _role: Some(role), _alive: alive, over }));
    }
    let (role, seen) = watch::channel(Role::Waiting);
    let (namespace, name) = (settings.lease_namespace.clone(), settings.lease_name.clone());
    let election = move || {
        let runtime = Builder::new_current_thread().enable_all().build().map_err(RunError::Thread)?;
        runtime.block_on(async move {
            let (per_second, burst) = Settings::LEASE_PACE;
            // What opens the fence cannot be behind it.
            let api = Api::new(client(config)?, Pace::new(per_second, burst), Fence::open());
            let candidate = Candidate::new(api, fence, &namespace, &name, role);
            tokio::select! {
                () = candidate.run(stop) => {}
                _ = dead => {}
            }
            Ok::<(), RunError>(())
        })
    };
    let thread = std::thread::Builder::new().name("lease".to_owned()).spawn(move || {
        if let Err(error) = election() {
            tracing::error!(error = %error, "leader election ends");
        }
        // Whoever waits for it may be gone.
        let _: Result<(), ()> = done.send(());
    });
    thread.map_err(RunError::Thread)?;
    Ok((seen, Electing { _role: None, _alive: alive, over }))
}
