# What the scripts of this folder share; sourced from the root of the tree.
# shellcheck shell=bash disable=SC2034

state=${RIG_STATE:-$HOME/.cache/millwright/rig-state}
programs=$(deploy/rig/build.sh)
read -r metrics_port health_port <<<"${CLUSTER_PORTS:-17480 17481}"
binaries=${MILLWRIGHT_BIN:-${CARGO_TARGET_DIR:-target}/$([ "${PROFILE:-release}" = dev ] && echo debug || echo "${PROFILE:-release}")}

kubectl() { "$programs/kubectl" --kubeconfig "$state/admin.kubeconfig" "$@"; }

count() { kubectl get "$@" --no-headers 2>/dev/null | wc -l; }

# Waits up to $1 seconds for a command to succeed; calls `late`, where a script
# has it, before it gives up.
await() {
    local patience=$1 until
    shift
    until=$((SECONDS + patience))
    while ! "$@"; do
        [ $SECONDS -lt $until ] || {
            echo "not within $patience s: $*" >&2
            ! declare -F late >/dev/null || late >&2
            exit 1
        }
        sleep 0.2
    done
}

# Whether $2 pods of deployment $1 are ready.
run() { [ "$(kubectl get deployment "$1" -o jsonpath='{.status.readyReplicas}')" = "$2" ]; }

# A node class called $1, as YAML.
node_class() {
    cat <<YAML
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: $1}
spec:
  role: $1
  amiSelectorTerms: [{alias: al2023@latest}]
  subnetSelectorTerms: [{tags: {$1: '*'}}]
  securityGroupSelectorTerms: [{tags: {$1: '*'}}]
YAML
}

# Whether the process that was noted for program $1 is still ours.
is_running() {
    local pid
    pid=$(cat "$state/$1.pid" 2>/dev/null) && grep -qz "$1" "/proc/$pid/cmdline" 2>/dev/null
}

# Starts program $1 with the other arguments, unless it runs.
begin() {
    local program=$1
    shift
    is_running "$program" && return 0
    setsid "$binaries/$program" "$@" >>"$state/logs/$program.log" 2>&1 </dev/null &
    echo $! >"$state/$program.pid"
    # Until the process has become the program.
    local _
    for _ in {1..50}; do
        is_running "$program" && return 0
        sleep 0.1
    done
    echo "$program does not start; the end of $state/logs/$program.log:" >&2
    tail -n 5 "$state/logs/$program.log" >&2
    return 1
}

# Asks program $1 to end, and waits until it has.
end() {
    local program=$1 pid
    is_running "$program" || return 0
    pid=$(cat "$state/$program.pid")
    kill -TERM "$pid" 2>/dev/null || true
    for _ in {1..100}; do
        is_running "$program" || break
        sleep 0.1
    done
    is_running "$program" && kill -KILL "$pid" 2>/dev/null
    rm -f "$state/$program.pid"
}

# Whether port $1 answers path $2 with 200.
answers() {
    local line
    exec 5<>"/dev/tcp/127.0.0.1/$1" || return 1
    printf 'GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n' "$2" >&5
    read -r line <&5
    exec 5>&-
    [[ $line == *" 200 "* ]]
} 2>/dev/null
