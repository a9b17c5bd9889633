#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs two builds of the bench program in turn: the cost of a flag or a change, row by row.

    bench/compare_builds.py build-without/bench/halyard_bench build-with/bench/halyard_bench \\
        --filter '^decode/f32$' --turns 15

Prints the medians in processor time and the median of the turns' ratios, second / first, with its
quartiles. Leave out rows that run on several threads: processor time adds up all threads.
"""
import argparse
import statistics

import turns


def rows(program, pattern, seconds):
    """Nanoseconds of processor time of each row."""
    found = turns.program(program, pattern, "--processor-time", seconds=seconds)
    scale = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
    # Rows that time themselves report it as their real time.
    return {row["name"].split("/iterations")[0]:
            row["real_time" if "manual_time" in row["name"] else "cpu_time"]
            * scale[row["time_unit"]] for row in found if not row.get("error_occurred")}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("first")
    parser.add_argument("second")
    parser.add_argument("--filter", default=".")
    parser.add_argument("--turns", type=int, default=15)
    parser.add_argument("--seconds", type=float, default=0.05, help="of each row in a turn")
    options = parser.parse_args()
    seen = {}
    for turn in range(options.turns):
        order = [options.first, options.second]
        if turn % 2:  # the second program finds the cache as the first left it
            order.reverse()
        found = {program: rows(program, options.filter, options.seconds) for program in order}
        for name, first in found[options.first].items():
            if name in found[options.second]:
                seen.setdefault(name, []).append((first, found[options.second][name]))
    print("| Row | First, us | Second, us | Second / first | Quartiles |\n|---|---|---|---|---|")
    middles = []
    for name, pairs in seen.items():
        ratios = sorted(second / first for first, second in pairs)
        middle = statistics.median(ratios)
        middles.append(middle)
        low, high = ratios[len(ratios) // 4], ratios[-1 - len(ratios) // 4]
        first, second = (statistics.median(side) / 1e3 for side in zip(*pairs, strict=True))
        print(f"| {name} | {first:.4g} | {second:.4g} | {middle:.3f} | {low:.3f}..{high:.3f} |")
    print(f"\n{len(middles)} rows, geometric mean {statistics.geometric_mean(middles):.4f}, "
          f"median {statistics.median(middles):.4f}, {options.turns} turns")


if __name__ == "__main__":
    main()
