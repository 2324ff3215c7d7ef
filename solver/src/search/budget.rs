use super::model::Model;
use crate::arrival;
use crate::instance::Instance;

/// What limits and supplies leave.
#[derive(Clone, Debug)]
pub struct Budget {
    limits: Vec<i64>,
    supplies: Vec<u32>,
}

impl Budget {
    /// Everything.
    pub fn new(instance: &Instance) -> Self {
        Budget {
            limits: instance.limits.iter().map(|l| l.max).collect(),
            supplies: instance.supplies.iter().map(|s| s.count).collect(),
        }
    }

    /// How many more of an offer may be bought.
    pub fn left(&self, model: &Model, offer: u32) -> u32 {
        let o = &model.offers[offer as usize];
        if !o.draws {
            return u32::MAX;
        }
        let bin = &model.instance.bins[o.bin];
        let mut most = bin.supply.map_or(u32::MAX, |s| self.supplies[s]);
        for &(l, amount) in bin.limit_use.iter().filter(|u| u.1 > 0) {
            most = most.min(u32::try_from((self.limits[l] / amount).max(0)).unwrap_or(u32::MAX));
        }
        most
    }

    /// Takes `copies` of an offer.
    pub fn take(&mut self, model: &Model, offer: u32, copies: u32) {
        self.shift(model, offer, -i64::from(copies));
    }

    /// Gives `copies` of an offer back.
    pub fn give(&mut self, model: &Model, offer: u32, copies: u32) {
        self.shift(model, offer, i64::from(copies));
    }

    fn shift(&mut self, model: &Model, offer: u32, by: i64) {
        let o = &model.offers[offer as usize];
        if !o.draws {
            return;
        }
        let bin = &model.instance.bins[o.bin];
        for &(l, amount) in &bin.limit_use {
            self.limits[l] += amount * by;
        }
        if let Some(s) = bin.supply {
            self.supplies[s] = self.supplies[s].saturating_add_signed(by as i32);
        }
    }
}

/// Whether a node with these contents leaves the variety its launch needs.
pub fn varied(model: &Model, offer: u32, contents: &[(u32, u32)]) -> bool {
    let o = &model.offers[offer as usize];
    if !o.varied {
        return true;
    }
    let instance = model.instance;
    let mut used = vec![0_i64; instance.dims];
    let mut admissions: Vec<usize> = Vec::new();
    for &(slot, n) in contents {
        // All items of a slot ask for the same; their admissions may differ
        // in name only.
        for &(i, _) in &model.slots[slot as usize].items {
            let item = &model.items[i];
            admissions.extend(item.parts.iter().map(|p| instance.shapes[p.0].tiers[item.tier].admission));
        }
        let lane = &model.lanes[model.slots[slot as usize].lane as usize];
        for (k, &d) in model.real.iter().enumerate() {
            used[d] += lane.demand[k] * i64::from(n);
        }
    }
    admissions.sort_unstable();
    admissions.dedup();
    arrival::varied(instance, model.index, o.bin, &used, &admissions)
}
