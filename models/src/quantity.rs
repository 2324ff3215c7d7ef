//! Kubernetes quantities as exact integers.
