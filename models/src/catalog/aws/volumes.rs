//! EBS volumes.

use super::super::Hardware;
use super::Family;
use crate::karpenter::nodeclass::NodeClass;

/// EBS volumes that pods may attach to a node.
///
/// EC2 states how many volumes fit beside the primary interface and the
/// instance store. The node's own devices go off that; where interfaces and
/// volumes share their slots on a Nitro machine, so does one more interface,
/// which the CNI plugin keeps warm from the start. Later interfaces are not
/// foreseen: the CSI driver counts the same way when it starts.
pub fn pod_volumes(h: &Hardware, class: &NodeClass, family: Family) -> u32 {
    let devices = match class.block_devices.len() {
        0 => family.default_devices(),
        n => u32::try_from(n).unwrap_or(u32::MAX),
    };
    let warm = u32::from(h.ebs_slots_shared && h.hypervisor != "xen" && h.interfaces > 1);
    h.ebs_attachments.saturating_sub(devices).saturating_sub(warm)
}
