//! Scenarios after public reports, in `../shared/scenarios/files`.

use std::path::Path;

use millwright_models::catalog::{Catalog, Gates};
use millwright_models::lower::Settings;
use millwright_rig::legality::Case;
use serde_json::Value;

const FILES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/scenarios/files");

/// Those that are plans.
pub fn cases() -> Option<Vec<Case>> {
    let mut folders: Vec<_> = std::fs::read_dir(FILES).ok()?.map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    Some(folders.iter().filter(|p| p.is_dir()).filter_map(|p| case(p)).collect())
}

fn case(folder: &Path) -> Option<Case> {
    let text = |file: &str| std::fs::read_to_string(folder.join(file)).unwrap();
    let expect: Value = serde_saphyr::from_str(&text("expect.yaml")).unwrap();
    if expect["command"] != "plan" {
        return None;
    }
    let mut settings = Settings::default();
    let args: Vec<&str> = expect["args"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    for pair in args.chunks(2) {
        match *pair {
            ["--spot-types", n] => settings.spot_types = n.parse().unwrap(),
            ["--feature-gates", "NodeOverlay=true"] => {
                settings.gates = Gates { node_overlay: true, ..settings.gates };
            }
            _ => panic!("{}: no setting for {pair:?}", folder.display()),
        }
    }
    let name = folder.file_name().unwrap().to_string_lossy().into_owned();
    let catalog = Catalog::parse(&name, &text("catalog.yaml")).unwrap();
    Some(Case { name, objects: text("objects.yaml"), catalog, settings, rounds: 20 })
}
