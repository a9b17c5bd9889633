# SPDX-License-Identifier: Apache-2.0
# The commands of the project. Each does all that it needs: on a fresh machine `make demo` and
# `make test` start by installing what is missing. How things are built: CMakeLists.txt.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

JOBS ?= $(shell nproc)
WERROR ?= OFF
PREFIX ?= /usr/local
OUT ?= out
# How long `make attack` tries; ATTACK_FLAGS are of attack/run.py.
MINUTES ?= 60
LAYER ?= decode
SEED ?= 1
COUNT ?= 30

# Tests under ThreadSanitizer: of the suites with threads of our own, and those of one decoder that
# several use, the files that speak of threads (tests/CMakeLists.txt). FFmpeg and the engine are not
# instrumented.
TSAN_SUITES := base tensor ipc image decode
# Suites that AddressSanitizer leaves out: installing and style checking run no code of ours, and
# the oracles compare numbers of code that the other suites run.
ASAN_SKIP := check|package|oracle
# Suites that run as aarch64 programs, and what the emulator, not the processor, does otherwise: it
# starts no aarch64 program from one, keeps descriptors of a message that was cut, does not know new
# system calls. Tests of devices, and those that count over a thousand rounds, are left to others.
# AARCH64_SUITES='tensor decode track draw' runs those that have less of their own there.
AARCH64_SUITES ?= base image
AARCH64_SKIP := AllocateInEnvironment|a_kernel_without_sync_files|sends_too_many_descriptors
AARCH64_SKIP := $(AARCH64_SKIP)|may_be_asked_for_credentials|udmabuf|dma_heap|RealDmaBuf
AARCH64_SKIP := $(AARCH64_SKIP)|leaves_nothing_behind
# The build whose tests `make vm` runs in the machine, and how: VM_PRESET=asan, VM_FLAGS='--cpus 2'.
VM_PRESET ?= release
VM_BUILD = build$(filter-out -release,-$(VM_PRESET))
VM_SUITES ?= $(shell tests/vm/run.sh --print-suites)

export ASAN_OPTIONS ?= detect_stack_use_after_return=1:strict_string_checks=1
export UBSAN_OPTIONS ?= print_stacktrace=1
export LSAN_OPTIONS ?= suppressions=$(CURDIR)/tools/lsan.supp:print_suppressions=0
# oneTBB opens its helpers in a way that sanitizers refuse, unless told not to.
export TBB_ENABLE_SANITIZERS := 1
export TSAN_OPTIONS ?= suppressions=$(CURDIR)/tools/tsan.supp:history_size=4

.PHONY: help deps build test vm demo bench check asan attack tsan aarch64 clang coverage format
.PHONY: mutants install wheel wheels clean

help: ## This list
	@echo "Halyard. Targets:"
	@awk -F ':.*## ' '/^[a-z0-9]+:.*## / {printf "  make %-9s %s\n", $$1, $$2}' Makefile
	@echo "Variables: JOBS=$(JOBS) WERROR=$(WERROR) PREFIX=$(PREFIX) OUT=$(OUT)"

deps: ## Install what building needs (Debian packages; OpenVINO in .venv)
	@scripts/install-deps.sh build

# A first build leaves the tests out; a folder where they are on keeps them.
build: deps ## Build the library, the program `halyard` and the examples into build/
	@cmake --preset release -DHALYARD_WERROR=$(WERROR) \
	  $(if $(wildcard build/CMakeCache.txt),,-DHALYARD_TESTS=OFF) $(CMAKE_FLAGS)
	@cmake --build build -j $(JOBS)

# TEST_FLAGS are of ctest: TEST_FLAGS='-L image'.
test: ## Build with tests and run them all
	@scripts/install-deps.sh test
	@cmake --preset release -DHALYARD_TESTS=ON -DHALYARD_PYTHON=ON -DHALYARD_WERROR=$(WERROR) \
	  $(CMAKE_FLAGS)
	@cmake --build build -j $(JOBS)
	@JOBS=$(JOBS) scripts/run-tests.sh build $(TEST_FLAGS)

# With the flags of the target that builds the same folder, so that nothing is compiled twice. What
# the kernel lacks for its build is the machine's reason to be skipped, not an error here.
vm: ## Run the tests in a machine that has devices (tests/vm), without a skip
	@scripts/install-deps.sh test
	@scripts/install-deps.sh vm || true
	@cmake --preset $(VM_PRESET) -DHALYARD_TESTS=ON \
	  $(if $(filter release,$(VM_PRESET)),-DHALYARD_WERROR=$(WERROR)) $(CMAKE_FLAGS)
	@cmake --build $(VM_BUILD) -j $(JOBS) --target $(VM_SUITES:%=halyard_test_%)
	@tests/vm/run.sh $(VM_BUILD) --suites '$(VM_SUITES)' $(VM_FLAGS)

# A first build compiles what the demonstration runs, in the fastest way; `make build` and others
# compile it anew, as it is to be used. A folder that has such a build keeps it.
demo: ## Detect, track and draw the boats of a rendered harbour into out/
	@if grep -qs '^HALYARD_QUICK:BOOL=OFF' build/CMakeCache.txt; then \
	  scripts/install-deps.sh build && cmake --preset release $(CMAKE_FLAGS); \
	else \
	  scripts/install-deps.sh demo && cmake --preset demo $(CMAKE_FLAGS); fi
	@cmake --build build -j $(JOBS) --target halyard_program
	@rm -rf $(OUT)/frames && mkdir -p $(OUT)
	@build/halyard run examples/harbour/clip --model examples/harbour/harbour.onnx \
	  --track --track-score 0.6 --out $(OUT)/frames --json $(OUT)/tracks.json \
	  --trace $(OUT)/trace.json --contact-sheet $(OUT)/contact_sheet.png --stats
	@echo "Look at $(OUT)/contact_sheet.png; open $(OUT)/trace.json at ui.perfetto.dev"

bench: ## Measure against peers, in one run
	@scripts/install-deps.sh bench
	@cmake --preset release -DHALYARD_BENCH=ON $(CMAKE_FLAGS)
	@cmake --build build -j $(JOBS)
	@build/bench/halyard_bench $(BENCH_FLAGS)

check: ## Check the rules of the house (tools/check.py)
	@python3 tools/check.py

asan: ## Run the tests under AddressSanitizer and UndefinedBehaviorSanitizer
	@scripts/install-deps.sh test
	@cmake --preset asan -DHALYARD_TESTS=ON -DHALYARD_PYTHON=ON $(CMAKE_FLAGS)
	@cmake --build build-asan -j $(JOBS)
	@JOBS=$(JOBS) scripts/run-tests.sh build-asan -LE '$(ASAN_SKIP)'

# Stress programs with AddressSanitizer, and the fuzz targets where clang is: what stands in
# attack/README.md, for MINUTES. What fails is in out/attack/.
attack: ## Try for MINUTES to break the library, the package and the program (attack/)
	@scripts/install-deps.sh test
	@cmake --preset asan -DHALYARD_TESTS=ON -DHALYARD_PYTHON=ON $(CMAKE_FLAGS)
	@cmake --build build-asan -j $(JOBS) --target halyard_python halyard_program \
	  halyard_test_capi_random_calls halyard_attack
	@if command -v clang++-14 >/dev/null; then cmake --preset asan -B build-fuzz \
	  -DHALYARD_FUZZ=ON -DHALYARD_MODEL=OFF -DHALYARD_TESTS=OFF -DHALYARD_EXAMPLES=OFF \
	  -DHALYARD_TOOLS=OFF -DCMAKE_C_COMPILER=clang-14 -DCMAKE_CXX_COMPILER=clang++-14 && \
	  cmake --build build-fuzz -j $(JOBS) --target halyard_fuzzers; fi
	@attack/run.py --build build-asan --fuzz build-fuzz --minutes $(MINUTES) $(ATTACK_FLAGS)

# One-line faults, each in a worktree of its own under out/: what no test notices is printed.
mutants: ## Put COUNT faults, drawn by SEED, into src/LAYER and print those no test notices
	@scripts/install-deps.sh test
	@tools/mutants.py $(LAYER) --seed $(SEED) --count $(COUNT) --jobs $(JOBS)

# Without address randomisation where that may be switched off: kernels that randomise more bits
# than ThreadSanitizer knows leave no room for its shadow.
tsan: ## Run the threaded suites under ThreadSanitizer
	@scripts/install-deps.sh test
	@cmake --preset tsan -DHALYARD_TESTS=ON $(CMAKE_FLAGS)
	@cmake --build build-tsan -j $(JOBS) --target $(TSAN_SUITES:%=halyard_test_%)
	@fixed=$$(setarch -R true 2>/dev/null && echo setarch -R || true); \
	  JOBS=$(JOBS) $$fixed scripts/run-tests.sh build-tsan \
	  -L '^($(subst $() ,|,$(TSAN_SUITES)))$$'

# Correct bits, never speed: an emulated instruction takes what the emulator takes.
aarch64: ## Cross-build for Linux aarch64 and run suites of it in an emulator
	@scripts/install-deps.sh aarch64
	@cmake --preset aarch64 -DHALYARD_TESTS=ON $(CMAKE_FLAGS)
	@cmake --build build-aarch64 -j $(JOBS) --target $(AARCH64_SUITES:%=halyard_test_%)
	@JOBS=$(JOBS) scripts/run-tests.sh build-aarch64 -E '$(AARCH64_SKIP)' \
	  -L '^($(subst $() ,|,$(strip $(AARCH64_SUITES))))$$'

clang: ## Build with clang 14, warnings are errors, and run the tests
	@scripts/install-deps.sh dev
	@cmake --preset clang -DHALYARD_TESTS=ON $(CMAKE_FLAGS)
	@cmake --build build-clang -j $(JOBS)
	@JOBS=$(JOBS) scripts/run-tests.sh build-clang

# The program's tests limit file sizes and close descriptors, which the coverage run-time minds.
coverage: ## Line coverage of src/, report in build-coverage/coverage.html
	@scripts/install-deps.sh test
	@cmake --preset coverage -DHALYARD_TESTS=ON $(CMAKE_FLAGS)
	@cmake --build build-coverage -j $(JOBS)
	@find build-coverage -name '*.gcda' -delete
	@JOBS=$(JOBS) scripts/run-tests.sh build-coverage -LE 'check|tools'
	@gcovr --root . --filter src/ --exclude-throw-branches --object-directory build-coverage \
	  -j $(JOBS) --html build-coverage/coverage.html --print-summary build-coverage

format: ## Rewrite all C++ sources with clang-format 14
	@scripts/install-deps.sh check
	@find include src tests tools examples bench fuzz -regex '.*\.\(h\|c\|cpp\)' -print0 \
	  | xargs -0 clang-format-14 -i

# ccache keeps what precompiled headers went into to a folder: wheels of several versions do without
# and share the library's objects.
WHEEL = CMAKE_BUILD_PARALLEL_LEVEL=$(JOBS) .venv/bin/python tools/wheel.py
wheel wheels: export CMAKE_ARGS = -DHALYARD_WERROR=$(WERROR) $(WHEEL_FLAGS) $(CMAKE_FLAGS)
wheels: WHEEL_FLAGS := -DHALYARD_PCH=OFF

wheel: ## Build a wheel into dist/ for PYTHON and run its tests in a clean environment
	@scripts/install-deps.sh python
	@$(WHEEL) $(PYTHON)

wheels: ## The same from an sdist, for every CPython 3.9-3.13 on PATH and in PYTHONS
	@scripts/install-deps.sh python
	@$(WHEEL) --from-sdist --all

install: build ## Install into PREFIX
	@cmake --install build --prefix "$(PREFIX)"

clean: ## Remove the build folders of these targets, and out/
	@rm -rf build build-debug build-asan build-tsan build-aarch64 build-clang build-coverage \
	  build-wheel build-cp3*-linux_* dist $(OUT)
