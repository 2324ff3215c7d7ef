#!/usr/bin/env bash
# Starts a control plane that stays, under $RIG_STATE, and says how to use it.
set -euo pipefail
cd "$(dirname "$0")"

state=${RIG_STATE:-$HOME/.cache/millwright/rig-state}

# Whether the process that was noted is still ours.
runs() { [ -e "$state/pid" ] && grep -qz run.sh "/proc/$(cat "$state/pid")/cmdline" 2>/dev/null; }

read -r -a ports <<<"${RIG_PORTS:-17379 17380 17443 17444 17445}"

if runs; then
    echo "a control plane runs already under $state"
else
    programs=$(./build.sh)
    rm -rf "$state"
    mkdir -p "$state"
    setsid ./run.sh "$programs" "$state" "${ports[@]}" --stay >"$state/log" 2>&1 </dev/null &
    pid=$!
    echo "$pid" >"$state/pid"
    # It may not have become run.sh yet: that the process is there is enough.
    until [ -e "$state/ready" ]; do
        kill -0 "$pid" 2>/dev/null || {
            cat "$state/log" >&2
            rm -f "$state/pid"
            exit 1
        }
        sleep 0.1
    done
fi
cat <<TEXT
export KUBECONFIG=$state/admin.kubeconfig
logs:      $state/logs
stop it:   make rig-down
TEXT
