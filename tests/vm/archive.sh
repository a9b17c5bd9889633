# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced: packages of other suites of Debian, from the mirror of this machine, through an apt of
# its own, which checks them against Debian's signing keys. The system's lists stay as they are.
# Needs `work`, a folder, and `log`, a file.

keyring=/usr/share/keyrings/debian-archive-keyring.gpg

# Archives of this machine that have a suite of one plain word: Debian's own is among them.
mirrors() {
  apt-get update --print-uris |
    sed -nE "s#^'([^']+)/dists/[a-z]+/InRelease' .*#\1#p" | awk '!seen[$0]++'
}

# use_suite MIRROR SUITE...: points the private apt at suites of one mirror, and leaves its options
# in apt_options. It shares only proxies and the like with the system's apt.
use_suite() {
  local apt=$work/apt mirror=$1 suite
  shift
  rm -rf "$apt"
  mkdir -p "$apt/state/lists/partial" "$apt/cache/archives/partial" "$apt/parts"
  : >"$apt/status"
  for suite in "$@"; do
    printf 'deb [signed-by=%s] %s %s main\n' "$keyring" "$mirror" "$suite"
  done >"$apt/sources.list"
  apt_options=(
    -qq -o "Dir::State=$apt/state" -o "Dir::State::status=$apt/status" -o "Dir::Cache=$apt/cache"
    -o "Dir::Etc::sourcelist=$apt/sources.list" -o "Dir::Etc::sourceparts=$apt/parts"
    -o "Dir::Etc::preferences=$apt/none" -o "Dir::Etc::preferencesparts=$apt/parts"
    -o "APT::Sandbox::User=" -o "APT::Default-Release=" -o "Acquire::Languages=none"
    -o "Acquire::Retries=2" -o "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false"
  )
  timeout 300 apt-get "${apt_options[@]}" update >>"$log" 2>&1
}
