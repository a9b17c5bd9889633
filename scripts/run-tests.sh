#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs a build's tests with ctest and prints a summary: the tests per layer, the skipped tests per
# suite, the output of failed tests, and ctest's own summary as the last line.
#   scripts/run-tests.sh BUILD_FOLDER [ctest argument...]
set -euo pipefail
[[ $# -ge 1 && -f $1/CTestTestfile.cmake ]] || {
  echo "run-tests: usage: run-tests.sh BUILD_FOLDER [ctest argument...]; no tests in '${1:-}'" >&2
  exit 2
}
build=$1
shift
log=$build/test-output.txt
[[ -n ${HALYARD_TESTDATA_DIR:-} ]] ||
  echo "run-tests: HALYARD_TESTDATA_DIR is not set: tests on real data will be skipped"

rc=0
ctest --test-dir "$build" --output-on-failure --no-tests=error -j "${JOBS:-$(nproc)}" "$@" \
  </dev/null 2>&1 | tee "$log" || rc=$?

# ctest marks a skipped test "***Skipped" and counts it as passed.
skipped=$(grep -c '\*\*\*Skipped' "$log" || true)
summary=$(grep -E '^[0-9]+% tests passed' "$log" || echo "ctest gave no summary (exit $rc)")
printf '\nTests per layer:\n'
awk '/^Label Time Summary:/ {on = 1; next} /^Total Test time/ {on = 0}
     on && match($0, /\(([0-9]+) tests?\)|\*proc \([0-9]+ test/) {
       count = $0; sub(/.*\(/, "", count); sub(/ .*/, "", count)
       printf "  %-12s %6d\n", $1, count
     }' "$log"
printf 'Skipped: %s\n' "$skipped"
# Names of a suite once: layer.Suite/with_parameter is one of layer.Suite.
sed -nE 's/^.*Test +#[0-9]+: ([^ .]+\.[^ .]+)[^ ]* \.*\*\*\*Skipped.*/\1/p' "$log" |
  sort | uniq -c | awk '{printf "  %-60s %4d\n", $2, $1}'
# Once more, because the lines of other tests follow it above: what failed tests wrote at their end.
awk -v most=60 '
  function tell(   i) {
    if (name != "") {
      printf "\nFailed: %s\n", name
      for (i = (n > most ? n - most : 0); i < n; i++) print lines[i]
    }
    name = ""; n = 0
  }
  /^ *Start +[0-9]+: / || /^ *[0-9]+\/[0-9]+ Test +#/ || /^[0-9]+% tests passed/ {
    tell()
    if (/#[0-9]+: .*\*\*\*(Failed|Timeout|Exception|Not Run)/ && !/\(Disabled\)/) name = $4
    next
  }
  name != "" {lines[n++] = $0}
  END {tell()}' "$log"
printf '%s\n' "$summary"
exit "$rc"
