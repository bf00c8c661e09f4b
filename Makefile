# Two commands to begin with: `make run` and `make test`.

CARGO ?= cargo

.PHONY: help run test test-arm verify clean setup

help:
	@echo 'make run       simulate the lid-driven cavity; results in out/cavity'
	@echo 'make test      prove that the numbers are right (minutes)'
	@echo 'make test-arm  the same of the ARM binaries, under emulation'
	@echo 'make verify    the long comparisons with published results (ten minutes or so)'
	@echo 'make clean     remove what was built and computed'

setup:
	@tools/setup

run: setup
	@$(CARGO) build --release $$(tools/features)
	@$(CARGO) run --release --quiet $$(tools/features) -- run cases/cavity.toml --out out/cavity

test:
	@tools/setup test
	@CARGO=$(CARGO) tools/test

test-arm:
	@cross/test

verify: setup
	@CARGO=$(CARGO) tools/verify

clean:
	@$(CARGO) clean
	@rm -rf out
