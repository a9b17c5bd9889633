#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares arrays of any strides with contiguous copies of them: decoding, masks, trackers, copies,
parts, files, conversion and normalising must give the same or refuse, and must not change bytes
outside the elements of a destination."""
import itertools
import sys

import numpy as np

import halyard
import samples
from common import Failure, Program, attempt, main
from samples import arrays

STEPS = (1, 1, 2, 3, -1, -2)


class Strided:
    """An array of its own values inside a larger one of noise, at random strides."""

    def __init__(self, chance, values, writable=True):
        values = np.asarray(values)
        order = list(range(values.ndim))
        if chance.random() < 0.5:
            chance.shuffle(order)
        steps = [chance.choice(STEPS) for _ in order]
        shape = [abs(step) * max(values.shape[axis], 1) + chance.choice([0, 0, 1, 5])
                 for axis, step in zip(order, steps)]
        seed = np.random.default_rng(chance.randrange(2**32))
        noise = seed.integers(0, 256, int(np.prod(shape)) * values.itemsize, np.uint8)
        self.base = noise.view(values.dtype).reshape(shape)
        inner = np.zeros(shape, bool)
        cut = tuple(self.cut(values.shape[axis], step) for axis, step in zip(order, steps))
        back = np.argsort(order)
        self.view = self.base[cut].transpose(back)
        self.view[...] = values
        inner[cut] = True
        self.outside = ~inner
        self.before = self.noise()
        self.view.flags.writeable = writable

    @staticmethod
    def cut(extent, step):
        if step > 0:
            return slice(0, extent * step, step)
        last = (extent - 1) * -step
        return slice(last, None if extent else 0, step)

    def noise(self):
        return self.base[self.outside].tobytes()

    def untouched(self):
        return self.noise() == self.before

    def __str__(self):
        return f"{self.view.dtype} {self.view.shape} strides {self.view.strides}"


def pixels(chance, *shape, kind="u1"):
    made = np.random.default_rng(chance.randrange(2**32)).integers(0, 256, shape, np.uint8)
    return made if kind == "u1" else (made / np.float32(255)).astype(kind)


def agree(work, words, strided, contiguous):
    """Checks that strided() gives the same as contiguous(), or refuses."""
    work.call(words)
    wanted, wrong = attempt(work, contiguous)
    got, error = attempt(work, strided)
    if error is not None:
        return
    if wrong is not None:
        raise Failure(f"{words}: the contiguous one is refused ({wrong}), this one is not")
    pairs = zip(wanted, got) if isinstance(wanted, (tuple, list)) else [(wanted, got)]
    for first, second in pairs:
        work.equal(np.array_equal(first, second), f"{words}: others than of the contiguous one")


def image_of(array, kind):
    tensor = halyard.Tensor.from_array(array)
    tensor.set_format(kind)
    return tensor


def from_numpy(work):
    for _ in range(20):
        kind = work.chance.choice(["u1", "i2", "f4", "f8", "i8"])
        values = pixels(work.chance, *work.chance.choice([(5,), (4, 3), (2, 3, 4), (7, 1, 2)]))
        given = Strided(work.chance, values.astype(kind), False)
        tensor = halyard.Tensor(list(values.shape), str(given.view.dtype), samples.MEM)
        agree(work, f"from_numpy of {given}",
              lambda t=tensor, g=given: (t.from_numpy(g.view), np.asarray(t).copy())[1:],
              lambda v=values, k=kind: (v.astype(k),))


def copies(work):
    """Tensors over strided memory: arrays, bytes, DLPack, copies and parts of them."""
    for _ in range(20):
        values = pixels(work.chance, *work.chance.choice([(6,), (4, 5), (3, 4, 5)]))
        given = Strided(work.chance, values.astype(work.chance.choice(["u1", "f4", "i2"])))
        tensor, error = attempt(work, halyard.Tensor.from_array, given.view)
        if error is not None:
            continue
        uses = {"numpy": lambda t: np.asarray(t), "copy": lambda t: t.copy().numpy(),
                "map": lambda t: np.asarray(t.map()), "dlpack": np.from_dlpack,
                "buffer": lambda t: np.asarray(memoryview(t)),
                "elements": lambda t: [t.map()[i] for i in range(len(t.map()))],
                "last": lambda t: np.asarray(t[len(t) - 1]),
                "some": lambda t: np.asarray(t[1:3])}
        flat, error = attempt(work, lambda t=tensor: t.map().numpy())
        work.equal(error is not None or samples.shows_no_more(flat, given.view),
                   f"the flat bytes of a tensor over {given} are none of its own")
        wanted = {"elements": given.view.ravel(), "last": given.view[-1], "some": given.view[1:3]}
        for name, use in uses.items():
            agree(work, f"{name} of a tensor over {given}",
                  lambda u=use, t=tensor: (u(t),),
                  lambda n=name, g=given: (wanted.get(n, g.view),))
        tensor_value = 3
        work.call(f"fill of {given}")
        attempt(work, tensor.fill, tensor_value)
        work.equal(given.untouched(), f"fill of {given} changed what is beside it")


def decode(work):
    decoder, segmenter = samples.decoder(), samples.segmenter()
    tracker = [halyard.ByteTrack(), halyard.ByteTrack()]
    plain = samples.detection_output()
    both = [samples.many_objects(work.seed), samples.prototypes()]
    for turn in range(10):
        given = Strided(work.chance, plain, False)
        agree(work, f"decode of {given}", lambda g=given: arrays(decoder.decode([g.view])),
              lambda: arrays(decoder.decode([plain])))
        agree(work, f"decode_tracked of {given}",
              lambda g=given, n=turn: arrays(decoder.decode_tracked(tracker[0], n, [g.view])),
              lambda n=turn: arrays(decoder.decode_tracked(tracker[1], n, [plain])))
        two = [Strided(work.chance, one, False) for one in both]
        agree(work, f"masks of {two[0]} and {two[1]}",
              lambda g=two: list(segmenter.decode([one.view for one in g]).masks),
              lambda: list(segmenter.decode(both).masks))


def masks(work):
    """Boxes, scores, classes and masks of any strides are drawn like their copies."""
    processor = halyard.ImageProcessor(threads=1)
    resolution = halyard.MaskResolution.Scaled(33, 21)
    found = samples.segmenter().decode_proto([samples.many_objects(work.seed),
                                              samples.prototypes()])
    for _ in range(6):
        plain = [found.boxes, found.scores, found.classes]
        given = [Strided(work.chance, one, False) for one in plain]
        agree(work, "materialize_masks of " + ", ".join(map(str, given)),
              lambda g=given: processor.materialize_masks(*(one.view for one in g), found.protos,
                                                          resolution=resolution),
              lambda p=plain: processor.materialize_masks(*p, found.protos, resolution=resolution))
        count = min(3, len(found.boxes))
        seg = [pixels(work.chance, 8, 6, 1) for _ in range(count)]
        lain = [Strided(work.chance, one, False) for one in seg]

        def drawn(arrays, three):
            target = halyard.Tensor.image(40, 30, "rgb", samples.MEM)
            processor.draw_decoded_masks(target, *three, arrays, input_dims=samples.models.INPUT)
            return np.asarray(target).copy()
        agree(work, "draw_decoded_masks of " + ", ".join(map(str, lain)),
              lambda g=given, s=lain: (drawn([one.view for one in s],
                                             [one.view[:3] for one in g]),),
              lambda p=plain, s=seg: (drawn(s, [one[:3] for one in p]),))


def trackers(work):
    kind = work.chance.choice([halyard.ByteTrack, halyard.OcSort, halyard.Sort])
    first, second = kind(), kind()
    for turn in range(10):
        plain = samples.boxes(work.chance.randrange(1, 9), work.seed * 100 + turn)
        given = [Strided(work.chance, one, False) for one in plain]

        def update(tracker, arrays, at=turn):
            told = tracker.update(*arrays, at * 1000)
            return [np.array([] if one is None else one.tracked_location) for one in told]
        agree(work, f"{kind.__name__}.update of " + ", ".join(map(str, given)),
              lambda g=given: update(first, [one.view for one in g]),
              lambda p=plain: update(second, p))


def files(work):
    """Images over strided memory as PNG and JPEG."""
    for _ in range(10):
        channels = work.chance.choice([1, 3, 4])
        values = pixels(work.chance, 13, 17, channels)
        given = Strided(work.chance, values, False)
        kind = {1: "grey", 3: "rgb", 4: "rgba"}[channels]
        for call in ("to_png", "to_jpeg"):
            agree(work, f"{call} of {given}",
                  lambda g=given, c=call, k=kind: (
                      np.frombuffer(getattr(image_of(g.view, k), c)(), "u1"),),
                  lambda v=values, c=call, k=kind: (
                      np.frombuffer(getattr(image_of(v, k), c)(), "u1"),))


def normalize(work):
    """normalize_to_numpy from an image, and into a destination, of any strides."""
    for _ in range(20):
        channels = work.chance.choice([1, 3, 4])
        values = pixels(work.chance, 5, 7, channels)
        source = Strided(work.chance, values, False)
        plain = halyard.Tensor.from_array(values)
        kept = work.chance.choice([channels, min(channels, 3)])
        kind, way = work.chance.choice([("f4", "UNSIGNED"), ("f4", "SIGNED"), ("i1", "SIGNED"),
                                        ("u1", "RAW"), ("f2", "RAW"), ("f8", "UNSIGNED")])
        blank = np.zeros((5, 7, kept), kind)
        target = Strided(work.chance, blank)
        mode = getattr(halyard.Normalization, way)
        if kept == channels or work.chance.random() < 0.5:
            plain.set_format({1: "grey", 3: "rgb", 4: "rgba"}[channels])

        def normalized(tensor, into, m=mode):
            tensor.normalize_to_numpy(into, m)
            return (into,)
        agree(work, f"normalize_to_numpy {way} of {source} into {target}",
              lambda s=source, t=target, f=normalized: f(halyard.Tensor.from_array(s.view), t.view),
              lambda p=plain, b=blank, f=normalized: f(p, b))
        work.equal(target.untouched(), f"normalize_to_numpy into {target} changed its neighbours")


def convert(work):
    processor = halyard.ImageProcessor(threads=1)
    for _ in range(15):
        kinds = work.chance.choices([("rgb", 3), ("rgba", 4), ("grey", 1), ("bgr", 3)], k=2)
        values = pixels(work.chance, 11, 14, kinds[0][1])
        source = Strided(work.chance, values, False)
        blank = np.zeros((work.chance.randrange(4, 20), work.chance.randrange(4, 20), kinds[1][1]),
                         np.uint8)
        target = Strided(work.chance, blank)
        options = {"flip": work.chance.choice(list(halyard.Flip)),
                   "rotation": work.chance.choice(list(halyard.Rotation))}

        def converted(first, second, k=kinds, o=options):
            processor.convert(image_of(first, k[0][0]), image_of(second, k[1][0]), **o)
            return (second,)
        agree(work, f"convert {kinds} of {source} into {target}",
              lambda s=source, t=target: converted(s.view, t.view),
              lambda v=values, b=blank: converted(v, b))
        work.equal(target.untouched(), f"convert into {target} changed what is beside it")


def parts(work):
    """t[n] and batch(n) are the same part: decoding into it must stay inside it."""
    jpeg = work.chance.choice(samples.JPEGS)
    room = work.chance.choice([200, 3000, 15000])
    for name, part in (("t[n]", lambda t, n: t[n]), ("batch(n)", lambda t, n: t.batch(n)),
                       ("t[n:n+1]", lambda t, n: t[n:n + 1])):
        tensor = halyard.Tensor((4, room), "int8", samples.MEM)
        tensor.set_quantization_per_tensor(0.5, 3)
        view = np.asarray(tensor)
        view[...] = 77
        taken, error = attempt(work, part, tensor, 1)
        if error is not None:
            continue
        work.equal(repr(taken.quantization) == repr(tensor.quantization),
                   f"{name} loses its quantization")
        plain = halyard.Tensor((4, room), "uint8", samples.MEM)
        room_view = np.asarray(plain)
        room_view[...] = 77
        taken = part(plain, 1)
        work.call(f"decode_image into {name} of {room} bytes")
        attempt(work, taken.decode_image, jpeg)
        work.equal(bool((room_view[[0, 2, 3]] == 77).all()),
                   f"{name}: decoding changed a neighbour")
    base = np.full((100, 300), 77, np.uint8)
    work.call("decode_image over every second row")
    lain, error = attempt(work, halyard.Tensor.from_array, base[0:100:2])
    if error is None:
        attempt(work, lain.decode_image, jpeg)
        work.equal(bool((base[1::2] == 77).all()), "decoding changed rows between the tensor's")


def overlap(work):
    """Source and destination that share bytes: refused, or the result is as if they did not."""
    processor = halyard.ImageProcessor(threads=1)
    flips = list(halyard.Flip)
    for flip, way in itertools.product(flips, range(3)):
        array = pixels(work.chance, 16, 16, 3)
        copy = array.copy()
        source = image_of(array, "rgb")
        target = [lambda: image_of(array, "rgb"),
                  lambda: image_of(np.asarray(source), "rgb"),
                  lambda: image_of(np.from_dlpack(source), "rgb")][way]()
        wanted = np.zeros_like(array)
        processor.convert(image_of(copy, "rgb"), image_of(wanted, "rgb"), flip=flip)
        work.call(f"convert of an array onto itself, {flip}, {way}")
        _, error = attempt(work, processor.convert, source, target, flip=flip)
        if error is None:
            work.equal(np.array_equal(array, wanted), f"convert onto itself is wrong ({flip})")
    for cut in (slice(None, None, -1), slice(None), slice(1, None)):
        array = pixels(work.chance, 64)
        wanted = array[cut].copy()
        part = array[:len(wanted)]
        tensor = halyard.Tensor.from_array(part)
        work.call(f"from_numpy of overlapping memory, {cut}")
        _, error = attempt(work, tensor.from_numpy, array[cut])
        if error is None:
            work.equal(np.array_equal(part, wanted), f"from_numpy of {cut} onto itself is wrong")


WAYS = {function.__name__: function for function in (
    from_numpy, copies, decode, masks, trackers, files, normalize, convert, parts, overlap)}
PROGRAM = Program("strides", WAYS, cpu_s=60, wall_s=120, memory_mib=4096)

if __name__ == "__main__":
    sys.exit(main(PROGRAM, __doc__))
