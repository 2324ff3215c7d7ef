//! Holds a scenario against what Karpenter does.

use millwright_core::candidates::{Candidate, Class};
use millwright_core::karpenter::{self, Method, Pass};
use millwright_models::catalog::Catalog;
use millwright_models::lower::Settings;
use millwright_models::world::World;

use super::judge::Check;
use super::scenario::Baseline;

pub fn check(check: &mut Check<'_, '_>, wanted: &Baseline, world: &World, catalog: &Catalog, lower: &Settings) {
    let never = || false;
    let scene = check.scene;
    let pass = Pass::new(scene, lower, &never);
    let command = pass.next();
    if let Some(wanted) = &wanted.method {
        let got = command.as_ref().map_or("none", |c| c.method.as_str());
        check.same("Karpenter's method", got, wanted.as_str());
    }
    let gone: Vec<&str> = command.iter().flat_map(|c| &c.nodes).map(|n| scene.nodes[*n].name()).collect();
    if let Some(wanted) = &wanted.removed {
        check.same("removed by Karpenter", gone.join(" "), wanted.join(" "));
    }
    if let Some(wanted) = wanted.n_removed {
        check.same("number removed by Karpenter", gone.len(), wanted);
    }
    let claims = command.as_ref().map_or(&[][..], |c| &c.plan.claims);
    let types = |pool: &str| &scene.pools[pool].as_ref().unwrap().types;
    let cheapest = || claims.iter().filter_map(|c| c.cheapest.as_ref().map(|(t, zone, kind)| (c, *t, zone, kind)));
    if let Some(wanted) = &wanted.bought {
        let mut got: Vec<&str> = cheapest().map(|(c, t, ..)| &*types(&c.pool)[t as usize].name).collect();
        got.sort_unstable();
        check.same("bought by Karpenter", got.join(" "), wanted.join(" "));
    }
    if let Some(wanted) = &wanted.capacity_types {
        let got: Vec<&str> = cheapest().map(|(.., kind)| kind.as_str()).collect();
        check.same("capacity types of Karpenter's", got.join(" "), wanted.join(" "));
    }
    if let Some(wanted) = &wanted.zones {
        let got: Vec<&str> = cheapest().map(|(_, _, zone, _)| &**zone).collect();
        check.same("zones of Karpenter's", got.join(" "), wanted.join(" "));
    }
    if let Some(wanted) = &wanted.takes {
        let got: Vec<&str> = command.iter().flat_map(|c| &c.plan.existing).map(|(n, _)| n.as_str()).collect();
        check.same("receivers of Karpenter's", got.join(" "), wanted.join(" "));
    }
    let listed = claims.first().map_or(Vec::new(), |c| {
        c.types.iter().map(|t| types(&c.pool)[*t as usize].name.to_string()).collect::<Vec<_>>()
    });
    if let Some(wanted) = &wanted.listed {
        check.same("listed by Karpenter", listed.join(" "), wanted.join(" "));
    }
    if let Some(wanted) = wanted.n_listed {
        check.same("number listed by Karpenter", listed.len(), wanted);
    }
    if let Some(wanted) = wanted.savings {
        let got = command.as_ref().map_or(0, |c| c.savings);
        check.same("Karpenter's savings", got, (wanted * 1e6).round() as i64);
    }
    let candidate = |check: &mut Check<'_, '_>, name: &str| -> Candidate<'_> {
        let n = check.node(name);
        scene.candidate(n, Class::Graceful).unwrap_or_else(|e| panic!("{name} is no candidate: {e}"))
    };
    for (name, wanted) in &wanted.alone {
        let c = candidate(check, name);
        let got = pass.alone(&c).map(|_| ()).map_err(|e| e.to_string());
        check.verdict(&format!("{name} alone"), got, wanted);
    }
    for (names, wanted) in &wanted.together {
        let all: Vec<_> = names.iter().map(|n| candidate(check, n)).collect();
        let got = pass.batch(&all.iter().collect::<Vec<_>>()).map(|_| ()).map_err(|e| e.to_string());
        check.verdict(&format!("{names:?} together"), got, wanted);
    }
    if let Some(wanted) = &wanted.order {
        let got: Vec<&str> = pass.in_turn().iter().map(|c| scene.nodes[c.node].name()).collect();
        check.same("Karpenter's order", got.join(" "), wanted.join(" "));
    }
    if wanted.methods.is_some() || wanted.end.is_some() {
        let settings = karpenter::Settings { lower, now: scene.now, unmanaged: false };
        let way = karpenter::follow(world, catalog, settings, &never);
        assert!(way.finished);
        if let Some(wanted) = &wanted.methods {
            let got: Vec<&str> = way.steps.iter().map(|s| Method::as_str(s.method)).collect();
            check.same("Karpenter's methods", got.join(" "), wanted.join(" "));
        }
        if let Some(wanted) = wanted.end {
            check.same("Karpenter's end", way.cost(), (wanted * 1e6).round() as i64);
        }
    }
}
