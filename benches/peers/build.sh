#!/usr/bin/env bash
# Builds Karpenter's published module as a planner once, outside the tree, and
# prints the program's path. A change of its sources makes a new one.
set -euo pipefail
cd "$(dirname "$0")/karpenter"

key=$(cat go.mod go.sum ./*.go | sha256sum | cut -c 1-16)
program=${MILLWRIGHT_CACHE:-$HOME/.cache/millwright}/karpenter-$key
if [ ! -x "$program" ]; then
    command -v go >/dev/null || {
        echo "peer: Go is missing: install it (https://go.dev/dl)" >&2
        exit 1
    }
    echo "peer: building Karpenter's module into $program (once; some minutes)" >&2
    mkdir -p "$(dirname "$program")"
    CGO_ENABLED=0 GOTOOLCHAIN=auto go build -mod=readonly -trimpath -o "$program.new.$$" . >&2
    mv "$program.new.$$" "$program"
fi
echo "$program"
