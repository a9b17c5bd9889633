# SPDX-License-Identifier: Apache-2.0
# The commands of the project. Each is complete: on a new machine `make demo` and `make test` first
# install missing packages. CMakeLists.txt describes the build.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

JOBS ?= $(shell nproc)
WERROR ?= OFF
# Several sources are compiled as one: half the time for a whole build. UNITY=OFF for work on a few
# sources, as the presets have it.
UNITY ?= ON
FLAGS = -DHALYARD_UNITY=$(UNITY) $(CMAKE_FLAGS)
PREFIX ?= /usr/local
OUT ?= out
# Duration of `make attack`. ATTACK_FLAGS are passed to attack/run.py.
MINUTES ?= 60
LAYER ?= decode
SEED ?= 1
COUNT ?= 30

# Suites that do not run under AddressSanitizer: install and style checks run no code of ours, and
# the oracles compare results of code that other suites run.
ASAN_SKIP := check|package|oracle
# Suites that run as aarch64 programs, and tests that fail only in the emulator: it cannot start an
# aarch64 program from another one, keeps descriptors of a truncated message, and lacks new system
# calls. Tests of devices and tests of more than a thousand rounds are left out too.
# AARCH64_SUITES='tensor decode track draw' runs suites with less code specific to aarch64.
AARCH64_SUITES ?= base image
AARCH64_SKIP := AllocateInEnvironment|a_kernel_without_sync_files|sends_too_many_descriptors
AARCH64_SKIP := $(AARCH64_SKIP)|may_be_asked_for_credentials|udmabuf|dma_heap|RealDmaBuf
AARCH64_SKIP := $(AARCH64_SKIP)|leaves_nothing_behind|G2dConformance|G2dForced
AARCH64_SKIP := $(AARCH64_SKIP)|Fork.loses_threads_that_were_started|StartableThreads.are_as_many
# The build whose tests `make vm` runs in the machine, and its options: VM_PRESET=asan,
# VM_FLAGS='--cpus 2'.
VM_PRESET ?= release
VM_BUILD = build$(filter-out -release,-$(VM_PRESET))
VM_SUITES ?= $(shell tests/vm/run.sh --print-suites)

export ASAN_OPTIONS ?= detect_stack_use_after_return=1:strict_string_checks=1
export UBSAN_OPTIONS ?= print_stacktrace=1
export LSAN_OPTIONS ?= suppressions=$(CURDIR)/tools/lsan.supp:print_suppressions=0
# oneTBB opens its helper libraries in a way that sanitizers refuse, unless this is set.
export TBB_ENABLE_SANITIZERS := 1
export TSAN_OPTIONS ?= suppressions=$(CURDIR)/tools/tsan.supp:history_size=4

.PHONY: help deps build test vm gl demo bench check includes verify asan attack tsan aarch64
.PHONY: clang coverage format mutants install wheel wheels clean

help: ## This list
	@echo "Halyard. Targets:"
	@awk -F ':.*## ' '/^[a-z0-9]+:.*## / {printf "  make %-9s %s\n", $$1, $$2}' Makefile
	@echo "Variables: JOBS=$(JOBS) WERROR=$(WERROR) PREFIX=$(PREFIX) OUT=$(OUT)"

deps: ## Install the packages for building (Debian packages; OpenVINO in .venv)
	@scripts/install-deps.sh build

# A first build has no tests; a build folder with tests keeps them.
build: deps ## Build the library, the program `halyard` and the examples into build/
	@cmake --preset release -DHALYARD_WERROR=$(WERROR) \
	  $(if $(wildcard build/CMakeCache.txt),,-DHALYARD_TESTS=OFF) $(FLAGS)
	@cmake --build build -j $(JOBS)

# TEST_FLAGS are passed to ctest: TEST_FLAGS='-L image'.
test: ## Build with tests and run them all
	@scripts/install-deps.sh test
	@cmake --preset release -DHALYARD_TESTS=ON -DHALYARD_PYTHON=ON -DHALYARD_WERROR=$(WERROR) \
	  $(FLAGS)
	@cmake --build build -j $(JOBS)
	@JOBS=$(JOBS) scripts/run-tests.py build $(TEST_FLAGS)

# Uses the same flags as the target that builds the same folder, so that nothing is compiled twice.
# If the packages for the kernel are missing, the machine's tests are skipped; this is not an error.
vm: ## Run the tests in a machine that has devices (tests/vm); none may be skipped
	@scripts/install-deps.sh test
	@scripts/install-deps.sh vm || true
	@cmake --preset $(VM_PRESET) -DHALYARD_TESTS=ON \
	  $(if $(filter release,$(VM_PRESET)),-DHALYARD_WERROR=$(WERROR)) $(FLAGS)
	@cmake --build $(VM_BUILD) -j $(JOBS) --target $(VM_SUITES:%=halyard_test_%)
	@[ -e $(VM_BUILD)/plugins/cameras/libcamera.so ] || \
	  echo 'vm: Libcamera: skipped: no libcamera >= 0.3 (scripts/install-deps.sh libcamera)' >&2
	@tests/vm/run.sh $(VM_BUILD) --suites '$(VM_SUITES)' \
	  $(or $(VM_FLAGS),--then --suites vm --mods none --filter 'HardwareCodec*' \
	    --media 'vicodec vicodec.multiplanar=1' \
	    $$([ $(VM_PRESET) != release ] || [ ! -e $(VM_BUILD)/plugins/cameras/libcamera.so ] || \
	      echo --then --suites vm --mods none --media vimc --filter 'Libcamera*'))

gl: ## Test OpenGL on a driver that imports DMA-BUFs, here and in that machine
	@scripts/install-deps.sh test
	@scripts/install-deps.sh vm || true
	@cmake --preset $(VM_PRESET) -DHALYARD_TESTS=ON \
	  $(if $(filter release,$(VM_PRESET)),-DHALYARD_WERROR=$(WERROR)) $(FLAGS)
	@cmake --build $(VM_BUILD) -j $(JOBS) --target halyard_test_gl halyard_test_image \
	  halyard_test_draw $(if $(filter release,$(VM_PRESET)),halyard_test_vm)
	@tests/vm/gl.sh $(VM_BUILD)

# A first build compiles only the program, in the fastest way; `make build` and others compile it
# again with the usual options. A folder that has such a build keeps it.
demo: ## Detect, track and draw the boats of a rendered harbour into out/
	@if grep -qs '^HALYARD_QUICK:BOOL=OFF' build/CMakeCache.txt; then \
	  scripts/install-deps.sh build && cmake --preset release $(FLAGS); \
	else \
	  scripts/install-deps.sh demo && cmake --preset demo $(FLAGS); fi
	@cmake --build build -j $(JOBS) --target halyard_program
	@rm -rf $(OUT)/frames && mkdir -p $(OUT)
	@build/halyard run examples/harbour/clip --model examples/harbour/harbour.onnx \
	  --track --track-score 0.6 --out $(OUT)/frames --json $(OUT)/tracks.json \
	  --trace $(OUT)/trace.json --contact-sheet $(OUT)/contact_sheet.png --stats
	@echo "Look at $(OUT)/contact_sheet.png; open $(OUT)/trace.json at ui.perfetto.dev"

bench: ## Measure against peers, in one run
	@scripts/install-deps.sh bench
	@cmake --preset release -DHALYARD_BENCH=ON $(FLAGS)
	@cmake --build build -j $(JOBS)
	@build/bench/halyard_bench $(BENCH_FLAGS)

check: ## Check the project's rules (tools/check.py)
	@python3 tools/check.py

# Other builds hide a missing include: another source of the group, or a precompiled header, has it.
includes: ## Compile each source of the library, examples, program and Python module by itself
	@scripts/install-deps.sh test
	@cmake --preset debug -B build-includes -DHALYARD_TESTS=OFF -DHALYARD_PYTHON=ON \
	  -DHALYARD_PCH=OFF $(CMAKE_FLAGS)
	@tools/includes.py build-includes $(JOBS)

verify: ## Run all checks and tests, and print how long each took; make verify STEPS='asan gl'
	@.ci/run $(or $(STEPS),all)

asan: ## Run the tests under AddressSanitizer and UndefinedBehaviorSanitizer
	@scripts/install-deps.sh test
	@cmake --preset asan -DHALYARD_TESTS=ON -DHALYARD_PYTHON=ON $(FLAGS)
	@cmake --build build-asan -j $(JOBS)
	@JOBS=$(JOBS) scripts/run-tests.py build-asan -LE '$(ASAN_SKIP)' $(TEST_FLAGS)

# Runs the stress programs of attack/README.md with AddressSanitizer, and the fuzz targets if clang
# is installed, for MINUTES. Failures are stored in out/attack/.
attack: ## Try for MINUTES to break the library, the package and the program (attack/)
	@scripts/install-deps.sh test
	@cmake --preset asan -DHALYARD_TESTS=ON -DHALYARD_PYTHON=ON $(FLAGS)
	@cmake --build build-asan -j $(JOBS) --target halyard_python halyard_program \
	  halyard_test_capi_random_calls halyard_attack
	@if command -v clang++-14 >/dev/null; then cmake --preset asan -B build-fuzz \
	  -DHALYARD_FUZZ=ON -DHALYARD_MODEL=OFF -DHALYARD_TESTS=OFF -DHALYARD_EXAMPLES=OFF \
	  -DHALYARD_TOOLS=OFF -DCMAKE_C_COMPILER=clang-14 -DCMAKE_CXX_COMPILER=clang++-14 && \
	  cmake --build build-fuzz -j $(JOBS) --target halyard_fuzzers; fi
	@attack/run.py --build build-asan --fuzz build-fuzz --minutes $(MINUTES) $(ATTACK_FLAGS)

# Puts one-line faults into a worktree below out/, one at a time, and prints those that no test
# finds.
mutants: ## Put COUNT faults, chosen by SEED, into src/LAYER and print those that no test finds
	@scripts/install-deps.sh test
	@tools/mutants.py $(LAYER) --seed $(SEED) --count $(COUNT) --jobs $(JOBS)

# Runs without address randomisation if it can be disabled: on kernels with more random bits than
# ThreadSanitizer supports, its shadow memory does not fit.
# tests/CMakeLists.txt lists the tests that use threads.
tsan: ## Run the tests that use threads under ThreadSanitizer
	@scripts/install-deps.sh test
	@cmake --preset tsan -DHALYARD_TESTS=ON $(FLAGS)
	@cmake --build build-tsan -j $(JOBS) --target halyard_thread_tests
	@fixed=$$(setarch -R true 2>/dev/null && echo setarch -R || true); \
	  JOBS=$(JOBS) $$fixed scripts/run-tests.py build-tsan -L '^thread$$'

# Checks results, not speed: the emulator's timings are not valid.
aarch64: ## Cross-build for Linux aarch64 and run suites of it in an emulator
	@scripts/install-deps.sh aarch64
	@cmake --preset aarch64 -DHALYARD_TESTS=ON $(FLAGS)
	@cmake --build build-aarch64 -j $(JOBS) --target $(AARCH64_SUITES:%=halyard_test_%)
	@JOBS=$(JOBS) scripts/run-tests.py build-aarch64 -E '$(AARCH64_SKIP)' \
	  -L '^($(subst $() ,|,$(strip $(AARCH64_SUITES))))$$'

clang: ## Build with clang 14, warnings are errors, and run the tests
	@scripts/install-deps.sh dev
	@cmake --preset clang -DHALYARD_TESTS=ON $(CMAKE_FLAGS)
	@cmake --build build-clang -j $(JOBS)
	@JOBS=$(JOBS) scripts/run-tests.py build-clang

# Leaves out the program's tests: they limit file sizes and close descriptors, which breaks the
# coverage run-time.
coverage: ## Line coverage of src/, report in build-coverage/coverage.html
	@scripts/install-deps.sh test
	@cmake --preset coverage -DHALYARD_TESTS=ON $(FLAGS)
	@cmake --build build-coverage -j $(JOBS)
	@find build-coverage -name '*.gcda' -delete
	@JOBS=$(JOBS) scripts/run-tests.py build-coverage -LE 'check|tools'
	@gcovr --root . --filter src/ --exclude-throw-branches --object-directory build-coverage \
	  -j $(JOBS) --html build-coverage/coverage.html --print-summary build-coverage

format: ## Rewrite all C++ sources with clang-format 14
	@scripts/install-deps.sh check
	@find include src tests tools examples bench fuzz -regex '.*\.\(h\|c\|cpp\)' -print0 \
	  | xargs -0 clang-format-14 -i

# For ccache, objects that use precompiled headers belong to one folder. Wheels of several versions
# do without these headers and share the library's objects.
WHEEL = CMAKE_BUILD_PARALLEL_LEVEL=$(JOBS) .venv/bin/python tools/wheel.py
wheel wheels: export CMAKE_ARGS = -DHALYARD_WERROR=$(WERROR) $(WHEEL_FLAGS) $(FLAGS)
wheels: WHEEL_FLAGS := -DHALYARD_PCH=OFF

wheel: ## Build a wheel into dist/ for PYTHON and run its tests in a clean environment
	@scripts/install-deps.sh python
	@$(WHEEL) $(PYTHON)

wheels: ## As wheel, from an sdist, for every CPython 3.9-3.13 on PATH and in PYTHONS
	@scripts/install-deps.sh python
	@$(WHEEL) --from-sdist --all

install: build ## Install into PREFIX
	@cmake --install build --prefix "$(PREFIX)"

clean: ## Remove the build folders of these targets, and out/
	@rm -rf build build-debug build-includes build-asan build-tsan build-aarch64 build-clang \
	  build-coverage build-wheel build-cp3*-linux_* dist $(OUT)
