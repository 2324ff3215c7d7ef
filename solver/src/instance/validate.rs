use super::{Instance, Key, Removal, RuleKind};

/// Why an instance cannot be solved as stated. Each names the part and its
/// position.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidInstance {
    /// A vector has the wrong length.
    #[error("{part} {index}: {what} has length {got}, expected {want}")]
    Length { part: &'static str, index: usize, what: &'static str, got: usize, want: usize },
    /// A reference points past the end.
    #[error("{part} {index}: {what} {got} does not exist")]
    Dangling { part: &'static str, index: usize, what: &'static str, got: usize },
    /// A negative quantity where none is possible.
    #[error("{part} {index}: {what} is negative")]
    Negative { part: &'static str, index: usize, what: &'static str },
    /// A quantity beyond what sums can hold.
    #[error("{part} {index}: {what} is too large")]
    TooLarge { part: &'static str, index: usize, what: &'static str },
    /// A list that must be strictly ascending is not.
    #[error("{part} {index}: {what} is not strictly ascending")]
    Unsorted { part: &'static str, index: usize, what: &'static str },
    /// A spread allows no skew at all.
    #[error("rule {0}: max_skew is 0")]
    ZeroSkew(usize),
}

impl Instance {
    /// Checks lengths, references, signs and magnitudes.
    pub fn validate(&self) -> Result<(), InvalidInstance> {
        self.validate_shapes()?;
        self.validate_places()?;
        self.validate_rules()
    }

    fn validate_shapes(&self) -> Result<(), InvalidInstance> {
        for (index, s) in self.shapes.iter().enumerate() {
            amounts("shape", index, "demand", &s.demand, self.dims)?;
            for tier in &s.tiers {
                exists("shape", index, "admission", tier.admission, self.admissions.len())?;
                for &w in &tier.waived {
                    exists("shape", index, "waived rule", w, self.rules.len())?;
                }
                ascending("shape", index, "waived", tier.waived.iter())?;
            }
        }
        for (index, a) in self.admissions.iter().enumerate() {
            length("admission", index, "bins", a.bins.len(), self.bins.len())?;
            length("admission", index, "nodes", a.nodes.len(), self.nodes.len())?;
        }
        Ok(())
    }

    fn validate_places(&self) -> Result<(), InvalidInstance> {
        length("instance", 0, "domains", self.domains.len(), self.keys)?;
        for (index, b) in self.bins.iter().enumerate() {
            amounts("bin", index, "capacity", &b.capacity, self.dims)?;
            if b.price < 0 {
                return Err(InvalidInstance::Negative { part: "bin", index, what: "price" });
            }
            self.domains_of("bin", index, &b.domain)?;
            self.draws_of("bin", index, &b.limit_use, b.supply)?;
        }
        for (index, n) in self.nodes.iter().enumerate() {
            amounts("node", index, "free", &n.free, self.dims)?;
            if n.price < 0 {
                return Err(InvalidInstance::Negative { part: "node", index, what: "price" });
            }
            self.domains_of("node", index, &n.domain)?;
            self.draws_of("node", index, &n.limit_use, n.supply)?;
            for &(s, _) in &n.residents {
                exists("node", index, "resident shape", s, self.shapes.len())?;
            }
            if let Some(removal) = &n.removal {
                self.terms_of(index, removal)?;
            }
        }
        for (index, b) in self.budgets.iter().enumerate() {
            if b.max < 0 {
                return Err(InvalidInstance::Negative { part: "budget", index, what: "max" });
            }
        }
        for (index, v) in self.varieties.iter().enumerate() {
            length("variety", index, "value", v.value.len(), v.bins.len())?;
            ascending("variety", index, "bins", v.bins.iter())?;
            for &b in &v.bins {
                exists("variety", index, "bin", b, self.bins.len())?;
            }
        }
        Ok(())
    }

    fn validate_rules(&self) -> Result<(), InvalidInstance> {
        for (index, r) in self.rules.iter().enumerate() {
            if let Key::Domain(k) = r.key {
                exists("rule", index, "key", k, self.keys)?;
            }
            ascending("rule", index, "owners", r.owners.iter())?;
            ascending("rule", index, "selected", r.selected.iter())?;
            for &s in r.owners.iter().chain(&r.selected) {
                exists("rule", index, "shape", s, self.shapes.len())?;
            }
            for &(n, _) in r.present.iter().chain(&r.present_owners) {
                exists("rule", index, "node", n, self.nodes.len())?;
            }
            if let RuleKind::Spread(s) = &r.kind {
                if s.max_skew == 0 {
                    return Err(InvalidInstance::ZeroSkew(index));
                }
                length("rule", index, "scope bins", s.scope.bins.len(), self.bins.len())?;
                length("rule", index, "scope nodes", s.scope.nodes.len(), self.nodes.len())?;
                if let Key::Domain(k) = r.key {
                    for &d in &s.eligible {
                        exists("rule", index, "eligible domain", d as usize, self.domains[k] as usize)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn domains_of(&self, part: &'static str, index: usize, domain: &[Option<u32>]) -> Result<(), InvalidInstance> {
        length(part, index, "domain", domain.len(), self.keys)?;
        for (k, d) in domain.iter().enumerate() {
            if let Some(d) = d {
                exists(part, index, "domain", *d as usize, self.domains[k] as usize)?;
            }
        }
        Ok(())
    }

    fn terms_of(&self, index: usize, removal: &Removal) -> Result<(), InvalidInstance> {
        if removal.charge < 0 {
            return Err(InvalidInstance::Negative { part: "node", index, what: "charge" });
        }
        ascending("node", index, "budgets", removal.budgets.iter().map(|(b, _)| b))?;
        for &(b, amount) in &removal.budgets {
            exists("node", index, "budget", b, self.budgets.len())?;
            if amount < 0 {
                return Err(InvalidInstance::Negative { part: "node", index, what: "budget draw" });
            }
        }
        Ok(())
    }

    fn draws_of(
        &self,
        part: &'static str,
        index: usize,
        limits: &[(usize, i64)],
        supply: Option<usize>,
    ) -> Result<(), InvalidInstance> {
        for &(l, amount) in limits {
            exists(part, index, "limit", l, self.limits.len())?;
            if amount < 0 {
                return Err(InvalidInstance::Negative { part, index, what: "limit use" });
            }
        }
        match supply {
            Some(s) => exists(part, index, "supply", s, self.supplies.len()),
            None => Ok(()),
        }
    }
}

fn length(
    part: &'static str,
    index: usize,
    what: &'static str,
    got: usize,
    want: usize,
) -> Result<(), InvalidInstance> {
    if got == want { Ok(()) } else { Err(InvalidInstance::Length { part, index, what, got, want }) }
}

fn exists(part: &'static str, index: usize, what: &'static str, got: usize, len: usize) -> Result<(), InvalidInstance> {
    if got < len { Ok(()) } else { Err(InvalidInstance::Dangling { part, index, what, got }) }
}

fn amounts(
    part: &'static str,
    index: usize,
    what: &'static str,
    v: &[i64],
    dims: usize,
) -> Result<(), InvalidInstance> {
    length(part, index, what, v.len(), dims)?;
    if v.iter().any(|&x| x < 0) {
        return Err(InvalidInstance::Negative { part, index, what });
    }
    if v.iter().any(|&x| x > super::UNLIMITED) {
        return Err(InvalidInstance::TooLarge { part, index, what });
    }
    Ok(())
}

fn ascending<'a>(
    part: &'static str,
    index: usize,
    what: &'static str,
    items: impl Iterator<Item = &'a usize>,
) -> Result<(), InvalidInstance> {
    let mut last = None;
    for &i in items {
        if last.is_some_and(|l| i <= l) {
            return Err(InvalidInstance::Unsorted { part, index, what });
        }
        last = Some(i);
    }
    Ok(())
}
