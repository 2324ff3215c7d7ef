#!/usr/bin/env bash
# Stops what up.sh has started, the control plane last.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=deploy/cluster/common.sh
source deploy/cluster/common.sh

end millwright-controller
end millwright-kubelets
deploy/rig/down.sh
