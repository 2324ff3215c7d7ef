use std::collections::BTreeMap;

use millwright_models::resources::Resources;
use serde::Serialize;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// Everything the page shows. Money is micro-dollars per hour.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Page {
    pub title: String,
    pub subtitle: String,
    /// The figures at the top.
    pub tiles: Vec<Tile>,
    /// From one cost to another, step by step.
    pub bridge: Vec<Bridge>,
    /// Resources that nodes are drawn by.
    pub resources: Vec<String>,
    /// Pods that machines refer to by position.
    pub pods: Vec<PodBox>,
    /// The cluster as it is.
    pub before: Vec<Machine>,
    /// The cluster as it will be.
    pub after: Vec<Machine>,
    pub after_title: String,
    pub waves: Vec<Wave>,
    /// Pod, from, to.
    pub moves: Vec<(String, String, String)>,
    /// Nodes that stay, and why.
    pub blocked: Vec<(String, Vec<String>)>,
    /// Pods without a place, and why.
    pub unscheduled: Vec<(String, Vec<String>)>,
    pub warnings: Vec<String>,
}

/// A figure and what it is.
#[derive(Clone, Debug, Serialize)]
pub struct Tile {
    pub label: String,
    pub value: String,
}

/// A step between two costs, or a total where `total` is set.
#[derive(Clone, Debug, Serialize)]
pub struct Bridge {
    pub label: String,
    pub from: i64,
    pub to: i64,
    pub total: bool,
}

/// A pod as it is drawn.
#[derive(Clone, Debug, Serialize)]
pub struct PodBox {
    pub name: String,
    pub requests: BTreeMap<String, i64>,
}

/// What becomes of a machine.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    Existing,
    New,
    Removed,
}

/// A node with its pods.
#[derive(Clone, Debug, Serialize)]
pub struct Machine {
    pub name: String,
    pub state: State,
    pub instance_type: String,
    pub zone: String,
    pub capacity_type: String,
    pub price: i64,
    pub capacity: BTreeMap<String, i64>,
    /// Taken by DaemonSets.
    pub system: BTreeMap<String, i64>,
    /// Positions in [`Page::pods`].
    pub pods: Vec<usize>,
}

/// One wave of moves.
#[derive(Clone, Debug, Serialize)]
pub struct Wave {
    pub removed: Vec<String>,
    pub added: Vec<String>,
    pub moved: usize,
    pub cost: i64,
    pub bound: i64,
}

/// Those of `names` that `amounts` has.
pub fn amounts(amounts: &Resources, names: &[String]) -> BTreeMap<String, i64> {
    names.iter().filter_map(|n| amounts.entry(n).map(|a| (n.clone(), a))).collect()
}

impl Page {
    /// Finds the positions of pods by their names.
    pub fn positions(&self) -> impl Fn(&[String]) -> Vec<usize> {
        let index: BTreeMap<&str, usize> = self.pods.iter().enumerate().map(|(i, p)| (p.name.as_str(), i)).collect();
        move |names| names.iter().filter_map(|n| index.get(n.as_str()).copied()).collect()
    }

    /// The page as text.
    pub fn render(&self) -> String {
        // `<` never appears in the data, so nothing in it can end the element.
        let data = serde_json::to_string(self).unwrap_or_default().replace('<', "\\u003c");
        let title = escape(&self.title);
        let figures: String =
            self.tiles.iter().map(|t| format!("<li>{}: {}</li>", escape(&t.label), escape(&t.value))).collect();
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
             script-src 'unsafe-inline'\">\n<title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
             <main id=\"page\"></main>\n<div id=\"tip\"></div>\n\
             <noscript><h1>{title}</h1><ul>{figures}</ul></noscript>\n\
             <script type=\"application/json\" id=\"data\">{data}</script>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n"
        )
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_cannot_leave_its_element() {
        let page = Page {
            title: "<b>&\"".to_owned(),
            subtitle: "</script><script>alert(1)</script>".to_owned(),
            ..Page::default()
        };
        let text = page.render();
        assert!(text.contains("<title>&lt;b&gt;&amp;&quot;</title>"));
        assert!(!text.contains("</script><script>alert"), "data ends its own element");
        assert_eq!(text.matches("</script>").count(), 2);
    }

    #[test]
    fn nothing_is_loaded_from_elsewhere() {
        let text = Page::default().render();
        for outside in ["http://", "https://", "src=", "url(", "@import"] {
            assert!(!text.contains(outside), "{outside}");
        }
    }
}
