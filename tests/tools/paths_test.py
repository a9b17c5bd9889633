# SPDX-License-Identifier: Apache-2.0
"""No output overwrites an input or another output, whatever the names are that lead to it."""
import os
import subprocess
import unittest

from program import MODEL, IMAGE, PROGRAM, ProgramTest, needs_engine, npy

MOT = "1,-1,100,100,50,80,0.9,-1,-1,-1\n"
TRUTH = '{"images": [], "annotations": [], "categories": []}'


class PathsTest(ProgramTest):
    def image(self, name="p.jpg"):
        return self.write(name, IMAGE.read_bytes())

    def contents(self):
        return {str(p.relative_to(self.dir)): p.read_bytes()
                for p in sorted(self.dir.rglob("*")) if p.is_file()}

    def clash(self, *args, names=(), **options):
        """A usage error that names both options; every file stays as it was."""
        before = self.contents()
        text = self.fail_with(2, *args, **options)
        for name in names:
            self.assertIn(name, text)
        self.assertEqual(self.contents(), before)
        return text

    def model(self):
        return self.write("m.onnx", MODEL.read_bytes())


class Clashes(PathsTest):
    def test_run_overwrites_none_of_its_inputs(self):
        model, image = self.model(), self.image()
        labels, font = self.write("labels.txt", "a\n"), self.write("font.ttf", "x")
        config = self.write("config.json", "{}")
        inputs = {"--labels": labels, "--config": config, "--font": font, "--model": model}
        line = ["run", image]
        for option, path in inputs.items():
            line += [option, path]
        for output in ("--json", "--trace", "--contact-sheet"):
            for option, path in [*inputs.items(), ("the input", image)]:
                with self.subTest(output + option):
                    self.clash(*line, output, path, names=(output, option, "would overwrite"))
        self.clash(*line, "--out", image, names=("--out", "the input"))

    def test_run_s_outputs_are_different_files(self):
        line = ["run", "-m", self.model(), self.image()]
        outputs = ("--out", "--contact-sheet", "--json", "--trace")
        for first in outputs:
            for second in outputs:
                if first < second:
                    with self.subTest(first + second):
                        new = self.dir / "new.jpg"
                        self.clash(*line, first, new, second, new,
                                   names=(first, second, "is the same file as"))
        self.assert_only("m.onnx", "p.jpg")

    def test_the_weights_beside_a_model_are_an_input(self):
        weights = self.write("m.bin", "weights")
        self.clash("run", "-m", self.write("m.xml", "<net/>"), self.image(), "--json", weights,
                   names=("--json", "--model", "m.bin"))

    def test_the_files_that_an_onnx_model_keeps_values_in_are_inputs(self):
        # GraphProto.initializer 5 -> TensorProto.external_data 13 -> {key 1, value 2}
        def field(number, content):
            return bytes([number << 3 | 2, len(content)]) + content
        place = field(13, field(1, b"location") + field(2, b"m.data"))
        model = self.write("m.onnx", field(7, field(5, place)))
        weights = self.write("m.data", "weights")
        self.clash("run", "-m", model, self.image(), "--json", weights,
                   names=("--json", "--model", "m.data"))

    def test_the_texts_beside_a_model_are_inputs(self):
        for name in ("m.json", "edgefirst.yaml", "config.json", "labels.txt"):
            with self.subTest(name):
                text = self.write(name, "a\n")
                self.clash("run", "-m", self.model(), self.image(), "--json", text,
                           names=("--json", "--model", name))
                text.unlink()

    def test_decode_overwrites_none_of_its_inputs(self):
        tensor = self.write("x.npy", npy("<f4", (1, 6, 1), bytes(24)))
        labels, config = self.write("labels.txt", "a\n"), self.write("config.json", "{}")
        for option, path in (("file", tensor), ("--labels", labels), ("--config", config)):
            self.clash("decode", tensor, "--labels", labels, "--config", config, "--json", path,
                       names=("--json", option))

    def test_track_overwrites_none_of_its_inputs(self):
        found, truth = self.write("det.txt", MOT), self.write("gt.txt", MOT)
        for option, path in (("--mot", found), ("--gt", truth)):
            self.clash("track", "--mot", found, "--gt", truth, "--out", path,
                       names=("--out", option))

    def test_val_overwrites_none_of_its_inputs(self):
        truth, found = self.write("g.json", TRUTH), self.write("d.json", "[]")
        for option, path in (("--gt", truth), ("--detections", found)):
            for output in ("--json", "--out"):
                self.clash("val", "--gt", truth, "--detections", found, output, path,
                           names=(output, option))
        model, labels = self.model(), self.write("labels.txt", "a\n")
        (self.dir / "images" / "deep").mkdir(parents=True)
        image = self.write("images/deep/a.jpg", "x")
        for option, path in (("--model", model), ("--labels", labels), ("--images", image)):
            self.clash("val", "--gt", truth, "--model", model, "--labels", labels, "--images",
                       self.dir / "images", "--out", path, names=("--out", option))
        self.clash("val", "--gt", truth, "--model", model, "--json", self.dir / "n", "--out",
                   self.dir / "n", names=("--json", "--out"))
        self.clash("val", "--gt", truth, "--model", model, "--json", "-", "--out", "-",
                   names=("--json -", "--out -"))

    def test_convert_overwrites_its_input_neither_whole_nor_by_a_tile(self):
        image = self.image()
        self.clash("convert", image, image, names=("OUT", "IN"))
        first = self.image("t_0000.jpg")
        self.clash("convert", first, self.dir / "t.jpg", "--tiles", "64x64",
                   names=("t_0000.jpg", "IN"))


class NamesOfOneFile(PathsTest):
    def setUp(self):
        super().setUp()
        self.found = self.write("det.txt", MOT)
        os.symlink(".", self.dir / "link")

    def track(self, out, **options):
        return self.clash("track", "--mot", self.found, "--out", out, names=("--out", "--mot"),
                          **options)

    def test_links_dots_and_hard_links_lead_to_the_file(self):
        os.symlink("det.txt", self.dir / "symbolic")
        os.symlink("symbolic", self.dir / "twice")
        os.link(self.found, self.dir / "hard")
        (self.dir / "sub").mkdir()
        for name in ("symbolic", "twice", "hard", "link/det.txt", "sub/../det.txt"):
            with self.subTest(name):
                self.track(self.dir / name)
        self.track("det.txt", cwd=self.dir)

    def test_files_that_do_not_exist_yet_are_compared_by_their_folder(self):
        line = ["val", "--gt", self.write("g.json", TRUTH), "--model", self.model()]
        os.symlink("new", self.dir / "dangling")
        os.symlink(self.dir / "link" / "new", self.dir / "absolute")
        for other in ("new", "link/new", "link/link/new", "./new", "dangling", "absolute"):
            with self.subTest(other):
                self.clash(*line, "--json", self.dir / "new", "--out", f"{self.dir}/{other}",
                           names=("--json", "--out"))
        self.clash(*line, "--json", self.dir / "no" / "f", "--out", f"{self.dir}/link/no/./f",
                   names=("--json", "--out"))

    def test_standard_output_that_is_a_file_is_that_file(self):
        with open(self.found, "a") as log:
            before = self.found.read_bytes()
            done = subprocess.run([PROGRAM, "track", "--mot", self.found, "--out", "-"],
                                  stdout=log, stderr=subprocess.PIPE, timeout=240)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(self.found.read_bytes(), before)

    def test_a_pipe_serves_one_option_and_a_device_any_number(self):
        os.mkfifo(self.dir / "pipe")
        truth = self.write("g.json", TRUTH)
        self.clash("val", "--gt", truth, "--model", self.model(), "--json", self.dir / "pipe",
                   "--out", self.dir / "pipe", names=("--json", "--out"))
        self.succeed("val", "--gt", truth, "--detections", self.write("d.json", "[]"), "--json",
                     "/dev/null", "--out", "/dev/null")


@needs_engine
class Folders(PathsTest):
    def test_frames_do_not_overwrite_images_of_their_own_folder(self):
        image = self.image()
        line = ("run", "-m", MODEL)
        for folder in (self.dir, f"{self.dir}/./", self.dir / "link"):
            if not os.path.exists(folder):
                os.symlink(".", folder)
            self.clash(*line, image, "--out", folder, names=("--out", "the input"))
            self.clash(*line, self.dir, "--out", folder, names=("--out", "the input"))

    def test_frames_do_not_overwrite_what_links_of_the_input_folder_lead_to(self):
        for name in ("in", "out"):
            (self.dir / name).mkdir()
        self.image("out/p.jpg")
        os.symlink("../out/p.jpg", self.dir / "in" / "p.jpg")
        self.clash("run", "-m", MODEL, self.dir / "in", "--out", self.dir / "out",
                   names=("--out", "the input"))
        self.clash("run", "-m", MODEL, self.dir / "in" / "p.jpg", "--out", self.dir / "out",
                   names=("--out", "the input"))
        self.clash("run", "-m", MODEL, self.dir / "in", "--contact-sheet",
                   self.dir / "out" / "p.jpg", names=("--contact-sheet", "the input"))

    def test_a_model_in_the_output_folder_is_in_nobody_s_way(self):
        self.succeed("run", "-m", self.model(), IMAGE, "--out", self.dir)
        self.assert_only("m.onnx", "frame_0000.jpg")

    def test_frames_take_no_name_of_another_output_or_frame(self):
        for name in ("in", "out", "more"):
            (self.dir / name).mkdir()
        # The second "a.jpg" is frame 3; an image has the name already that it would get.
        inputs = [self.image(name) for name in ("in/a_000003.jpg", "in/a.jpg", "in/sheet.jpg",
                                                  "more/a.jpg")]
        self.succeed("run", "-m", MODEL, *inputs, "--out", self.dir / "out", "--contact-sheet",
                     self.dir / "out" / "sheet.jpg", "-q")
        self.assertEqual(sorted(os.listdir(self.dir / "out")),
                         ["a.jpg", "a_000003.jpg", "a_000003_1.jpg", "sheet.jpg",
                          "sheet_000002.jpg"])


if __name__ == "__main__":
    unittest.main()
