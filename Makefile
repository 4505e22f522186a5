# Everything runs from a virtual environment of its own in .venv, which is made when it is missing, so Debian's and
# Raspberry Pi OS's own Python stays as it is.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUMMESH := $(BIN)/rummesh
JOBS := $(shell echo $$((2 * $$(nproc))))# many tests wait for real clocks and networks

# Where pi-install puts things; DESTDIR is put in front of all of them and leaves the running system alone.
PREFIX ?= /opt/rummesh
PI_VENV ?= --system-site-packages# Raspberry Pi OS has what there is no ready package of elsewhere
PROGRAM := $(DESTDIR)$(PREFIX)
CONFIG := $(DESTDIR)/etc/rummesh
UNITS := $(DESTDIR)/etc/systemd/system
SAMPLES := timer.toml display.toml rummesh-node.env
HERE := $(if $(DESTDIR),,yes)

.PHONY: help play test lint bench soak fuzz clean pi-install pi-uninstall

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

pi-install: ## as root on a Raspberry Pi: program, services and samples of their settings; again for an update
	$(if $(HERE),apt-get install -y -q python3-venv python3-lgpio)
	$(if $(HERE),for group in i2c spi gpio; do getent group $$group >/dev/null || groupadd --system $$group; done)
	@$(PROGRAM)/bin/python -m pip --version >/dev/null 2>&1 || \
	  $(PYTHON) -m venv --clear $(PI_VENV) $(PROGRAM)
	$(PROGRAM)/bin/python -m pip install --quiet --disable-pip-version-check '.[pi]'
	@sed -i '1s|^#!$(DESTDIR)|#!|' $(PROGRAM)/bin/rummesh
	@install -d $(UNITS) $(CONFIG)
	@for unit in timer display node; do \
	  sed 's|/opt/rummesh|$(PREFIX)|' systemd/rummesh-$$unit.service > $(UNITS)/rummesh-$$unit.service || exit 1; done
	@cp $(UNITS)/rummesh-node.service $(UNITS)/rummesh-node@.service
	@for file in $(SAMPLES); do test -e $(CONFIG)/$$file || install -m 644 systemd/$$file $(CONFIG) || exit 1; done
	$(if $(HERE),@if [ -d /run/systemd/system ]; then systemctl daemon-reload && systemctl try-restart 'rummesh-*'; fi)
	@echo 'Now edit the files in $(CONFIG); then: systemctl enable --now rummesh-timer, rummesh-display or rummesh-node'

pi-uninstall: ## as root on a Raspberry Pi: removes what pi-install installed, and leaves settings and games
	$(if $(HERE),@if [ -d /run/systemd/system ]; then systemctl stop 'rummesh-*'; fi)
	rm -f $(UNITS)/rummesh-*.service $(UNITS)/multi-user.target.wants/rummesh-*.service
	@if [ -e $(PROGRAM)/pyvenv.cfg ]; then rm -rf $(PROGRAM); fi
	$(if $(HERE),@if [ -d /run/systemd/system ]; then systemctl daemon-reload; fi)

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
