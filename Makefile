# Two commands for a person: `make run` and `make test`. Both install what is missing first (scripts/setup tells what).
.PHONY: run test demo setup setup-build

export PATH := $(or $(CARGO_HOME),$(HOME)/.cargo)/bin:$(PATH)

DATADIR ?= ratchet-data
ARGS ?=

run: setup-build
	cargo run --release --locked --package server --bin ratchetd -- --datadir=$(DATADIR) $(ARGS)

test: setup
	cargo xtask ci

demo: setup
	cargo xtask demo

setup:
	@bash scripts/setup

setup-build:
	@bash scripts/setup build
