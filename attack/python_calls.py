#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Calls every callable of the Python package with arguments of all kinds: wrong types, shapes,
strides and byte orders, closed maps, huge numbers, the objects of hostile.py. Any ordinary
exception is allowed; a crash, an abort, a SystemError or a hang is a failure. Half of the calls use
keywords, with values that mostly fit the parameters, so that more code is reached."""
import enum
import os
import pathlib
import re
import sys

import numpy as np

import halyard
import hostile
from common import Failure, Program, main

# Callables that write anywhere, start threads for logging, or never return.
LEFT_OUT = {"install", "uninstall", "wait", "recv", "recv_handle", "breakpoint", "main"}
WORDS = ["", "u8", "uint8", "float32", "rgb", "NV12", "nearest", "letterbox", "stretch", "hal",
         "class_aware", "x" * 300, "\0", "\ud800", "yolov8", "cpu", "{", "outputs: []", "\u00e9"]


# "name: annotation"; followed by a space if " = default" follows.
PARAMETER = re.compile(r"(\w+): ((?:[^,=()\[\]]|\[[^\]]*(?:\[[^\]]*\])?[^\]]*\])+)")


class Maker:
    """Values from one seed. Objects of the package that calls returned are used again."""

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
            return hostile.thing(r, self.kept)
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
        """A value of the type that an annotation names."""
        r = self.chance
        if "Any" in wanted and r.random() < 0.2:
            return r.choice([hostile.buffers, hostile.strange_array])(r)
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
        """Keyword arguments for the parameters in the target's first line of documentation."""
        r = self.chance
        first = (getattr(target, "__doc__", None) or "").split("\n")[0]
        given = {}
        for name, wanted in PARAMETER.findall(first.split(") ->")[0]):
            if name != "self" and r.random() < (0.25 if wanted.endswith(" ") else 0.96):
                given[name] = r.choices([lambda: self.fitting(wanted), self.value,
                                         lambda: hostile.thing(r, self.kept)], [16, 2, 2])[0]()
        return given

    def sane(self):
        """Four equal-looking values: boxes, colours, sizes."""
        r = self.chance
        return r.choice([[0, 0, 8, 8], (8, 8), [[0, 0, 0, 255]], [0.1, 0.1, 0.9, 0.9], [8, 8, 3]])


def callables(kept):
    """(name, callable) of the module, of its classes, and of objects made so far."""
    hidden = {"_from_shared": halyard.Tensor._from_shared, "_Span": halyard._core._Span}
    for name, item in [*vars(halyard).items(), *hidden.items()]:
        if callable(item) and (name in hidden or not name.startswith("_")) and name not in LEFT_OUT:
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


CALLS = 400


def arguments(maker, chance, target):
    """(positional, named) arguments of a call."""
    if chance.random() < 0.5:
        return [], maker.by_name(target)
    many = chance.choice([0, 0, 1, 1, 2, 2, 3, 4, 5])
    return [maker.sane() if chance.random() < 0.2 else maker.value() for _ in range(many)], {}


def words_of(name, given, named):
    def short(value):
        if isinstance(value, np.ndarray):
            return f"array({value.dtype}, {value.shape}, strides {value.strides})"
        if isinstance(value, hostile.Hook):
            return f"{type(value).__name__}({value.act.__qualname__})"
        try:
            return repr(value)[:120]
        except Exception:
            return type(value).__name__
    listed = [short(value) for value in given]
    return f"{name}({', '.join(listed + [f'{key}={short(v)}' for key, v in named.items()])})"


def one_call(work, maker, name, target):
    """Calls `target`; returns its result, None if it refused."""
    try:
        if not callable(target):
            work.call(name)
            return target
        given, named = arguments(maker, work.chance, target)
        work.call(words_of(name, given, named))
        return target(*given, **named)
    except SystemError as error:
        raise Failure(f"{name} raised {error!r}") from error
    except (Exception, KeyboardInterrupt) as error:
        str(error)
        work.refused()
    return None


def keep(maker, chance, result):
    if type(result).__module__.startswith("halyard") and len(maker.kept) < 40:
        maker.kept.append(result)
    elif isinstance(result, np.ndarray) and result.size < 1e6:
        result.copy()
    if len(maker.kept) > 20 and chance.random() < 0.3:
        del maker.kept[chance.randrange(len(maker.kept))]


def all_calls(work):
    chance, folder = work.chance, work.folder
    os.chdir(folder)
    (folder / "some").write_bytes(chance.randbytes(99))
    maker = Maker(chance, folder)
    maker.kept += [t for t in (maker.tensor() for _ in range(3)) if t is not None]
    for _ in range(CALLS):
        choices = list(callables(chance.sample(maker.kept, min(2, len(maker.kept)))))
        name, target = chance.choice(choices[-60:] if chance.random() < 0.5 else choices)
        keep(maker, chance, one_call(work, maker, name, target))
    os.chdir("/")


PROGRAM = Program("python_calls", {"all_calls": all_calls}, cpu_s=100, wall_s=120, memory_mib=6144)

if __name__ == "__main__":
    sys.exit(main(PROGRAM, __doc__))
