# Two commands matter: `make demo` shows a whole campaign, `make test` proves the code. Both set up what they need.
SHELL := /bin/bash
.DEFAULT_GOAL := help

VENV   := .venv
PY     := $(VENV)/bin/python
# What the demo needs, and what everything else needs.
RUN    := $(VENV)/.run
STAMP  := $(VENV)/.stamp
# Test processes share the two cores of a small machine; more threads in each only get in one another's way.
export OMP_NUM_THREADS ?= 1
# Compiled modules are kept, since tests start hundreds of processes, but beside the sources they would get into the way.
unexport PYTHONDONTWRITEBYTECODE
export PYTHONPYCACHEPREFIX ?= $(CURDIR)/$(VENV)/pycache

# In CI the browser tests' checkers are brought where a browser is; elsewhere those tests say that they were skipped.
BROWSER := $(if $(and $(CI),$(shell command -v npm),$(shell command -v chromium)),browser)

.PHONY: help setup demo test check golden docs browser vscode workbench bench soak format clean

help:  ## what there is to make
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /  make \1\t/' | expand -t 18

setup: $(STAMP)  ## .venv with everything pinned, and Pango

$(RUN): requirements/run.txt pyproject.toml tools/setup.sh
	@tools/setup.sh run
	@touch $@

$(STAMP): requirements/dev.txt $(RUN)
	@tools/setup.sh dev
	@touch $@

demo: $(RUN)  ## a whole campaign on the CPU: checked, built, killed, resumed, closed out
	@$(PY) -m tools.demo

check: $(STAMP)  ## lint, format and types
	$(VENV)/bin/ruff check
	$(VENV)/bin/ruff format --check
	$(VENV)/bin/mypy

test: check $(BROWSER)  ## check, then every test but the soak
	$(PY) -m pytest -n 2 --dist worksteal

golden: $(STAMP)  ## rewrite the expected outputs; read the diff before committing it
	CAMPC_GOLDEN=write $(PY) -m pytest -n 2 -q tests

docs: $(STAMP)  ## regenerate the language reference, the error index and the CLI page
	$(PY) -m tools.docs

browser:  ## axe and an HTML validator, without which `make test` skips the browser tests
	npm ci --prefix tests/reports --ignore-scripts --no-audit --no-fund

vscode:  ## the Visual Studio Code extension, tested and packed: build/campc-VERSION.vsix (needs npm)
	npm ci --prefix editors/vscode --ignore-scripts --no-audit --no-fund
	npm test --prefix editors/vscode
	npm run package --prefix editors/vscode

workbench:  ## Visual Studio Code itself (0.8 GB, Linux on x86-64), without which `make test` doesn't try the extension in it
	npm ci --prefix tests/editors/workbench --ignore-scripts --no-audit --no-fund --loglevel=error
	cd tests/editors/workbench/node_modules/code-server/lib/vscode && npm install --omit=dev --ignore-scripts --no-save --no-audit --no-fund --loglevel=error

bench: $(STAMP)  ## checkpoint, restore and compiler times, side by side with the alternatives
	$(PY) -m benchmarks

soak: $(STAMP)  ## a thousand random kills, none of which may lose anything
	$(PY) -m pytest -m soak --timeout 0 tests

format: $(STAMP)  ## put the code into the one format
	$(VENV)/bin/ruff check --fix
	$(VENV)/bin/ruff format

clean:  ## remove what make made
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
