#!/usr/bin/env bash
# Random clusters planned by Karpenter and by Millwright, and where the two
# disagree: differences.sh [FROM..TO]
set -euo pipefail
cd "$(dirname "$0")/../.."
source scripts/env.sh
seeds=${1:-0..100}

peer=$(benches/peers/build.sh)
cargo build --release --locked --package millwright
millwright=$(realpath "${CARGO_TARGET_DIR:-target}")/release/millwright
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
rig() {
    RIG_EXPORT=$folder RIG_SEEDS=$seeds cargo test --quiet --locked --package millwright-rig --test legality -- --ignored "$1"
}
rig export_random_clusters
benches/peers/differences.py --peer "$peer" plan "$folder"
rig plans_of_karpenter
benches/peers/differences.py --millwright "$millwright" judge "$folder"
