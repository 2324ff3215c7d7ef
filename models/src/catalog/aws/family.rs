//! AMI families.

use super::super::CatalogError;
use crate::karpenter::nodeclass::NodeClass;

const GI: i64 = 1 << 30;

/// An AMI family, as far as it decides sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    Al2,
    Al2023,
    Bottlerocket,
    Windows,
    Custom,
}

impl Family {
    /// The family of `class`; none stated is AL2023.
    pub fn of(class: &NodeClass) -> Result<Self, CatalogError> {
        Ok(match class.ami_family.as_str() {
            "AL2" => Self::Al2,
            "" | "AL2023" => Self::Al2023,
            "Bottlerocket" => Self::Bottlerocket,
            "Windows2019" | "Windows2022" | "Windows2025" => Self::Windows,
            "Custom" => Self::Custom,
            other => {
                return Err(CatalogError::NodeClass {
                    class: class.meta.name.clone(),
                    field: "spec.amiFamily".to_owned(),
                    problem: format!(
                        "{other:?} is unknown; known are AL2, AL2023, Bottlerocket, Windows2019, Windows2022, \
                         Windows2025, Custom"
                    ),
                });
            }
        })
    }

    /// Build label of a Windows family.
    pub fn windows_build(ami_family: &str) -> Option<&'static str> {
        Some(match ami_family {
            "Windows2019" => "10.0.17763",
            "Windows2022" => "10.0.20348",
            "Windows2025" => "10.0.26100",
            _ => return None,
        })
    }

    /// The memory that kubelet keeps follows the interfaces, not `pods`.
    pub(super) fn reserves_by_interfaces(self) -> bool {
        matches!(self, Self::Al2 | Self::Al2023 | Self::Custom)
    }

    pub(super) fn honours_pods_per_core(self) -> bool {
        self != Self::Bottlerocket
    }

    pub(super) fn limits_pods_by_interfaces(self) -> bool {
        self != Self::Windows
    }

    /// The device that holds pods' files.
    pub(super) fn data_device(self) -> Option<&'static str> {
        match self {
            Self::Al2 | Self::Al2023 => Some("/dev/xvda"),
            Self::Bottlerocket => Some("/dev/xvdb"),
            Self::Windows => Some("/dev/sda1"),
            Self::Custom => None,
        }
    }

    /// Size of the data device where the class names none.
    pub(super) fn data_bytes(self) -> i64 {
        match self {
            Self::Windows => 50 * GI,
            _ => 20 * GI,
        }
    }

    /// Devices that the family's default mappings attach.
    pub(super) fn default_devices(self) -> u32 {
        match self {
            Self::Bottlerocket => 2,
            _ => 1,
        }
    }
}
