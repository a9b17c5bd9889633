#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Calls every public callable of the Python package with arguments of all kinds: wrong types,
shapes, strides and byte orders, closed maps, huge numbers, objects whose conversions fail. Any
ordinary exception is an answer; a crash, an abort or an exception of another kind (SystemError,
a BaseException) is a finding. Half of the calls are by name, with values that mostly fit what the
parameters ask for, so that they come further. Each seed runs in a process of its own, so that a
finding has one.

    PYTHONPATH=build/python fuzz/python_calls.py [--seconds N | --seeds N] [--seed FIRST]
                                                 [--calls N] [--once]

--once runs the seed in this process, for a debugger. With a library that AddressSanitizer
instruments: LD_PRELOAD=$(cc -print-file-name=libasan.so) ASAN_OPTIONS=detect_leaks=0."""
import argparse
import enum
import faulthandler
import os
import pathlib
import random
import re
import resource
import subprocess
import sys
import tempfile
import time
import warnings

import numpy as np

import halyard

# What would write where a program may, start threads of logging, or never return.
LEFT_OUT = {"install", "uninstall", "wait", "breakpoint", "main"}
WORDS = ["", "u8", "uint8", "float32", "rgb", "NV12", "nearest", "letterbox", "stretch", "hal",
         "class_aware", "x" * 300, "\0", "\ud800", "yolov8", "cpu", "{", "outputs: []", "\u00e9"]


# "name: annotation"; with a space behind it where " = default" follows.
PARAMETER = re.compile(r"(\w+): ((?:[^,=()\[\]]|\[[^\]]*(?:\[[^\]]*\])?[^\]]*\])+)")


class Failing:
    """Every conversion that the package may try fails, or gives nonsense."""

    def __init__(self, chance):
        self.answer = chance.choice([None, -1, 2**70, "x", b"", [], 1.5])

    def reply(self, *_, **__):
        if self.answer is None:
            raise KeyError("this object fails")
        return self.answer

    __index__ = __int__ = __float__ = __len__ = __getitem__ = __array__ = __fspath__ = reply
    __dlpack__ = __dlpack_device__ = __iter__ = __enter__ = __eq__ = __hash__ = reply
    __array_interface__ = property(reply)


class Maker:
    """Values from one seed. Objects of the package that calls gave are used again."""

    def __init__(self, chance, folder):
        self.chance, self.folder, self.kept = chance, folder, []
        self.members = [m for v in vars(halyard).values()
                        if isinstance(v, type) and issubclass(v, enum.Enum) for m in v]
        self.classes = [v for v in vars(halyard).values() if isinstance(v, type)]

    def number(self):
        r = self.chance
        return r.choice([0, 1, 2, 3, 4, 8, 16, 64, 80, 84, 640, -1, -7, 255, 256, 65535, 65536,
                         2**31, 2**32, 2**63, 2**64, -2**63, 10**30, r.randrange(-9, 99), 0.25,
                         0.5, 0.99,
                         -0.0, 1e30, float("nan"), float("inf"), True, False])

    def array(self):
        r = self.chance
        shape = r.choice([(), (0,), (4,), (3, 0, 2), (8, 8, 3), (1, 84, 21), (1, 32, 8, 8), (5, 4),
                          (16, 16), (7, 6), (3, 8, 8), (1,) * 9,
                          tuple(r.randrange(0, 9) for _ in range(r.randrange(0, 6)))])
        kind = r.choice(["u1", "i1", "f4", "f4", "f2", "f8", "i8", "u8", ">f4", ">u2", "?", "c8",
                         "S3", "O", "M8[s]", "i4", "V5"])
        if kind == "O":
            return np.full(shape, None, dtype=object)
        data = np.zeros(shape, np.uint8)
        data = np.frombuffer(r.randbytes(max(1, int(np.prod(shape))) * np.dtype(kind).itemsize),
                             kind)[: int(np.prod(shape))].reshape(shape).copy()
        way = r.randrange(8)
        if way == 0 and data.ndim:
            data = data[::-1]
        elif way == 1 and data.ndim > 1:
            data = data.T
        elif way == 2 and data.ndim:
            data = data[..., ::2]
        elif way == 3:
            data.flags.writeable = False
        elif way == 4 and data.ndim:
            data = np.broadcast_to(data, (3, *data.shape))
        return data

    def tensor(self):
        r = self.chance
        try:
            if r.random() < 0.5:
                return halyard.Tensor.image(r.choice([8, 16, 33, 64]), r.choice([8, 16, 48]),
                                            r.choice(list(halyard.PixelFormat)))
            made = halyard.Tensor(r.choice([[4, 4], [8, 8, 3], [1, 84, 21], [1, 32, 8, 8], [0]]),
                                  r.choice(["uint8", "float32", "int8", "float16"]))
            if r.random() < 0.3:
                self.kept.append(made.map())
            return made
        except Exception:
            return None

    def value(self, depth=0):
        r = self.chance
        way = r.randrange(22)
        if way < 4:
            return self.number()
        if way < 6:
            return self.array()
        if way < 9 and self.kept:
            return r.choice(self.kept)
        if way < 11:
            return self.tensor()
        if way == 11:
            return r.choice(WORDS)
        if way == 12:
            return r.choice([r.randbytes(r.randrange(64)), bytearray(16), memoryview(b"abcd" * 8),
                             memoryview(bytearray(64))[::2]])
        if way < 15 and self.members:
            return r.choice(self.members)
        if way == 15:
            return Failing(r)
        if way == 16:
            return r.choice([None, None, ..., object(), int, lambda *a: 1 / 0, {1, 2}, 1j])
        if way == 17 and self.classes:
            return r.choice(self.classes)
        if way == 18:
            return pathlib.Path(self.folder, r.choice(["none", "a.jpg", "b.png", "some", ""]))
        if depth > 3:
            return None
        many = r.choice([0, 1, 2, 3, 4, 6])
        if way == 19:
            return {r.choice(WORDS[:8]): self.value(depth + 1) for _ in range(many)}
        made = [self.value(depth + 1) for _ in range(many)]
        return tuple(made) if way == 20 else made

    def fitting(self, wanted):
        """A value of the kind that an annotation names."""
        r = self.chance
        last = wanted.replace(" | None", "").split(" | ")[-1].strip()
        named = [m for m in self.members if type(m).__name__ == last]
        if named:
            return r.choice(named)
        alike = [k for k in self.kept if type(k).__name__ == last]
        if alike and last != "Tensor":
            return r.choice(alike)
        if "Tensor" in wanted:
            return self.tensor()
        if "ArrayLike" in wanted or "NDArray" in wanted:
            many = r.randrange(5)
            shape = r.choice([(many, 4), (many,), (many, 8, 8, 1), (8, 8, 3)])
            return np.full(shape, r.choice([0, 1, 0.5, 3]), r.choice(["f4", "f4", "u1", "i8"]))
        simple = {"int": self.number, "float": r.random, "str": lambda: r.choice(WORDS[:12]),
                  "bool": lambda: r.random() < 0.5, "Region": lambda: halyard.Region(0, 0, 8, 8),
                  "Rect": lambda: halyard.Rect(1, 1, 4, 4)}
        if last in simple:
            return simple[last]()
        return self.sane() if last.startswith(("Sequence", "tuple", "list")) else self.value()

    def by_name(self, target):
        """Arguments by name for what the target's first line of documentation lists."""
        r = self.chance
        first = (getattr(target, "__doc__", None) or "").split("\n")[0]
        given = {}
        for name, wanted in PARAMETER.findall(first.split(") ->")[0]):
            if name != "self" and r.random() < (0.25 if wanted.endswith(" ") else 0.96):
                given[name] = self.fitting(wanted) if r.random() < 0.85 else self.value()
        return given

    def sane(self):
        """Four equal-looking values: boxes, colours, sizes."""
        r = self.chance
        return r.choice([[0, 0, 8, 8], (8, 8), [[0, 0, 0, 255]], [0.1, 0.1, 0.9, 0.9], [8, 8, 3]])


def callables(kept):
    """(name, callable) of the module, of its classes, and of objects made so far."""
    for name, item in vars(halyard).items():
        if callable(item) and not name.startswith("_") and name not in LEFT_OUT:
            yield name, item
            if isinstance(item, type) and not issubclass(item, (enum.Enum, BaseException)):
                for member in dir(item):
                    if not member.startswith("_") and member not in LEFT_OUT:
                        yield f"{name}.{member}", getattr(item, member)
    for thing in kept:
        for member in dir(type(thing)):
            if member in LEFT_OUT or (member.startswith("_") and member not in SPECIAL):
                continue
            try:
                yield f"{type(thing).__name__}().{member}", getattr(thing, member)
            except Exception:
                pass


SPECIAL = ("__len__", "__getitem__", "__iter__", "__enter__", "__exit__", "__eq__", "__repr__",
           "__array__", "__dlpack__", "__dlpack_device__", "__copy__", "__deepcopy__",
           "__getstate__", "__setstate__", "__reduce__", "__setitem__", "__init__", "__buffer__",
           "__contains__", "__hash__", "__float__", "_repr_png_")


def one_seed(seed, calls):
    """Runs the calls of a seed; returns (calls, those that gave a value, names called)."""
    warnings.simplefilter("ignore")
    chance = random.Random(seed)
    served, names = 0, set()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        pathlib.Path(folder, "some").write_bytes(chance.randbytes(99))
        maker = Maker(chance, folder)
        maker.kept += [t for t in (maker.tensor() for _ in range(3)) if t is not None]
        for _ in range(calls):
            choices = list(callables(chance.sample(maker.kept, min(2, len(maker.kept)))))
            name, target = chance.choice(choices[-60:] if chance.random() < 0.5 else choices)
            names.add(name)
            try:
                if callable(target):
                    named = maker.by_name(target) if chance.random() < 0.5 else {}
                    many = 0 if named else chance.choice([0, 0, 1, 1, 2, 2, 3, 4, 5])
                    given = [maker.sane() if chance.random() < 0.2 else maker.value()
                             for _ in range(many)]
                    result = target(*given, **named)
                else:
                    result = target
                served += 1
            except SystemError as error:
                raise SystemExit(f"seed {seed}: {name} raised {error!r}") from error
            except Exception as error:
                str(error)
                continue
            if type(result).__module__.startswith("halyard") and len(maker.kept) < 40:
                maker.kept.append(result)
            elif isinstance(result, np.ndarray) and result.size < 1e6:
                result.copy()
            if len(maker.kept) > 20 and chance.random() < 0.3:
                del maker.kept[chance.randrange(len(maker.kept))]
        os.chdir("/")
    return calls, served, names


def main():
    parser = argparse.ArgumentParser(description="Random calls of the Python package.")
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--seeds", type=int, help="end after as many, however long they take")
    parser.add_argument("--seed", type=int, default=int(time.time()) * 1000)
    parser.add_argument("--calls", type=int, default=400, help="calls of one seed")
    parser.add_argument("--once", action="store_true")
    arguments = parser.parse_args()
    if arguments.once:
        faulthandler.enable()
        if "libasan" not in os.environ.get("LD_PRELOAD", ""):
            resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
        calls, served, names = one_seed(arguments.seed, arguments.calls)
        print(calls, served, *sorted(name.replace(" ", "_") for name in names))
        return 0
    end, seed, findings = time.monotonic() + arguments.seconds, arguments.seed, 0
    calls, served, names = 0, 0, set()
    while (seed - arguments.seed < arguments.seeds if arguments.seeds else time.monotonic() < end):
        command = [sys.executable, __file__, "--once", "--seed", str(seed), "--calls",
                   str(arguments.calls)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, errors="replace",
                                  timeout=120, check=False)
            said, code = done.stdout, done.returncode
            why = done.stderr[-3000:]
        except subprocess.TimeoutExpired:
            said, code, why = "", "no end in 120 s", ""
        if code != 0:
            findings += 1
            print(f"FINDING seed {seed}: {code}\n{why}", flush=True)
        else:
            words = said.splitlines()[-1].split()
            calls, served = calls + int(words[0]), served + int(words[1])
            names.update(words[2:])
        seed += 1
    print(f"python_calls: seeds {arguments.seed}..{seed - 1}, {calls} calls of {len(names)} "
          f"callables, {served} gave a value, {findings} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
