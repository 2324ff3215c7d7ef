//! ResourceSlices.

use serde::Deserialize;

use super::settle;
use crate::faults::Faults;
use crate::kube::device::ResourceSlice;
use crate::kube::meta::Meta;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(in super::super) struct RawSlice {
    metadata: Meta,
    spec: Spec,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Spec {
    driver: String,
    pool: Pool,
    node_name: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Pool {
    name: String,
    generation: i64,
    resource_slice_count: i64,
}

impl RawSlice {
    pub fn keep(self, faults: &mut Faults) -> ResourceSlice {
        let Self { metadata: mut meta, spec } = self;
        settle(&mut meta, false, faults);
        ResourceSlice {
            meta,
            driver: spec.driver,
            pool: spec.pool.name,
            generation: spec.pool.generation,
            count: spec.pool.resource_slice_count,
            node_name: spec.node_name,
        }
    }
}
