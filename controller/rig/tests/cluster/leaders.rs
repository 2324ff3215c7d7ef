//! Two controllers: one acts, the other follows at once when it stops.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use millwright_core::control::ask::Reply;
use millwright_core::control::brain::{Piece, Shared};
use millwright_core::control::desk::{Desk, Sent};
use millwright_core::control::view::View;

use super::support::{get, on_stage};

/// Counts how often it may look.
struct Eye(Arc<AtomicUsize>);

impl Piece for Eye {
    fn look(&mut self, view: &View<'_>, _: &mut Shared, desk: &mut Desk) {
        self.0.fetch_add(1, Ordering::Relaxed);
        desk.wake(view.now + jiff::SignedDuration::from_millis(100));
    }

    fn answer(&mut self, _: &Sent, _: &Reply, _: &mut Shared, _: &mut Desk) {}
}

async fn until(what: &str, holds: impl Fn() -> bool) -> Duration {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(40), "not in time: {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    start.elapsed()
}

#[test]
fn ops_018_the_second_leads_at_once_when_the_first_stops() {
    on_stage("leaders", true, |stage| async move {
        let looks = [(); 3].map(|()| Arc::new(AtomicUsize::new(0)));
        let seen = |i: usize| looks[i].load(Ordering::Relaxed);
        let first = stage.controller(Eye(looks[0].clone())).await;
        until("the first looks", || seen(0) > 0).await;
        let second = stage.controller(Eye(looks[1].clone())).await;
        until("the first goes on", || seen(0) > 20).await;
        assert_eq!(seen(1), 0, "the second may not look");
        let ready = async || get(second.ports[1], "/readyz").await.0;
        while ready().await != 200 {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        first.stop().await;
        let took = until("the second looks", || seen(1) > 0).await;
        assert!(took < Duration::from_secs(6), "{took:?}");

        // Nobody gives the lease back: it has to run out.
        second.kill().await;
        let third = stage.controller(Eye(looks[2].clone())).await;
        let took = until("the third looks", || seen(2) > 0).await;
        assert!(took > Duration::from_secs(8), "{took:?}: the lease was still another's");
        third.stop().await;
    });
}
