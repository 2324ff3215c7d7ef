//! An API server of JSON objects, a provider, and the brain between them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use millwright_core::control::ask::{Ask, Event, Instance, Kind, Refusal, Reply, Target};
use millwright_core::control::brain::{Brain, Step};
use millwright_core::control::desk::{Count, Request};
use millwright_core::control::settings::Settings;
use millwright_core::control::work::Work;
use millwright_models::catalog::{Catalog, file};
use millwright_models::reader::live::Live;
use millwright_models::world::World;
use serde_json::{Value, json};

use super::objects;

/// Kind, namespace, name.
pub type Key = (String, String, String);

/// A machine that was bought.
#[derive(Clone, Debug)]
pub struct Machine {
    pub instance: Instance,
    pub born: Timestamp,
}

/// A workload: what its pods are made from, and how many there are to be.
#[derive(Clone, Debug)]
pub struct Workload {
    pub pod: Value,
    pub replicas: usize,
    pub made: usize,
}

/// What a test may refuse, delay or distort.
pub type Refuse = Box<dyn FnMut(&Ask) -> Option<Refusal>>;

pub struct Room {
    pub objects: BTreeMap<Key, Value>,
    pub live: Live,
    version: u64,
    pub now: Timestamp,
    pub settings: Settings,
    pub brains: Vec<Brain>,
    pub catalog: Arc<Catalog>,
    pub machines: BTreeMap<String, Machine>,
    pub workloads: BTreeMap<String, Workload>,
    /// DaemonSets whose pods never come.
    pub lazy: Vec<String>,
    /// Time from the launch of a machine until its node is there.
    pub boot: SignedDuration,
    /// Nodes that are not to become ready.
    pub unready: Vec<String>,
    pub scheduler: bool,
    /// New claims do not show.
    pub blind: bool,
    /// Work aside is not done but kept here.
    pub idle: bool,
    pub aside: Vec<Work>,
    pub refuse: Refuse,
    /// Everything that was asked, with the answer.
    pub log: Vec<(Timestamp, Ask, Reply)>,
    pub counts: Vec<Count>,
    pub events: Vec<Event>,
}

impl Room {
    pub fn new(settings: Settings) -> Self {
        let lab: Value =
            serde_saphyr::from_str(include_str!("../../../../fixtures/scenarios/greedy/lab.yaml")).unwrap();
        let catalog = Arc::new(file::parse("catalog", &lab.to_string(), &|_| None).unwrap());
        let mut room = Self {
            objects: BTreeMap::new(),
            live: Live::default(),
            version: 100,
            now: "2026-11-30T12:00:00Z".parse().unwrap(),
            brains: vec![Brain::new(settings.clone())],
            settings,
            catalog,
            machines: BTreeMap::new(),
            workloads: BTreeMap::new(),
            lazy: Vec::new(),
            boot: SignedDuration::from_secs(5),
            unready: Vec::new(),
            scheduler: true,
            blind: false,
            idle: false,
            aside: Vec::new(),
            refuse: Box::new(|_| None),
            log: Vec::new(),
            counts: Vec::new(),
            events: Vec::new(),
        };
        room.add(objects::class());
        room
    }

    /// Settings under which equal rooms go the same way.
    /// One large node with one small pod: it is worth a replacement.
    pub fn wasteful() -> Self {
        let mut room = Self::new(Self::settings());
        room.add(objects::pool("p", json!({})));
        room.node("big", "t16");
        room.running("web", "web-a", "800m", "big");
        room
    }

    pub fn settings() -> Settings {
        let mut settings = Settings { iterations: Some(30), ..Settings::default() };
        settings.disruption_price = Some(0);
        settings
    }

    pub fn key(object: &Value) -> Key {
        let text = |v: &Value| v.as_str().unwrap_or_default().to_owned();
        (text(&object["kind"]), text(&object["metadata"]["namespace"]), text(&object["metadata"]["name"]))
    }

    pub fn of(target: &Target) -> Key {
        (target.kind.name().to_owned(), target.namespace.clone(), target.name.clone())
    }

    /// Stores a version of an object.
    pub fn put(&mut self, mut object: Value) -> Value {
        self.version += 1;
        object["metadata"]["resourceVersion"] = json!(self.version.to_string());
        let key = Self::key(&object);
        let finalizers = object["metadata"]["finalizers"].as_array().is_some_and(|f| !f.is_empty());
        if key.0 != "Pod" && !object["metadata"]["deletionTimestamp"].is_null() && !finalizers {
            self.drop_object(&key);
            return object;
        }
        if self.blind && key.0 == "NodeClaim" && key.2.starts_with("p-") {
            self.objects.insert(key, object.clone());
            return object;
        }
        self.live.apply(&object).unwrap_or_else(|e| panic!("{object}: {e:?}"));
        self.objects.insert(key.clone(), object.clone());
        self.tell(&key);
        object
    }

    /// Makes an object.
    pub fn add(&mut self, mut object: Value) -> Value {
        self.version += 1;
        let metadata = &mut object["metadata"];
        if metadata["uid"].is_null() {
            metadata["uid"] = json!(format!("uid-{}", self.version));
        }
        if metadata["creationTimestamp"].is_null() {
            metadata["creationTimestamp"] = json!(Timestamp::from_second(self.now.as_second()).unwrap().to_string());
        }
        metadata["generation"] = json!(1);
        self.put(object)
    }

    pub fn drop_object(&mut self, key: &Key) {
        if let Some(object) = self.objects.remove(key) {
            let version = object["apiVersion"].as_str().unwrap_or_default();
            self.version += 1;
            self.live.remove(version, &key.0, &key.1, &key.2, "", &self.version.to_string());
            self.tell(key);
        }
    }

    fn tell(&mut self, key: &Key) {
        let kind = match key.0.as_str() {
            "Pod" => Kind::Pod,
            "Node" => Kind::Node,
            "NodeClaim" => Kind::NodeClaim,
            "NodePool" => Kind::NodePool,
            _ => return,
        };
        let target = Target::new(kind, &key.1, &key.2);
        self.brains.iter_mut().for_each(|b| b.seen(&target));
    }

    /// Changes an object as a person would.
    pub fn edit(&mut self, kind: &str, namespace: &str, name: &str, patch: Value) {
        let key = (kind.to_owned(), namespace.to_owned(), name.to_owned());
        let mut object = self.objects[&key].clone();
        objects::merge(&mut object, &patch);
        self.put(object);
    }

    pub fn get(&self, kind: &str, namespace: &str, name: &str) -> Option<&Value> {
        self.objects.get(&(kind.to_owned(), namespace.to_owned(), name.to_owned()))
    }

    pub fn all(&self, kind: &str) -> Vec<&Value> {
        self.objects.iter().filter(|(key, _)| key.0 == kind).map(|(_, o)| o).collect()
    }

    pub fn names(&self, kind: &str) -> Vec<String> {
        self.all(kind).iter().map(|o| o["metadata"]["name"].as_str().unwrap().to_owned()).collect()
    }

    pub fn world(&mut self) -> Arc<World> {
        self.live.world().0
    }

    /// Node of a pod, empty while it has none.
    /// Whether a node is marked as one that goes.
    pub fn is_tainted(&self, node: &str) -> bool {
        let taints = self.get("Node", "", node).map(|n| n["spec"]["taints"].clone());
        let taints = taints.as_ref().and_then(Value::as_array);
        taints.is_some_and(|all| all.iter().any(|t| t["key"] == "karpenter.sh/disrupted"))
    }

    pub fn node_of(&self, pod: &str) -> String {
        self.get("Pod", "default", pod).and_then(|p| p["spec"]["nodeName"].as_str()).unwrap_or_default().to_owned()
    }

    /// Time goes on, in quarters of a second.
    pub fn run(&mut self, seconds: f64) {
        let end = self.now + SignedDuration::from_secs_f64(seconds);
        while self.now < end {
            self.step();
        }
    }

    /// Until something holds.
    pub fn until(&mut self, what: &str, seconds: f64, holds: impl Fn(&Self) -> bool) {
        let end = self.now + SignedDuration::from_secs_f64(seconds);
        while !holds(self) {
            assert!(self.now < end, "{what} within {seconds} s\n{}", self.story());
            self.step();
        }
    }

    pub fn step(&mut self) {
        self.play();
        self.think();
        self.now += SignedDuration::from_millis(250);
    }

    /// Every brain looks until it wants nothing more now.
    pub fn think(&mut self) {
        for at in 0..self.brains.len() {
            for round in 0.. {
                assert!(round < 500, "the brain never rests\n{}", self.story());
                let (world, catalog) = (self.world(), self.catalog.clone());
                let Step { requests, counts, work, .. } = self.brains[at].look(&world, &catalog, self.now);
                self.counts.extend(counts);
                if requests.is_empty() && work.is_none() {
                    break;
                }
                for request in requests {
                    self.carry_out(at, request);
                }
                if self.idle {
                    self.aside.extend(work);
                } else if let Some(work) = work {
                    let finding = work.run(&|| Duration::ZERO);
                    self.brains[at].found(finding, self.now);
                }
            }
        }
    }

    fn carry_out(&mut self, at: usize, request: Request) {
        let reply = match (self.refuse)(&request.ask) {
            Some(refusal) => Reply::Refused(refusal),
            None => self.serve(&request.ask),
        };
        self.log.push((self.now, request.ask.clone(), reply.clone()));
        self.brains[at].answer(request.ticket, &reply, self.now);
        let Reply::Done = reply else { return };
        if let Some(key) = request.ask.key() {
            self.brains[at].seen(&key);
        }
    }

    fn serve(&mut self, ask: &Ask) -> Reply {
        let no = |r| Reply::Refused(r);
        match ask {
            Ask::Create { target, object } if self.objects.contains_key(&Self::of(target)) => {
                assert_eq!(Self::key(object), Self::of(target));
                no(Refusal::Conflict)
            }
            Ask::Create { object, .. } => Reply::Object(self.add(object.clone())),
            Ask::Patch { target, status, body } => {
                let Some(old) = self.objects.get(&Self::of(target)).cloned() else { return no(Refusal::NotFound) };
                let differs = |field: &str| {
                    let wanted = &body["metadata"][field];
                    !wanted.is_null() && *wanted != "" && *wanted != old["metadata"][field]
                };
                if differs("resourceVersion") || differs("uid") {
                    return no(Refusal::Conflict);
                }
                let mut body = body.clone();
                if !status {
                    body.as_object_mut().unwrap().remove("status");
                }
                let mut object = old;
                objects::merge(&mut object, &body);
                Reply::Object(self.put(object))
            }
            Ask::Delete { target, uid, .. } => {
                let key = Self::of(target);
                let Some(mut object) = self.objects.get(&key).cloned() else { return no(Refusal::NotFound) };
                if object["metadata"]["uid"] != **uid {
                    return no(Refusal::Conflict);
                }
                if object["metadata"]["deletionTimestamp"].is_null() {
                    object["metadata"]["deletionTimestamp"] = json!(self.now.to_string());
                    object = self.put(object);
                }
                Reply::Object(object)
            }
            Ask::Bind { pod, uid, node } => {
                let Some(mut object) = self.objects.get(&Self::of(pod)).cloned() else { return no(Refusal::NotFound) };
                if object["metadata"]["uid"] != **uid || !object["spec"]["nodeName"].is_null() {
                    return no(Refusal::Conflict);
                }
                object["spec"]["nodeName"] = json!(node);
                object["status"]["conditions"] = json!([{"type": "PodScheduled", "status": "True"}]);
                self.put(object);
                Reply::Done
            }
            Ask::Evict { pod, uid } => {
                let Some(object) = self.objects.get(&Self::of(pod)).cloned() else { return no(Refusal::NotFound) };
                if object["metadata"]["uid"] != **uid {
                    return no(Refusal::Conflict);
                }
                self.evict(object["metadata"]["name"].as_str().unwrap());
                Reply::Done
            }
            Ask::Event(event) => {
                self.events.push(event.clone());
                Reply::Done
            }
            Ask::Refresh { .. } => Reply::Done,
            Ask::Launch { claim, object, .. } => self.launch(claim, object),
            Ask::Terminate { provider_id, .. } => {
                self.machines.remove(provider_id);
                no(Refusal::NotFound)
            }
            Ask::Describe { provider_id, .. } => match self.machines.get(provider_id) {
                Some(machine) => Reply::Instances(vec![machine.instance.clone()]),
                None => no(Refusal::NotFound),
            },
            Ask::Instances => Reply::Instances(self.machines.values().map(|m| m.instance.clone()).collect()),
        }
    }

    /// A pod's end begins, as the eviction API has it.
    pub fn evict(&mut self, pod: &str) {
        let grace =
            self.get("Pod", "default", pod).unwrap()["spec"]["terminationGracePeriodSeconds"].as_i64().unwrap_or(1);
        let at = (self.now + SignedDuration::from_secs(grace)).to_string();
        let evicted = json!([{"type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI"}]);
        let patch = json!({"metadata": {"deletionTimestamp": at}, "status": {"conditions": evicted}});
        self.edit("Pod", "default", pod, patch);
    }

    /// A new controller that remembers nothing.
    pub fn restart(&mut self) {
        self.brains = vec![Brain::new(self.settings.clone())];
    }

    /// How often a counter went up with these labels.
    pub fn count(&self, name: &str, labels: &[(&str, &str)]) -> usize {
        let has = |c: &&Count| labels.iter().all(|(k, v)| c.labels.iter().any(|(l, w)| l == k && w == v));
        self.counts.iter().filter(|c| c.name == name).filter(has).count()
    }

    /// Requests that some test is about.
    pub fn asked(&self, which: impl Fn(&Ask) -> bool) -> Vec<(Timestamp, &Ask, &Reply)> {
        self.log.iter().filter(|(_, ask, _)| which(ask)).map(|(at, ask, reply)| (*at, ask, reply)).collect()
    }

    /// What happened, for a failure's message.
    pub fn story(&self) -> String {
        let last = self.log.iter().rev().take(60).rev();
        let line = |(at, ask, reply): &(Timestamp, Ask, Reply)| {
            let reply = match reply {
                Reply::Object(_) => "object".to_owned(),
                other => format!("{other:?}").chars().take(90).collect(),
            };
            let ask: String = format!("{ask:?}").chars().take(420).collect();
            format!("{at} {ask} -> {reply}\n")
        };
        let pods = self
            .all("Pod")
            .into_iter()
            .map(|p| format!("{} on {} {}\n", p["metadata"]["name"], p["spec"]["nodeName"], p["status"]["phase"]));
        last.map(line).chain(pods).collect()
    }
}
