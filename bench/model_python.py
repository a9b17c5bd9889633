#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times halyard.Model(image) beside the C++ program on the same frames and model, in turn:

    PYTHONPATH=build/python bench/model_python.py MODEL CLIP [--program build/halyard] [--turns 9]
        [--threads 0] [--warm-up 5] [--processor] [--json FILE]

C++: `halyard run` with one frame in flight; a frame's time is the sum of its stages convert, model
and decode, as --json reports them. Python: the time of model(frame), the call as a whole, with the
Result; `stages` is the part of it that result.speed reports. Both read the frames of CLIP between
the calls. A turn runs both, in alternating order; of each turn the median over the frames is taken.
Printed are medians over the turns in ms, and the median of the ratios Python / C++ of the turns.

--processor measures the processor time of the whole process instead, frames read included, for
machines that others use too: of the program the difference between the folder CLIP and its first
ten frames, so that its start does not count. Use it with --threads 1: waiting threads spin.
"""
import argparse
import json
import pathlib
import resource
import statistics
import subprocess
import tempfile
import time

import halyard

STAGES = {"convert": "preprocess", "model": "inference", "decode": "postprocess"}


def of_program(arguments, model, clip, skip):
    """Medians of a run of the program: {"total": ms, "convert": ms, ...}."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder, "found.json")
        subprocess.run([arguments.program, "run", clip, "--model", model, "--in-flight", "1",
                        "--threads", str(arguments.threads), "--json", out, "--quiet"], check=True)
        frames = [frame["timing_us"] for frame in json.loads(out.read_text())["frames"]][skip:]
    times = {name: [frame[name] / 1e3 for frame in frames] for name in STAGES}
    times["total"] = [sum(each) for each in zip(*times.values())]
    return {name: statistics.median(values) for name, values in times.items()}


def of_python(model, clip, skip):
    """The same of model(frame), and the sum of the stages in "stages"."""
    times = {name: [] for name in ("total", "stages", *STAGES)}
    with halyard.open(clip) as frames:
        for frame in frames:
            start = time.perf_counter()
            result = model(frame)
            times["total"].append((time.perf_counter() - start) * 1e3)
            times["stages"].append(sum(result.speed.values()))
            for name, theirs in STAGES.items():
                times[name].append(result.speed[theirs])
    return {name: statistics.median(values[skip:]) for name, values in times.items()}


def processor_of_program(arguments, model, clip):
    """Processor time of a frame of a folder in ms."""
    names = sorted(pathlib.Path(clip).iterdir())
    times = []
    with tempfile.TemporaryDirectory() as folder:
        for name in names[:10]:
            pathlib.Path(folder, name.name).symlink_to(name.resolve())
        for source in (folder, clip):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run([arguments.program, "run", source, "--model", model, "--in-flight", "1",
                            "--threads", str(arguments.threads), "--quiet"], check=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            times.append(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
    return {"processor": (times[1] - times[0]) / (len(names) - 10) * 1e3}


def processor_of_python(model, clip):
    """The same of the frames after the first ten."""
    with halyard.open(clip) as frames:
        for _ in zip(range(10), model.stream(frames)):
            pass
        start, count = time.process_time(), 0
        for frame in frames:
            model(frame)
            count += 1
        return {"processor": (time.process_time() - start) / count * 1e3}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("clip")
    default = pathlib.Path(__file__).resolve().parents[1] / "build/halyard"
    parser.add_argument("--program", default=str(default))
    parser.add_argument("--turns", type=int, default=9)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--warm-up", type=int, default=5, help="frames of each run left out")
    parser.add_argument("--processor", action="store_true")
    parser.add_argument("--json")
    arguments = parser.parse_args()
    model = halyard.Model(arguments.model, threads=arguments.threads)
    of_python(model, arguments.clip, 0)
    turns = []
    clip = arguments.clip
    calls = [("C++", lambda: of_program(arguments, arguments.model, clip, arguments.warm_up)),
             ("Python", lambda: of_python(model, clip, arguments.warm_up))]
    if arguments.processor:
        calls = [("C++", lambda: processor_of_program(arguments, arguments.model, clip)),
                 ("Python", lambda: processor_of_python(model, clip))]
    for number in range(arguments.turns):
        turns.append({name: call() for name, call in (calls if number % 2 else calls[::-1])})
    report(turns, arguments)


def report(turns, arguments):
    """Prints a row for each part of a frame, and writes --json."""
    rows = {}
    for name in turns[0]["C++"]:
        ratios = [turn["Python"][name] / turn["C++"][name] for turn in turns]
        ours = {who: statistics.median(turn[who][name] for turn in turns) for who in turns[0]}
        rows[name] = {**ours, "ratio": statistics.median(ratios), "least": min(ratios),
                      "greatest": max(ratios)}
        print(f"{name:9} C++ {ours['C++']:8.3f} ms  Python {ours['Python']:8.3f} ms  ratio "
              f"{rows[name]['ratio']:.3f} ({min(ratios):.3f}..{max(ratios):.3f})")
    if not arguments.processor:
        around = statistics.median(turn["Python"]["total"] - turn["Python"]["stages"]
                                   for turn in turns) * 1e3
        print(f"outside the stages Python takes {around:.1f} us a frame")
    if arguments.json:
        pathlib.Path(arguments.json).write_text(
            json.dumps({"rows": rows, "turns": turns}, indent=1) + "\n")


if __name__ == "__main__":
    main()
