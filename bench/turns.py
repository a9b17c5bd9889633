# SPDX-License-Identifier: Apache-2.0
"""One turn of a benchmark with peers: times a call here, runs rows of the bench program there."""
import json
import subprocess
import time


def timed(work, seconds=0.1):
    """Microseconds of one call, over as many as fit in `seconds`, after one to warm up."""
    work()
    start = time.perf_counter()
    work()
    calls = max(1, min(1000, int(seconds / max(time.perf_counter() - start, 1e-7))))
    start = time.perf_counter()
    for _ in range(calls):
        work()
    return (time.perf_counter() - start) / calls * 1e6


def program(path, pattern, *flags, seconds=0.1):
    """The results of the bench program for the rows that match the pattern."""
    out = subprocess.run([path, f"--benchmark_filter={pattern}", "--benchmark_format=json",
                          f"--benchmark_min_time={seconds}", *flags], check=True,
                         capture_output=True, text=True).stdout
    return json.loads(out)["benchmarks"]
