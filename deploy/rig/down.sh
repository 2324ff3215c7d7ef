#!/usr/bin/env bash
# Stops the control plane that up.sh has started.
set -euo pipefail

state=${RIG_STATE:-$HOME/.cache/millwright/rig-state}

# Whether the process that was noted is still ours.
runs() { [ -e "$state/pid" ] && grep -qz run.sh "/proc/$(cat "$state/pid")/cmdline" 2>/dev/null; }

runs || {
    echo "no control plane runs under $state"
    exit 0
}
pid=$(cat "$state/pid")
kill -TERM "$pid" 2>/dev/null || true
for _ in {1..100}; do
    runs || break
    sleep 0.1
done
rm -rf "$state"
echo "stopped"
