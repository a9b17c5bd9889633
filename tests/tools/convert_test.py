# SPDX-License-Identifier: Apache-2.0
"""halyard convert: every word of a request, on images small enough to write their pixels down."""
import os
import struct
import unittest

from program import DATA, IMAGE, ProgramTest, needs_data, npy, read_npy, with_exif

EDGES = (0, 85, 170, 255)


class ConvertTest(ProgramTest):
    def convert(self, samples, size, *options, pixels="grey", out="o.raw"):
        """Bare samples through the program to bare samples."""
        source = self.write("i.raw", bytes(samples))
        self.succeed("convert", source, self.dir / out, "--raw", "--input-format", pixels,
                     "--input-size", size, *options)
        return (self.dir / out).read_bytes()

    def rows(self, samples, size, *options):
        """The same for grey images, row by row; --size is the last option."""
        width = int(str(options[-1]).split("x")[0])
        data = list(self.convert(samples, size, *options))
        return [data[i:i + width] for i in range(0, len(data), width)]


class Files(ConvertTest):
    def test_sizes_formats_and_dtypes(self):
        out = self.dir / "o.npy"
        cases = {("rgb", "u8"): ("|u1", (18, 33, 3)), ("planar_rgb", "f32"): ("<f4", (3, 18, 33)),
                 ("grey", "i8"): ("|i1", (18, 33, 1)), ("nv12", "u8"): ("|u1", (27, 34))}
        for (pixels, dtype), (descr, shape) in cases.items():
            with self.subTest(pixels):
                self.succeed("convert", IMAGE, out, "--size", "33x18", "--format", pixels,
                             "--dtype", dtype)
                header, data = read_npy(out)
                self.assertEqual((header["descr"], header["shape"]), (descr, shape))
                count = 1
                for extent in shape:
                    count *= extent
                self.assertEqual(len(data), count * int(descr[2]))

    def test_raw_samples_survive_a_round_trip(self):
        raw, again = self.dir / "a.raw", self.dir / "b.raw"
        samples = bytes((i * 7) % 251 for i in range(5 * 3 * 3))
        raw.write_bytes(samples)
        self.succeed("convert", raw, self.dir / "p.png", "--input-format", "rgb", "--input-size",
                     "5x3")
        self.succeed("convert", self.dir / "p.png", again, "--raw")
        self.assertEqual(again.read_bytes(), samples)

    def test_bad_files_and_targets_give_one_line_and_no_file(self):
        self.write("bad.jpg", IMAGE.read_bytes()[:3000])
        self.fail_with(1, "convert", self.dir / "bad.jpg", self.dir / "o.png", says="bad.jpg")
        self.fail_with(1, "convert", IMAGE, "/sys/o.png", says="/sys/o.png")
        self.fail_with(1, "convert", self.dir / "none.jpg", self.dir / "o.png", says="none.jpg")
        self.assert_only("bad.jpg")

    def test_sixteen_bit_samples_count_their_bits(self):
        samples = struct.pack("<3H", 0, 1023, 512)
        self.assertEqual(list(self.convert(samples, "3x1", "--input-bits", 10)), [0, 255, 128])
        array = self.write("a.npy", npy("<u2", (1, 3), struct.pack("<3H", 0, 65535, 32768)))
        common = ("convert", array, self.dir / "o.raw", "--raw", "--input-format", "grey",
                  "--input-size", "3x1")
        self.succeed(*common)
        self.assertEqual(list((self.dir / "o.raw").read_bytes()), [0, 255, 128])
        array.write_bytes(npy("|u1", (1, 3), bytes(3)))
        self.fail_with(1, *common, "--input-bits", 10, says="--input-bits")
        array.write_bytes(npy("<f4", (1, 3), bytes(12)))
        self.fail_with(1, *common, says="u8 or u16")

    def test_mosaics_become_colours(self):
        def mosaic(red, green, blue):  # 4x4, rows of R G and of G B
            return ([red, green] * 2 + [green, blue] * 2) * 2
        seen = self.convert(mosaic(200, 100, 50), "4x4", pixels="bayer_rggb")
        self.assertEqual(seen, bytes((200, 100, 50)) * 16)
        seen = self.convert(struct.pack("<16H", *mosaic(341, 0, 1023)), "4x4", "--input-bits", 10,
                            "--size", "2x3", pixels="bayer_rggb")
        self.assertEqual(seen, bytes((85, 0, 255)) * 6)

    def test_tiles_are_files_of_the_regions_that_are_printed(self):
        lines = self.succeed("convert", IMAGE, self.dir / "t.png", "--tiles",
                             "256x256,0.1").splitlines()
        self.assertEqual(len(lines), 3 * 2)
        self.assertTrue(lines[0].endswith("t_0000.png 0,0,256,256"), lines)
        self.assertTrue(lines[5].endswith("t_0005.png 384,104,256,256"), lines)
        self.succeed("convert", IMAGE, self.dir / "c.png", "--crop", "384,104,256,256")
        self.assertEqual((self.dir / "t_0005.png").read_bytes(), (self.dir / "c.png").read_bytes())
        self.assert_only("c.png", *(f"t_{i:04}.png" for i in range(6)))

    def test_too_many_tiles_are_none(self):
        self.fail_with(1, "convert", IMAGE, self.dir / "t.png", "--tiles", "1x1", says="65536")
        self.assert_only()


class Geometry(ConvertTest):
    def test_turns_compose_with_the_crop(self):
        raw, out = self.dir / "a.raw", self.dir / "b.raw"
        raw.write_bytes(bytes(range(12)))  # grey, 4 wide, 3 high
        common = ("convert", raw, out, "--raw", "--input-format", "grey", "--input-size", "4x3")
        self.succeed(*common, "--rotate", 90)
        self.assertEqual(list(out.read_bytes()), [8, 4, 0, 9, 5, 1, 10, 6, 2, 11, 7, 3])
        self.succeed(*common, "--flip", "horizontal", "--crop", "1,0,2,2")
        self.assertEqual(list(out.read_bytes()), [2, 1, 6, 5])
        self.fail_with(1, *common, "--crop", "3,0,2,2")
        self.fail_with(1, "convert", raw, out, "--raw", "--input-format", "grey", "--input-size",
                       "5x3", says="12 bytes")

    def test_fits_keep_the_aspect_or_not(self):
        left, right = [10, 10, 90, 90], [10, 10, 90, 90]
        wanted = {"stretch": [left, left, right, right],
                  "letterbox": [[0] * 4, left, right, [0] * 4],
                  "top-left": [left, right, [0] * 4, [0] * 4],
                  "cover": [[10, 10, 90, 90]] * 4}
        for fit, want in wanted.items():
            with self.subTest(fit):
                self.assertEqual(self.rows(left + right, "4x2", "--filter", "nearest", "--pad",
                                           "0,0,0", "--fit", fit, "--size", "4x4"), want)
        self.assertEqual(self.rows([1, 2, 3, 4] * 2, "4x2", "--filter", "nearest", "--fit", "cover",
                                   "--size", "2x2"), [[2, 3]] * 2)

    def test_letterbox_rules_round_in_their_own_ways(self):
        # 4x2 into 5x5 is 5 x 2.5.
        wanted = {"hal": [0, 5, 5, 5, 0], "ultralytics": [0, 5, 5, 0, 0],
                  "ultralytics-val": [0, 4, 4, 0, 0]}
        for rule, want in wanted.items():
            rows = self.rows([200] * 8, "4x2", "--pad", "0,0,0", "--fit", "letterbox",
                             "--letterbox-rule", rule, "--size", "5x5")
            self.assertEqual([row.count(200) for row in rows], want, rule)

    def test_a_place_is_filled_and_the_rest_is_pad(self):
        self.assertEqual(self.rows([7, 9], "2x1", "--pad", "1,1,1", "--place", "1,1,2,1", "--size",
                                   "4x3"), [[1] * 4, [1, 7, 9, 1], [1] * 4])
        self.fail_with(1, "convert", IMAGE, self.dir / "x.png", "--place", "600,0,100,100",
                       says="place")

    def test_crops_may_lie_between_pixels(self):
        self.assertEqual(list(self.convert((0, 100, 200, 100), "4x1", "--crop", "0.5,0,2,1")),
                         [50, 150])

    def test_affine_maps_move_and_turn(self):
        nearest = ("--filter", "nearest", "--pad", "0,0,0", "--affine")
        shifted = self.convert(range(1, 7), "3x2", *nearest, "1,0,1,0,1,0")
        self.assertEqual(list(shifted), [0, 1, 2, 0, 4, 5])
        rotated = self.convert(range(12), "4x3", *nearest, "0,-1,3,1,0,0", "--size", "3x4")
        self.assertEqual(rotated, self.convert(range(12), "4x3", "--rotate", 90))
        self.fail_with(1, "convert", IMAGE, self.dir / "x.png", "--affine", "1,1,0,1,1,0",
                       says="affine")

    def test_the_turn_of_exif_comes_before_those_asked_for(self):
        photo, upright = self.dir / "p.jpg", self.dir / "u.png"
        for orientation in (2, 5, 6, 8):
            with self.subTest(orientation):
                photo.write_bytes(with_exif(orientation, IMAGE.read_bytes()))
                self.succeed("convert", photo, upright)
                turn = ("--flip", "horizontal", "--rotate", 90, "--raw")
                self.succeed("convert", upright, self.dir / "a", *turn)
                self.succeed("convert", photo, self.dir / "b", *turn)
                self.assertEqual((self.dir / "a").read_bytes(), (self.dir / "b").read_bytes())

    def test_affine_maps_start_from_the_upright_pixels(self):
        photo = self.write("p.jpg", with_exif(6, IMAGE.read_bytes()))
        self.succeed("convert", photo, self.dir / "a", "--raw", "--affine", "1,0,0,0,1,0")
        self.succeed("convert", photo, self.dir / "b", "--raw", "--smooth-chroma")
        self.assertEqual((self.dir / "a").read_bytes(), (self.dir / "b").read_bytes())

    def test_crops_and_tiles_are_parts_of_the_upright_image(self):
        photo, upright = self.dir / "p.jpg", self.dir / "u.png"
        for orientation in range(1, 9):
            with self.subTest(orientation):
                photo.write_bytes(with_exif(orientation, IMAGE.read_bytes()))
                self.succeed("convert", photo, upright)
                for step in (("--crop", "8,4,24,10"), ("--tiles", "128x64,0")):
                    from_file = self.succeed("convert", photo, self.dir / "a.png", *step)
                    from_upright = self.succeed("convert", upright, self.dir / "b.png", *step)
                    a, b = (sorted(self.dir.glob(name)) for name in ("a*.png", "b*.png"))
                    self.assertEqual(len(a), len(b))
                    self.assertTrue(len(a) > 1 or step[0] == "--crop")
                    for one, other in zip(a, b):
                        self.assertEqual(one.read_bytes(), other.read_bytes(), one.name)
                    self.assertEqual(from_file.replace("/a_", "/b_"), from_upright)
                    for made in a + b:
                        made.unlink()

    @needs_data
    def test_exif_turns_are_applied_or_left(self):
        for orientation in range(1, 9):
            out = self.dir / "o.npy"
            photo = f"{DATA}/photos/bus_320_exif_{orientation}.jpg"
            self.succeed("convert", photo, out)
            self.assertEqual(read_npy(out)[0]["shape"], (320, 240, 3))
            upright = read_npy(out)[1]
            if orientation == 1:
                first = upright
            mean = sum(abs(a - b) for a, b in zip(first[::17], upright[::17])) / len(first[::17])
            self.assertLess(mean, 2, orientation)
            self.succeed("convert", photo, out, "--no-orient")
            want = (320, 240, 3) if orientation < 5 else (240, 320, 3)
            self.assertEqual(read_npy(out)[0]["shape"], want)


class Values(ConvertTest):
    def test_every_dtype_holds_what_it_says(self):
        wanted = {"u8": struct.pack("4B", *EDGES), "i8": struct.pack("4b", -128, -43, 42, 127),
                  "u16": struct.pack("<4H", *(257 * e for e in EDGES)),
                  "f32": struct.pack("<4f", *(e / 255 for e in EDGES)),
                  "f16": struct.pack("<4e", *(e / 255 for e in EDGES)),
                  "bf16": struct.pack("<4H", 0, 0x3eab, 0x3f2b, 0x3f80)}
        for dtype, want in wanted.items():
            with self.subTest(dtype):
                self.assertEqual(self.convert(EDGES, "4x1", "--dtype", dtype), want)
        for dtype, descr in {"u16": "<u2", "f16": "<f2"}.items():
            self.convert(EDGES, "4x1", "--dtype", dtype, out="o.npy")
            self.assertEqual(read_npy(self.dir / "o.npy")[0]["descr"], descr)
            self.assertEqual(read_npy(self.dir / "o.npy")[1], wanted[dtype])

    def test_means_and_deviations_are_per_channel(self):
        rgb = (51, 102, 255)
        line = ("1x1", "--dtype", "f32", "--mean", "0.1,0.2,0.3", "--std")
        values = struct.unpack("<3f", self.convert(rgb, *line, "1,2,0.5", pixels="rgb"))
        for value, want in zip(values, (0.1, 0.1, 1.4)):
            self.assertAlmostEqual(value, want, 6)
        values = struct.unpack("<3f", self.convert(rgb, *line, "0.5", "--bgr", pixels="rgb"))
        for value, want in zip(values, (1.4, 0.4, 0.2)):
            self.assertAlmostEqual(value, want, 6)

    def test_quantization_is_that_of_the_result(self):
        line = ("4x1", "--dtype", "i8", "--quant")
        self.assertEqual(self.convert(EDGES, *line, "0.01,-10"), struct.pack("4b", -10, 23, 57, 90))
        self.assertEqual(self.convert(EDGES, *line, "0.5,3", "--mean", 0.5, "--std", 0.25),
                         struct.pack("4b", -1, 2, 4, 7))
        self.fail_with(1, "convert", IMAGE, self.dir / "o.npy", "--quant", "0.1,300",
                       says="zero_point")

    def test_blue_may_stand_where_red_does(self):
        self.assertEqual(list(self.convert((1, 2, 3), "1x1", "--bgr", pixels="rgb")), [3, 2, 1])
        self.fail_with(1, "convert", IMAGE, self.dir / "o.npy", "--format", "nv12", "--bgr",
                       says="bgr")

    def test_alpha_is_kept_or_multiplied_by_name(self):
        pixel = (200, 100, 51, 128)
        wanted = {"keep": pixel, "premultiply": (100, 50, 26, 128),
                  "unpremultiply": (255, 199, 102, 128)}
        for name, want in wanted.items():
            line = ("1x1", "--format", "rgba", "--alpha", name)
            self.assertEqual(tuple(self.convert(pixel, *line, pixels="rgba")), want, name)
        self.fail_with(1, "convert", IMAGE, self.dir / "o.png", "--alpha", "premultiply",
                       says="alpha")

    def test_exact_colours_are_those_of_the_environments_word(self):
        outputs = []
        plain = {k: v for k, v in os.environ.items() if not k.endswith("_COLORIMETRY")}
        for options, word in (((), {}), (("--exact",), {}), ((), {"HALYARD_COLORIMETRY": "exact"})):
            self.succeed("convert", IMAGE, self.dir / "o", "--raw", *options,
                         env={**plain, **word})
            outputs.append((self.dir / "o").read_bytes())
        self.assertEqual(outputs[1], outputs[2])
        self.assertNotEqual(outputs[0], outputs[1])
        self.assertLessEqual(max(abs(a - b) for a, b in zip(outputs[0], outputs[1])), 1)


class WrongLines(ConvertTest):
    def test_name_the_option_and_its_limit(self):
        raw = ("--input-format", "grey", "--input-size", "2x2")
        for line, says in (
                (("a", "b.png", "--size", "0x4"), "1..65535"), (("a", "b.gif"), "--raw"),
                (("a", "b.png", "--format", "nosuch"), "nv12"),
                (("a.npy", "b.png"), "--input-size"),
                (("a", "b.png", "--dtype", "f32"), ".npy"),
                (("a", "b.npy", "--dtype", "f64"), "bf16 or f32"),
                (("a", "b.npy", "--dtype", "bf16"), "NumPy"),
                (("a", "b.npy", "--raw", "--dtype", "bf16"), "NumPy"),
                (("a", "b.png", "--fit", "fill"), "top-left"),
                (("a", "b.png", "--letterbox-rule", "hal"), "--fit letterbox"),
                (("a", "b.png", "--fit", "letterbox", "--letterbox-rule", "x"), "ultralytics-val"),
                (("a", "b.png", "--place", "0,0,1.5,1"), "--place"),
                (("a", "b.png", "--crop", "0,0,0,1"), "above 0"),
                (("a", "b.png", "--crop", "nan,0,1,1"), "--crop"),
                (("a", "b.png", "--affine", "1,0,0,0,1"), "six"),
                (("a", "b.png", "--affine", "1,0,inf,0,1,0"), "six"),
                (("a", "b.png", "--affine", "1,0,0,0,1,0", "--rotate", 90), "--rotate"),
                (("a", "b.png", "--affine", "1,0,0,0,1,0", "--fit", "cover"), "--fit"),
                (("a", "b.png", "--tiles", "8x8,1"), "[0, 1)"),
                (("a", "b.png", "--tiles", "8"), "WxH"),
                (("a", "b.png", "--tiles", "8x8", "--crop", "0,0,1,1"), "--crop"),
                (("a", "b.png", "--mean", "0.5"), "--quant"),
                (("a", "b.png", "--std", "0.5"), "--std"),
                (("a", "b.npy", "--dtype", "f32", "--std", "1,0,1"), "above 0"),
                (("a", "b.npy", "--dtype", "f32", "--mean", "1,2"), "R,G,B"),
                (("a", "b.npy", "--dtype", "f32", "--quant", "1,0"), "u16"),
                (("a", "b.npy", "--dtype", "u8", "--quant", "0,0"), "above 0"),
                (("a", "b.png", "--alpha", "drop"), "unpremultiply"),
                (("a", "b.png", "--input-bits", 10), "--input-format"),
                (("a", "b.png", *raw, "--input-bits", 7), "8..16"),
                (("a", "b.png", *raw, "--input-bits", 17), "8..16"),
                (("a", "b.png", *raw, "--input-bits", "9.5"), "8..16")):
            with self.subTest(line):
                self.fail_with(2, "convert", *line, says=says)


if __name__ == "__main__":
    unittest.main()
