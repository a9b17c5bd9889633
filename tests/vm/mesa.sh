#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Mesa of bookworm-backports in a folder of its own: its llvmpipe imports DMA-BUFs, which that of
# Debian 12 does not. The system's packages stay as they are.
#   tests/vm/mesa.sh              prints the folder; downloads 11 MB where it is missing
#   tests/vm/mesa.sh --run CMD... runs a command with it
#   tests/vm/mesa.sh --variables  prints what a shell must set for it
# Exit 77: it cannot be had here; the last line is the reason. It is kept in HALYARD_VM_CACHE (else
# XDG_CACHE_HOME/halyard/vm, ~/.cache/halyard/vm) as mesa-25 and may be removed at any time.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/vm/archive.sh
source "$here/archive.sh"

release=bookworm
packages=(mesa-libgallium libegl-mesa0 libgbm1 libgl1-mesa-dri libdrm2 libdrm-intel1 libdrm-amdgpu1
  libdrm-radeon1 libdrm-nouveau2)

unavailable() { printf '%s\n' "$*"; exit 77; }

check_host() {
  [[ $(uname -sm) == "Linux x86_64" ]] || unavailable "Mesa is had for x86-64 Linux only"
  grep -qs "VERSION_CODENAME=$release" /etc/os-release ||
    unavailable "this Mesa is built for Debian $release"
  command -v apt-get dpkg-deb >/dev/null || unavailable "it needs apt-get and dpkg-deb"
  [[ -r $keyring ]] || unavailable "no signing keys of Debian here ($keyring)"
}

# Newer packages where backports have them, the release's own otherwise.
download() {
  local mirror package
  while read -r mirror; do
    use_suite "$mirror" "$release" "$release-backports" || continue
    for package in "${packages[@]}"; do
      (cd "$work" && {
        timeout 300 apt-get "${apt_options[@]}" download "$package/$release-backports" ||
          timeout 300 apt-get "${apt_options[@]}" download "$package"
      }) >>"$log" 2>&1 || unavailable "$package could not be downloaded, see $log"
    done
    return 0
  done < <(mirrors 2>>"$log")
  unavailable "no mirror of Debian could be reached, see $log"
}

get() {
  local file
  check_host
  mkdir -p "$cache"
  exec {lock}>"$folder.lock"
  flock -w 900 "$lock" || unavailable "another download into $cache does not end"
  [[ ! -d $folder ]] || return 0
  work=$(mktemp -d "$cache/mesa.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  : >"$log"
  download
  mkdir "$work/kept"
  for file in "$work"/*.deb; do dpkg-deb -x "$file" "$work/kept"; done
  mv -T "$work/kept" "$folder"
}

# The variables with which programs find it.
variables() {
  local libraries=$folder/usr/lib/x86_64-linux-gnu
  export LD_LIBRARY_PATH=$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
  export LIBGL_DRIVERS_PATH=$libraries/dri GBM_BACKENDS_PATH=$libraries/gbm
  export __EGL_VENDOR_LIBRARY_DIRS=$folder/usr/share/glvnd/egl_vendor.d
}

export HOME=${HOME:-$(getent passwd "$(id -u)" | cut -d : -f 6)}
cache=${HALYARD_VM_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/halyard/vm}
folder=$cache/mesa-25
log=$folder.log
[[ -d $folder ]] || get
case ${1:-} in
  --run)
    variables
    exec "${@:2}"
    ;;
  --variables)
    variables
    declare -p LD_LIBRARY_PATH LIBGL_DRIVERS_PATH GBM_BACKENDS_PATH __EGL_VENDOR_LIBRARY_DIRS
    ;;
  "") printf '%s\n' "$folder" ;;
  *) printf 'mesa.sh: unknown argument %s\n' "$1" >&2; exit 2 ;;
esac
