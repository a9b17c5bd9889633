# SPDX-License-Identifier: Apache-2.0
"""Standard input where a file may be read from it, and what info says of all that run reads."""
import json
import shutil
import unittest

from program import CLIP, MODEL, IMAGE, SOURCE, ProgramTest, needs_engine, npy
from val_test import harbour_truth

MOT = "1,-1,100,100,50,80,0.9,-1,-1,-1\n"
CORPUS = SOURCE / "fuzz" / "corpus"


class StandardInput(ProgramTest):
    def piped(self, data, *args):
        return self.succeed(*args, input=data)

    def test_convert_and_info_read_it(self):
        data = IMAGE.read_bytes()
        self.piped(data, "convert", "-", self.dir / "a.png")
        self.succeed("convert", IMAGE, self.dir / "b.png")
        self.assertEqual((self.dir / "a.png").read_bytes(), (self.dir / "b.png").read_bytes())
        found = json.loads(self.piped(data, "info", "-", "--json"))["files"][0]
        self.assertEqual((found["file"], found["type"], found["bytes"]), ("-", "jpeg", len(data)))
        with open(IMAGE, "rb") as file:  # not a pipe
            self.assertIn("jpeg", self.succeed("info", "-", stdin=file))

    def test_decode_track_and_val_read_it(self):
        values = npy("<f4", (1, 6, 1), bytes(24))
        self.write("x.npy", values)
        line = ("--input-size", "64x64", "--score", "0")
        wanted = self.succeed("decode", self.dir / "x.npy", *line)
        self.assertEqual(self.piped(values, "decode", "-", *line).split(":")[1],
                         wanted.split(":")[1])
        self.assertIn("1 detections", self.piped(MOT.encode(), "track", "--mot", "-"))
        truth = self.write("t.json", harbour_truth(2))
        self.assertIn("0 detections", self.piped(b"[]", "val", "--gt", truth, "--detections", "-"))

    def test_a_truth_from_it_serves_boxes_and_masks(self):
        truth = harbour_truth(2)
        self.write("d.json", "[]")
        self.assertIn("2 images", self.piped(json.dumps(truth).encode(), "val", "--gt", "-",
                                             "--detections", self.dir / "d.json"))

    def test_it_is_read_by_one_option(self):
        self.fail_with(2, "track", "--mot", "-", "--gt", "-",
                       says="--gt -: is standard input, which --mot - reads")
        self.fail_with(2, "val", "--gt", "-", "--detections", "-", says="is standard input, which")
        self.fail_with(2, "decode", "-", "-", says="is standard input, which")

    def test_what_must_be_a_file_says_so(self):
        for option in ("--labels", "--config", "--font", "--coco-gt", "--model"):
            line = ["run", "-m", MODEL, IMAGE, "--coco", self.dir / "c.json"]
            if option == "--model":
                line[2] = "-"
            else:
                line += [option, "-"]
            self.fail_with(2, *line, says=f"{option} -: must name a file")
        self.fail_with(2, "convert", IMAGE, "-", says="OUT -: must name a file")
        self.fail_with(1, "info", "-", says="file must be JPEG", input=b"hello")
        self.fail_with(1, "info", "-", says="file must be JPEG", input=b"")
        self.assert_only()


class Info(ProgramTest):
    def info(self, *paths):
        return self.succeed_json("info", "--json", *paths)["files"]

    def test_folders_arrays_and_images_of_every_kind(self):
        values = self.write("x.npy", npy("<f4", (1, 6, 1), bytes(24)))
        folder, array = self.info(CLIP, values)
        self.assertEqual((folder["type"], folder["pictures"], folder["width"], folder["height"]),
                         ("folder", len(list(CLIP.glob("*.jpg"))), 640, 360))
        self.assertEqual((array["type"], array["dtype"], array["shape"]),
                         ("array", "f32", [1, 6, 1]))
        kinds = {entry["name"]: entry["works"] for entry in
                 self.succeed_json("doctor", "--json")["findings"]
                 if entry["group"] == "picture"}
        self.assertEqual(list(kinds), ["jpeg", "png", "webp", "tiff", "bmp", "gif"])
        for kind, name in {"webp": "exif.webp", "tiff": "rgba.tif", "bmp": "rgb.bmp",
                           "gif": "plain.gif"}.items():
            path = CORPUS / f"codec_{kind}" / name
            if not kinds[kind]:
                self.fail_with(1, "info", path, says="-dev")
                continue
            found = self.info(path)[0]
            self.assertEqual((found["type"], found["width"], found["height"]), (kind, 17, 13))
        if kinds["webp"]:
            found = self.info(CORPUS / "codec_webp" / "exif.webp")[0]
            self.assertEqual((found["exif_orientation"], found["upright_width"]), (6, 13))

    @needs_engine
    def test_videos(self):
        video = self.dir / "v.mkv"
        done = self.run_program("run", "-q", "-m", MODEL, CLIP, "--out", video)
        if done.returncode != 0:
            self.skipTest("this build writes no videos")
        found = self.info(video)[0]
        self.assertEqual((found["type"], found["width"], found["height"], found["rate"]),
                         ("video", 640, 360, 25))
        self.assertIn("video", self.succeed("info", video))

    def test_what_nobody_reads_is_told(self):
        text = self.write("text", "hello, world\n" * 9)
        self.fail_with(1, "info", text, says="text")
        self.fail_with(1, "info", self.dir / "none", says="none")


@needs_engine
class Images(ProgramTest):
    def test_run_reads_a_folder_of_every_kind_and_draws_it(self):
        kinds = [entry["name"] for entry in
                 self.succeed_json("doctor", "--json")["findings"]
                 if entry["group"] == "picture" and entry["remark"] == "read and written"]
        folder = self.dir / "in"
        folder.mkdir()
        names = {"jpeg": "jpg", "tiff": "tif"}
        for kind in kinds:
            self.succeed("convert", IMAGE, folder / f"{kind}.{names.get(kind, kind)}")
        (folder / "notes.txt").write_text("no image")
        shutil.copy(IMAGE, folder / "plain")
        found = self.frames_of("run", "-m", MODEL, folder)
        self.assertEqual(len(found), len(kinds) + 1)
        counts = {len(frame["detections"]) for frame in found if "webp" not in frame["source"]}
        self.assertEqual(len(counts), 1, "all but the lossy ones show the same")
        for kind in kinds:
            out = self.dir / f"seen.{names.get(kind, kind)}"
            self.succeed("run", "-q", "-m", MODEL, IMAGE, "--out", out, "--contact-sheet",
                         self.dir / f"sheet.{names.get(kind, kind)}")
            described = self.succeed_json("info", "--json", out)["files"][0]
            self.assertEqual((described["type"], described["width"]), (kind, 640))
        if "webp" in kinds:
            webp = (folder / "webp.webp").read_bytes()
            text = self.succeed("run", "-m", MODEL, "-", input=webp)
            self.assertIn("boat", text)


if __name__ == "__main__":
    unittest.main()
