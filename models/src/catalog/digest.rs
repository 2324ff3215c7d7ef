//! A fingerprint of a catalogue's content.

use std::fmt::Write;

use sha2::{Digest, Sha256};

use super::{Catalog, InstanceType};
use crate::resources::Resources;

/// SHA-256, hex, over everything that decides: region, types in order of
/// names, amounts, labels, prices. The source text is left out.
pub fn digest(catalog: &Catalog) -> String {
    let mut text = Canonical(String::from("millwright-catalog/1\n"));
    text.word(&catalog.region);
    for t in &catalog.types {
        text.instance_type(t);
    }
    Sha256::digest(text.0.as_bytes()).iter().fold(String::with_capacity(64), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// Text in which each word is preceded by its length, so that no two contents
/// look alike.
struct Canonical(String);

impl Canonical {
    fn word(&mut self, word: &str) {
        let _ = write!(self.0, "{}:{word};", word.len());
    }

    fn number(&mut self, number: i128) {
        let _ = write!(self.0, "{number};");
    }

    fn amounts(&mut self, resources: &Resources) {
        for (name, amount) in resources.iter() {
            self.word(name);
            self.number(amount.into());
        }
        self.0.push('\n');
    }

    fn instance_type(&mut self, t: &InstanceType) {
        self.word("type");
        self.word(&t.name);
        self.word(&t.architecture);
        t.operating_systems.iter().for_each(|os| self.word(os));
        self.0.push('\n');
        self.amounts(&t.capacity);
        match &t.allocatable {
            Some(given) => self.amounts(given),
            None => self.0.push_str("computed\n"),
        }
        for (key, value) in &t.labels {
            self.word(key);
            self.word(value);
        }
        self.number(t.volume_attachments.map_or(-1, i128::from));
        for o in &t.offerings {
            self.word(&o.zone);
            self.word(&o.capacity_type);
            self.number(o.price.into());
            self.number(o.available.into());
            match &o.reservation {
                Some(r) => {
                    self.word(&r.id);
                    self.number(r.count.into());
                }
                None => self.word(""),
            }
        }
        t.unpriced_zones.iter().for_each(|zone| self.word(zone));
        if let Some(h) = &t.hardware {
            let shared = i128::from(h.ebs_slots_shared);
            for figure in [h.vcpus, h.interfaces, h.ipv4_per_interface, h.ebs_attachments] {
                self.number(figure.into());
            }
            for figure in [h.memory_mib, h.local_nvme_gb, h.instance_store_gb] {
                self.number(figure.into());
            }
            self.number(shared);
            self.number(h.bare_metal.into());
            self.word(&h.hypervisor);
            for (name, count) in &h.devices {
                self.word(name);
                self.number((*count).into());
            }
        }
        self.0.push('\n');
    }
}
