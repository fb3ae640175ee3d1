# Two to start with: `make demo` shows the program at work, `make test` checks it. Each target makes
# what it needs in .venv first. PYTHON=python3.12 chooses the interpreter, ARGS="-k name" is for pytest.

VENV ?= .venv
PYTHON ?= $(shell for python in python3 python3.13 python3.12 python3.11 python3.10; do \
	"$$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null \
	&& echo "$$python" && break; done)
PYTHONS ?= python3.10 python3.11 python3.12 python3.13
BENCH := benchmarks/.venv

BIN := $(VENV)/bin
SOURCES := pyproject.toml setup.py $(wildcard textreg/*.pxd textreg/_core/*.pyx textreg/_core/*.pxd)
PLUGINS := $(wildcard plugins/*/pyproject.toml)
COMPILED := $(wildcard plugins/*/setup.py plugins/*/*/*.pyx)
# Core and satellites are installed together, as each is pinned to the other's version; those with
# a kernel of their own are built beside the core that stands here.
BESIDE := $(filter-out $(dir $(filter %/setup.py,$(COMPILED))),$(dir $(PLUGINS)))
PIP_INSTALL = -m pip install --quiet --disable-pip-version-check

CASES ?= 2000
SEED ?= 0
WORKERS ?= auto

.PHONY: help demo test test-all test-oldest test-newest fuzz mutate sanitize lint types docs \
	reference pictures results bench dist release clean
.DELETE_ON_ERROR:

help:
	@echo 'make demo         write a small corpus, train on it, evaluate, show and report on the model'
	@echo 'make test         run the tests, those of the plugins/ too'
	@echo 'make test-all     run all of them, the costly ones too, with every one of PYTHONS="$(PYTHONS)"'
	@echo 'make test-oldest  run them with the first of these and the oldest dependencies allowed'
	@echo 'make test-newest  run them with the last of these and the newest of every dependency'
	@echo 'make fuzz         run hostile inputs: CASES=$(CASES) of each area, or of AREA=, from SEED=$(SEED)'
	@echo 'make mutate       plant faults in the source, drawn by SEED=$(SEED): which do the tests find?'
	@echo 'make sanitize     run the tests of the kernels with sanitizers of addresses and threads'
	@echo 'make lint         check style; make types: check types'
	@echo 'make docs         build the documentation; make reference, make pictures: write its generated parts'
	@echo 'make results      run the papers again on the corpora in TEXTREG_DATA, write docs/results.md'
	@echo 'make bench        measure time and memory beside other packages, write docs/performance.md'
	@echo 'make dist         build, check and try a source distribution and wheels with PYTHONS=; ARGS=--full'
	@echo 'make release      make VERSION= of the repository at URL= ready; commit and tag are left'
	@echo 'make clean        remove all that was built'

run = @echo; echo '$$ textreg $(1)'; $(BIN)/textreg $(1)

demo: $(VENV)/.stamp-textreg
	$(call run,demo demo)
	$(call run,train demo/train.jsonl --reg sentence -o demo/model.textreg)
	$(call run,evaluate demo/model.textreg demo/test.jsonl)
	$(call run,show demo/model.textreg)
	$(call run,report demo/model.textreg demo/test.jsonl -o demo/report.html)

# Several processes run side by side: if each had as many threads of BLAS as there are cores, these
# would wait for each other.
test fuzz mutate sanitize results: export OMP_NUM_THREADS := 1

# Hundreds of tests start the program, which is quicker where its modules are compiled; and pytest
# need not rewrite the asserts of every module in every worker, where it may store what it wrote.
test: export PYTHONDONTWRITEBYTECODE :=
test: $(VENV)/.stamp-test $(VENV)/.stamp-plugins
	@$(BIN)/python -m compileall -q textreg plugins/*/textreg_*
	$(BIN)/python -m pytest $(if $(ARGS),$(ARGS),-n $(WORKERS) --dist worksteal $(THOROUGH))

test-all:
	@for python in $(PYTHONS); do \
		version=$$("$$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])') || exit 1; \
		echo "Python $$version"; \
		$(MAKE) --no-print-directory test PYTHON="$$python" VENV=.venv-$$version \
			THOROUGH=--thorough || exit 1; \
	done

test-oldest:
	PIP_CONSTRAINT=tests/oldest.txt $(MAKE) --no-print-directory test \
		PYTHON="$(firstword $(PYTHONS))" VENV=.venv-oldest

test-newest:
	rm -f .venv-newest/.stamp-*
	PIP_UPGRADE=1 PIP_UPGRADE_STRATEGY=eager $(MAKE) --no-print-directory test \
		PYTHON="$(lastword $(PYTHONS))" VENV=.venv-newest

fuzz: $(VENV)/.stamp-test $(VENV)/.stamp-plugins
	$(BIN)/python tests/fuzz/frame.py $(AREA) --seed $(SEED) \
		$(if $(CASE),--case $(CASE),--cases $(CASES))

mutate: $(VENV)/.stamp-test $(VENV)/.stamp-plugins
	$(BIN)/python tests/mutation/mutate.py --seed $(SEED) $(ARGS)

sanitize: $(VENV)/.stamp-test $(VENV)/.stamp-plugins
	$(BIN)/python tests/sanitize.py $(ARGS)

lint: $(VENV)/.stamp-lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	PATH="$(abspath $(BIN)):$$PATH" cython-lint textreg plugins
	$(BIN)/codespell *.md docs textreg

types: $(VENV)/.stamp-types
	$(BIN)/mypy

docs: $(VENV)/.stamp-docs
	$(BIN)/python docs/reference.py --check
	$(BIN)/python -m textreg_papers --check
	$(BIN)/python -m benchmarks.performance --check
	$(BIN)/python -m benchmarks.large --check
	$(BIN)/python -m benchmarks.rationales --check
	$(BIN)/python -m benchmarks.stamp --check
	$(BIN)/sphinx-build --fail-on-warning --keep-going --quiet docs docs/_build/html
	@echo 'docs/_build/html/index.html'

reference: $(VENV)/.stamp-docs
	$(BIN)/python docs/reference.py

pictures: $(VENV)/.stamp-docs
	$(BIN)/python docs/pictures.py

results: $(VENV)/.stamp-test $(VENV)/.stamp-plugins
	$(BIN)/python -m textreg_papers
	$(BIN)/python -m benchmarks.stamp docs/results.md

bench: $(BENCH)/.stamp
	@test -d "$(TEXTREG_DATA)/data" || { \
		echo 'make bench: set TEXTREG_DATA to the folder that holds data/, the corpora.' >&2; exit 1; }
	$(BENCH)/bin/python -m benchmarks.performance --data "$(TEXTREG_DATA)/data" $(ARGS)

# Without PYTHONS=, the tools look for more of them, and leave out those that are not here.
dist_pythons = $(if $(filter file,$(origin PYTHONS)),,$(addprefix --python ,$(PYTHONS)))

dist: $(VENV)/.stamp-dist $(VENV)/.stamp-build
	$(BIN)/python tools/distribute.py $(dist_pythons) $(ARGS)

release: $(VENV)/.stamp-dist $(VENV)/.stamp-build
	@test -n "$(VERSION)" || { echo 'make release: name the version: VERSION=0.1.0' >&2; exit 1; }
	$(BIN)/python tools/release.py $(VERSION) $(if $(URL),--url $(URL)) $(dist_pythons) $(ARGS)

clean:
	rm -rf build dist demo docs/_build docs/examples *.egg-info .*_cache .hypothesis htmlcov .coverage .venv-*
	rm -f textreg/_core/*.c textreg/_core/*.so textreg/_core/*.pyd textreg/_core/*.html
	rm -rf plugins/*/build plugins/*/*.egg-info plugins/*/*/*.so plugins/*/*/*.pyd
	rm -f $(VENV)/.stamp-* $(BENCH)/.stamp
	find textreg tests docs benchmarks plugins -name __pycache__ -not -path '*/.venv/*' \
		-prune -exec rm -rf {} +

# An editable install: Python files are used where they stand, only the kernels need a new build.
$(VENV)/.stamp-textreg: $(SOURCES) $(PLUGINS) | $(BIN)/python
	$(BIN)/python $(PIP_INSTALL) --editable '.[check]' $(BESIDE:%=--editable ./%)
	@touch $@

$(VENV)/.stamp-plugins: $(COMPILED) $(VENV)/.stamp-build
	$(BIN)/python $(PIP_INSTALL) --no-build-isolation $(patsubst %/setup.py,--editable ./%,$(filter %/setup.py,$(COMPILED)))
	@touch $@

$(VENV)/.stamp-%: pyproject.toml $(VENV)/.stamp-textreg
	$(BIN)/python $(PIP_INSTALL) --group $*
	@touch $@

$(BIN)/python:
	@test -n "$(PYTHON)" || { \
		echo 'make: textreg needs Python 3.10 or newer, and there is none on the path.' \
			'Install one, or name it: make PYTHON=/path/to/python3' >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python $(PIP_INSTALL) --upgrade 'pip>=25.1'

$(BENCH)/.stamp: benchmarks/requirements.txt $(SOURCES)
	test -x $(BENCH)/bin/python || $(PYTHON) -m venv $(BENCH)
	$(BENCH)/bin/python $(PIP_INSTALL) --requirement benchmarks/requirements.txt --editable . $(BESIDE:%=--editable ./%)
	@touch $@
