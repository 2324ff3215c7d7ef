# `make demo` plans a bundled application on EC2; `make test` checks everything;
# `make rig` starts a real Kubernetes control plane, `make rig-test` tests on it;
# `make cluster` runs the controller on it, `make cluster-demo` shows what it does;
# `make bench` prints cost, bound and gap over time on generated and published
# instances, `make peer` does so beside Karpenter's own published module.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := build
.PHONY: build demo test bench peer soak lint fmt setup clean rig rig-down rig-test cluster cluster-demo cluster-down

CARGO := source scripts/env.sh && cargo
BINARY := $(or $(CARGO_TARGET_DIR),target)/release/millwright

setup:
	@scripts/setup.sh

build: setup
	$(CARGO) build --release --locked --package millwright

demo: build
	@echo
	@$(BINARY) plan -f fixtures/quickstart --region us-east-1

lint: setup
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings

# Where the control plane cannot be built, its tests say so and are skipped.
test: lint
	deploy/rig/build.sh || true
	$(CARGO) test --workspace --locked

BENCH := $(CARGO) bench --locked --package millwright-benches --bench anytime --

bench: build
	$(BENCH) $(ARGS)

# Karpenter's module is compiled from source the first time: about 5 minutes.
PEER := $(abspath $(or $(CARGO_TARGET_DIR),target))/karpenter-peer
peer: build
	cd benches/peers/karpenter && GOTOOLCHAIN=go1.26.9 go build -o $(PEER) .
	$(BENCH) --peer $(PEER) $(ARGS)

rig:
	@deploy/rig/up.sh

rig-down:
	@deploy/rig/down.sh

rig-test: setup
	deploy/rig/build.sh
	$(CARGO) test --locked --package millwright-rig -- --include-ignored --test-threads=3

cluster: setup
	@deploy/cluster/up.sh

cluster-demo:
	@deploy/cluster/demo.sh

cluster-down:
	@deploy/cluster/down.sh

# Simulated clusters; prints the seeds that fail.
FROM ?= 0
SEEDS ?= 1000
soak: setup
	$(CARGO) run --locked --package millwright-sim --example soak -- $(FROM) $(SEEDS)

fmt:
	$(CARGO) fmt --all

clean:
	cargo clean
