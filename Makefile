# SPDX-License-Identifier: MIT
# A thin face: meson builds, scripts/deps.sh installs what is missing (DEPS=skip trusts the machine).
#
# Each build folder is configured once, by the options below; "make clean" starts anew.

PREFIX ?= /usr/local
MESON ?= meson
BENCHES ?= charge switch malloc stat flush control
BENCH_ARGS ?=
COVERAGE_MIN ?= 0
FUZZ_SECONDS ?= 20
# Also given to each setup: MESON_ARGS=--werror
MESON_ARGS ?=

CHECKED = --buildtype=debugoptimized -Ddebug_asserts=true -Dtests=true
TEST = $(MESON) test --print-errorlogs
# A library at a time: variants define a function in different places, which gcovr does not join.
GCOVR = gcovr --root . --print-summary --exclude-throw-branches --gcov-ignore-parse-errors --fail-under-line $(COVERAGE_MIN)
UNIT_SUITES = base percpu css counter stat group charge files semantics
# Sanitized and emulated runs are slow: the time limits of tests grow.
TEST_SLOW = $(TEST) --timeout-multiplier 10

# The shadow memory of TSan does not fit where newer kernels map programs at random.
NO_RANDOM = $$(setarch -R true 2>/dev/null && echo setarch -R)

.DEFAULT_GOAL := build
.PHONY: build run test bench install format format-check lint coverage test-tsan test-asan test-aarch64 test-valgrind model fuzz clean

build/build.ninja:
	$(MESON) setup build -Doptimization=2 -Ddebug=false -Dtests=false --prefix $(PREFIX) $(MESON_ARGS)

build-test/build.ninja:
	$(MESON) setup build-test $(CHECKED) $(MESON_ARGS)

build-coverage/build.ninja:
	$(MESON) setup build-coverage --buildtype=debug -Ddebug_asserts=true -Db_coverage=true \
		-Dc_args=-fprofile-update=atomic $(MESON_ARGS)

# By gcc, which alone compiles the library for the simulator: its database has every source.
build-lint/build.ninja:
	CC=gcc CXX=g++ $(MESON) setup build-lint $(CHECKED) $(MESON_ARGS)

build-tsan/build.ninja:
	CC=clang CXX=clang++ $(MESON) setup build-tsan $(CHECKED) -Db_sanitize=thread -Db_lundef=false $(MESON_ARGS)

build-asan/build.ninja:
	CC=clang CXX=clang++ $(MESON) setup build-asan $(CHECKED) -Db_sanitize=address,undefined -Db_lundef=false \
		-Dc_args=-fno-sanitize-recover=all -Dcpp_args=-fno-sanitize-recover=all $(MESON_ARGS)

build-fuzz/build.ninja:
	CC=clang CXX=clang++ $(MESON) setup build-fuzz $(CHECKED) -Dfuzz=true -Db_sanitize=address,undefined \
		-Db_lundef=false -Dc_args=-fno-sanitize-recover=all $(MESON_ARGS)

build-aarch64/build.ninja:
	scripts/aarch64-sysroot.sh build-aarch64-root
	$(MESON) setup build-aarch64 --cross-file build-aarch64-root/cross.ini $(CHECKED) $(MESON_ARGS)

# Release, in build/bin and build/lib.
build:
	@scripts/deps.sh build
	@$(MAKE) --no-print-directory build/build.ninja
	$(MESON) compile -C build

# The tenants of examples/lua-tenants, confined by the command. A folder that was set up before Lua was installed
# does not have them yet.
run:
	@scripts/deps.sh run
	@$(MAKE) --no-print-directory build/build.ninja
	@grep -q lua-tenants/lua-tenants build/build.ninja || $(MESON) setup --reconfigure build
	$(MESON) compile -C build
	@scripts/run.sh build

test:
	@scripts/deps.sh test
	@$(MAKE) --no-print-directory build-test/build.ninja
	$(MESON) compile -C build-test
	$(TEST) -C build-test

bench: build
	@set -e; for bench in $(BENCHES); do build/bin/memcg-bench $$bench $(BENCH_ARGS); done

# The prefix may differ from the one that build was configured with.
install: build
	$(MESON) configure build --prefix $(PREFIX)
	$(MESON) install -C build

format:
	@scripts/deps.sh ci
	scripts/format.sh

format-check:
	@scripts/deps.sh ci
	scripts/format.sh --check

lint:
	@scripts/deps.sh ci
	@$(MAKE) --no-print-directory build-lint/build.ninja
	@MESON='$(MESON)' scripts/lint.sh build-lint

# The line rate of src/; COVERAGE_MIN makes less a failure. Stress and command line tests add no lines.
coverage:
	@scripts/deps.sh ci
	@$(MAKE) --no-print-directory build-coverage/build.ninja
	$(MESON) compile -C build-coverage
	find build-coverage -name '*.gcda' -delete
	$(TEST) -C build-coverage --no-suite stress --no-suite cli --timeout-multiplier 4
	$(GCOVR) --filter src/ build-coverage/lib/libmemcg.a.p
	$(GCOVR) --filter src/charge/stock_local.c build-coverage/lib/libmemcg-locked.a.p

test-tsan:
	@scripts/deps.sh ci
	@$(MAKE) --no-print-directory build-tsan/build.ninja
	$(MESON) compile -C build-tsan
	TSAN_OPTIONS="halt_on_error=1 second_deadlock_stack=1" $(NO_RANDOM) $(TEST_SLOW) -C build-tsan

test-asan:
	@scripts/deps.sh ci
	@$(MAKE) --no-print-directory build-asan/build.ninja
	$(MESON) compile -C build-asan
	ASAN_OPTIONS="detect_stack_use_after_return=1 strict_string_checks=1" UBSAN_OPTIONS=print_stacktrace=1 \
		$(TEST_SLOW) -C build-asan

# Cross-built, run by qemu-user.
test-aarch64:
	@scripts/deps.sh ci
	@$(MAKE) --no-print-directory build-aarch64/build.ninja
	$(MESON) compile -C build-aarch64
	$(TEST_SLOW) -C build-aarch64 --no-suite stress

# Stress tests are left out: valgrind runs one thread at a time, so they would meet nothing new, slowly.
test-valgrind:
	@scripts/deps.sh test
	@$(MAKE) --no-print-directory build-test/build.ninja
	$(MESON) compile -C build-test
	$(TEST_SLOW) -C build-test $(UNIT_SUITES:%=--suite %) --wrapper "valgrind --quiet --error-exitcode=99 \
		--trace-children=yes --fair-sched=try --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite \
		--suppressions=$(CURDIR)/tests/valgrind.supp"

# Each fuzz target for FUZZ_SECONDS under ASan and UBSan.
fuzz:
	@scripts/deps.sh ci
	@$(MAKE) --no-print-directory build-fuzz/build.ninja
	$(MESON) compile -C build-fuzz fuzzers
	scripts/fuzz.sh build-fuzz $(FUZZ_SECONDS)

# All states of the models, and each fault that is planted in them: a minute or two.
model:
	@scripts/deps.sh ci
	@set -e; for model in tests/model/*.sh; do echo $$model; $$model; done

clean:
	rm -rf build build-*
