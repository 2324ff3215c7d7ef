//! The published formats become the instances they mean.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::io::Write;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use millwright_benches::{anytime, formats, instances};

/// A folder of its own, removed at the end.
struct Folder(std::path::PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("millwright-formats-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn write(&self, name: &str, bytes: &[u8]) -> std::path::PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).ok();
    }
}

#[test]
fn three_formats_are_read_and_solved_to_their_optimum() {
    let folder = Folder::new("three");
    let lines = [
        // 6+4 and 5+5 fill two bins of 10, 7 needs a third.
        r#"{"name": "one", "capacity": 10, "items": [6, 5, 4, 5, 7], "lower": 3, "upper": 3}"#,
        // One bin of 10 at 7 beats two of 6 at 4 each.
        r#"{"name": "sizes", "bins": [[6, 4], [10, 7]], "items": [5, 5]}"#,
        // Together they exceed the second dimension of the small bin.
        r#"{"name": "vectors", "bins": [{"cost": 3, "cap": [10, 4]}, {"cost": 5, "cap": [10, 9]}], "items": [[2, 3], [2, 3]]}"#,
    ];
    let path = folder.write("set.jsonl", lines.join("\n").as_bytes());
    let problems = formats::read(&path).unwrap();
    let costs: Vec<i64> = problems
        .iter()
        .map(|p| anytime::solve(&p.instance, Duration::from_secs(20)).unwrap().cost / formats::UNIT)
        .collect();
    assert_eq!(costs, [3, 7, 5]);
    assert_eq!((problems[0].lower, problems[0].upper), (Some(3.0), Some(3.0)));
    assert_eq!(problems[1].upper, None);
}

#[test]
fn bounds_beside_a_packed_file_are_taken() {
    let folder = Folder::new("bounds");
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(br#"{"name": "a", "bins": [[6, 4]], "items": [5]}"#).unwrap();
    let path = folder.write("set.jsonl.gz", &packed.finish().unwrap());
    folder.write("set-bounds.csv", b"name,items,lp,lower,upper\na,1,3.5,4,4\n");
    let problems = formats::read(&path).unwrap();
    assert_eq!((problems[0].lower, problems[0].upper), (Some(4.0), Some(4.0)));
}

#[test]
fn broken_lines_name_file_line_and_instance() {
    let folder = Folder::new("broken");
    let ragged = r#"{"name": "r", "bins": [{"cost": 3, "cap": [10, 4]}], "items": [[2]]}"#;
    let path = folder.write("bad.jsonl", format!("\n{ragged}\n").as_bytes());
    let error = formats::read(&path).unwrap_err().to_string();
    assert!(error.contains("bad.jsonl: line 2: instance r: an item has 1 sizes, the bins 2"), "{error}");
    let path = folder.write("worse.jsonl", b"{\"name\": \"x\"}\n");
    assert!(formats::read(&path).unwrap_err().to_string().contains("worse.jsonl: line 1"));
    assert!(formats::read(&folder.0.join("none.jsonl")).unwrap_err().to_string().contains("none.jsonl"));
}

#[test]
fn the_published_sets_are_read_whole() {
    let Some(shared) = instances::shared() else {
        eprintln!("SKIPPED: ../shared is absent, the published instances are not read");
        return;
    };
    for (set, count, known) in [("falkenauer", 135, 135), ("vsbpp-1d", 220, 220), ("vsvbp", 96, 37)] {
        let problems = formats::read(&shared.join(format!("data/vbp/{set}.jsonl.gz"))).unwrap();
        assert_eq!(problems.len(), count, "{set}");
        assert_eq!(problems.iter().filter(|p| p.upper.is_some()).count(), known, "{set}");
        // Nothing fits nowhere, and no bound lies above the best known value.
        for p in problems {
            assert!(p.instance.shapes.iter().all(|s| !p.instance.admissions[s.tiers[0].admission].bins.is_clear()));
            assert!(p.lower.zip(p.upper).is_none_or(|(l, u)| l <= u), "{}", p.name);
        }
    }
}
