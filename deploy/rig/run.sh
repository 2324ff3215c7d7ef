#!/usr/bin/env bash
# Runs a throw-away control plane in the foreground.
#
#   run.sh PROGRAMS STATE ETCD PEER API CONTROLLERS SCHEDULER [--stay]
#
# PROGRAMS is the folder that build.sh prints, STATE an empty folder for
# everything the plane writes, the rest are ports on 127.0.0.1. Prints "ready"
# once pods can be scheduled. Ends, with all its processes, when it is told to
# (INT, TERM), when a component ends, and, unless --stay is given, when its
# standard input ends: so it never outlives the one who started it.
set -euo pipefail

[ $# -ge 7 ] || {
    sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2
    exit 2
}
programs=$1 state=$2 etcd=$3 peer=$4 api=$5 controllers=$6 scheduler=$7 stay=${8:-}
here=127.0.0.1

mkdir -p "$state/logs" "$state/certs"
chmod 700 "$state"
command -v openssl >/dev/null || {
    echo "rig: openssl is missing" >&2
    exit 1
}
# etcd is as fast as its disk.
if [ -d /dev/shm ] && [ -w /dev/shm ]; then
    data=$(mktemp -d /dev/shm/millwright-etcd.XXXXXX)
else
    data=$(mktemp -d "$state/etcd.XXXXXX")
fi

running=()

# Asks first; the API server would keep its port for a minute.
stop() {
    trap '' INT TERM EXIT
    kill -TERM "${running[@]}" 2>/dev/null || true
    for _ in {1..30}; do
        kill -0 "${running[@]}" 2>/dev/null || break
        sleep 0.1
    done
    kill -KILL "${running[@]}" 2>/dev/null || true
    rm -rf "$data"
    rm -f "$state/ready"
}
trap stop EXIT
trap 'exit 0' INT TERM

start() {
    local program=$1
    shift
    "$programs/$program" "$@" >"$state/logs/$program.log" 2>&1 </dev/null 3<&- &
    running+=($!)
    names[$!]=$program
}
declare -A names

# $1: whose; $2: the token.
kubeconfig() {
    cat >"$state/$1.kubeconfig" <<YAML
apiVersion: v1
kind: Config
current-context: rig
clusters: [{name: rig, cluster: {server: "https://$here:$api", certificate-authority: certs/apiserver.crt}}]
users: [{name: $1, user: {token: $2}}]
contexts: [{name: rig, context: {cluster: rig, user: $1}}]
YAML
}

# A component that has ended says why in its log.
check() {
    local pid
    for pid in "${running[@]}"; do
        kill -0 "$pid" 2>/dev/null && continue
        echo "rig: ${names[$pid]} has ended; the end of its log:" >&2
        tail -n 5 "$state/logs/${names[$pid]}.log" >&2
        exit 1
    done
}

# Waits up to a minute for a command to succeed.
await() {
    for _ in {1..300}; do
        "$@" >/dev/null 2>&1 && return 0
        check
        sleep 0.2
    done
    echo "rig: not within a minute: $*" >&2
    exit 1
}

listens() { (exec 4<>"/dev/tcp/$here/$1"); }

admin=$(openssl rand -hex 16)
mate=$(openssl rand -hex 16)
keeper=$(openssl rand -hex 16)
(
    umask 077
    printf '%s\n' "$admin,admin,admin,system:masters" "$mate,system:kube-scheduler,scheduler" \
        "$keeper,system:kube-controller-manager,controllers" >"$state/tokens.csv"
    kubeconfig admin "$admin"
    kubeconfig scheduler "$mate"
    kubeconfig controllers "$keeper"
    openssl genrsa -out "$state/accounts.key" 2048 2>/dev/null
)

exec 3<&0
start etcd --name rig --data-dir "$data" --unsafe-no-fsync --log-level warn --quota-backend-bytes 4294967296 \
    --listen-client-urls "http://$here:$etcd" --advertise-client-urls "http://$here:$etcd" \
    --listen-peer-urls "http://$here:$peer" --initial-advertise-peer-urls "http://$here:$peer" \
    --initial-cluster "rig=http://$here:$peer"
await listens "$etcd"
start kube-apiserver --etcd-servers "http://$here:$etcd" --bind-address "$here" --advertise-address "$here" \
    --secure-port "$api" --cert-dir "$state/certs" --service-cluster-ip-range 10.0.0.0/24 \
    --service-account-issuer https://rig.local --service-account-key-file "$state/accounts.key" \
    --service-account-signing-key-file "$state/accounts.key" --token-auth-file "$state/tokens.csv" \
    --authorization-mode RBAC --disable-admission-plugins ServiceAccount --endpoint-reconciler-type none \
    --max-requests-inflight 3000 --max-mutating-requests-inflight 1000
await "$programs/kubectl" --kubeconfig "$state/admin.kubeconfig" get --raw /readyz
# No kubelet tells that its node is alive: a day passes before it is missed.
start kube-controller-manager --kubeconfig "$state/controllers.kubeconfig" --leader-elect=false \
    --bind-address "$here" --secure-port "$controllers" --service-account-private-key-file "$state/accounts.key" \
    --use-service-account-credentials=true --root-ca-file "$state/certs/apiserver.crt" \
    --kube-api-qps 500 --kube-api-burst 1000 --node-monitor-grace-period=24h
start kube-scheduler --kubeconfig "$state/scheduler.kubeconfig" --leader-elect=false \
    --bind-address "$here" --secure-port "$scheduler" --kube-api-qps 1000 --kube-api-burst 2000
await listens "$controllers"
await listens "$scheduler"
touch "$state/ready"
echo ready

if [ "$stay" = --stay ]; then
    sleep infinity &
else
    cat <&3 >/dev/null &
fi
running+=($!)
names[$!]=caller
exec 3<&-
wait -n || true
[ "$stay" = --stay ] || kill -0 "${running[-1]}" 2>/dev/null || exit 0
check
