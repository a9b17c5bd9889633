#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the tests of DMA-BUFs in OpenGL with Mesa of mesa.sh: on the host, with a memfd in place of
# each DMA-BUF, then in the machine, which has real ones, and cameras.
#   tests/vm/gl.sh BUILD_FOLDER
# Programs with sanitizers run on the host alone: in the machine they need more mappings than the
# host allows.
# The last line is `N passed, N failed, N skipped`, of both. Exit 0: all passed, none skipped. Exit
# 77: that Mesa or the machine cannot be had here, the line `gl: skipped: ...` tells why.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$(cd "$1" && pwd)
suites=(gl image draw)
# Left to the machine: hosts seldom let a test signal sync files by hand, and llvmpipe exports
# memory, and makes native fences, where there is a udmabuf.
machine_only='GlFence.sync_files_*:GlFence.a_frame_that_fails_*:DmaExport.sizes_*:*DmaExported*'
filter='DmaImage*:DmaExport*:*DmaExported*:GlTransfer*:GlBackend*:GlFault*:GlChoice*'
filter+=':GlFence*:GlNoHeap*:GlThreads*:GlLeaks*:GlBadInput*:GlDriver*:GlProcess*:GlMissing*'
filter+=':OverlayGl*:MaskGl*:GlDraw*'

unavailable() {
  printf 'gl: skipped: %s\n0 passed, 0 failed, %d skipped\n' "$1" "${#suites[@]}"
  exit 77
}

"$here/mesa.sh" >/dev/null 2>&1 || unavailable "$("$here/mesa.sh" 2>&1 | tail -n 1)"
host=$build/vm/gl-host
rm -rf "$host"
mkdir -p "$host"
echo "${suites[*]}" >"$host/suites"
for suite in "${suites[@]}"; do
  rc=0
  echo "== $suite"
  (cd "$build/tests" && "$here/mesa.sh" --run "./halyard_test_$suite" --gtest_color=no \
    "--gtest_filter=$filter-$machine_only" "--gtest_output=json:$host/$suite.json") 2>&1 || rc=$?
  echo "$rc" >"$host/$suite.rc"
done >"$host/output"

if grep -qaE '__[at]san_init' "$build/tests/halyard_test_image"; then
  exec python3 -B "$here/summary.py" "$host"
fi
rc=0
# Mesa crashes where vgem is beside other memory, and vkms makes it refuse that memory.
"$here/run.sh" "$build" --mesa --mods none --suites "${suites[*]} vm" \
  --filter "$filter:GlCamera*:GlDelegate*" \
  --then --mesa --mods vkms --suites vm --filter '*GlDrm*vkms' \
  --then --mesa --mods vgem --suites vm --filter '*GlDrm*vgem' >"$host/machine" || rc=$?
[[ $rc -ne 77 ]] || unavailable "$(sed -n 's/^vm: skipped: //p' "$host/machine")"
exec python3 -B "$here/summary.py" "$host" "$build"/vm/boot-*
