# SPDX-License-Identifier: Apache-2.0
"""WebP, TIFF, BMP and GIF files of Pillow and OpenCV, pixel by pixel as Pillow reads them."""
import io
import itertools
import struct
import subprocess

import numpy as np
import pytest
from PIL import Image

cv2 = pytest.importorskip("cv2")
SIZE = (53, 37)  # columns, rows; no multiple of anything


def scene(channels, seed=1):
    """Smooth colours and some noise; all values of a byte."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[0:SIZE[1], 0:SIZE[0]]
    planes = [x * 4 + y, y * 6, (x + y) * 3, 255 - x * 4][:channels]
    noisy = np.stack(planes, -1) + rng.integers(0, 40, (SIZE[1], SIZE[0], channels))
    return (noisy % 256).astype(np.uint8)


@pytest.fixture(name="read")
def _read(program, tmp_path):
    """Reads a file's bytes, or what Pillow saves, in a pixel format."""
    def read(data, format, name="in.bin"):
        (tmp_path / name).write_bytes(data)
        program.run("convert", tmp_path / name, tmp_path / "o.npy", "--format", format,
                    "--no-orient")
        pixels = np.load(tmp_path / "o.npy")
        return pixels.reshape(pixels.shape[0], pixels.shape[1], -1)
    return read


def saved(image, kind, **options):
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def pillow(data, mode):
    pixels = np.asarray(Image.open(io.BytesIO(data)).convert(mode))
    return pixels.reshape(pixels.shape[0], pixels.shape[1], -1)


def image(mode):
    if mode == "P":
        return Image.fromarray(scene(3)).quantize(60)
    if mode == "1":
        return Image.fromarray(scene(1)[..., 0]).convert("1")
    return Image.fromarray(scene({"L": 1, "RGB": 3, "RGBA": 4}[mode]).squeeze())


def check(read, data, modes=("rgb", "rgba", "grey")):
    for format in modes:
        mode = {"rgb": "RGB", "rgba": "RGBA", "grey": "L"}[format]
        np.testing.assert_array_equal(read(data, format), pillow(data, mode), err_msg=format)


@pytest.mark.parametrize("mode", ["RGB", "RGBA"])
@pytest.mark.parametrize("options", [{"lossless": True, "exact": True}, {"quality": 80},
                                     {"quality": 20, "method": 6}])
def test_webp(read, mode, options):
    data = saved(image(mode), "WEBP", **options)
    check(read, data, ("rgb", "rgba") if mode == "RGB" else ("rgba",))


def test_webp_animations_give_their_first_frame(read):
    frames = [Image.fromarray(scene(3, seed)) for seed in (1, 2, 3)]
    data = saved(frames[0], "WEBP", save_all=True, append_images=frames[1:], lossless=True)
    check(read, data, ("rgb",))


@pytest.mark.parametrize("mode", ["1", "L", "P", "RGB", "RGBA"])
@pytest.mark.parametrize("compression", [None, "tiff_lzw", "tiff_adobe_deflate", "packbits", "zstd",
                                         "lzma"])
def test_tiff(read, mode, compression):
    try:
        data = saved(image(mode), "TIFF", compression=compression)
    except (OSError, ValueError, KeyError) as error:
        pytest.skip(str(error))
    formats = {"RGBA": ("rgb", "rgba"), "1": ("rgb", "grey"), "L": ("rgb", "grey")}
    check(read, data, formats.get(mode, ("rgb",)))


@pytest.mark.parametrize("compression", ["group3", "group4"])
def test_tiff_of_faxes(read, compression):
    check(read, saved(image("1"), "TIFF", compression=compression), ("grey",))


def test_tiff_with_jpeg_inside(read):
    data = saved(Image.fromarray(scene(3)), "TIFF", compression="jpeg", quality=95)
    ours, his = read(data, "rgb").astype(int), pillow(data, "RGB").astype(int)
    assert np.abs(ours - his).max() <= 2  # libjpeg-turbo of another version


def tiff(pixels, tags, big=False, tile=None):
    """A TIFF made by hand: `tags` beside the size; separate planes where pixels have 3 axes [p, h,
    w]."""
    e = ">" if big else "<"
    planes = pixels if pixels.ndim == 4 else pixels[None]
    _, rows, columns, samples = planes.shape
    bits = pixels.dtype.itemsize * 8
    parts = []
    for plane in planes:
        if tile:
            for top, left in itertools.product(range(0, rows, tile), range(0, columns, tile)):
                part = np.zeros((tile, tile, samples), pixels.dtype)
                cut = plane[top:top + tile, left:left + tile]
                part[:cut.shape[0], :cut.shape[1]] = cut
                parts.append(part)
        else:
            parts += [plane[top:top + 8] for top in range(0, rows, 8)]
    parts = [part.astype(part.dtype.newbyteorder(e)).tobytes() for part in parts]
    count = samples * len(planes)
    entries = {256: (4, [columns]), 257: (4, [rows]), 258: (3, [bits] * count), 259: (3, [1]),
               262: (3, [2 if count > 2 else 1]), 277: (3, [count]),
               284: (3, [2 if len(planes) > 1 else 1]), **tags}
    if tile:
        entries |= {322: (4, [tile]), 323: (4, [tile]), 324: (4, []), 325: (4, [])}
    else:
        entries |= {278: (4, [8]), 273: (4, []), 279: (4, [])}
    offsets, lengths = (324, 325) if tile else (273, 279)
    at = 8 + 2 + 12 * len(entries) + 4
    data, extra = b"", b""
    extra_bytes = sum(len(v) * (2 if t == 3 else 4) + 4 for t, v in entries.values())
    extra_bytes += 2 * (4 * len(parts) + 4)
    starts, place = [], at + extra_bytes
    for part in parts:
        starts.append(place)
        place += len(part)
        data += part
    entries[offsets] = (4, starts)
    entries[lengths] = (4, [len(part) for part in parts])
    directory = struct.pack(e + "H", len(entries))
    for tag, (kind, values) in sorted(entries.items()):
        packed = struct.pack(e + ("H" if kind == 3 else "I") * len(values), *values)
        if len(packed) > 4:
            where = at + len(extra)
            extra += packed + b"\0" * (len(packed) % 2)
            packed = struct.pack(e + "I", where)
        directory += struct.pack(e + "HHI", tag, kind, len(values)) + packed.ljust(4, b"\0")
    head = (b"MM\0*" if big else b"II*\0") + struct.pack(e + "I", 8)
    body = head + directory + struct.pack(e + "I", 0) + extra
    return body.ljust(at + extra_bytes, b"\0") + data


@pytest.mark.parametrize("big", [False, True])
@pytest.mark.parametrize("tile", [None, 16])
@pytest.mark.parametrize("channels", [1, 3])
def test_tiff_in_planes_and_tiles(read, big, tile, channels):
    pixels = scene(channels)
    wanted = pixels if channels == 3 else np.repeat(pixels, 3, -1)
    np.testing.assert_array_equal(read(tiff(pixels, {}, big, tile), "rgb"), wanted)
    if channels == 3:
        apart = pixels.transpose(2, 0, 1)[..., None]
        np.testing.assert_array_equal(read(tiff(apart, {}, big, tile), "rgb"), wanted)


def test_tiff_alpha_is_straight(read):
    pixels = scene(4)
    straight = tiff(pixels, {338: (3, [2])})
    np.testing.assert_array_equal(read(straight, "rgba"), pixels)
    premultiplied = pixels.copy()
    premultiplied[..., :3] = pixels[..., :3].astype(int) * pixels[..., 3:] // 255
    data = tiff(premultiplied, {338: (3, [1])})
    np.testing.assert_array_equal(read(data, "rgba"), pillow(data, "RGBA"))


def test_tiff_of_inverted_greys(read):
    pixels = scene(1)
    np.testing.assert_array_equal(read(tiff(pixels, {262: (3, [0])}), "grey"), 255 - pixels)


@pytest.mark.parametrize("mode", ["1", "L", "P", "RGB"])
def test_bmp(read, mode):
    check(read, saved(image(mode), "BMP"), ("rgb", "grey") if mode in "1L" else ("rgb",))


def bmp(bits, width, height, rows, compression=0, masks=(), palette=b"", header=40):
    body = struct.pack("<iiHHIIiiII", width, height, 1, bits, compression, 0, 0, 0,
                       len(palette) // 4, 0)
    extra = b"".join(struct.pack("<I", mask) for mask in masks)
    head = struct.pack("<I", header) + body
    if header > 40:
        head, extra = (head + extra).ljust(header, b"\0"), b""
    at = 14 + len(head) + len(extra) + len(palette)
    return b"BM" + struct.pack("<III", at + len(rows), 0, at) + head + extra + palette + rows


def test_bmp_with_alpha_and_masks(read):
    pixels = scene(4)
    bgra = np.ascontiguousarray(pixels[::-1, :, [2, 1, 0, 3]]).tobytes()
    masks = (0xFF0000, 0xFF00, 0xFF, 0xFF000000)
    for header in (56, 108, 124):
        data = bmp(32, *SIZE, bgra, 3, masks, header=header)
        np.testing.assert_array_equal(read(data, "rgba"), pixels)
    plain = bmp(32, *SIZE, bgra)  # the fourth byte means nothing
    np.testing.assert_array_equal(read(plain, "rgb"), pixels[..., :3])
    np.testing.assert_array_equal(read(plain, "rgb"), pillow(plain, "RGB"))
    flipped = bmp(32, SIZE[0], -SIZE[1], bgra)
    np.testing.assert_array_equal(read(flipped, "rgb"), pixels[::-1, :, :3])


def test_bmp_of_16_bits_is_rounded(read):
    values = np.arange(65536, dtype="<u2").reshape(256, 256)
    data = bmp(16, 256, -256, values.tobytes(), 3, (0xF800, 0x7E0, 0x1F))
    wanted = np.stack([np.floor((values >> s & m) * 255 / m + .5) for s, m in
                       ((11, 31), (5, 63), (0, 31))], -1)
    np.testing.assert_array_equal(read(data, "rgb"), wanted)


@pytest.mark.parametrize("bits", [4, 8])
def test_bmp_of_runs(read, bits):
    """Runs, literals, steps and ends of rows, as OpenCV or Pillow read them."""
    palette = b"".join(bytes([i * 15, 255 - i * 15, i * 7, 0]) for i in range(16))
    if bits == 8:
        rows = bytes([5, 3, 0, 3, 1, 2, 3, 0, 2, 7, 0, 0,   # 10 pixels, end of row
                      10, 4, 0, 0,
                      0, 4, 9, 8, 7, 6, 6, 5, 0, 0, 0, 1])
        index = [[3] * 5 + [1, 2, 3, 7, 7], [4] * 10, [9, 8, 7, 6] + [5] * 6]
    else:
        rows = bytes([5, 0x34, 0, 3, 0x12, 0x30, 2, 0x77, 0, 0,
                      10, 0x45, 0, 0,
                      0, 4, 0x98, 0x76, 6, 0x55, 0, 0, 0, 1])
        index = [[3, 4, 3, 4, 3, 1, 2, 3, 7, 7], [4, 5] * 5, [9, 8, 7, 6] + [5] * 6]
    data = bmp(bits, 10, 3, rows, 1 if bits == 8 else 2, palette=palette)
    colors = np.frombuffer(palette, np.uint8).reshape(-1, 4)[:, [2, 1, 0]]
    np.testing.assert_array_equal(read(data, "rgb"), colors[np.array(index)[::-1]])
    np.testing.assert_array_equal(read(data, "rgb"), pillow(data, "RGB"))


@pytest.mark.parametrize("mode", ["L", "P", "RGB"])
@pytest.mark.parametrize("interlace", [0, 1])
def test_gif(read, mode, interlace):
    check(read, saved(image(mode), "GIF", interlace=interlace), ("rgb",))


def test_gif_transparency_and_first_frames(read):
    frames = [Image.fromarray(scene(3, seed)).quantize(40) for seed in (1, 2)]
    data = saved(frames[0], "GIF", save_all=True, append_images=frames[1:], transparency=7)
    first = Image.open(io.BytesIO(data))
    wanted = np.asarray(first.convert("RGBA"))
    ours = read(data, "rgba")
    np.testing.assert_array_equal(ours[..., 3], wanted[..., 3])
    seen = wanted[..., 3] == 255
    assert 0 < seen.sum() < seen.size
    np.testing.assert_array_equal(ours[seen], wanted[seen])


def test_opencv_reads_the_same(read):
    pixels = scene(3)
    for kind in (".webp", ".tiff", ".bmp"):
        flags = [cv2.IMWRITE_WEBP_QUALITY, 101] if kind == ".webp" else []
        data = cv2.imencode(kind, pixels[..., ::-1], flags)[1].tobytes()
        np.testing.assert_array_equal(read(data, "rgb"), pixels, err_msg=kind)


def test_what_we_write_is_read_by_others(program, tmp_path):
    for mode, formats in {"RGB": (".webp", ".tif", ".bmp"), "RGBA": (".webp", ".tif", ".bmp"),
                          "L": (".tif", ".bmp")}.items():
        source = image(mode)
        source.save(tmp_path / "in.png")
        for extension in formats:
            out = tmp_path / ("out" + extension)
            more = ("--quality", "100") if extension == ".webp" else ()
            program.run("convert", tmp_path / "in.png", out, *more)
            got = Image.open(out)
            assert got.mode == mode, extension
            if extension == ".webp":
                diff = np.abs(np.asarray(got).astype(int) - np.asarray(source))
                assert diff.mean() < 12
            else:
                np.testing.assert_array_equal(np.asarray(got), np.asarray(source))


@pytest.mark.parametrize("kind", ["WEBP", "TIFF"])
def test_orientations_are_applied(program, tmp_path, kind):
    from PIL import ImageOps
    for orientation in range(1, 9):
        source = Image.fromarray(scene(3))
        exif = source.getexif()
        exif[274] = orientation
        path = tmp_path / f"in{orientation}"
        options = {"lossless": True} if kind == "WEBP" else {}
        source.save(path, kind, exif=exif, **options)
        program.run("convert", path, tmp_path / "o.npy", "--format", "rgb")
        wanted = np.asarray(ImageOps.exif_transpose(Image.open(path)).convert("RGB"))
        np.testing.assert_array_equal(np.load(tmp_path / "o.npy").reshape(wanted.shape), wanted)


def test_cmyk_is_refused_clearly(program, tmp_path):
    Image.fromarray(scene(3)).convert("CMYK").save(tmp_path / "in.tif")
    done = subprocess.run([program.path, "convert", tmp_path / "in.tif", tmp_path / "o.png"],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "CMYK" in done.stderr
