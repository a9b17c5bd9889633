#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Calls with objects that free, close, reshape or raise while they are converted, with buffers of
every exporter, false headers and objects that were never initialised. A crash, a swallowed
KeyboardInterrupt, or a view wider than its memory is a failure."""
import contextlib
import ctypes
import gc
import itertools
import sys

import numpy as np

import halyard
import hostile
import samples
from common import Failure, Program, attempt, main

FLOATS = ctypes.c_float


def array_calls(chance, folder, given):
    """Every call that takes an array, each with `given` in one of its places."""
    frame = samples.frame()
    image = halyard.Tensor.image(8, 8, "rgb", halyard.TensorMemory.MEM)
    boxes, scores, labels = samples.boxes(2)
    decoder = samples.decoder()
    tracker, processor = halyard.ByteTrack(), halyard.ImageProcessor(threads=1)
    placed = processor.convert(frame, image)
    three = [boxes, scores, labels]
    three[chance.randrange(3)] = given
    accumulator = halyard.TiledFrameAccumulator((64, 64), 1, halyard.MergeConfig())
    return {
        "from_array": lambda: halyard.Tensor.from_array(given),
        "from_array copy": lambda: halyard.Tensor.from_array(given, True),
        "from_dlpack": lambda: halyard.Tensor.from_dlpack(given),
        "from_numpy": lambda: halyard.Tensor([64]).from_numpy(given),
        "decode": lambda: decoder.decode([given]),
        "decode_proto": lambda: decoder.decode_proto([given]),
        "decode_tracked": lambda: decoder.decode_tracked(tracker, 1, [given]),
        "update": lambda: tracker.update(*three, 1),
        "normalize": lambda: image.normalize_to_numpy(given),
        "draw_decoded_masks": lambda: processor.draw_decoded_masks(image, *three, [given]),
        "draw_masks": lambda: processor.draw_masks(decoder, [given], image),
        "merge": lambda: halyard.merge_tiled_detections(*three, halyard.MergeConfig()),
        "push_tile": lambda: accumulator.push_tile(*three, given),
        "to_source": lambda: placed.to_source(given),
        "points": lambda: placed.points_to_destination(given),
        "imwrite": lambda: halyard.imwrite(folder / "x.png", given),
        "load_from_bytes": lambda: halyard.Tensor.load_from_bytes(given),
        "decode_image": lambda: image.decode_image(given),
        "peek": lambda: halyard.Tensor.peek_image_info(given),
        "convert array": lambda: processor.tile_into(given, image, halyard.TilingConfig(8, 8)),
        "shape": lambda: halyard.Tensor(given),
        "reshape": lambda: image.reshape(given),
        "item": lambda: image[given],
        "quantization": lambda: halyard.Quantization.per_channel(given, given, 0),
        "letterbox": lambda: processor.convert(frame, image, letterbox=given),
        "path": lambda: halyard.Tensor.load(given),
        "track_info": lambda: halyard.TrackInfo("0" * 32, given, 1, 0, 0),
    }


def call_each(work, given, words):
    """Makes all of the calls, in any order; checks the exceptions that they raise."""
    calls = array_calls(work.chance, work.folder, given)
    for name in work.chance.sample(sorted(calls), len(calls)):
        work.call(f"{name} with {words}")
        yield name, *attempt(work, calls[name])


def buffers(work):
    for _ in range(4):
        given = hostile.buffers(work.chance)
        for _ in call_each(work, given, f"{type(given).__name__} {given!r:.60}"):
            pass


def ctypes_arrays(work):
    for given in ((FLOATS * 8)(), ((FLOATS * 4) * 2)(), (ctypes.c_ubyte * 64)()):
        work.call(f"from_array of {type(given).__name__}")
        tensor, error = attempt(work, halyard.Tensor.from_array, given)
        if error is None:
            work.equal(np.array_equal(np.asarray(tensor), np.ctypeslib.as_array(given)),
                       "a ctypes array is another array as a tensor")
        for _ in call_each(work, given, type(given).__name__):
            pass


def strange_arrays(work):
    for _ in range(4):
        given = hostile.strange_array(work.chance)
        for _ in call_each(work, given, f"{given.dtype} {given.shape} {given.strides}"):
            pass


def lies(work):
    for _ in range(6):
        given = work.chance.choice([hostile.DlpackLiar, hostile.InterfaceLiar])(work.chance)
        for _ in call_each(work, given, f"{type(given).__name__} {vars(given)!r:.200}"):
            pass


def harmful(work):
    for _ in range(3):
        kept = []
        given = hostile.hook(work.chance, kept)
        words = f"{type(given).__name__} {getattr(given.act, '__qualname__', given.act)}"
        try:
            for _ in call_each(work, given, words):
                pass
        except (KeyboardInterrupt, RecursionError):
            work.refused()


def interrupts(work):
    """An exception of an argument is passed on: Ctrl-C must not become a TypeError."""
    lost = []
    for kind, answer in itertools.product((KeyboardInterrupt, MemoryError), (0, [0, 1])):
        for name in array_calls(work.chance, work.folder, None):
            given = hostile.Hook(hostile.raising(kind), answer)
            call = array_calls(work.chance, work.folder, given)[name]
            given.raised = None
            work.call(f"{name} with an object that raises {kind.__name__}")
            try:
                call()
            except kind:
                work.counts["equal"] += 1
                continue
            except BaseException as error:
                work.refused()
                came = repr(error)
            else:
                came = "nothing"
            if given.raised is kind:
                lost.append(f"{name} ({kind.__name__} became {came[:60]})")
    if lost:
        raise Failure(f"{len(lost)} calls: " + "; ".join(sorted(set(lost))))


def freed_map(work):
    """A map that is closed, or a tensor that is reshaped, by the index or by the value."""
    for _ in range(40):
        tensor = halyard.Tensor((work.chance.choice([4, 4096, 1 << 20]),))
        mapped = tensor.map()
        kept = [mapped, tensor]
        given = hostile.IndexHook(lambda: [mapped.unmap(), kept.clear(), gc.collect()], 0)
        del tensor
        way = work.chance.randrange(4)
        work.call(f"TensorMap index or value that unmaps ({way})")
        with contextlib.suppress(Exception):
            if way == 0:
                mapped[given]
            elif way == 1:
                mapped[given] = 1
            elif way == 2:
                mapped[3] = given
            else:
                mapped[given:4]


def never_initialised(work):
    for _ in range(30):
        given = hostile.uninitialised(work.chance)
        work.call(f"uses of {type(given).__name__}.__new__")
        for use in (memoryview, repr, len, iter, hash, bytes, np.asarray, list, dir):
            attempt(work, use, given)
        for name in dir(given):
            if not name.startswith("__"):
                work.call(f"{type(given).__name__}.__new__().{name}")
                method, _ = attempt(work, getattr, given, name)
                if callable(method):
                    attempt(work, method)
    work.call("memoryview of TensorMap.__new__")
    for made in (halyard.TensorMap, type(halyard.Tensor((4,)).map().numpy().obj)):
        attempt(work, lambda made=made: bytes(memoryview(made.__new__(made))))


def shared_state(work):
    """The state of a pickle, shortened, changed, with wrong types."""
    tensor = halyard.Tensor((4, 4), mem=halyard.TensorMemory.SHM)
    state = tensor._shared_state()
    for _ in range(30):
        given = list(state)[:work.chance.randrange(len(state) + 1)]
        if given and work.chance.random() < 0.5:
            given[work.chance.randrange(len(given))] = work.chance.choice(
                [None, -1, 2**70, (), "x", b"", [1], (None,) * 9])
        fd = tensor.fd
        work.call(f"Tensor._from_shared(fd, {tuple(given)!r})")
        attempt(work, halyard.Tensor._from_shared, fd, tuple(given))
        with contextlib.suppress(OSError):
            __import__("os").close(fd)


def windows(work):
    """No view of a tensor shows a byte outside its elements."""
    chance = work.chance
    base = np.arange(512, dtype="u1")
    views = [base[:16][::-1], base[:64].reshape(8, 8)[::-1, ::-1], base[:64].reshape(8, 8).T,
             np.broadcast_to(base[:1], (chance.choice([64, 1 << 16]),)), base[::7],
             base[:64].reshape(8, 8)[::2, 1::3], np.broadcast_to(base[:4], (99, 4))]
    for view in views:
        work.call(f"flat bytes of {view.shape} {view.strides}")
        tensor, error = attempt(work, halyard.Tensor.from_array, view)
        if error is not None:
            continue
        flat, error = attempt(work, lambda t=tensor: t.map().numpy())
        if error is None:
            work.equal(samples.shows_no_more(flat, view),
                       f"flat bytes of strides {view.strides} are none of the tensor's")
        attempt(work, lambda t=tensor, v=view: work.equal(
            np.array_equal(np.asarray(t.map()), v), "a map shows other elements"))


WAYS = {function.__name__: function for function in (
    buffers, ctypes_arrays, strange_arrays, lies, harmful, interrupts, freed_map,
    never_initialised, shared_state, windows)}
PROGRAM = Program("hostile_objects", WAYS, cpu_s=60, wall_s=120, memory_mib=6144)

if __name__ == "__main__":
    sys.exit(main(PROGRAM, __doc__))
