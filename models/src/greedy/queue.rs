//! The order in which pods are tried (spec 20 §6.1).

use std::collections::VecDeque;

use crate::kube::pod::Pod;
use crate::resources::{CPU, MEMORY};

/// Pods waiting, with the length the queue had when each was put back.
#[derive(Debug)]
pub(super) struct Queue {
    waiting: VecDeque<(usize, usize)>,
}

impl Queue {
    /// Most CPU first, then most memory, then the oldest, then by uid.
    pub fn new(pods: &[Pod], mut batch: Vec<usize>) -> Self {
        batch.sort_by(|a, b| {
            let (a, b) = (&pods[*a], &pods[*b]);
            let size = |p: &Pod| (p.requests.get(CPU), p.requests.get(MEMORY));
            let name = |p: &Pod| (p.namespace.clone(), p.name.clone());
            size(b)
                .cmp(&size(a))
                .then_with(|| a.created.cmp(&b.created))
                .then_with(|| a.uid.cmp(&b.uid))
                .then_with(|| name(a).cmp(&name(b)))
        });
        Self { waiting: batch.into_iter().map(|p| (p, usize::MAX)).collect() }
    }

    /// The next pod; none if all are placed or a whole round was in vain.
    pub fn pop(&mut self) -> Option<usize> {
        let (_, length) = self.waiting.front()?;
        if *length == self.waiting.len() {
            return None;
        }
        self.waiting.pop_front().map(|(pod, _)| pod)
    }

    /// Puts a pod back that found no place.
    pub fn put_back(&mut self, pod: usize) {
        self.waiting.push_back((pod, self.waiting.len() + 1));
    }

    /// Those still waiting.
    pub fn rest(self) -> impl Iterator<Item = usize> {
        self.waiting.into_iter().map(|(pod, _)| pod)
    }
}
