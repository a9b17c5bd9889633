#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Finds or builds the kernel of the machine in tests: a User-Mode Linux (a kernel that runs as a
# program of the host, without virtualisation) from Debian's own kernel source.
#   tests/vm/kernel.sh           prints the folder that holds `linux`; builds it where it is missing
#   tests/vm/kernel.sh --folder  prints that folder, builds nothing
# Exit 0: the folder is the last line. Exit 77: no kernel can be had here, and the last line is the
# reason. Exit 1: kernel.config is at fault. Progress goes to standard error.
#
# Kernels are kept in HALYARD_VM_CACHE (else XDG_CACHE_HOME/halyard/vm, ~/.cache/halyard/vm), one
# folder for each text of kernel.config and of this script; it may be removed at any time.
# Downloads come from the Debian mirror of this machine, checked by apt against Debian's signing
# keys; apt keeps its lists for it in the cache folder, the system's own stay as they are.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
config=$here/kernel.config
# shellcheck source=tests/vm/archive.sh
source "$here/archive.sh"

suites=(trixie-backports trixie)  # where a kernel source is looked for, in this order
pinned=linux-source-7.2           # taken where there is one, otherwise the newest of the suite
need_mib=2048                     # free disk for the build; what is kept takes 8 MiB

say() { printf 'vm: %s\n' "$*" >&2; }
unavailable() { printf '%s\n' "$*"; exit 77; }
broken() { say "$*"; exit 1; }

# Without comments: a better one is no reason to build again.
key() {
  sed -E '/^[[:space:]]*(#|$)/d' "$config" "${BASH_SOURCE[0]}" | sha256sum | cut -c 1-16
}

check_host() {
  local tool missing=() free
  [[ $(uname -sm) == "Linux x86_64" ]] ||
    unavailable "User-Mode Linux runs on x86-64 Linux, this is $(uname -sm)"
  for tool in apt-get dpkg-deb gcc make flex bison bc xz flock; do
    command -v "$tool" >/dev/null || missing+=("$tool")
  done
  [[ ${#missing[@]} -eq 0 ]] ||
    unavailable "building the kernel needs ${missing[*]}: scripts/install-deps.sh native vm"
  [[ -r $keyring ]] || unavailable "no signing keys of Debian here ($keyring)"
  free=$(df -Pk "$cache" | awk 'NR == 2 {print int($4 / 1024)}')
  [[ $free -ge $need_mib ]] ||
    unavailable "building the kernel needs $need_mib MiB in $cache, free are $free"
}

# Prints the package to take from the suite in use.
choose_package() {
  local packages
  packages=$(apt-cache "${apt_options[@]}" pkgnames linux-source- |
    grep -E '^linux-source-[0-9.]+$' | sort -V) || return 1
  grep -Fx "$pinned" <<<"$packages" || tail -n 1 <<<"$packages"
}

# Leaves the package's file in $work and its name in $package.
download() {
  local mirror suite reached=""
  for suite in "${suites[@]}"; do
    while read -r mirror; do
      use_suite "$mirror" "$suite" || continue
      reached+=" $suite"
      package=$(choose_package) || continue
      say "downloading $package from $suite"
      (cd "$work" && timeout 1200 apt-get "${apt_options[@]}" download "$package") >>"$log" 2>&1 ||
        unavailable "$package could not be downloaded, see $log"
      return 0
    done < <(mirrors 2>>"$log")
  done
  [[ -n $reached ]] || unavailable "no mirror of Debian could be reached, see $log"
  unavailable "no kernel source in$reached"
}

# Unpacks what the build reads: without drivers of hardware, other processors and pages.
unpack() {
  local part exclude=()
  for part in 'drivers/gpu/drm/amd/*.[ch]' 'drivers/net/*/*.[ch]' 'sound/*.[ch]' \
    'Documentation/*.*' 'tools/testing/*' 'tools/perf/*' 'arch/arm*.*' 'arch/mips*.*' \
    'arch/powerpc*.*'; do
    exclude+=(--exclude="linux-source-*/$part")
  done
  mkdir "$work/source"
  dpkg-deb --fsys-tarfile "$work/$package"_*.deb |
    tar -xO --wildcards './usr/src/linux-source-*.tar.xz' | xz -dc -T0 |
    tar -x -C "$work/source" --strip-components=1 "${exclude[@]}"
  rm "$work/$package"_*.deb
}

# Runs the kernel's make, which must see nothing of ours: no make flags, no CFLAGS. Without ccache:
# with it the build takes a fifth longer, and what is built is kept.
kernel_make() {
  env -i PATH="$PATH" HOME="$HOME" LC_ALL=C TMPDIR="$work" \
    KBUILD_BUILD_USER=halyard KBUILD_BUILD_HOST=vm KBUILD_BUILD_TIMESTAMP="$version" \
    make -s -C "$work/source" ARCH=um O="$work/objects" "$@" >>"$log" 2>&1
}

check_config() {
  local line missing=()
  while read -r line; do
    grep -qFx "$line" "$work/objects/.config" || missing+=("$line")
  done < <(grep '^CONFIG' "$config")
  [[ ${#missing[@]} -gt 0 ]] || return 0
  [[ $package != "$pinned" ]] || broken "$package does not take from kernel.config: ${missing[*]}"
  say "$package does not know: ${missing[*]}"
}

build() {
  local begin=$SECONDS
  download
  version=$(dpkg-deb --field "$work/$package"_*.deb Version)
  unpack || unavailable "$package could not be unpacked, see $log"
  say "building $package $version, some minutes"
  mkdir "$work/objects" "$work/kept"
  kernel_make KCONFIG_ALLCONFIG="$config" allnoconfig ||
    unavailable "$package could not be configured, see $log"
  check_config
  kernel_make -j "${JOBS:-$(nproc)}" linux ||
    unavailable "$package $version did not build, see $log"
  strip -o "$work/kept/linux" "$work/objects/linux"
  cp "$work/objects/.config" "$work/kept/config"
  printf '%s %s, built in %d s\n' "$package" "$version" $((SECONDS - begin)) >"$work/kept/source"
  mv "$log" "$work/kept/build.log"
  mv -T "$work/kept" "$folder"
  say "$(cat "$folder/source"): $folder"
}

export HOME=${HOME:-$(getent passwd "$(id -u)" | cut -d : -f 6)}
cache=${HALYARD_VM_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/halyard/vm}
folder=$cache/$(key)
log=$folder.log
case ${1:-} in
  --folder) printf '%s\n' "$folder"; exit 0 ;;
  "") ;;
  *) printf 'kernel.sh: unknown argument %s\n' "$1" >&2; exit 2 ;;
esac

if [[ ! -x $folder/linux ]]; then
  mkdir -p "$cache" 2>/dev/null || unavailable "the folder $cache cannot be made"
  check_host
  exec {lock}>"$cache/lock"
  flock -n "$lock" || { say "waiting for another build in $cache"; flock -w 3600 "$lock"; } ||
    unavailable "another build in $cache does not end"
fi
if [[ ! -x $folder/linux ]]; then
  # The lock is held: what a build that was killed has left is nobody's.
  work=$cache/building
  rm -rf "$work"
  mkdir "$work"
  trap 'rm -rf "$work"' EXIT
  : >"$log"
  build
fi
printf '%s\n' "$folder"
