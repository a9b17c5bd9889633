#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs the processes of share_frame and compares what they saw.
# Usage: share_frame.sh PROGRAM [PYTHON SCRIPT]
set -eu
folder=$(mktemp -d)
started=
trap 'kill $started 2>/dev/null || true; rm -rf "$folder"' EXIT
"$1" produce "$folder/a" > "$folder/producer" &
started=$!
if [ $# -gt 1 ]; then
  "$1" consume "$folder/a" "$folder/b" > "$folder/consumer" &
  started="$started $!"
  "$2" "$3" "$folder/b" > "$folder/python"
else
  "$1" consume "$folder/a" > "$folder/consumer"
fi
# The last reader has gone: the others follow.
for process in $started; do wait "$process"; done
started=
cd "$folder"
cat ./*
same=$(grep -ho 'adler32 [0-9a-f]*' ./* | sort -u | wc -l)
[ "$same" -eq 1 ] || { echo "the processes saw different images"; exit 1; }
grep -q ' 0 copies' consumer || { echo "the consumer has copied"; exit 1; }
echo "one image, no copy"
