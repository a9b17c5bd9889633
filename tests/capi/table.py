#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The functions of the C interface, of both generations: declared, exported by the library, called
by the tests. Exits with 1 when one is missing somewhere.

    table.py LIBRARY [--markdown]
"""
import re
import subprocess
import sys
from pathlib import Path

from declarations import functions, reference, symbol

HERE = Path(__file__).resolve().parent


def exported(library):
    """Names, and names of other versions as name@version."""
    out = subprocess.run(["nm", "-D", "--defined-only", library], check=True, text=True,
                         capture_output=True).stdout
    return {re.sub(r"@@.*", "", line.split()[-1]) for line in out.splitlines()}


def called(found):
    """Functions that tests call by hand, each under its own symbol."""
    names = set()
    for path in HERE.rglob("*"):
        if path.suffix not in (".c", ".cpp", ".h", ".py") or path.name in ("null_calls.py",
                                                                         "declarations.py"):
            continue
        text = re.sub(r"//[^\n]*", "", path.read_text())
        newer = "#define HAL_API_VERSION 27" in text
        for name in re.findall(r"\b(hal_\w+)\s*\(", text):
            names.add(symbol("0.27" if newer else "0.24", name, found))
    return names


def main():
    found, symbols = functions(), exported(sys.argv[1])
    tested = called(found)
    wanted = reference()
    rows, failed = [], []
    listed = {symbol(generation, name, found) for generation, name in wanted}
    ours = sorted(set(found) - listed)
    for generation, name, count in [(g, n, c) for (g, n), c in sorted(wanted.items())] \
            + [("ours", n, len(found[n].parameters)) for n in ours]:
        own = symbol(generation, name, found)
        declared = own in found and len(found[own].parameters) == count
        there = own in symbols and (own == name or f"{name}@HAL_0.27" in symbols)
        rows.append((generation, name, declared, there, own in tested))
        if not all(rows[-1][2:]):
            failed.append(rows[-1])
    if "--markdown" in sys.argv:
        print("| Generation | Function | Declared | Exported | Tested |\n|---|---|---|---|---|")
        for generation, name, *done in rows:
            print(f"| {generation} | `{name}` | " + " | ".join(
                "yes" if d else "NO" for d in done) + " |")
    stray = sorted(n for n in symbols if n.startswith("hal_") and "@" not in n and n not in found)
    for generation in ("0.24", "0.27", "ours"):
        mine = [r for r in rows if r[0] == generation]
        print(f"{generation}: {len(mine)} functions, " + ", ".join(
            f"{sum(r[i] for r in mine)} {what}" for i, what in
            ((2, "declared"), (3, "exported"), (4, "tested"))))
    for generation, name, declared, there, by_hand in failed:
        print(f"{generation} {name}: declared {declared}, exported {there}, tested {by_hand}")
    for name in stray:
        print(f"{name}: exported, and in no header")
    return 1 if failed or stray else 0


if __name__ == "__main__":
    sys.exit(main())
