#!/usr/bin/env bash
# Shows the controller at work on the cluster that up.sh has started: 200 pods
# get nodes, fewer pods fewer nodes, a changed NodePool and an expired node new
# ones; at the end what is paid against the proven minimum.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=deploy/cluster/common.sh
source deploy/cluster/common.sh

is_running millwright-controller || {
    echo "no cluster runs under $state: make cluster" >&2
    exit 1
}
pods=${PODS:-200}
began=$SECONDS

step() { printf '\n== %3d s: %s\n' $((SECONDS - began)) "$*"; }
nodes() { kubectl get nodepools; echo; kubectl get nodeclaims -L karpenter.sh/nodepool; }
events() {
    kubectl get events -A --sort-by=.lastTimestamp -o custom-columns=REASON:.reason,KIND:.involvedObject.kind,NAME:.involvedObject.name,MESSAGE:.message \
        --field-selector source=karpenter | { grep -v 'Status condition transitioned' || true; } | tail -n "${1:-8}"
}

# What to show where something takes too long.
late() { nodes && events 20; }

# How planned placements came out: those of the controller's life so far.
placements() {
    local lines
    exec 5<>"/dev/tcp/127.0.0.1/$metrics_port" || return 0
    printf 'GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n' >&5
    lines=$(grep -a '^millwright_placements_total{' <&5 || true)
    exec 5>&-
    awk '/outcome="left"|outcome="vanished"/ {next}
        {all += $NF} /outcome="(as_planned|successor)"/ {right += $NF}
        END {if (all) printf "%d of %d planned placements came true, %.1f %%\n", right, all, 100 * right / all}' <<<"$lines"
}

# Nothing waits, nothing is on its way, and that for five seconds.
is_calm() {
    local now
    now=$(kubectl get nodeclaims -o jsonpath='{range .items[*]}{.metadata.name}{.metadata.deletionTimestamp} {.status.conditions[?(@.type=="Ready")].status}{"\n"}{end}' | sort)
    if [[ $now == *False* || $now == *Unknown* || $now == *Z\ * || $now != "${last_seen:-}" ]]; then
        last_seen=$now calm_since=$SECONDS
        return 1
    fi
    [ $((SECONDS - calm_since)) -ge "${CALM:-15}" ]
}
has_fewer_nodes() { [ "$(count nodeclaims -l karpenter.sh/nodepool=demo)" -lt "$1" ] && is_calm; }
all_have_team() {
    [ "$(count nodeclaims -l karpenter.sh/nodepool=demo,team=blue)" -gt 0 ] &&
        [ "$(count nodeclaims -l 'karpenter.sh/nodepool=demo,team!=blue')" -eq 0 ]
}
has_no_claims() { [ "$(count nodeclaims -l 'karpenter.sh/nodepool in (demo, short)')" -eq 0 ]; }
is_replaced() {
    ! kubectl get nodeclaim "$1" >/dev/null 2>&1 && run short 2
}

if kubectl get nodepool demo >/dev/null 2>&1; then
    step "an earlier demonstration is taken down"
    kubectl delete deployment web short --ignore-not-found >/dev/null
    kubectl delete nodepool demo short --ignore-not-found >/dev/null
    await 180 has_no_claims
fi

step "a node class, a NodePool, and a Deployment of $pods pods"
kubectl apply -f - <<YAML
$(node_class demo)
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: demo}
spec:
  disruption:
    consolidateAfter: 5s
    budgets: [{nodes: 50%}, {nodes: '2', reasons: [Drifted]}]
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: demo}
      expireAfter: Never
      requirements:
        - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
        - {key: kubernetes.io/arch, operator: In, values: [amd64]}
        - {key: karpenter.k8s.aws/instance-category, operator: In, values: [c, m, r]}
        - {key: karpenter.k8s.aws/instance-generation, operator: Gt, values: ['4']}
        - {key: karpenter.k8s.aws/instance-cpu, operator: Lt, values: ['33']}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec:
      containers: [{name: agent, image: agent, resources: {requests: {cpu: 100m, memory: 128Mi}}}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: $pods
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      terminationGracePeriodSeconds: 1
      containers: [{name: web, image: web, resources: {requests: {cpu: 450m, memory: 900Mi}}}]
YAML
await 180 run web "$pods"
step "all $pods pods run"
nodes
events
placements

before=$(count nodeclaims -l karpenter.sh/nodepool=demo)
step "$((pods * 2 / 5)) pods are enough: nodes are consolidated"
kubectl scale deployment web --replicas $((pods * 2 / 5)) >/dev/null
await 240 has_fewer_nodes "$before"
await 60 run web $((pods * 2 / 5))
step "from $before nodes to $(count nodeclaims -l karpenter.sh/nodepool=demo)"
nodes
events

step "the NodePool's template changes: nodes drift, two at a time"
kubectl patch nodepool demo --type merge -p '{"spec":{"template":{"metadata":{"labels":{"team":"blue"}}}}}' >/dev/null
await 300 all_have_team
await 60 run web $((pods * 2 / 5))
step "all nodes are new"
nodes
events

step "a NodePool whose nodes live for a minute"
kubectl get nodepool demo -o json | sed 's/"name": "demo",$/"name": "short",/; s/"expireAfter": "Never"/"expireAfter": "60s"/; /"uid"\|"resourceVersion"\|"generation"\|"creationTimestamp"/d' |
    kubectl apply -f - >/dev/null
kubectl apply -f - <<YAML
apiVersion: apps/v1
kind: Deployment
metadata: {name: short}
spec:
  replicas: 2
  selector: {matchLabels: {app: short}}
  template:
    metadata: {labels: {app: short}}
    spec:
      terminationGracePeriodSeconds: 1
      nodeSelector: {karpenter.sh/nodepool: short}
      containers: [{name: web, image: web, resources: {requests: {cpu: 500m, memory: 500Mi}}}]
YAML
await 120 run short 2
first=$(kubectl get nodeclaims -l karpenter.sh/nodepool=short -o jsonpath='{.items[0].metadata.name}')
await 240 is_replaced "$first"
step "$first has expired and was replaced"
nodes
events

step "what it costs, and the proven minimum"
placements
if [ -x "$binaries/millwright" ]; then
    kubectl get pods,nodes,daemonsets,nodepools,nodeclaims,ec2nodeclasses,namespaces -A -o json |
        "$binaries/millwright" audit -f - --region us-east-1
else
    echo "$binaries/millwright is not built: make build"
fi
