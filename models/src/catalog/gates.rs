//! Feature gates.

use std::str::FromStr;

/// Which optional features are on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Gates {
    pub reserved_capacity: bool,
    pub node_repair: bool,
    pub spot_to_spot_consolidation: bool,
    pub node_overlay: bool,
    pub static_capacity: bool,
    pub capacity_buffer: bool,
    pub terminate_first_drift: bool,
    pub terminate_first_repair: bool,
    pub pod_deletion_cost_management: bool,
    pub node_class_cel: bool,
    pub reboot_for_repair: bool,
    pub dra_nvidia_gpu: bool,
    pub dra_efa: bool,
}

impl Default for Gates {
    fn default() -> Self {
        Self {
            reserved_capacity: true,
            node_repair: false,
            spot_to_spot_consolidation: false,
            node_overlay: false,
            static_capacity: false,
            capacity_buffer: false,
            terminate_first_drift: false,
            terminate_first_repair: false,
            pod_deletion_cost_management: false,
            node_class_cel: false,
            reboot_for_repair: false,
            dra_nvidia_gpu: false,
            dra_efa: false,
        }
    }
}

/// Why a list of gates is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GateError {
    #[error("feature gate {0:?} is not of the form NAME=true or NAME=false")]
    Malformed(String),
    #[error("unknown feature gate {0:?}; known are {known}", known = Gates::NAMES.join(", "))]
    Unknown(String),
}

impl Gates {
    /// Names as users write them.
    pub const NAMES: [&'static str; 13] = [
        "NodeRepair",
        "ReservedCapacity",
        "SpotToSpotConsolidation",
        "NodeOverlay",
        "StaticCapacity",
        "CapacityBuffer",
        "TerminateFirstDrift",
        "TerminateFirstRepair",
        "PodDeletionCostManagement",
        "NodeClassCEL",
        "RebootForRepair",
        "DRANVIDIAGPU",
        "DRAEFA",
    ];

    fn gate(&mut self, name: &str) -> Option<&mut bool> {
        Some(match name {
            "NodeRepair" => &mut self.node_repair,
            "ReservedCapacity" => &mut self.reserved_capacity,
            "SpotToSpotConsolidation" => &mut self.spot_to_spot_consolidation,
            "NodeOverlay" => &mut self.node_overlay,
            "StaticCapacity" => &mut self.static_capacity,
            "CapacityBuffer" => &mut self.capacity_buffer,
            "TerminateFirstDrift" => &mut self.terminate_first_drift,
            "TerminateFirstRepair" => &mut self.terminate_first_repair,
            "PodDeletionCostManagement" => &mut self.pod_deletion_cost_management,
            "NodeClassCEL" => &mut self.node_class_cel,
            "RebootForRepair" => &mut self.reboot_for_repair,
            "DRANVIDIAGPU" => &mut self.dra_nvidia_gpu,
            "DRAEFA" => &mut self.dra_efa,
            _ => return None,
        })
    }
}

/// All gates in the order of [`Gates::NAMES`], as they can be read back.
impl std::fmt::Display for Gates {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut copy = *self;
        for (i, name) in Self::NAMES.iter().enumerate() {
            let on = copy.gate(name).is_some_and(|on| *on);
            write!(f, "{}{name}={on}", if i == 0 { "" } else { "," })?;
        }
        Ok(())
    }
}

/// `A=true,B=false`; gates that are not named keep their default.
impl FromStr for Gates {
    type Err = GateError;

    fn from_str(text: &str) -> Result<Self, GateError> {
        let mut gates = Self::default();
        for part in text.split(',').map(str::trim).filter(|p| !p.is_empty()) {
            let malformed = || GateError::Malformed(part.to_owned());
            let (name, value) = part.split_once('=').ok_or_else(malformed)?;
            let on = match value.trim() {
                "true" => true,
                "false" => false,
                _ => return Err(malformed()),
            };
            *gates.gate(name.trim()).ok_or_else(|| GateError::Unknown(name.trim().to_owned()))? = on;
        }
        Ok(gates)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ops_006_named_gates_change_and_others_keep_their_default() {
        let gates: Gates = "NodeRepair=true, NodeOverlay=true".parse().unwrap();
        assert_eq!(gates, Gates { node_repair: true, node_overlay: true, ..Gates::default() });
        assert!(gates.reserved_capacity);
    }

    #[test]
    fn ops_007_malformed_and_unknown_gates_are_refused() {
        assert!(matches!("NodeRepair=maybe".parse::<Gates>(), Err(GateError::Malformed(_))));
        assert!(matches!("NodeRepair".parse::<Gates>(), Err(GateError::Malformed(_))));
        let error = "Foo=true".parse::<Gates>().unwrap_err().to_string();
        assert!(error.contains("Foo") && error.contains("NodeOverlay"), "{error}");
    }

    #[test]
    fn what_is_printed_reads_back() {
        let gates: Gates = "NodeOverlay=true,ReservedCapacity=false".parse().unwrap();
        assert_eq!(gates.to_string().parse::<Gates>().unwrap(), gates);
    }

    #[test]
    fn every_listed_name_is_a_gate() {
        for name in Gates::NAMES {
            let flip = |on: bool| format!("{name}={on}").parse::<Gates>().unwrap();
            assert_ne!(flip(true), flip(false), "{name}");
        }
    }
}
