//! Holds a scenario against the rules of repair.

use std::collections::BTreeMap;

use millwright_core::duration;
use millwright_core::repair::{Action, Policies, Rule, Step, legacy, queue};

use super::judge::Check;
use super::scenario::{Expected, Policy, Scenario};

impl Policy {
    fn rule(&self) -> Rule {
        Rule {
            condition: self.condition.clone(),
            status: self.status.clone(),
            reason: self.reason.clone(),
            toleration: duration::parse(&self.toleration).unwrap(),
            grace: self.grace.as_deref().map(|g| duration::parse(g).unwrap()),
            priority: self.priority,
            action: if self.reboot { Action::RebootNode } else { Action::ReplaceNode },
        }
    }
}

pub fn check(check: &mut Check<'_, '_>, wanted: &Expected, scenario: &Scenario) {
    let rules = || scenario.policies.iter().map(Policy::rule).collect::<Vec<_>>();
    let scene = check.scene;
    if wanted.repairs.is_some() || !wanted.unrepaired.is_empty() {
        let policies = Policies::new(rules()).unwrap_or_else(|e| panic!("{}: {e:?}", scenario.name));
        let reboots: BTreeMap<String, usize> =
            scenario.reboots.iter().map(|(n, count)| (format!("lab:///{n}"), *count)).collect();
        let (mut repaired, mut blocked) = (Vec::new(), BTreeMap::new());
        for step in queue(scene, &policies, &reboots) {
            let (action, candidate, verdict, bound) = match step {
                Step::Blocked { node, why } => {
                    blocked.insert(scene.nodes[node].name(), why.to_string());
                    continue;
                }
                Step::Reboot { candidate, verdict, bound } => ("reboot", candidate, verdict, bound),
                Step::Replace { candidate, verdict, bound } => ("replace", candidate, verdict, bound),
            };
            let bound = bound.map_or("-".to_owned(), |b| b.as_secs().to_string());
            let name = scene.nodes[candidate.node].name();
            repaired.push(format!("{name} {action} {} {bound}", verdict.condition));
        }
        if let Some(wanted) = &wanted.repairs {
            check.same("repairs", &repaired, wanted);
        }
        for (name, part) in &wanted.unrepaired {
            let got = blocked.remove(name.as_str()).map_or(Ok(()), Err);
            check.verdict(&format!("repair of {name}"), got, part);
        }
    }
    for (name, wanted) in &wanted.legacy {
        let policies = Policies::legacy(rules());
        let n = check.node(name);
        let got = legacy(&scene.nodes[n], &scene.nodes, &policies, None, scene.now);
        let got = format!("{got:?}");
        if !got.contains(wanted.as_str()) {
            check.out.push(format!("legacy repair of {name} is {got} instead of {wanted}"));
        }
    }
}
