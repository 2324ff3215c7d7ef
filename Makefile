SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := build
.PHONY: help build demo test bench peer peer-diff soak lint fmt setup clean rig rig-down rig-test cluster cluster-demo cluster-down

CARGO := source scripts/env.sh && cargo
BINARY := $(or $(CARGO_TARGET_DIR),target)/release/millwright

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: ## installs what is missing; builds HiGHS once
	@scripts/setup.sh

build: setup ## target/release/millwright
	$(CARGO) build --release --locked --package millwright

demo: build ## plans a bundled application on EC2
	@echo
	@$(BINARY) plan -f fixtures/quickstart --region us-east-1

lint: setup ## formatting and clippy
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings

# Where the control plane cannot be built, its tests say so and are skipped.
test: lint ## lints, then every test
	deploy/rig/build.sh || true
	$(CARGO) test --workspace --locked

BENCH := $(CARGO) bench --locked --package millwright-benches --bench anytime --

bench: build ## cost, bound and gap over time, on generated and published instances; ARGS=--help
	$(BENCH) $(ARGS)

peer: build ## the same beside Karpenter's own published module; needs Go
	peer=$$(benches/peers/build.sh); $(BENCH) --peer $$peer $(ARGS)

rig: ## starts a real Kubernetes control plane
	@deploy/rig/up.sh

rig-down: ## stops it
	@deploy/rig/down.sh

rig-test: setup ## tests on it
	deploy/rig/build.sh
	$(CARGO) test --locked --package millwright-rig -- --include-ignored --test-threads=3

cluster: setup ## runs the controller on a real control plane here
	@deploy/cluster/up.sh

cluster-demo: ## shows what it does: pods come and go
	@deploy/cluster/demo.sh

cluster-down: ## stops it
	@deploy/cluster/down.sh

# Simulated clusters; prints the seeds that fail.
FROM ?= 0
SEEDS ?= 1000
soak: setup ## simulated clusters under faults; FROM=0 SEEDS=1000
	$(CARGO) run --locked --package millwright-sim --example soak -- $(FROM) $(SEEDS)

CLUSTERS ?= 0..100
peer-diff: setup ## random clusters planned by Karpenter's own code too; CLUSTERS=0..100, needs Go
	@benches/peers/differences.sh $(CLUSTERS)

fmt: ## formats the sources
	$(CARGO) fmt --all

clean: ## removes what cargo built
	cargo clean
