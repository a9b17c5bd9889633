#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the program and the Python package on the devices of the machine in tests.
#   tests/vm/programs.sh BUILD_FOLDER PYTHON
# Exit 77: no kernel is kept here, or no machine can be had. Else the exit code is that of pytest; a
# test may not be skipped.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source=$(cd "$here/../.." && pwd)
build=$(cd "$1" && pwd)
python=$2

if [[ ! -x $("$here/kernel.sh" --folder)/linux ]]; then
  echo "vm: skipped: no kernel here: tests/vm/kernel.sh"
  exit 77
fi
settings=(
  "PYTHONPATH=$build/python" "HALYARD_PROGRAM=$build/halyard" "HALYARD_SOURCE_DIR=$source"
  HALYARD_HAS_ENGINE=1 HALYARD_HAS_VIDEO=1
)
pytest=(
  "$python" -B -m pytest -q -rs -p no:cacheprovider --color=no --tb=short
  "$source/tests/python/test_cameras.py" "$source/tests/python/test_video_codecs.py"
  "$here/programs"
)
exec "$here/run.sh" "$build" --mods none --timeout 240 --cmd "env ${settings[*]@Q} ${pytest[*]@Q}"
