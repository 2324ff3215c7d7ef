//! A pod's effective requests.

use std::collections::BTreeMap;

use super::pod::{Container, PodSpec, RawQuantity};
use crate::quantity::{Quantity, QuantityError};
use crate::resources::{CPU, MEMORY, PODS, Resources};

/// A quantity that cannot be used, with the field it stands in.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {source}")]
pub struct RequestError {
    pub field: String,
    pub source: QuantityError,
}

/// What the kubelet has allocated to a container, by name; it differs from the
/// spec while a resize in place is under way.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Allocated {
    pub container: String,
    pub resources: BTreeMap<String, RawQuantity>,
}

type Sum = BTreeMap<String, Quantity>;

/// Effective requests: the larger of what the containers need together with
/// the sidecars and what init containers peak at, pod-level resources where
/// set, overhead and one pod; `cpu` in millicores, all rounded up.
pub fn effective(spec: &PodSpec, allocated: &[Allocated]) -> Result<Resources, RequestError> {
    let mut total = Sum::new();
    for (i, container) in spec.containers.iter().enumerate() {
        let field = format!("spec.containers[{i}].resources.requests");
        add(&mut total, &requests_of(container, allocated, &field)?, &field)?;
    }
    let pod_level = pod_level(spec, &total)?;
    let mut sidecars = Sum::new();
    let mut peak = Sum::new();
    for (i, container) in spec.init_containers.iter().enumerate() {
        let field = format!("spec.initContainers[{i}].resources.requests");
        let mut needs = requests_of(container, allocated, &field)?;
        if container.restart_policy == "Always" {
            add(&mut total, &needs, &field)?;
            add(&mut sidecars, &needs, &field)?;
            needs.clone_from(&sidecars);
        } else {
            add(&mut needs, &sidecars, &field)?;
        }
        raise(&mut peak, needs);
    }
    raise(&mut total, peak);
    total.extend(pod_level);
    let overhead = parse_all(&spec.overhead, "spec.overhead")?;
    add(&mut total, &overhead, "spec.overhead")?;
    let mut amounts = Resources::default();
    for (name, quantity) in &total {
        let amount = if name == CPU { quantity.ceil_milli() } else { quantity.ceil() };
        let amount = amount.map_err(|source| RequestError { field: format!("spec ({name} in all)"), source })?;
        amounts.set(name, amount);
    }
    amounts.set(PODS, 1);
    Ok(amounts)
}

/// Requests where set, else limits, as the API server fills them in.
fn requests_of(container: &Container, allocated: &[Allocated], field: &str) -> Result<Sum, RequestError> {
    let limits = field.replace("requests", "limits");
    let mut needs = parse_all(&container.resources.limits, &limits)?;
    needs.extend(parse_all(&container.resources.requests, field)?);
    for entry in allocated.iter().filter(|a| a.container == container.name) {
        raise(&mut needs, parse_all(&entry.resources, "status.containerStatuses.allocatedResources")?);
    }
    Ok(needs)
}

/// Pod-level requests; a pod-level limit stands in where neither the pod nor
/// any container requests the resource.
fn pod_level(spec: &PodSpec, containers: &Sum) -> Result<Sum, RequestError> {
    let Some(resources) = &spec.resources else { return Ok(Sum::new()) };
    let governed = |name: &str| name == CPU || name == MEMORY || name.starts_with("hugepages-");
    let mut sum = parse_all(&resources.limits, "spec.resources.limits")?;
    sum.retain(|name, _| !containers.contains_key(name));
    sum.extend(parse_all(&resources.requests, "spec.resources.requests")?);
    sum.retain(|name, _| governed(name));
    Ok(sum)
}

fn parse_all(map: &BTreeMap<String, RawQuantity>, field: &str) -> Result<Sum, RequestError> {
    let parse = |(name, text): (&String, &RawQuantity)| {
        let bad = |source| RequestError { field: format!("{field}.{name}"), source };
        let quantity: Quantity = text.0.parse().map_err(bad)?;
        if quantity.is_negative() {
            return Err(bad(QuantityError::Negative(text.0.clone())));
        }
        Ok((name.clone(), quantity))
    };
    map.iter().map(parse).collect()
}

fn add(total: &mut Sum, more: &Sum, field: &str) -> Result<(), RequestError> {
    for (name, quantity) in more {
        let entry = total.entry(name.clone()).or_default();
        *entry = entry.checked_add(*quantity).ok_or_else(|| RequestError {
            field: format!("{field}.{name}"),
            source: QuantityError::TooLarge(quantity.to_string()),
        })?;
    }
    Ok(())
}

fn raise(total: &mut Sum, other: Sum) {
    for (name, quantity) in other {
        let entry = total.entry(name).or_default();
        *entry = (*entry).max(quantity);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn requests(spec: serde_json::Value) -> Result<Resources, RequestError> {
        effective(&serde_json::from_value(spec).unwrap(), &[])
    }

    fn cpu(spec: serde_json::Value) -> i64 {
        requests(spec).unwrap().get(CPU)
    }

    fn container(cpu: &str) -> serde_json::Value {
        json!({"name": format!("c{cpu}"), "resources": {"requests": {"cpu": cpu}}})
    }

    fn sidecar(cpu: &str) -> serde_json::Value {
        json!({"restartPolicy": "Always", "resources": {"requests": {"cpu": cpu}}})
    }

    #[test]
    fn sch_084_an_init_container_may_be_the_peak() {
        assert_eq!(
            cpu(json!({"containers": [container("1"), container("1")], "initContainers": [container("5")]})),
            5000
        );
    }

    #[test]
    fn sch_085_a_sidecar_runs_beside_later_init_containers() {
        let spec = json!({"containers": [container("1")], "initContainers": [sidecar("2"), container("2")]});
        assert_eq!(cpu(spec), 4000);
    }

    #[test]
    fn sch_086_a_sidecar_does_not_run_beside_earlier_init_containers() {
        let spec = json!({"containers": [container("1")], "initContainers": [container("2"), sidecar("2")]});
        assert_eq!(cpu(spec), 3000);
    }

    #[test]
    fn sch_087_pod_level_resources_win() {
        assert_eq!(cpu(json!({"containers": [container("1")], "resources": {"requests": {"cpu": 3}}})), 3000);
        assert_eq!(cpu(json!({"containers": [container("1")], "resources": {"limits": {"cpu": 3}}})), 1000);
        assert_eq!(cpu(json!({"containers": [{"name": "c"}], "resources": {"limits": {"cpu": 3}}})), 3000);
    }

    #[test]
    fn sch_088_overhead_is_added() {
        assert_eq!(cpu(json!({"containers": [container("1.5")], "overhead": {"cpu": "2"}})), 3500);
    }

    #[test]
    fn sch_089_no_requests_still_take_a_pod() {
        let all = requests(json!({"containers": [{"name": "c"}]})).unwrap();
        assert_eq!(all.iter().collect::<Vec<_>>(), [(PODS, 1)]);
    }

    #[test]
    fn sch_090_limits_stand_in_for_requests() {
        let limits = json!({"resources": {"limits": {"cpu": "17", "memory": "1Gi"}, "requests": {"memory": "1Mi"}}});
        let all = requests(json!({"containers": [limits]})).unwrap();
        assert_eq!((all.get(CPU), all.get(MEMORY)), (17_000, 1 << 20));
    }

    #[test]
    fn sch_098_a_resize_counts_the_larger_side() {
        let spec: PodSpec = serde_json::from_value(json!({"containers": [container("1")]})).unwrap();
        let allocated = Allocated {
            container: "c1".into(),
            resources: BTreeMap::from([(CPU.to_owned(), RawQuantity("2".into()))]),
        };
        assert_eq!(effective(&spec, &[allocated]).unwrap().get(CPU), 2000);
    }

    #[test]
    fn amounts_are_summed_before_they_are_rounded() {
        assert_eq!(cpu(json!({"containers": [container("0.4m"), container("0.4m")]})), 1);
    }

    #[test]
    fn bad_quantities_name_their_field() {
        let error = requests(json!({"containers": [container("1"), container("-1")]})).unwrap_err();
        assert_eq!(error.to_string(), "spec.containers[1].resources.requests.cpu: quantity \"-1\" is negative");
        let error = requests(json!({"containers": [container("NaN")]})).unwrap_err();
        assert!(error.to_string().contains("\"NaN\" is not a quantity"), "{error}");
        let huge = json!({"containers": [{"resources": {"requests": {"memory": "7Ei"}}}, {"resources": {"requests": {"memory": "7Ei"}}}]});
        assert!(requests(huge).unwrap_err().to_string().contains("memory"));
    }
}
