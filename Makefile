# Everything runs from a virtual environment of its own in .venv, which is made when it is missing, so Debian's and
# Raspberry Pi OS's own Python stays as it is.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUMMESH := $(BIN)/rummesh
JOBS := $(shell echo $$((2 * $$(nproc))))# many tests wait for real clocks and networks

.PHONY: help play test lint bench soak fuzz clean

help: ## what can be made
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/'

play: $(VENV)/.play ## a whole game against two bots on this machine, in the browser
	$(RUMMESH) play --bots 2 $(ARGS)

test: $(VENV)/.dev ## all tests; those that need root, Chromium or network namespaces are skipped with a reason
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/pytest --numprocesses $(JOBS) --dist loadfile --no-loadscope-reorder $(ARGS)

lint: $(VENV)/.dev ## format, and check style and types
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(BIN)/mypy

bench: $(VENV)/.dev ## measure what is fast and what is not; figures go to docs/performance.md
	$(BIN)/python -m tests.bench $(ARGS)

soak: $(VENV)/.dev ## long campaigns: many simulated games
	$(BIN)/python -m tests.soak $(ARGS)

fuzz: $(VENV)/.dev ## a million broken inputs for everything that reads what others send
	$(BIN)/python -m tests.fuzz $(ARGS)

clean: ## remove the virtual environment and all caches
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/bin/pip:
	@$(PYTHON) -m venv $(VENV) || { echo; \
	  echo "Python cannot make a virtual environment. On Debian or Raspberry Pi OS:"; \
	  echo "  sudo apt install python3-venv"; rm -rf $(VENV); exit 1; }

$(VENV)/.play: $(VENV)/bin/pip pyproject.toml
	$(BIN)/pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/.dev: $(VENV)/bin/pip pyproject.toml
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@ $(VENV)/.play
