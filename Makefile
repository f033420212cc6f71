# `make demo` and `make test` are all that a newcomer needs; `make help` lists the rest.
# A file in $(VENV) marks each finished installation: see the rules at the end.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP_INSTALL = $(BIN)/python -m pip --disable-pip-version-check --quiet install --prefer-binary
CONSTRAINTS := scripts/constraints
STYLE = $(BIN)/ruff check && $(BIN)/ruff format --check && $(BIN)/lint-imports --no-logo --no-cache && \
	$(BIN)/codespell && $(BIN)/python scripts/plain_words.py
TYPES = $(BIN)/mypy

# rpy2 without a C compiler, at installation and at run time.
export RPY2_CFFI_MODE := ABI
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: demo check test test-wheel test-dask test-lowest test-newest r-package fuzz parity lint types bench vignettes docs golden clean help system-r FORCE

demo: $(VENV)/.package ## install the package, run its demonstration, write its report
	@$(BIN)/pegasos-stats demo --refine 1e-6 --report demo-report.html

check test: export OPENBLAS_NUM_THREADS := 1
check: lint types ## style, types, and the quick tests of all subpackages, without R (about two minutes)
	$(BIN)/python -m pytest --numprocesses auto --dist worksteal -m "not (r or data or fuzz or slow)"

# Style and types are checked in parallel with the tests, for which kernels are compiled once.
test: $(VENV)/.dev $(if $(filter 1,$(PEGASOS_STATS_NO_R)),,system-r $(VENV)/.rpy2) ## install R if missing (PEGASOS_STATS_NO_R=1: skip it); check style and types, run all tests
	@mkdir -p build
	($(STYLE) && $(TYPES)) >build/checks.txt 2>&1 & checks=$$!; \
	$(BIN)/pegasos-stats compile; \
	$(BIN)/python -m pytest --numprocesses auto --dist worksteal; tests=$$?; \
	wait $$checks; checked=$$?; cat build/checks.txt; exit $$((tests | checked))

fuzz: system-r $(VENV)/.rpy2 ## ten minutes of inputs drawn at random, at every entry point (SECONDS=600)
	$(BIN)/python scripts/fuzz.py $(or $(SECONDS),600)

parity: system-r $(VENV)/.rpy2 ## 1,000 runs drawn at random in R and Python (CONFIGURATIONS= SEED= ONLY=)
	$(BIN)/python scripts/parity.py $(or $(CONFIGURATIONS),1000) $(SEED:%=--seed %) $(ONLY:%=--only %)

test-wheel: $(VENV)/.dev ## build sdist and wheel, install the wheel elsewhere, test it there
	$(BIN)/python scripts/wheel.py

test-dask: $(VENV)/.dev ## kill a worker of Dask in the middle of a fit
	PEGASOS_STATS_CLUSTER=1 $(BIN)/python -m pytest -n 0 tests/scan/test_dask_clusters.py -k killed

test-lowest: ## test with the lowest versions of all dependencies
	$(PYTHON) scripts/dependencies.py lowest

test-newest: ## test with the newest versions of all dependencies
	$(PYTHON) scripts/dependencies.py newest

# Skips checks that need a network: the comparison with CRAN, and the time of day.
r-package: ## build and check the R package of the reference and its vignettes, as CRAN does
	@sh scripts/prerequisites.sh $(PYTHON) $(VENV) r-package
	mkdir -p build/r && cd build/r && R CMD build ../../r_reference && \
		_R_CHECK_CRAN_INCOMING_=FALSE _R_CHECK_SYSTEM_CLOCK_=FALSE \
		R CMD check --as-cran --no-manual pegasosStats_*.tar.gz && \
		! grep -E "WARNING|NOTE|ERROR" pegasosStats.Rcheck/00check.log

lint: $(VENV)/.dev ## check style, format, imports, spelling and plain words
	$(STYLE)

types: $(VENV)/.dev ## check types
	$(TYPES)

bench: $(VENV)/.dev ## compare with other programs: the table and figure of the site (FOLDER=docs)
	$(BIN)/python benchmarks/everything.py --folder $(or $(FOLDER),docs)

vignettes: export OPENBLAS_NUM_THREADS := 1
vignettes: system-r $(VENV)/.rpy2 ## execute the vignettes, write them with their outputs (VIGNETTES="01 05")
	@$(BIN)/python vignettes/execute.py $(VIGNETTES)

docs: $(VENV)/.dev ## build the site in build/docs, warnings being errors
	@$(BIN)/python -m sphinx -W --keep-going -q -b html docs build/docs
	@echo "The site begins at build/docs/index.html"

test-pages: docs ## open the site, a report and a notebook in a browser (PAGES= CHROMIUM=)
	@sh scripts/prerequisites.sh $(PYTHON) $(VENV) chromium
	@mkdir -p build/pages
	$(BIN)/pegasos-stats demo --overwrite --report build/pages/demo.html >/dev/null
	$(BIN)/python vignettes/execute.py scripts/every_object.py --output build/objects
	PYTHONPATH=docs/_site $(BIN)/python -m sphinx -q -C -D extensions=myst_nb,accessible -D nb_execution_mode=off \
		-D html_theme=furo -D root_doc=every_object build/objects build/pages/objects
	$(BIN)/python scripts/browser.py build/docs build/pages

golden: system-r ## write the golden values of the tests anew, with R
	Rscript --vanilla r_reference/golden.R
	Rscript --vanilla r_reference/golden_caret.R
	Rscript --vanilla r_reference/golden_folds.R
	Rscript --vanilla r_reference/golden_margins.R

clean: ## remove everything that these targets made
	rm -rf $(VENV) build dist demo-report* *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1	\2/p' Makefile

system-r:
	@sh scripts/prerequisites.sh $(PYTHON) $(VENV) R

$(VENV)/.package: setup.cfg pyproject.toml
	@$(BIN)/pip --version >/dev/null 2>&1 || { \
		sh scripts/prerequisites.sh $(PYTHON) $(VENV) && rm -rf $(VENV) && $(PYTHON) -m venv $(VENV); }
	@echo "Installing pegasos_stats into $(VENV) (the first time takes about a minute)"
	@$(PIP_INSTALL) --editable '.[report]'
	@touch $@

$(VENV)/.dev: $(VENV)/.package $(CONSTRAINTS)/dev.txt
	@echo "Installing the development tools into $(VENV)"
	@$(PIP_INSTALL) --editable '.[dev]' --constraint $(CONSTRAINTS)/dev.txt
	@touch $@

# Changes only when R does: from one side of R 4.5 to the other.
$(VENV)/.r: $(VENV)/.package FORCE
	@Rscript --vanilla -e 'cat(if (getRversion() < "4.5") "r-before-4.5" else "r-from-4.5")' >$@.new
	@cmp -s $@.new $@ && rm $@.new || mv $@.new $@

$(VENV)/.rpy2: $(VENV)/.dev $(VENV)/.r $(wildcard $(CONSTRAINTS)/r-*.txt)
	@echo "Installing rpy2 into $(VENV)"
	@$(PIP_INSTALL) --editable '.[r]' --constraint $(CONSTRAINTS)/$$(cat $(VENV)/.r).txt
	@touch $@
