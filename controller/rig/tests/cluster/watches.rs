//! What a watch tells.

use std::time::Duration;

use millwright_runtime::kinds::Watched;
use millwright_runtime::watch::{News, follow};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::support::on_stage;

const POOLS: Watched =
    Watched { api_version: "karpenter.sh/v1", kind: "NodePool", plural: "nodepools", required: true };
const NAMESPACES: Watched = Watched { api_version: "v1", kind: "Namespace", plural: "namespaces", required: true };

async fn next(news: &mut mpsc::Receiver<News>) -> News {
    tokio::time::timeout(Duration::from_secs(30), news.recv()).await.expect("news in time").expect("the watch goes on")
}

fn name(object: &Value) -> &str {
    object["metadata"]["name"].as_str().unwrap_or_default()
}

#[test]
fn a_kind_may_come_later() {
    on_stage("absent kind", false, |stage| async move {
        let (tell, mut news) = mpsc::channel(16);
        tokio::spawn(follow(stage.api().await, POOLS, tell));
        assert_eq!(next(&mut news).await, News::Absent(POOLS));
        stage.install(|name| name == "nodepools.karpenter.sh").await;
        let mut seen = next(&mut news).await;
        while seen == News::Absent(POOLS) {
            seen = next(&mut news).await;
        }
        assert_eq!(seen, News::Listed(POOLS));
        stage.pool_only().await;
        let News::Applied(pool) = next(&mut news).await else { panic!("a NodePool was made") };
        assert_eq!(
            (name(&pool), &pool["kind"], &pool["apiVersion"]),
            ("default", &json!("NodePool"), &json!("karpenter.sh/v1"))
        );
        assert!(pool["metadata"]["managedFields"].is_null());
        stage.admin.delete("/apis/karpenter.sh/v1/nodepools/default").await.unwrap();
        let News::Removed(gone) = next(&mut news).await else { panic!("the NodePool is gone") };
        assert_eq!((gone.name.as_str(), gone.uid.as_str()), ("default", pool["metadata"]["uid"].as_str().unwrap()));
        let [before, after] = [&pool["metadata"]["resourceVersion"], &json!(gone.resource_version)]
            .map(|v| v.as_str().unwrap().parse::<u64>().unwrap());
        assert!(after > before, "the version at which it went is newer");
    });
}

#[test]
fn everything_is_told_before_the_list_is_complete() {
    on_stage("list", false, |stage| async move {
        for i in 0..600 {
            let object = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": format!("n-{i:03}")}});
            stage.admin.post("/api/v1/namespaces", &object).await.unwrap();
        }
        let (tell, mut news) = mpsc::channel(16);
        tokio::spawn(follow(stage.api().await, NAMESPACES, tell));
        let mut names = Vec::new();
        loop {
            match next(&mut news).await {
                News::Applied(object) => names.push(name(&object).to_owned()),
                News::Listed(_) => break,
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(names.iter().filter(|n| n.starts_with("n-")).count(), 600, "two pages");
    });
}
