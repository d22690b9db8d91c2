# What people and CI run. Everything happens in an environment of its own, .venv.
#
#   make demo    build, then run examples/quickstart.py
#   make test    build, then run the tests: C++, Python on the Cython and the ctypes path, accelerators
#   make test-levels    what depends on the processor, as lesser ones would run it
#   make test-builds    accelerators/ by other compilers;  make test-operators-on-refacc  operators there
#   make test-measured  the memory of processes that optimize models, beside what sol.memory tells
#   make sanitized      build both packages with ASan and UBSan into build/sanitized; then, in it:
#                       .venv/bin/python tools/run_sanitized.py -m pytest tests/mx
#   make build   build into the source tree (an editable install)
#   make docs    build, then make the pages of docs/ into build/docs
#   make lint    formatting, ruff, mypy, and pyright on stubs;  make format  applies the formatting
#   make bench   build, then measure against the peers;  BENCH_ARGS=--smoke  for a quick look;
#                make bench-models  does it for whole models
#   make environment    installs what all of these need; after it several can run at once: make -j

SHELL := /bin/bash
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
# The environment has the build requirements, so that rebuilding compiles only what changed.
INSTALL := $(PIP) install --no-build-isolation
# The makes that a test starts are not part of this one.
ALONE := env -u MAKEFLAGS -u MAKELEVEL
CXX_FILES = $(shell find include src accelerators tests/cpp tests/fuzz tests/library benchmarks examples -name build -prune -o \
	'(' -name '*.h' -o -name '*.cc' -o -name '*.cpp' -o -name '*.c' -o -name '*.cu' ')' -print 2>/dev/null)

.PHONY: demo test test-cpp test-cython test-sol test-ctypes test-accelerators test-operators test-packages \
	test-builds test-measured \
	test-operators-on-refacc test-levels build sanitized bench bench-models \
	docs lint format environment clean

demo: build
	$(BIN)/python examples/quickstart.py

build: $(BIN)/.built-with
	$(INSTALL) --no-deps --editable .

# The longest first, which is quicker where two run at a time.
test: test-accelerators test-sol test-cython test-ctypes test-packages test-operators test-cpp

test-cpp: build
	$(MAKE) --no-print-directory -C tests/cpp run

# They count the references to every object there is: a tenth of the time where nothing that other
# tests import, torch for example, adds to those.
COUNTS_REFERENCES := tests/ffi/test_memory.py

test-cython: build $(BIN)/.tested-with
	$(ALONE) MXNET_ENFORCE_CYTHON=1 $(BIN)/python -m pytest $(COUNTS_REFERENCES)
	$(ALONE) MXNET_ENFORCE_CYTHON=1 $(BIN)/python -m pytest --ignore=tests/acc --ignore=tests/mx \
		--ignore=tests/sol $(PACKAGES:%=--ignore=%) $(COUNTS_REFERENCES:%=--ignore=%)

# What is installed, compiled and read by others: they run programs, which use what is built.
PACKAGES := tests/packaging tests/docs
test-packages: build $(BIN)/.tested-with
	$(ALONE) MXNET_ENFORCE_CYTHON=1 $(BIN)/python -m pytest $(PACKAGES)

MEASURED := tests/sol/test_measured_memory.py
test-sol: build $(BIN)/.tested-with
	$(ALONE) MXNET_ENFORCE_CYTHON=1 $(BIN)/python -m pytest tests/sol --ignore=$(MEASURED)

# Not of `make test`: what processes take for models, beside what was told, each in one of its own.
test-measured: build $(BIN)/.tested-with
	$(ALONE) MXNET_ENFORCE_CYTHON=1 $(BIN)/python -m pytest $(MEASURED)

BUILDS := tests/acc/test_builds.py
# These are of what lies behind ffi, or load libraries of accelerators without it: the same on both paths.
ACC_BEHIND_FFI := builds check check_graphs check_pieces contract fault_of_every_member faults fork functions_library \
	header isolated modules versions
ACC_FOLDERS_BEHIND_FFI := cuda kernels models onednn opencl openvino refacc
# These are of what compilers make of the headers: the same on both paths, too.
HEADERS_ALONE := apart rejected_types
# So are these of operators: what they compute with the same arguments.
OPERATORS_BEHIND_FFI := elementwise reductions formulas vector_loops softmax sort linear_algebra symbols \
	out_blocks out_memory peak_memory product_threads
# And these read sources.
OF_SOURCES := architecture words sizes
test-ctypes: build $(BIN)/.tested-with
	$(ALONE) MXNET_ENABLE_CYTHON=0 $(BIN)/python -m pytest $(COUNTS_REFERENCES)
	$(ALONE) MXNET_ENABLE_CYTHON=0 $(BIN)/python -m pytest $(COUNTS_REFERENCES:%=--ignore=%) \
		--ignore=tests/packaging --ignore=tests/docs/test_pages.py --ignore=tests/graph \
		--ignore=tests/importers --ignore=tests/module --ignore=tests/sol \
		$(addprefix --ignore=tests/test_,$(addsuffix .py,$(OF_SOURCES))) \
		$(addprefix --ignore=tests/ffi/cpp/test_,$(addsuffix .py,$(HEADERS_ALONE))) \
		$(addprefix --ignore=tests/mx/test_,$(addsuffix .py,$(OPERATORS_BEHIND_FFI))) \
		--ignore=tests/mx/infer $(addprefix --ignore=tests/acc/,$(ACC_FOLDERS_BEHIND_FFI)) \
		$(addprefix --ignore=tests/acc/test_,$(addsuffix .py,$(ACC_BEHIND_FFI)))

test-accelerators: build $(BIN)/.tested-with
	$(ALONE) MXNET_ENFORCE_CYTHON=1 $(BIN)/python -m pytest tests/acc --ignore=$(BUILDS)

test-operators: build $(BIN)/.tested-with
	$(ALONE) MXNET_ENFORCE_CYTHON=1 $(BIN)/python -m pytest tests/mx

# Not of `make test`: each library of accelerators/ by other compilers and build systems.
test-builds: build $(BIN)/.tested-with
	$(ALONE) MXNET_ENFORCE_CYTHON=1 $(BIN)/python -m pytest $(BUILDS)

# Not of `make test`: its operators once more with all arrays on an accelerator that executes what the
# CPU does.
test-operators-on-refacc: build $(BIN)/.tested-with
	$(MAKE) --no-print-directory -s -C accelerators refacc OUT="$(CURDIR)/build/accelerators"
	$(ALONE) MXFFI_TEST_ACCELERATOR="$(CURDIR)/build/accelerators/librefacc.so" \
		$(BIN)/python -m pytest tests/mx

# Not of `make test`: the tests are among those above, which run at the level that the processor has.
test-levels: build $(BIN)/.tested-with
	$(MAKE) --no-print-directory -s -C accelerators try-onednn PYTHON="$(abspath $(BIN)/python)" \
		OUT="$(CURDIR)/build/accelerators"
	$(ALONE) $(BIN)/python tools/check_levels.py build/accelerators

# The interpreter itself has no sanitizers: tools/run_sanitized.py loads them before it.
sanitized: export MXFFI_SANITIZE ?= address,undefined
sanitized: $(BIN)/.built-with
	$(INSTALL) --upgrade --no-deps --target "$(CURDIR)/build/sanitized" .

bench: build $(BIN)/.measured-with
	$(BIN)/python -m benchmarks $(BENCH_ARGS)

bench-models: build $(BIN)/.measured-with
	$(BIN)/python -m benchmarks.compare.models.page $(BENCH_ARGS)

docs: build $(BIN)/.documented-with
	$(BIN)/python -m sphinx -E -W --keep-going -n -q docs build/docs

lint: build $(BIN)/.linted-with
	$(BIN)/clang-format --dry-run --Werror $(CXX_FILES)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python tools/check_stubs.py
	$(BIN)/python tools/write_mirrors.py --check

format: $(BIN)/.linted-with
	$(BIN)/clang-format -i $(CXX_FILES)
	$(BIN)/python tools/write_mirrors.py
	$(BIN)/ruff check --fix-only --quiet .
	$(BIN)/ruff format .
	$(BIN)/ruff check .

clean:
	rm -rf build dist python/*.egg-info python/ffi/include python/*/lib python/*/_cython/*.so
	$(MAKE) --no-print-directory -C tests/cpp clean
	$(MAKE) --no-print-directory -C tests/fuzz clean

# What all of the above need, one after another: pip does not share an environment with another pip.
environment: $(BIN)/.tested-with $(BIN)/.documented-with $(BIN)/.linted-with $(BIN)/.measured-with

# Each mark says that the environment has what one kind of work needs, as pyproject.toml has it now.
$(BIN)/.built-with: pyproject.toml
	.ci/system-packages
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) install $$($(BIN)/python -m build_support.requirements)
	touch $@

$(BIN)/.tested-with $(BIN)/.measured-with $(BIN)/.documented-with $(BIN)/.linted-with: \
		$(BIN)/.built-with
	$(PIP) install $(AS_FILES) $$($(BIN)/python -m build_support.requirements $(EXTRA))
	$(if $(FILES),$(PIP) install --no-deps $$($(BIN)/python -m build_support.requirements $(FILES)))
	$(if $(AS_FILES),$(COMPILE_FILES))
	touch $@
$(BIN)/.tested-with: EXTRA = test zig
$(BIN)/.tested-with: FILES = models
# These are by far the most files, and pip compiles all of them on one processor, which takes longer than
# the rest of installing. So they are compiled afterwards on all, less the packages' own tests. What does
# not compile is nothing to stop at, as it is none for pip.
$(BIN)/.tested-with: AS_FILES = --no-compile
COMPILE_FILES = find $(VENV)/lib -name '*.py' -not -path '*/tests/*' -print0 | \
	xargs -0 -n 500 -P "$$(nproc)" $(BIN)/python -W ignore -m compileall -qq || :
$(BIN)/.measured-with: EXTRA = bench
$(BIN)/.documented-with: EXTRA = docs
$(BIN)/.linted-with: EXTRA = dev
