# Entry points for people. `make demo` and `make test` each work as the first command on a fresh machine.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

VENV ?= .venv
export VENV PYTHON
BIN := $(VENV)/bin
READY := $(VENV)/.agent-s-ready
PACKAGES := agent_s aci memory_store exploration evaluation intents benchmarks

.PHONY: help setup setup-toolkits demo test lint format bench docs docs-pictures constraints clean osworld peers

help:  ## Show this list.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(READY)  ## Install system packages (Debian, Ubuntu), the virtual environment and the embedder.

$(READY): pyproject.toml constraints.txt requirements-embedder.txt requirements-pyautogui.txt configs/debian-packages.txt scripts/setup
	@scripts/setup
	@touch $@

setup-toolkits: setup  ## Also install the applications that the tests of each toolkit need.
	@scripts/setup toolkits

osworld: setup  ## Install OSWorld's package into .venv-osworld, and Inspect, for tests beside them.
	python3 -m venv .venv-osworld
	.venv-osworld/bin/pip install --quiet --no-deps -r requirements-osworld.txt
	$(BIN)/pip install --quiet -c constraints.txt -e '.[inspect]'

peers: setup  ## Install other desktop servers for MCP into .venv-peers, to be measured beside this one.
	apt-get install --quiet --yes --no-install-recommends xdotool
	/usr/bin/python3 -m venv --system-site-packages .venv-peers
	.venv-peers/bin/pip install --quiet bad-ass-mcp==1.5.1
	.venv-peers/bin/pip install --quiet --no-deps linux-desktop-mcp==0.1.0

demo: setup  ## Run the demo tasks and show the report (DEMOARGS="--only 1").
	@$(BIN)/agent-s demo $(DEMOARGS)

test: setup  ## Run the tests but the slow ones (TESTARGS="-m slow" for those, "-k memory" for some).
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder -m "not slow" $(TESTARGS)

lint: setup  ## Check style, types, imports between packages, and the wheel.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy $(addprefix -p ,$(PACKAGES))
	$(BIN)/lint-imports
	scripts/check-wheel

format: setup  ## Format the code.
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: setup  ## Run the benchmarks (BENCHARGS="--quick").
	@for file in benchmarks/[a-z]*.py; do \
		name=$$(basename "$$file" .py); echo "== $$name"; $(BIN)/python -m "benchmarks.$$name" --json $(BENCHARGS); \
	done

docs: setup  ## Build the documentation site into build/site, and check its links.
	$(BIN)/pip install --quiet -c constraints.txt -e '.[docs]'
	$(BIN)/python scripts/write-settings
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet

docs-pictures: setup  ## Take the pictures of the documentation from a real run.
	$(BIN)/python scripts/docs-pictures

constraints:  ## Pin the versions in the virtual environment.
	$(BIN)/python scripts/write-constraints

clean:  ## Remove the virtual environment and the output of tools.
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis .coverage htmlcov
