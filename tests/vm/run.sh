#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the tests of a build in the machine with devices, or a command.
#   tests/vm/run.sh BUILD_FOLDER [option...] [--then option...]...
# Each --then adds another boot, whose options start anew:
#   --suites 'tensor vm'   the programs BUILD_FOLDER/tests/halyard_test_* to run; all by default
#   --filter PATTERN       the tests of them, as --gtest_filter has it; all but huge pages
#                          and OpenGL from cameras, and libcamera
#   --timeout SECONDS      for each program, or for the command; 1200
#   --cpus N               processors, 1 to 4; 1
#   --mem MIB              memory; 2048
#   --mods vgem,vkms       the DRM drivers to start, or none; both
#   --vivid 'n_devs=1'     options of the test cameras; one of each kind: n_devs=2 multiplanar=1,2
#   --media 'vicodec'      the devices from memory to memory to start: vicodec, vim2m, vimc, and
#                          their options, as vicodec.multiplanar=1; vicodec alone, or none
#   --mesa                 with Mesa of mesa.sh, which imports DMA-BUFs; it crashes beside vgem
#   --ptrace               run programs the older, slower way, as where seccomp is refused
#   --cmd COMMAND          instead of tests: a shell command, in this folder, with its output here
#   --shell                instead of tests: a shell on this terminal
#   tests/vm/run.sh --print-suites
# The last line is `N passed, N failed, N skipped`: tests, over all programs and boots. Exit 0: all
# passed, none skipped. Exit 77: no machine here, the line `vm: skipped: ...` says why. Exit 1:
# whatever else, also a machine that does not come up. With --cmd, the exit code is the command's.
# What each boot wrote stays in BUILD_FOLDER/vm/boot-N: output, console, SUITE.json.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source=$(cd "$here/../.." && pwd)
suites_known=(tensor vm)
# Passed on to the programs, where they are set.
environment=(ASAN_OPTIONS UBSAN_OPTIONS LSAN_OPTIONS TSAN_OPTIONS HALYARD_TESTDATA_DIR
  HALYARD_TEST_ROUNDS HALYARD_TEST_CAMERA_SECONDS)

die() { printf 'vm: %s\n' "$*" >&2; exit 1; }
usage() { sed -n '4,21s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; }

# The suites that have tests.
suites_here() {
  local suite found=()
  for suite in "${suites_known[@]}"; do
    compgen -G "$source/tests/$suite/*.cpp" >/dev/null && found+=("$suite")
  done
  printf '%s\n' "${found[*]}"
}

# User-Mode Linux has no huge pages: the host's kernel runs the tests of those. OpenGL from cameras
# needs the Mesa of gl.sh; libcamera needs vimc.
defaults() {
  suites=$(suites_here) limit=1200 cpus=1 mem=2048 mods=vgem,vkms
  filter='*:-HugePages.that_*:GlCamera*:GlDelegate*:*GlDrm*:Libcamera*'
  ptrace='' mesa=''
  vivid='n_devs=2 multiplanar=1,2' media=vicodec command='' shell=''
}

# Takes the options of one boot into the variables of defaults(); leaves the rest in options_left.
parse() {
  defaults
  while [[ $# -gt 0 && $1 != --then ]]; do
    case $1 in
      --mesa) mesa=1; shift; continue ;;
      --ptrace) ptrace=1; shift; continue ;;
      --shell) shell=1; shift; continue ;;
      --suites | --filter | --timeout | --cpus | --mem | --mods | --vivid | --media | --cmd) ;;
      *) printf 'vm: unknown option %s\n' "$1" >&2; usage >&2; exit 2 ;;
    esac
    [[ $# -ge 2 ]] || die "option $1 needs a value"
    case $1 in
      --suites) suites=$2 ;;
      --filter) filter=$2 ;;
      --timeout) limit=$2 ;;
      --cpus) cpus=$2 ;;
      --mem) mem=$2 ;;
      --mods) mods=$2 ;;
      --vivid) vivid=$2 ;;
      --media) media=$2 ;;
      --cmd) command=$2 ;;
    esac
    shift 2
  done
  [[ $limit$cpus$mem =~ ^[0-9]+$ ]] || die "--timeout, --cpus and --mem take numbers"
  [[ ,$mods, =~ ^,(none|vgem|vkms)(,(vgem|vkms))*,$ ]] || die "--mods: no $mods here"
  options_left=("${@:2}")
}

program() { printf '%s/tests/halyard_test_%s' "$build" "$1"; }

# Tests of the boot, counted on the host; 1 for a program that cannot say.
count_tests() {
  local suite count=0 tests
  for suite in $suites; do
    tests=$(timeout 60 "$(program "$suite")" --gtest_list_tests "--gtest_filter=$filter" \
      2>/dev/null </dev/null | grep -c '^  ') || tests=1
    count=$((count + tests))
  done
  echo "$count"
}

# The machine's memory is a file on the host, which must have room for it and be executable.
memory_folder() {
  local place free
  for place in /dev/shm "${TMPDIR:-$job}" "$job"; do
    [[ -w $place && $(findmnt -no OPTIONS -T "$place") != *noexec* ]] || continue
    free=$(df -Pk "$place" | awk 'NR == 2 {print int($4 / 1024)}')
    [[ $free -lt $mem ]] || { printf '%s\n' "$place"; return; }
  done
  printf '%s\n' "$job"
}

# Everything that job.sh reads.
write_settings() {
  local name folder=$PWD nodes
  nodes=$(nodes)
  declare -p job build folder suites filter limit command shell nodes
  for name in "${environment[@]}"; do
    [[ -z ${!name+set} ]] || declare -p "$name"
  done
  [[ -z $mesa ]] || "$here/mesa.sh" --variables
}

# Devices that the machine must have, whatever the tests think of it.
nodes() {
  printf '/dev/dma_heap/system /dev/udmabuf /dev/video0 /sys/kernel/debug/dma_buf/bufinfo'
  printf ' /sys/kernel/debug/sync/sw_sync'
  case ,$mods, in *,vgem,*) printf ' /dev/dri/renderD128' ;; esac
  case ,$mods, in *,vgem,* | *,vkms,*) printf ' /dev/dri/card0' ;; esac
  case ,$mods, in *,vgem,vkms, | *,vkms,vgem,*) printf ' /dev/dri/card1' ;; esac
}

# Ends a machine one of whose programs has as many mappings on the host as that allows. Memory there
# is one mapping for each run of adjoining pages, so a program that spreads over some 250 MiB can
# come to this; the kernel would then try the next page for ever. Runs until it is killed, so that
# its number stays its own, and holds nothing of ours that somebody waits for.
watch() {
  local most program machine
  exec {lock}>&- 3>&- >/dev/null 2>&1
  most=$(cat /proc/sys/vm/max_map_count)
  while sleep 1; do
    read -r machine _ <"/proc/$1/task/$1/children" || [[ $machine ]] || continue
    for program in $(cat "/proc/$machine"/task/*/children | tr ' ' '\n'); do
      [[ $(wc -l <"/proc/$program/maps") -ge $((most - 10)) ]] || continue
      echo "a program has $most mappings, more than vm.max_map_count of the host" >"$job/died"
      kill "$1"
      break 2
    done
  done
  exec sleep infinity
}

# Starts the machine with the arguments that say how, and waits for its end. Fails where User-Mode
# Linux gave up before there was a kernel.
start() {
  local option driver blocked='' how=("$@") seconds=$limit
  for driver in vgem vkms; do
    [[ ,$mods, == *,$driver,* ]] || blocked+=${blocked:+,}${driver}_init
  done
  for option in $vivid; do how+=("vivid.$option"); done
  for driver in vicodec vim2m vimc; do
    [[ " $media " == *" $driver "* ]] || blocked+=${blocked:+,}${driver}_init
  done
  for option in $media; do [[ $option != *.* ]] || how+=("$option"); done
  [[ -z $blocked ]] || how+=("initcall_blacklist=$blocked")
  how+=(
    "mem=${mem}M" rootfstype=hostfs rootflags=/ ro "init=\"$here/init.py\"" panic=-1
    "uml_dir=$job/uml/" umid=vm "HALYARD_VM_JOB=\"$job\""
  )
  begin=$(date +%s.%N)
  if [[ $shell ]]; then
    TMPDIR=$(memory_folder) "$kernel/linux" "${how[@]}" con0=fd:0,fd:1 con=null quiet loglevel=3 \
      2>"$job/console"
    return
  fi
  # All programs may use up their time; those of a boot that hangs do not get to.
  [[ $command ]] || for _ in $suites; do seconds=$((seconds + limit)); done
  TMPDIR=$(memory_folder) timeout -k 10 "$((seconds + 30))" "$kernel/linux" "${how[@]}" \
    con0=null,fd:1 con1=null,fd:3 con=null </dev/null >"$job/console" 2>&1 &
  machine=$!
  watch "$machine" &
  watcher=$!
  wait "$machine" && ended=0 || ended=$?
  machine=''
  kill "$watcher"
  wait "$watcher" 2>/dev/null || true
  grep -q 'Linux version' "$job/console"
}

# Why the machine went: its panic, or else the last line that it wrote.
last_words() {
  grep -am 1 'Kernel panic' "$job/console" || grep -a . "$job/console" | tail -n 1
}

# One boot; leaves its folder in $job, and in it `died` where it did not end as it should.
boot() {
  local way="seccomp, $cpus processors" up now
  job=$build/vm/boot-$((++boots))
  rm -rf "$job"
  mkdir -p "$job"
  printf '%s\n' "$suites" >"$job/suites"
  write_settings >"$job/settings"
  printf '%s\n' "$source" "$build" "$PWD" "${HALYARD_TESTDATA_DIR:-$source}" >"$job/keep"
  if [[ $mesa ]]; then
    "$here/mesa.sh" >"$job/mesa" || unavailable "no Mesa: $(tail -n 1 "$job/mesa")"
    cat "$job/mesa" >>"$job/keep"
  fi
  if [[ $command ]]; then exec 3>&1; else exec 3>"$job/output"; fi
  if [[ $ptrace ]] || ! start seccomp=on "ncpus=$cpus"; then
    way="ptrace, 1 processor"
    start seccomp=off || unavailable "User-Mode Linux does not start: $(last_words)"
  fi
  exec 3>&-
  if [[ -f $job/booted ]]; then
    read -r up now <"$job/booted"
    printf 'vm: boot %d: %s, %s; up in %s s, %s s after the start\n' "$boots" \
      "$(cut -d , -f 1 "$kernel/source")" "$way" "$up" \
      "$(awk -v a="$begin" -v b="$now" 'BEGIN {printf "%.2f", b - a}')" >&2
  fi
  [[ -f $job/rc || -f $job/died ]] || case $ended in
    124 | 137) echo "stopped after its time limit" >"$job/died" ;;
    *) echo "exit $ended: $(last_words)" >"$job/died" ;;
  esac
}

# Sanitizers need more address space than kernels before 7.0 give a program.
check_sanitizers() {
  local suite
  ! grep -q '^CONFIG_PGTABLE_LEVELS=4' "$kernel/config" || return 0
  for suite in $suites; do
    ! grep -qaE '__[at]san_init' "$(program "$suite")" ||
      unavailable "$(cut -d , -f 1 "$kernel/source") is too old for sanitizers"
  done
}

unavailable() {
  printf 'vm: skipped: %s\n0 passed, 0 failed, %d skipped\n' "$1" "$planned"
  exit 77
}

case ${1:-} in
  --print-suites) suites_here; exit 0 ;;
  -h | --help) usage; exit 0 ;;
esac
[[ $# -ge 1 && -d $1 ]] || { usage >&2; exit 2; }
build=$(cd "$1" && pwd)
shift
kernel='' machine='' boots=0 planned=0 rc=0

# All options are looked at, and all programs are there, before the first boot.
options_left=("$@")
while :; do
  parse "${options_left[@]}"
  if [[ -z $command$shell ]]; then
    [[ $suites ]] || die "no suite to run"
    for suite in $suites; do
      [[ -x $(program "$suite") ]] || die "no program $(program "$suite"): build it first"
    done
    planned=$((planned + $(count_tests)))
  fi
  [[ ${#options_left[@]} -gt 0 ]] || break
done

mkdir -p "$build/vm"
exec {lock}>"$build/vm/lock"
flock -n "$lock" || printf 'vm: waiting for another run in %s\n' "$build" >&2
flock -w 3600 "$lock" || die "another run in $build does not end"
rm -rf "$build"/vm/boot-*
said=$("$here/kernel.sh") || rc=$?
kernel=$(tail -n 1 <<<"$said")
[[ $rc -ne 77 ]] || unavailable "$kernel"
[[ $rc -eq 0 ]] || die "no kernel"

trap '[[ -z $machine ]] || kill "$machine"' EXIT
options_left=("$@")
while :; do
  parse "${options_left[@]}"
  [[ $command$shell ]] || check_sanitizers
  boot
  if [[ $command$shell ]]; then
    [[ ! -f $job/died ]] || die "the machine died, $(cat "$job/died")"
    rc=$(cat "$job/rc")
    [[ $rc -eq 0 ]] || exit "$rc"
  fi
  [[ ${#options_left[@]} -gt 0 ]] || break
done
[[ -n $command$shell ]] || python3 -B "$here/summary.py" "$build"/vm/boot-*
