use proptest::prelude::*;

use super::*;

#[test]
fn scenario_files_read() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/scenarios/files");
    let Ok(entries) = std::fs::read_dir(root) else {
        eprintln!("SKIPPED: {root} is not there");
        return;
    };
    let mut seen = 0;
    for entry in entries.flatten() {
        let path = entry.path().join("objects.yaml");
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let read = read(&[Document { file: path.display().to_string(), text }], &ReadOptions::default());
        let world = read.unwrap_or_else(|e| panic!("{e}"));
        assert!(!world.pods.is_empty() && !world.node_pools.is_empty(), "{}", path.display());
        seen += 1;
    }
    assert!(seen > 0);
}

fn mixture() -> Vec<String> {
    let mut all = vec![
        pool("requirements: []}}}"),
        workload("Deployment", "web", ", replicas: 3"),
        workload("StatefulSet", "web", ", replicas: 2, volumeClaimTemplates: [{metadata: {name: data}}]"),
        "{apiVersion: v1, kind: Node, metadata: {name: n}, status: {capacity: {cpu: 4}}}".to_owned(),
        POD.to_owned(),
        POD.to_owned(),
        "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: p}, value: 1, globalDefault: true}"
            .to_owned(),
    ];
    all.extend((0..4).map(|i| owned_pod(&format!("d{i}"), "DaemonSet", "ds", "ds")));
    all.push("{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: ds}}".to_owned());
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn the_order_of_documents_does_not_matter(order in Just(mixture()).prop_shuffle()) {
        let straight: Vec<_> = mixture().into_iter().map(|text| Document { file: "f".into(), text }).collect();
        let shuffled: Vec<_> = order.into_iter().map(|text| Document { file: "f".into(), text }).collect();
        let expected = read(&straight, &ReadOptions::default()).unwrap();
        prop_assert_eq!(read(&shuffled, &ReadOptions::default()).unwrap(), expected);
    }

    #[test]
    fn random_text_never_panics(text in "[ -~\n\u{80}-\u{2ff}]{0,300}", bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = read(&documents(&[&text, &String::from_utf8_lossy(&bytes)]), &ReadOptions::default());
    }

    #[test]
    fn damaged_documents_never_panic(at in any::<prop::sample::Index>(), with in "[-{}\\[\\]:,'\"&*!|>%@0-9a-z \n]{0,6}", cut in 0..40_usize) {
        let mut text: Vec<char> = mixture().join("\n---\n").chars().collect();
        let at = at.index(text.len());
        let end = (at + cut).min(text.len());
        text.splice(at..end, with.chars());
        let text: String = text.into_iter().collect();
        let _ = read(&documents(&[&text]), &ReadOptions::default());
    }
}
