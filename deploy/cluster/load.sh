#!/usr/bin/env bash
# Measures the controller on a large cluster that does nothing: fills the
# cluster that up.sh has started with PODS pods (10000) on small nodes, about
# ten on each, then tells memory and processor time of the controller over
# SPAN seconds (60), and how long a restarted one takes until it buys.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=deploy/cluster/common.sh
source deploy/cluster/common.sh

is_running millwright-controller || {
    echo "no cluster runs under $state: make cluster" >&2
    exit 1
}
pods=${PODS:-10000}
span=${SPAN:-60}
patience=${PATIENCE:-3600}

has_more_claims() { [ "$(count nodeclaims)" -gt "$1" ]; }
milliseconds() { date +%s%3N; }
# Processor time of the controller so far, in hundredths of a second.
ticks() { awk '{print $14 + $15}' "/proc/$(cat "$state/millwright-controller.pid")/stat"; }
memory() { awk -v field="$1:" '$1 == field {printf "%d", $2 / 1024}' "/proc/$(cat "$state/millwright-controller.pid")/status"; }

kubectl apply -f - >/dev/null <<YAML
$(node_class load)
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: load}
spec:
  disruption: {consolidateAfter: 1m}
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: load}
      expireAfter: Never
      requirements:
        - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
        - {key: kubernetes.io/arch, operator: In, values: [amd64]}
        - {key: karpenter.k8s.aws/instance-family, operator: In, values: [m6i, m7i]}
        - {key: karpenter.k8s.aws/instance-cpu, operator: In, values: ['4']}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: load}
spec:
  replicas: $pods
  selector: {matchLabels: {app: load}}
  template:
    metadata: {labels: {app: load}}
    spec:
      terminationGracePeriodSeconds: 1
      containers: [{name: load, image: load, resources: {requests: {cpu: 380m, memory: 900Mi}}}]
YAML
began=$SECONDS
await "$patience" run load "$pods"
echo "all $pods pods run on $(count nodes) nodes after $((SECONDS - began)) s"
sleep "$span"
before=$(ticks)
sleep "$span"
after=$(ticks)
echo "idle for $span s: $(memory VmRSS) MB ($(memory VmHWM) MB at most), $(awk -v t=$((after - before)) -v s="$span" 'BEGIN {printf "%.1f", t / s}') % of a core"

claims=$(count nodeclaims)
end millwright-controller
kubectl apply -f - >/dev/null <<YAML
apiVersion: apps/v1
kind: Deployment
metadata: {name: late}
spec:
  replicas: 3
  selector: {matchLabels: {app: late}}
  template:
    metadata: {labels: {app: late}}
    spec:
      terminationGracePeriodSeconds: 1
      containers: [{name: late, image: late, resources: {requests: {cpu: '3', memory: 4Gi}}}]
YAML
began=$(milliseconds)
# shellcheck disable=SC2086 # flags are words
begin millwright-controller --provider kwok --kubeconfig "$state/admin.kubeconfig" --log-format text \
    --metrics-port "$metrics_port" --health-probe-port "$health_port" ${CONTROLLER_FLAGS:-}
await "$patience" has_more_claims "$claims"
echo "restarted, it bought after $(($(milliseconds) - began)) ms"
kubectl delete deployment late >/dev/null
