# `make demo` plans a bundled application on EC2; `make test` checks everything.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := build
.PHONY: build demo test lint fmt setup clean

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

test: lint
	$(CARGO) test --workspace --locked

fmt:
	$(CARGO) fmt --all

clean:
	cargo clean
