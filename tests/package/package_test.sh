#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs a build into a folder of its own and uses it as a stranger would.
#   package_test.sh find_package|pkg_config|exports|abi_notices BUILD_FOLDER WORK_FOLDER VERSION
set -euo pipefail
way=$1 build=$2 work=$3 version=$4
consumer=$(cd "$(dirname "${BASH_SOURCE[0]}")/consumer" && pwd)
rm -rf "$work"
mkdir -p "$work"

for component in runtime development; do
  cmake --install "$build" --prefix "$work/first" --component "$component" >"$work/install.txt"
done
# Nothing in the installed files may depend on the folder that they were installed into.
mv "$work/first" "$work/moved"
prefix=$(realpath "$work/moved")
library=$(find "$prefix" -name libhalyard.so)
libdir=$(dirname "$library")

expect_width() {
  local said
  said=$("$1") || { echo "$1 failed with $?"; exit 1; }
  [[ $said == "width 32" ]] || { echo "expected 'width 32', not '$said'"; exit 1; }
}
expect_version() {
  local said
  said=$("$1") || { echo "$1 failed with $?"; exit 1; }
  [[ $said == "halyard $version" ]] || { echo "expected 'halyard $version', not '$said'"; exit 1; }
}

case $way in
  find_package)
    cmake -S "$consumer" -B "$work/build" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" >/dev/null
    cmake --build "$work/build" >/dev/null
    expect_version "$work/build/consumer"
    expect_width "$work/build/consumer_c"
    # A version that this one does not serve is refused.
    sed 's/halyard 0.1 /halyard 0.2 /' "$consumer/CMakeLists.txt" >"$work/CMakeLists.txt"
    cp "$consumer/main.cpp" "$work/"
    if cmake -S "$work" -B "$work/build2" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" &>/dev/null; then
      echo "find_package(halyard 0.2) took version $version"
      exit 1
    fi
    ;;
  pkg_config)
    export PKG_CONFIG_PATH=$libdir/pkgconfig
    [[ $(pkg-config --modversion halyard) == "$version" ]] || { echo "wrong --modversion"; exit 1; }
    mkdir "$work/halyard" "$work/edgefirst-hal"
    make -s -C "$work/halyard" -f "$consumer/Makefile" SOURCE="$consumer"
    expect_version "$work/halyard/consumer"
    expect_width "$work/halyard/consumer_c"
    expect_width "$work/halyard/consumer_cc"
    # Names for programs written for EdgeFirst HAL are there for those who ask.
    ! pkg-config --exists edgefirst-hal || { echo "edgefirst-hal.pc without asking"; exit 1; }
    cmake --install "$build" --prefix "$prefix" --component compat >/dev/null
    make -s -C "$work/edgefirst-hal" -f "$consumer/Makefile" SOURCE="$consumer" \
      MODULE=edgefirst-hal consumer_c consumer_cc
    expect_width "$work/edgefirst-hal/consumer_c"
    expect_width "$work/edgefirst-hal/consumer_cc"
    ;;
  exports)
    soname=$(objdump -p "$library" | awk '$1 == "SONAME" {print $2}')
    [[ $soname == "libhalyard.so.${version%.*}" ]] || { echo "soname is $soname"; exit 1; }
    [[ $(readlink -f "$library") == */libhalyard.so.$version ]] || { echo "no version"; exit 1; }
    # What is loaded when it is first used, by a name that the file may hold, is not linked.
    ! objdump -p "$library" | grep -E 'NEEDED +lib(av|sw|openvino)' || { echo "linked"; exit 1; }
    [[ -d $prefix/include/halyard && ! -e $prefix/include/base ]] || { echo "headers"; exit 1; }
    ;;
  abi_notices)
    # A library that lacks every function, and has three that nobody declares.
    "${CXX:-c++}" -shared -fPIC -x c++ - -o "$work/wrong.so" <<'CODE'
extern "C" int hal_unheard_of() { return 0; }
extern "C" int stray() { return 0; }
namespace halyard { int undeclared_word() { return 0; } }
CODE
    said=$(python3 "$consumer/../../../tools/abi.py" check "$work/wrong.so") &&
      { echo "abi.py took a wrong library"; exit 1; }
    for part in "hal_unheard_of is exported, but declared in no C header" "stray is not ours" \
                "hal_unheard_of has no version" "undeclared_word is in no public header" \
                "hal_tensor_new is declared, but not exported" "-function HAL_0.24: "; do
      [[ $said == *"$part"* ]] || { printf "not said: '%s' in:\n%s\n" "$part" "$said"; exit 1; }
    done
    ;;
  *)
    echo "package_test: unknown way $way"
    exit 2
    ;;
esac
