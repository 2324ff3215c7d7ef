#!/usr/bin/env bash
# Builds the control plane of the test rig once, outside the tree, and prints
# the folder with its programs. A change of its sources makes a new folder.
# With --look it builds nothing and fails where nothing was built.
#
# KUBEBUILDER_ASSETS, where set, names a folder that has the programs already.
set -euo pipefail
cd "$(dirname "$0")"

say() { printf 'rig: %s\n' "$*" >&2; }

programs=(etcd kube-apiserver kube-controller-manager kube-scheduler kubectl)

if [ -n "${KUBEBUILDER_ASSETS:-}" ]; then
    missing=()
    for program in "${programs[@]}"; do
        [ -x "$KUBEBUILDER_ASSETS/$program" ] || missing+=("$program")
    done
    if [ ${#missing[@]} -gt 0 ]; then
        say "KUBEBUILDER_ASSETS=$KUBEBUILDER_ASSETS lacks ${missing[*]}"
        exit 1
    fi
    echo "$KUBEBUILDER_ASSETS"
    exit 0
fi

version=$(sed -n 's/^\tk8s.io\/kubernetes \(v[0-9.]*\)$/\1/p' go.mod)
key=$(cat go.mod go.sum main.go | sha256sum | cut -c 1-16)
cache=${MILLWRIGHT_CACHE:-$HOME/.cache/millwright}
home=$cache/rig-$version-$key

if [ ! -x "$home/kubebox" ]; then
    [ "${1:-}" != --look ] || {
        say "$home is missing: build it with deploy/rig/build.sh"
        exit 1
    }
    command -v go >/dev/null || {
        say "Go $(sed -n 's/^go //p' go.mod) or later is missing: install it (https://go.dev/dl), or set KUBEBUILDER_ASSETS to a folder with ${programs[*]}"
        exit 1
    }
    mkdir -p "$cache"
    exec 9>"$cache/rig.lock"
    flock 9
fi
if [ ! -x "$home/kubebox" ]; then
    say "building Kubernetes $version into $home (once; 10 minutes on two idle cores, 6 GB of memory)"
    work=$(mktemp -d "$cache/rig-build.XXXXXX")
    trap 'rm -rf "$work"' EXIT INT TERM
    stamp=""
    IFS=. read -r major minor _ <<<"${version#v}"
    # Clients parse the version the API server tells.
    for package in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
        stamp+=" -X $package.gitVersion=$version -X $package.gitMajor=$major -X $package.gitMinor=$minor -X $package.gitTreeState=clean"
    done
    # From a copy, so that a change of branch meanwhile does no harm.
    mkdir "$work/source"
    cp go.mod go.sum main.go "$work/source"
    cd "$work/source"
    # Two at a time: one generated package alone takes 2.7 GB to compile.
    CGO_ENABLED=0 go build -p 2 -mod=readonly -trimpath -buildvcs=false -gcflags=all=-dwarf=false \
        -ldflags "-s -w$stamp" -o "$work/kubebox" . >&2
    cd "$cache"
    rm -rf "$work/source"
    for program in "${programs[@]}"; do
        ln -s kubebox "$work/$program"
    done
    chmod 755 "$work"
    mv -T "$work" "$home" 2>/dev/null || { rm -rf "$home" && mv -T "$work" "$home"; }
fi
echo "$home"
