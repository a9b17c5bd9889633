#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What runs in the machine after init.py: tests, a command or a shell. Reads the settings that
# run.sh wrote. The first console is the kernel's; the second is the job's and goes to the host at
# once, so that it tells the last thing that happened before a crash.
#   job.sh SETTINGS
# shellcheck disable=SC2154 # run.sh's write_settings() lists the variables
set -u
# shellcheck source=/dev/null
source "$1"
export HALYARD_TEST_IN_VM=1
# Freed memory that AddressSanitizer keeps costs the host a mapping for nearly each page, see
# watch() in run.sh; 256 MiB, its own choice, would be too much.
export ASAN_OPTIONS=quarantine_size_mb=16${ASAN_OPTIONS:+:$ASAN_OPTIONS}

if [[ $shell ]]; then
  cd "$folder" && exec setsid -cw bash -i <>/dev/tty0 >&0 2>&0
fi
stty -F /dev/tty1 -opost
exec </dev/null >/dev/tty1 2>&1
if [[ $command ]]; then
  cd "$folder" && exec timeout -k 5 "$limit" bash -c "$command"
fi

for node in $nodes; do
  [[ -e $node ]] || echo "$node" >>"$job/missing"
done
for suite in $suites; do
  echo "== $suite"
  # As ctest runs them: from the folder of the programs.
  (cd "$build/tests" && exec timeout -k 5 "$limit" "$build/tests/halyard_test_$suite" \
    --gtest_color=no "--gtest_filter=$filter" "--gtest_output=json:$job/$suite.json")
  echo $? >"$job/$suite.rc"
done
