#!/usr/bin/env python3
"""Where Millwright and Karpenter disagree on clusters.

    differences.py --peer PEER plan FOLDER
    differences.py --millwright BINARY judge FOLDER

FOLDER holds one folder per cluster with objects.yaml and catalog.json
(`make peer-diff` writes random ones). `plan` leaves Karpenter's plan of each
in karpenter.json, of which the test `plans_of_karpenter` says in verdict.json
what kube-scheduler's rules refuse. `judge` has Millwright plan the same and
tells where it leaves more pods out, by priority, or as many at a higher cost,
though Karpenter's plan is legal. What then is right all the same stands in explained.json beside this file, by name of the
folder. Exit 1 if anything is unexplained, or explained without need.
"""
import argparse
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).parent


def run(command, allowed=(0,)):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in allowed:
        raise RuntimeError(f"{command[0]} ended with {done.returncode}: {done.stderr.strip()[-400:]}")
    return json.loads(done.stdout)


def placed(plan, existing):
    pods = {pod for node in plan["nodes"] for pod in node["pods"]}
    return pods | {pod for node in existing for pod in node}


def unplaced(folder, pods):
    """How many pods have no place, by priority, highest first."""
    documents = [json.loads(d) for d in (folder / "objects.yaml").read_text().split("---\n") if d.strip()]
    classes = {o["metadata"]["name"]: o["value"] for o in documents if o["kind"] == "PriorityClass"}
    counts = {}
    for o in documents:
        if o["kind"] == "Pod" and "nodeName" not in o["spec"]:
            priority = -classes.get(o["spec"].get("priorityClassName"), 0)
            name = f"{o['metadata']['namespace']}/{o['metadata']['name']}"
            counts[priority] = counts.get(priority, 0) + (name not in pods)
    return [counts[priority] for priority in sorted(counts)]


def plan(peer, folder):
    theirs = run([peer, "-catalog", str(folder / "catalog.json"), str(folder / "objects.yaml")])
    (folder / "karpenter.json").write_text(json.dumps(theirs))


def judge(millwright, folder):
    """The kind of difference with what belongs to it; and both costs."""
    theirs = json.loads((folder / "karpenter.json").read_text())
    refused = json.loads((folder / "verdict.json").read_text())["refused"]
    ours = run([millwright, "plan", "-f", str(folder / "objects.yaml"), "--catalog", str(folder / "catalog.json"),
                "-o", "json", "--spot-types", "1", "--deadline", "2s"], allowed=(0, 3))
    costs = ours["cost_per_hour"], theirs["cost_per_hour"]
    mine = placed(ours, [node["pods"] for node in ours["existing"]])
    other = placed(theirs, theirs["existing"].values())
    reasons = {entry["pod"]: entry["reasons"] for entry in ours["unscheduled"]}
    lost = {pod: reasons.get(pod) for pod in sorted(other - mine)}
    if mine == other and costs[0] <= costs[1] + 1e-6:
        return "cheaper" if costs[0] < costs[1] - 1e-6 else "same", {}, costs
    if refused:
        return "illegal", {"refused": refused}, costs
    if mine == other:
        return "dearer", {"cost": costs[0], "karpenter": costs[1]}, costs
    left = unplaced(folder, mine), unplaced(folder, other)
    kind = "fewer" if left[0] > left[1] else "more" if left[0] < left[1] else "others"
    if kind == "others" and costs[0] > costs[1] + 1e-6:
        kind = "others at a higher cost"
    return kind, {"only_karpenter": lost, "costs": costs}, costs


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--peer")
    parser.add_argument("--millwright")
    parser.add_argument("command", choices=["plan", "judge"])
    parser.add_argument("folder", type=pathlib.Path)
    options = parser.parse_args()
    folders = sorted((f for f in options.folder.iterdir() if f.is_dir()), key=lambda f: (len(f.name), f.name))
    if options.command == "plan":
        for folder in folders:
            plan(options.peer, folder)
        return 0
    explained = json.loads((HERE / "explained.json").read_text())
    kinds, bad, total = {}, 0, [0.0, 0.0]
    for folder in folders:
        kind, told, costs = judge(options.millwright, folder)
        kinds[kind] = kinds.get(kind, 0) + 1
        if kind in ("same", "cheaper"):
            total[0], total[1] = total[0] + costs[0], total[1] + costs[1]
        wrong = kind in ("fewer", "dearer", "others at a higher cost")
        known = explained.get(folder.name)
        if wrong and (not known or known["kind"] != kind):
            bad += 1
            print(f"{folder.name}: {kind}: {json.dumps(told)}")
        elif known and not wrong:
            bad += 1
            print(f"{folder.name}: {kind}, though explained.json says {known['why']!r}")
    print(f"{len(folders)} clusters: " + ", ".join(f"{n} {kind}" for kind, n in sorted(kinds.items()))
          + f"; where both place the same pods {total[0]:.3f} against {total[1]:.3f} $/h; {bad} unexplained")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
