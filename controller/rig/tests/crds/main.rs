//! The definitions of our kinds on a real API server: what it accepts, what it
//! refuses, what it fills in.
#![allow(clippy::unwrap_used, clippy::expect_used)] // without a control plane there is nothing to test

use std::time::{Duration, Instant};

use http::StatusCode;
use millwright_models::karpenter::crds;
use millwright_rig::api::{Api, ApiError, Patch};
use millwright_rig::plane::{Plane, Programs};
use millwright_rig::say;
use serde::Deserialize;
use serde_json::{Map, Value, json};

#[derive(Deserialize)]
struct Cases {
    bases: Map<String, Value>,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    kind: String,
    #[serde(default)]
    with: Value,
    refused: Option<String>,
    becomes: Option<Value>,
    then: Option<Then>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Then {
    with: Value,
    refused: Option<String>,
}

/// RFC 7386.
fn merge(base: &mut Value, patch: &Value) {
    let Value::Object(fields) = patch else {
        *base = patch.clone();
        return;
    };
    if !base.is_object() {
        *base = json!({});
    }
    for (key, value) in fields {
        if value.is_null() {
            base.as_object_mut().unwrap().remove(key);
        } else {
            merge(&mut base[key], value);
        }
    }
}

/// Whether everything in `part` is in `whole`; lists must be equal.
fn holds(whole: &Value, part: &Value) -> bool {
    match part {
        Value::Object(fields) => fields.iter().all(|(key, value)| holds(&whole[key], value)),
        _ => whole == part,
    }
}

fn collection(object: &Value) -> String {
    let group = object["apiVersion"].as_str().unwrap();
    match object["kind"].as_str().unwrap() {
        "CapacityBuffer" => format!("/apis/{group}/namespaces/default/capacitybuffers"),
        "EC2NodeClass" => format!("/apis/{group}/ec2nodeclasses"),
        kind => format!("/apis/{group}/{}s", kind.to_lowercase()),
    }
}

/// Installs all definitions and waits until objects can be made.
async fn install(api: &Api) {
    const PATH: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    for crd in crds::ALL {
        let definition: Value = serde_saphyr::from_str(crd.yaml).unwrap();
        api.post(PATH, &definition).await.unwrap_or_else(|e| panic!("{}: {e}", crd.name));
    }
    let start = Instant::now();
    loop {
        let all = api.list(PATH).await.unwrap();
        let is_there = |crd: &Value| {
            let conditions = crd["status"]["conditions"].as_array();
            conditions.into_iter().flatten().any(|c| c["type"] == "Established" && c["status"] == "True")
        };
        if all.iter().all(is_there) {
            return;
        }
        assert!(start.elapsed() < Duration::from_secs(30), "the definitions are not established");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// A definition that is just established may not be served yet.
async fn make(api: &Api, path: &str, object: &Value) -> Result<Value, ApiError> {
    let start = Instant::now();
    loop {
        match api.post(path, object).await {
            Err(e)
                if (e.is(StatusCode::NOT_FOUND) || e.is(StatusCode::TOO_MANY_REQUESTS))
                    && start.elapsed() < Duration::from_secs(30) =>
            {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
            other => return other,
        }
    }
}

/// What is wrong with an answer.
fn fault(answer: &Result<Value, ApiError>, refused: Option<&str>) -> Option<String> {
    match (answer, refused) {
        (Ok(_), None) => None,
        (Ok(_), Some(_)) => Some("was accepted".to_owned()),
        (Err(e), Some(words)) if e.is(StatusCode::UNPROCESSABLE_ENTITY) && e.reason.contains(words) => None,
        (Err(e), _) => Some(format!("{} {}", e.code, e.reason)),
    }
}

async fn judge(api: &Api, cases: &Cases, number: usize) -> Option<String> {
    let case = &cases.cases[number];
    let mut object = cases.bases[&case.kind].clone();
    if !case.with.is_null() {
        merge(&mut object, &case.with);
    }
    object["metadata"]["name"] = json!(format!("case-{number}"));
    let path = collection(&object);
    let made = make(api, &format!("{path}?fieldValidation=Strict"), &object).await;
    if let Some(fault) = fault(&made, case.refused.as_deref()) {
        return Some(fault);
    }
    if let (Ok(stored), Some(part)) = (&made, &case.becomes)
        && !holds(stored, part)
    {
        return Some(format!("became {}", stored["spec"]));
    }
    if let (Ok(_), Some(then)) = (&made, &case.then) {
        let changed = api.patch(&format!("{path}/case-{number}"), Patch::Merge, &then.with).await;
        return fault(&changed, then.refused.as_deref()).map(|f| format!("then {f}"));
    }
    None
}

#[test]
fn the_api_server_takes_what_is_valid_and_nothing_else() {
    let programs = match Programs::locate() {
        Ok(programs) => programs,
        Err(missing) => return say(&format!("SKIPPED definitions: {missing}")),
    };
    let cases: Cases = serde_saphyr::from_str(include_str!("cases.yaml")).unwrap();
    let plane = Plane::start(&programs).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let faults = runtime.block_on(async {
        let api = Api::new(plane.client().await.unwrap());
        install(&api).await;
        let mut faults = Vec::new();
        for number in 0..cases.cases.len() {
            if let Some(fault) = judge(&api, &cases, number).await {
                faults.push(format!("{}: {fault}", cases.cases[number].name));
            }
        }
        faults
    });
    say(&format!("{} objects judged by the API server", cases.cases.len()));
    assert!(faults.is_empty(), "{}:\n{}", faults.len(), faults.join("\n"));
}
