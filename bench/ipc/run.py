#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times transports between two processes in turn: the machine's floor, Halyard, iceoryx, iceoryx2.

    bench/ipc/run.py [--halyard build/bench/ipc/halyard_ipc_bench] [--rounds 5] [--json FILE]

Builds the peers that this machine can have (README.md beside this file) and reports those that it
leaves out. Each round runs every scenario of every program, scenario by scenario, in changing
order. The table has medians over the rounds, in nanoseconds; its ratios are medians of each round's
p50 over the floor's of that round. It ends all processes that it starts and removes their files.
"""
import argparse
import contextlib
import grp
import json
import os
import platform
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
FRAMES = tuple(f"{kind}_{size}" for kind in ("frame", "stream") for size in ("vga", "1080p", "4k"))
SCENARIOS = ("clock", "rtt_u64", *FRAMES, "wake", "wake_rtt", "alloc_*", "fanout_*", "threads_*",
             "retain", "slow_reader", "burst")
SIZES = ("64", "1k", "16k", "256k", "vga", "1080p")
ROWS = ("clock", "rtt_u64", *FRAMES, "wake", "wake_send", "wake_rtt",
        *(f"{kind}_{size}" for kind in ("alloc", "release") for size in SIZES),
        *(f"{kind}_{n}" for kind in ("fanout", "fanout_last") for n in (1, 2, 4, 8, 16)),
        "threads_1", "threads_2", "retain", "slow_reader", "burst")
PROGRAMS = ("floor", "halyard", "iceoryx", "iceoryx2")
FIGURES = ("p50", "p99", "p99.9", "max")
SHARED_MEMORY = Path("/dev/shm")
Sample = dict[str, Any]  # one line of a program's output: README.md
Key = tuple[str, str, str]  # scenario, program, how


def log(text: str) -> None:
    print(f"ipc/run: {text}", file=sys.stderr, flush=True)


def build_iceoryx2(folder: Path) -> Path | None:
    """The library that iceoryx2_peer.cpp links; None after it printed the reason."""
    if shutil.which("cargo") is None:
        log("iceoryx2 left out: no cargo on this machine")
        return None
    target = folder / "cargo"
    done = subprocess.run(["cargo", "build", "--release", "--locked", "--quiet",
                           "--target-dir", str(target)], cwd=HERE / "iceoryx2_peer",
                          capture_output=True, text=True)
    if done.returncode != 0:
        log(f"iceoryx2 left out: cargo build failed: {done.stderr.strip()[-500:]}")
        return None
    return target / "release" / "libiceoryx2_peer.a"


def build(folder: Path, with_iceoryx2: bool) -> dict[str, Path]:
    """The programs that can be built here, by name."""
    folder.mkdir(parents=True, exist_ok=True)
    library = build_iceoryx2(folder) if with_iceoryx2 else None
    configure = ["cmake", "-S", str(HERE), "-B", str(folder), "-DCMAKE_BUILD_TYPE=Release",
                 f"-DICEORYX2_PEER_LIBRARY={library or ''}"]
    for command in (configure, ["cmake", "--build", str(folder)]):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"ipc/run: {' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    programs = {"floor": folder / "halyard_ipc_floor"}
    if "iceoryx_posh_FOUND:INTERNAL=1" in (folder / "CMakeCache.txt").read_text():
        programs["iceoryx"] = folder / "halyard_ipc_iceoryx"
    else:
        log("iceoryx left out: CMake finds no iceoryx_posh (Debian: libiceoryx-posh-dev, iceoryx)")
    if library:
        programs["iceoryx2"] = folder / "halyard_ipc_iceoryx2"
    return programs


def remove(paths: Iterator[Path]) -> None:
    for path in list(paths):
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


@contextlib.contextmanager
def roudi() -> Iterator[str | None]:
    """Runs iceoryx's daemon while the block runs; yields the reason if there is none, or None."""
    if shutil.which("iox-roudi") is None:
        yield "no iox-roudi on this machine (Debian: iceoryx)"
        return
    segments = [SHARED_MEMORY / "iceoryx_mgmt",
                SHARED_MEMORY / grp.getgrgid(os.getgid()).gr_name]
    ours = [path for path in segments if not path.exists()]
    with tempfile.TemporaryFile("w+") as output:
        daemon = subprocess.Popen(["iox-roudi", "-c", str(HERE / "iceoryx_roudi.toml")],
                                  stdout=output, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            yield wait_for_roudi(daemon, output.fileno())
        finally:
            daemon.terminate()
            try:
                daemon.wait(10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
                remove(iter(ours))


def wait_for_roudi(daemon: subprocess.Popen[bytes], output: int) -> str | None:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and daemon.poll() is None:
        said = os.pread(output, 65536, 0).decode(errors="replace")
        if "ready for clients" in said:
            return None
        time.sleep(0.1)
    said = os.pread(output, 65536, 0).decode(errors="replace").strip()
    return f"iox-roudi does not start: {said[-300:]}"


def run(name: str, path: Path, flags: list[str], limit_s: float) -> list[Sample]:
    """The output of a program; an error line if it fails without output."""
    process = subprocess.Popen([str(path), *flags], stdout=subprocess.PIPE, text=True,
                               start_new_session=True)
    try:
        out, _ = process.communicate(timeout=limit_s)
    except subprocess.TimeoutExpired:
        out = ""
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        prefix = f"hlbench{process.pid}_*"  # of iceoryx2_peer.cpp
        remove(SHARED_MEMORY.glob(prefix))
        remove(Path(tempfile.gettempdir(), "iceoryx2").rglob(prefix))
        remove(SHARED_MEMORY.glob(f"halyard-*/bench{process.pid}"))  # of halyard_ipc_bench.cpp
    samples = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
    if process.returncode != 0 and not any("error" in sample for sample in samples):
        samples.append({"program": name, "scenario": " ".join(flags), "how": "",
                        "error": f"ended with {process.returncode}"})
    return samples


def one_round(programs: dict[str, Path], number: int, options: argparse.Namespace) -> list[Sample]:
    names = list(programs)
    first = number % len(names)  # the second program finds the machine as the first left it
    names = names[first:] + names[:first]
    samples = []
    for scenario in options.scenario or SCENARIOS:
        for name in names:
            if scenario == "clock" and name != "floor":
                continue
            flags = ["--scenario", scenario, "--cpus", options.cpus, "--scale", str(options.scale)]
            if options.samples:
                flags += ["--samples", str(options.samples / f"round{number}.jsonl")]
            samples += run(name, programs[name], flags, 600 * max(1, options.scale))
    return samples


def two_cpus() -> str:
    """Two usable processors, of different cores if possible."""
    allowed = sorted(os.sched_getaffinity(0))
    siblings = Path(f"/sys/devices/system/cpu/cpu{allowed[0]}/topology/thread_siblings_list")
    text = siblings.read_text().strip() if siblings.exists() else ""
    near = {int(part) for part in text.replace("-", ",").split(",") if part}
    others = [cpu for cpu in allowed[1:] if cpu not in near] or allowed[1:] or allowed
    return f"{allowed[0]},{others[0]}"


def by_key(samples: list[Sample]) -> dict[Key, Sample]:
    return {(one["scenario"], one["program"], one["how"]): one for one in samples
            if "p50" in one}


def counts(rounds: list[list[Sample]]) -> list[str]:
    """The table of counts, each round separately."""
    lines = []
    for samples in rounds:
        for one in samples:
            if one.get("unit") != "count":
                continue
            numbers = ", ".join(f"{value} {name}" for name, value in one.items()
                                if isinstance(value, int))
            how = f" ({one['how']})" if one["how"] else ""
            lines.append(f"| {one['scenario']} | {one['program']}{how} | {numbers} |")
    head = ["", "| Scenario | Program | Messages |", "|---|---|---|"]
    return head + sorted(lines) if lines else []


def base(keys: list[Key], program: str) -> dict[str, Key]:
    """The divisor of a program's ratios in each scenario: the first row that it prints."""
    found: dict[str, Key] = {}
    for key in keys:
        if key[1] == program:
            found.setdefault(key[0], key)
    return found


def ratio(turns: list[dict[Key, Sample]], key: Key, to: Key | None) -> str:
    """The ratio of two p50, the median over the rounds that have both."""
    seen = [turn[key]["p50"] / turn[to]["p50"] for turn in turns
            if to is not None and key in turn and to in turn]
    return f"{statistics.median(seen):.2f}" if seen else ""


def order(key: Key) -> tuple[int, ...]:
    """Sorts rows as in ROWS, programs as in PROGRAMS; others follow in their order."""
    return tuple(names.index(name) if name in names else len(names)
                 for names, name in zip((ROWS, PROGRAMS), key, strict=False))


def nanoseconds(value: float) -> str:
    return f"{value:,.1f}" if value < 10 else f"{value:,.0f}"


def table(rounds: list[list[Sample]]) -> list[str]:
    turns = [by_key(samples) for samples in rounds]
    keys = sorted({key: None for turn in turns for key in turn}, key=order)
    bases = {name: base(keys, name) for name in ("floor", "halyard")
             if any(key[1] == name for key in keys)}
    head = ["Scenario", "Program", *FIGURES, *(f"p50 / {name}" for name in bases), "Samples"]
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for key in keys:
        seen = [turn[key] for turn in turns if key in turn]
        cells = [key[0], key[1] + (f" ({key[2]})" if key[2] else ""),
                 *(nanoseconds(statistics.median(one[figure] for one in seen))
                   for figure in FIGURES),
                 *(ratio(turns, key, found.get(key[0])) for found in bases.values()),
                 str(seen[0]["count"])]
        lines.append(f"| {' | '.join(cells)} |")
    distance = [f"{turn[key]['p50']:.0f}" for key in keys if key[:2] == ("rtt_u64", "floor")
                for turn in turns if key in turn]
    if distance:
        lines += ["", f"The floor of rtt_u64 by rounds: {', '.join(distance)}"]
    return lines


def per_subscriber(rounds: list[list[Sample]]) -> list[str]:
    """The cost of each subscriber beyond the first: slopes of p50 between 1 and 16."""
    lines = []
    turns = [by_key(samples) for samples in rounds]
    for _, program, how in sorted({("", *key[1:]) for turn in turns for key in turn}, key=order):
        costs = []
        for kind in ("fanout", "fanout_last"):
            ends = [(f"{kind}_{n}", program, how) for n in (1, 16)]
            slopes = [(turn[ends[1]]["p50"] - turn[ends[0]]["p50"]) / 15 for turn in turns
                      if all(end in turn for end in ends)]
            costs += [f"{statistics.median(slopes):,.1f}"] if slopes else []
        if len(costs) == 2:
            lines.append(f"| {program} | {costs[0]} | {costs[1]} |")
    head = ["", "| Each subscriber beyond the first, ns | to the sender | until the last has it |",
            "|---|---|---|"]
    return head + lines if lines else []


def beside_each_other(rounds: list[list[Sample]]) -> list[str]:
    """The cost of another thread on an unrelated topic: medians of the rounds' ratios."""
    turns = [by_key(samples) for samples in rounds]
    pairs = sorted({key for turn in turns for key in turn if key[0] == "threads_2"}, key=order)
    found = [f"{program} {ratio(turns, (two, program, how), ('threads_1', program, how))}"
             for two, program, how in pairs]
    text = f"Two threads on unrelated topics, p50 over one: {', '.join(found)}"
    return ["", text] if found else []


def machine() -> dict[str, str]:
    cpuinfo = Path("/proc/cpuinfo").read_text()
    models = [line.split(":", 1)[1].strip() for line in cpuinfo.splitlines()
              if line.startswith("model name")]
    return {"processor": f"{os.cpu_count()} x {models[0] if models else platform.machine()}",
            "kernel": platform.release(), "load": " ".join(map(str, os.getloadavg()))}


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--halyard", type=Path, help="the Halyard program, with the same options")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--scenario", action="append",
                        help=f"of {', '.join(SCENARIOS)}; without: all")
    parser.add_argument("--skip", action="append", default=[], metavar="PROGRAM",
                        choices=["iceoryx", "iceoryx2"], help="leave a peer out")
    parser.add_argument("--cpus", default=two_cpus(), help="A,B: one for each process")
    parser.add_argument("--scale", type=float, default=1, help="times as many samples")
    parser.add_argument("--json", type=Path, help="write what all rounds printed")
    parser.add_argument("--samples", type=Path, metavar="FOLDER", help="write raw samples")
    parser.add_argument("--build", type=Path, default=HERE.parents[1] / "build" / "bench-ipc")
    return parser.parse_args()


def measure(programs: dict[str, Path], options: argparse.Namespace) -> list[list[Sample]]:
    rounds: list[list[Sample]] = []
    for number in range(options.rounds):
        log(f"round {number + 1} of {options.rounds}: {', '.join(programs)}")
        rounds.append(one_round(programs, number, options))
        if options.json:
            options.json.write_text(json.dumps({"machine": machine(), "rounds": rounds}, indent=1))
    return rounds


def main() -> None:
    options = parse()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that open resources are closed
    if options.samples:
        options.samples.mkdir(parents=True, exist_ok=True)
        remove(options.samples.glob("round*.jsonl"))
    programs = build(options.build, "iceoryx2" not in options.skip)
    if options.halyard:
        programs["halyard"] = options.halyard.resolve()
    if "iceoryx" in options.skip:
        programs.pop("iceoryx", None)
    with roudi() if "iceoryx" in programs else contextlib.nullcontext() as missing:
        if missing:
            log(f"iceoryx left out: {missing}")
            programs.pop("iceoryx")
        rounds = measure(programs, options)
    about = machine()
    print(f"{about['processor']}, Linux {about['kernel']}, processes on {options.cpus}, "
          f"{options.rounds} rounds, load {about['load']}\n")
    print("\n".join(table(rounds) + per_subscriber(rounds) + beside_each_other(rounds) +
                    counts(rounds)))
    errors = [one for samples in rounds for one in samples if "error" in one]
    for one in errors:
        log(f"{one['program']} {one['scenario']} {one['how']}: {one['error']}")
    sys.exit(1 if errors else 0)


if __name__ == "__main__":
    main()
