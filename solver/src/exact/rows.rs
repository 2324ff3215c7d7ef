//! Rules that couple nodes, as rows.

use super::contents::{Columns, Item};
use super::host;
use crate::highs::{Col, HighsError, INFINITY, Model};
use crate::instance::{Instance, Key, Rule, RuleKind, Spread};

/// Per domain: columns with their counts of (both, owners, selected), and
/// what runs.
struct Domain {
    both: Vec<(Col, f64)>,
    owners: Vec<(Col, f64)>,
    selected: Vec<(Col, f64)>,
    old_selected: f64,
    old_owners: f64,
}

impl Domain {
    fn sum(&self, parts: &[&[(Col, f64)]]) -> Vec<(Col, f64)> {
        let mut out: Vec<(Col, f64)> = parts.iter().flat_map(|p| p.iter().copied()).collect();
        out.sort_by_key(|e| e.0);
        out.dedup_by(|b, a| {
            let same = a.0 == b.0;
            if same {
                a.1 += b.1;
            }
            same
        });
        out
    }

    fn carriers(&self) -> Vec<(Col, f64)> {
        self.sum(&[&self.both, &self.owners])
    }

    fn counted(&self) -> Vec<(Col, f64)> {
        self.sum(&[&self.both, &self.selected])
    }
}

/// Adds the rules between nodes to a model whose columns are `cols`.
pub(super) fn add(instance: &Instance, columns: &Columns, cols: &[Col], m: &mut Model) -> Result<(), HighsError> {
    for (r, rule) in instance.rules.iter().enumerate() {
        match (rule.key, &rule.kind) {
            (Key::Domain(k), kind) => {
                let domains = domains(instance, columns, cols, r, rule, k);
                match kind {
                    RuleKind::Spread(s) => spread(instance, columns, cols, k, s, &domains, m)?,
                    RuleKind::Anti => anti(instance, &domains, m)?,
                    RuleKind::Affinity => affinity(instance, rule, &domains, m)?,
                }
            }
            (Key::Host, RuleKind::Affinity) => host_affinity(instance, columns, cols, r, rule, m)?,
            // Looked at where contents are made, or by the verifier.
            (Key::Host, RuleKind::Anti | RuleKind::Spread(_)) => {}
        }
    }
    Ok(())
}

fn domains(instance: &Instance, columns: &Columns, cols: &[Col], r: usize, rule: &Rule, key: usize) -> Vec<Domain> {
    let empty =
        || Domain { both: Vec::new(), owners: Vec::new(), selected: Vec::new(), old_selected: 0.0, old_owners: 0.0 };
    let mut out: Vec<Domain> = (0..instance.domains[key]).map(|_| empty()).collect();
    let counts = |node: bool, at: usize| match &rule.kind {
        RuleKind::Spread(s) if node => s.scope.nodes.contains(at),
        RuleKind::Spread(s) => s.scope.bins.contains(at),
        RuleKind::Anti | RuleKind::Affinity => true,
    };
    for (column, &col) in columns.list.iter().zip(cols) {
        let at = column.at;
        let domain = if column.node { &instance.nodes[at].domain } else { &instance.bins[at].domain };
        let Some(d) = domain[key] else { continue };
        let s = host::sums(instance, &columns.items, r, None, &column.pods);
        let to = &mut out[d as usize];
        let counted = counts(column.node, at);
        // Carriers that land outside the scope are not counted after.
        let (both, owners) = if counted { (s.both, s.owners) } else { (0, s.owners + s.both) };
        let selected = if counted { s.selected } else { 0 };
        for (list, n) in [(&mut to.both, both), (&mut to.owners, owners), (&mut to.selected, selected)] {
            if n > 0 {
                list.push((col, n as f64));
            }
        }
    }
    for (n, node) in instance.nodes.iter().enumerate() {
        if let Some(d) = node.domain[key] {
            let s = host::sums(instance, &[], r, Some(n), &[]);
            if counts(true, n) {
                out[d as usize].old_selected += s.old_selected as f64;
            }
            out[d as usize].old_owners += s.old_owners as f64;
        }
    }
    out
}

fn pods(instance: &Instance) -> f64 {
    instance.pods() as f64
}

fn scaled(entries: Vec<(Col, f64)>, by: f64) -> impl Iterator<Item = (Col, f64)> {
    entries.into_iter().map(move |(c, v)| (c, v * by))
}

/// Only where no pod is counted that does not carry the rule; elsewhere the
/// verifier decides.
fn spread(
    instance: &Instance,
    columns: &Columns,
    cols: &[Col],
    key: usize,
    spread: &Spread,
    domains: &[Domain],
    m: &mut Model,
) -> Result<(), HighsError> {
    if domains.iter().any(|d| !d.selected.is_empty()) {
        return Ok(());
    }
    let mut sure = vec![false; domains.len()];
    spread.eligible.iter().for_each(|&d| sure[d as usize] = true);
    for n in spread.scope.nodes.ones() {
        if let Some(d) = instance.nodes[n].domain[key] {
            sure[d as usize] = true;
        }
    }
    let known = sure.iter().filter(|&&s| s).count();
    if known == 0 {
        return Ok(());
    }
    let most = pods(instance) + domains.iter().map(|d| d.old_selected).sum::<f64>();
    let minimum = m.add_int(0.0, 0.0, most, &[])?;
    for (d, domain) in domains.iter().enumerate() {
        if sure[d] {
            // minimum <= running + arrivals
            let mut row = vec![(minimum, -1.0)];
            row.extend(domain.counted());
            m.add_row(-domain.old_selected, INFINITY, &row)?;
        } else if known < spread.min_domains as usize {
            continue;
        } else {
            // A domain that a purchase opens counts once something is there.
            let buys: Vec<(Col, f64)> = columns
                .list
                .iter()
                .zip(cols)
                .filter(|(c, _)| {
                    !c.node && spread.scope.bins.contains(c.at) && instance.bins[c.at].domain[key] == Some(d as u32)
                })
                .map(|(_, &c)| (c, 1.0))
                .collect();
            if !buys.is_empty() {
                let opened = m.add_int(0.0, 0.0, 1.0, &[])?;
                let mut row = vec![(opened, -most.max(1.0))];
                row.extend(buys);
                m.add_row(-INFINITY, 0.0, &row)?;
                let mut row = vec![(minimum, -1.0), (opened, -most)];
                row.extend(domain.counted());
                m.add_row(-domain.old_selected - most, INFINITY, &row)?;
            }
        }
        let carriers = domain.carriers();
        if !carriers.is_empty() {
            let receives = m.add_int(0.0, 0.0, 1.0, &[])?;
            let mut row = vec![(receives, -most.max(1.0))];
            row.extend(carriers);
            m.add_row(-INFINITY, 0.0, &row)?;
            // running + arrivals <= minimum + skew where something arrives
            let mut row = vec![(minimum, -1.0), (receives, most)];
            row.extend(domain.counted());
            m.add_row(-INFINITY, f64::from(spread.max_skew) + most - domain.old_selected, &row)?;
        }
    }
    if known < spread.min_domains as usize && domains.len() < spread.min_domains as usize {
        m.set_bounds(minimum, 0.0, 0.0)?;
    }
    Ok(())
}

fn anti(instance: &Instance, domains: &[Domain], m: &mut Model) -> Result<(), HighsError> {
    let most = pods(instance).max(1.0);
    for d in domains {
        if d.old_selected > 0.0 && !d.carriers().is_empty() {
            m.add_row(-INFINITY, 0.0, &d.carriers())?;
        }
        if d.old_owners > 0.0 && !d.counted().is_empty() {
            m.add_row(-INFINITY, 0.0, &d.counted())?;
        }
        if !d.both.is_empty() {
            let own = m.add_int(0.0, 0.0, 1.0, &[])?;
            let mut row = vec![(own, -most)];
            row.extend(d.both.iter().copied());
            m.add_row(-INFINITY, 0.0, &row)?;
            let mut row = vec![(own, most - 1.0)];
            row.extend(d.counted());
            m.add_row(-INFINITY, most, &row)?;
        }
        if !d.owners.is_empty() {
            let own = m.add_int(0.0, 0.0, 1.0, &[])?;
            let mut row = vec![(own, -most)];
            row.extend(d.owners.iter().copied());
            m.add_row(-INFINITY, 0.0, &row)?;
            let mut row = vec![(own, most)];
            row.extend(d.counted());
            m.add_row(-INFINITY, most, &row)?;
        }
    }
    Ok(())
}

fn running(instance: &Instance, rule: &Rule) -> bool {
    rule.present.iter().any(|p| p.1 > 0)
        || instance.nodes.iter().any(|n| n.residents.iter().any(|r| r.1 > 0 && rule.selects(r.0)))
}

fn affinity(instance: &Instance, rule: &Rule, domains: &[Domain], m: &mut Model) -> Result<(), HighsError> {
    let most = pods(instance).max(1.0);
    let first = m.add_row(-INFINITY, if running(instance, rule) { 0.0 } else { 1.0 }, &[])?;
    for d in domains.iter().filter(|d| d.old_selected == 0.0) {
        let carriers = d.carriers();
        if carriers.is_empty() {
            continue;
        }
        // The first of its kind, or in the company of others.
        let starts = m.add_int(0.0, 0.0, 1.0, &[(first, 1.0)])?;
        let joins = m.add_int(0.0, 0.0, 1.0, &[])?;
        let mut row = vec![(starts, -most), (joins, -most)];
        row.extend(carriers);
        m.add_row(-INFINITY, 0.0, &row)?;
        let mut row = vec![(starts, 1.0)];
        row.extend(scaled(d.both.clone(), -1.0));
        m.add_row(-INFINITY, 0.0, &row)?;
        let mut row = vec![(joins, 1.0)];
        row.extend(scaled(d.selected.clone(), -1.0));
        m.add_row(-INFINITY, 0.0, &row)?;
    }
    Ok(())
}

/// Nodes whose carriers have no company: at most one, and only the first of
/// its kind.
fn host_affinity(
    instance: &Instance,
    columns: &Columns,
    cols: &[Col],
    r: usize,
    rule: &Rule,
    m: &mut Model,
) -> Result<(), HighsError> {
    let items: &[Item] = &columns.items;
    let mut alone: Vec<(Col, f64)> = Vec::new();
    for (column, &col) in columns.list.iter().zip(cols) {
        let s = host::sums(instance, items, r, column.node.then_some(column.at), &column.pods);
        if s.both + s.owners == 0 || s.selected + s.old_selected > 0 {
            continue;
        }
        if s.both == 0 {
            m.set_bounds(col, 0.0, 0.0)?;
        } else {
            alone.push((col, 1.0));
        }
    }
    if !alone.is_empty() {
        m.add_row(-INFINITY, if running(instance, rule) { 0.0 } else { 1.0 }, &alone)?;
    }
    Ok(())
}
