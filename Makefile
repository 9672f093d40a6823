# Every target sets up .venv itself on first use, and again when the pins change.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
KATRAIN := .katrain-venv
KATRAIN_VERSION := 1.20.0
DOCS := .docs-venv
ARGS ?=
PINS := pyproject.toml constraints.txt
GNUGO := $(firstword $(shell command -v gnugo) $(wildcard /usr/games/gnugo))
# Area scoring in which dead stones must be captured, as our matches have it.
GNUGO_OPTIONS := --mode gtp --level 10 --chinese-rules --capture-all-dead --allow-suicide --positional-superko
# Half an hour and more, in need of arguments, or no program at all.
LONG_BENCHMARKS := $(addprefix benchmarks/,learn_5x5.py levels.py precision_price.py strength_curve.py visits_gain.py soak.py distil.py against_katago.py __init__.py)
INSTALL := $(BIN)/python -m pip install --quiet --constraint constraints.txt --build-constraint constraints.txt

.DEFAULT_GOAL := help
.PHONY: help play test check bench fuzz soak lock sbom test-long test-katrain learn-5x5 strength levels format docs clean

help:  ## Show what there is to make
	@sed -n 's/^\([a-z0-9-]*\):.*  ## /\1\t/p' $(MAKEFILE_LIST) | expand -t 14

play: $(VENV)/.ready-to-play  ## Play against Tengen; ARGS="--level expert --board-size 13" adds options
	@$(BIN)/tengen play $(ARGS)

# Tests start Tengen hundreds of times: its sources are compiled once even where Python is told not to keep that.
test: check  ## Run the checks and the test suite
	PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest --numprocesses 2 --dist loadfile --no-loadscope-reorder

check: $(VENV)/.ready-to-develop  ## Check form, types and layers
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

bench: $(VENV)/.ready-to-develop  ## Run the benchmarks; each prints a ratio against a named baseline
	@for benchmark in $(filter-out $(LONG_BENCHMARKS),$(wildcard benchmarks/*.py)); do echo "== $$benchmark"; PYTHONPATH=. $(BIN)/python $$benchmark || exit 1; done

fuzz: $(VENV)/.ready-to-develop  ## Feed random and damaged input for a minute each (SECONDS=60 SEED=... FUZZERS=...)
	@PYTHONPATH=. $(BIN)/python -m tests.fuzz $(FUZZERS) --seconds $(or $(SECONDS),60) $(if $(SEED),--seed $(SEED))

soak: $(VENV)/.ready-to-develop  ## Use all servers at a time for an hour: does anything grow? (MINUTES=60)
	@PYTHONPATH=. $(BIN)/python benchmarks/soak.py --minutes $(or $(MINUTES),60)

test-long: $(VENV)/.ready-to-develop  ## Run the tests that take minutes
	$(BIN)/python -m pytest -m long --timeout 7200

test-katrain: $(VENV)/.ready-to-develop $(KATRAIN)/.ready-$(KATRAIN_VERSION)  ## Let KaTrain review games with our engine
	TENGEN_KATRAIN_PYTHON=$(abspath $(KATRAIN)/bin/python) $(BIN)/python -m pytest -m long --timeout 1200 tests/clients

learn-5x5: $(VENV)/.ready-to-develop  ## Learn 5x5 from nothing and beat plain UCT (half an hour)
	$(BIN)/python -m benchmarks.learn_5x5

strength: $(VENV)/.ready-to-play  ## Play 40 games against GNU Go, 100 visits a move
	@test -n "$(GNUGO)" || { echo "GNU Go is not installed: apt install gnugo (Debian, Ubuntu), brew install gnu-go (macOS)" >&2; exit 1; }
	$(BIN)/tengen match bundled@100 "gtp:$(GNUGO) $(GNUGO_OPTIONS)" --games 40

levels: $(VENV)/.ready-to-develop  ## Measure the Elo of all levels (a quarter of an hour)
	$(BIN)/python -m benchmarks.levels

lock: $(VENV)/.ready-to-develop  ## Lock all packages with the hashes of their wheels, after a change of the pins
	$(BIN)/python -m locks.lock

sbom: $(VENV)/.ready-to-develop  ## Write a bill of materials for each Python version into dist/
	$(BIN)/python -m locks.sbom

format: $(VENV)/.ready-to-develop  ## Put the sources into form
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

docs: $(DOCS)/.ready  ## Build the documentation as a site in site/, and check all its links
	$(DOCS)/bin/python -m mkdocs build --strict

clean:  ## Remove the environments, caches of tools and built files; caches in your home folder: tengen uninstall-data
	rm -rf $(VENV) $(KATRAIN) $(DOCS) dist build site .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .coverage
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
	find . -name '*.egg-info' -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Tengen needs Python 3.11 or newer; name one with: make PYTHON=python3.12 ...")'
	@echo "Setting up $(VENV) ..." >&2
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --upgrade --constraint constraints.txt pip

$(VENV)/.ready-to-play: $(PINS) | $(BIN)/python
	@echo "Installing what playing needs ..." >&2
	@$(INSTALL) --editable .
	@touch $@

$(VENV)/.ready-to-develop: $(PINS) | $(BIN)/python
	@echo "Installing what training and testing need ..." >&2
	@$(INSTALL) --editable '.[train,cluster,dev]'
	@touch $(VENV)/.ready-to-play $@

$(DOCS)/.ready: $(PINS)
	@echo "Installing what the site needs, in an environment of its own ..." >&2
	@$(PYTHON) -m venv $(DOCS)
	@$(DOCS)/bin/python -m pip install --quiet --upgrade --constraint constraints.txt pip
	@$(DOCS)/bin/python -m pip install --quiet --constraint constraints.txt --build-constraint constraints.txt --editable '.[docs]'
	@touch $@

$(KATRAIN)/.ready-$(KATRAIN_VERSION):
	@echo "Installing KaTrain, which has an environment of its own ..." >&2
	@$(PYTHON) -m venv $(KATRAIN)
	@$(KATRAIN)/bin/python -m pip install --quiet katrain==$(KATRAIN_VERSION)
	@touch $@
