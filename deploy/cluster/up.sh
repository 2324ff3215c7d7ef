#!/usr/bin/env bash
# Starts a cluster on this machine: the control plane of deploy/rig, our kinds,
# simulated kubelets, and the controller, which buys simulated machines.
# PROFILE is cargo's (release, dev); CONTROLLER_FLAGS and KUBELET_FLAGS are
# handed on.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=deploy/cluster/common.sh
source deploy/cluster/common.sh

deploy/rig/up.sh >/dev/null
export KUBECONFIG=$state/admin.kubeconfig

if [ -z "${MILLWRIGHT_BIN:-}" ]; then
    # shellcheck source=scripts/env.sh
    source scripts/env.sh
    cargo build --locked --profile "${PROFILE:-release}" --package millwright-controller --package millwright-kwok >&2
fi

kubectl apply --server-side -f deploy/crds >/dev/null
kubectl wait --for=condition=Established --timeout=60s -f deploy/crds >/dev/null

# shellcheck disable=SC2086 # flags are words
begin millwright-kubelets --kubeconfig "$KUBECONFIG" ${KUBELET_FLAGS:-}
# shellcheck disable=SC2086
begin millwright-controller --provider kwok --kubeconfig "$KUBECONFIG" --log-format text \
    --metrics-port "$metrics_port" --health-probe-port "$health_port" ${CONTROLLER_FLAGS:-}

for _ in {1..300}; do
    is_running millwright-controller || {
        tail -n 20 "$state/logs/millwright-controller.log" >&2
        exit 1
    }
    answers "$health_port" /readyz && break
    sleep 0.2
done
answers "$health_port" /readyz || {
    echo "the controller is not ready within a minute; see $state/logs/millwright-controller.log" >&2
    exit 1
}

cat <<TEXT
export KUBECONFIG=$KUBECONFIG
export PATH=$programs:\$PATH    # kubectl of the cluster's version
logs:      $state/logs
metrics:   http://127.0.0.1:$metrics_port/metrics
try it:    make cluster-demo
stop it:   make cluster-down
TEXT
