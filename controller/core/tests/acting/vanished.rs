//! Commands whose pods or nodes go before anything is bought.

use millwright_core::control::ask::{Ask, Kind};
use serde_json::json;

use super::objects;
use super::room::Room;

fn creates(room: &Room) -> usize {
    room.asked(|a| matches!(a, Ask::Create { target, .. } if target.kind == Kind::NodeClaim)).len()
}

#[test]
fn nothing_is_bought_for_pods_that_went_while_the_command_waited() {
    let mut room = Room::wasteful();
    // It is found, and waits for fifteen seconds to be judged again.
    room.run(5.0);
    room.workloads.get_mut("web").unwrap().replicas = 0;
    room.until("the end of the node", 120.0, |r| r.get("Node", "", "big").is_none());
    assert_eq!(creates(&room), 0, "{}", room.story());
}

#[test]
fn nothing_is_bought_for_pods_that_went_while_the_node_was_marked() {
    let mut room = Room::wasteful();
    // The claim cannot be marked for a while, so the command stays there.
    room.refuse = Box::new(|ask| match ask {
        Ask::Patch { target, body, .. }
            if target.kind == Kind::NodeClaim && body.to_string().contains("DisruptionReason") =>
        {
            Some(millwright_core::control::ask::Refusal::Conflict)
        }
        _ => None,
    });
    room.until("the taint", 60.0, |r| r.is_tainted("big"));
    room.workloads.get_mut("web").unwrap().replicas = 0;
    room.step();
    room.refuse = Box::new(|_| None);
    room.until("the end of the node", 120.0, |r| r.get("Node", "", "big").is_none());
    assert_eq!(creates(&room), 0, "{}", room.story());
}

#[test]
fn a_command_whose_other_nodes_went_by_themselves_is_dropped_where_it_does_not_pay() {
    let mut room = Room::new(Room::settings());
    room.add(objects::pool("p", json!({})));
    // One node of four takes the pods of both, at less than two of them cost.
    for (node, pod) in [("a", "web-a"), ("b", "web-b"), ("c", "web-c"), ("d", "web-d")] {
        room.node(node, "t4");
        room.running("web", pod, "1900m", node);
    }
    room.refuse = Box::new(|ask| match ask {
        Ask::Patch { target, body, .. }
            if target.kind == Kind::NodeClaim && body.to_string().contains("DisruptionReason") =>
        {
            Some(millwright_core::control::ask::Refusal::Conflict)
        }
        _ => None,
    });
    room.until("a taint", 120.0, |r| ["a", "b", "c", "d"].iter().any(|n| r.is_tainted(n)));
    let before = creates(&room);
    let marked: Vec<&str> = ["a", "b", "c", "d"].into_iter().filter(|n| room.is_tainted(n)).collect();
    for node in marked {
        let key = ("NodeClaim".to_owned(), String::new(), format!("claim-{node}"));
        room.drop_object(&key);
        room.drop_object(&("Node".to_owned(), String::new(), node.to_owned()));
    }
    room.refuse = Box::new(|_| None);
    room.run(1.0);
    let replaced = room.asked(|a| matches!(a, Ask::Create { object, .. } if object["metadata"]["annotations"]["millwright.dev/slots"].to_string().contains("\\\"moved\\\":true")));
    assert!(replaced.is_empty(), "{}", room.story());
    assert_eq!(before, 0);
}
