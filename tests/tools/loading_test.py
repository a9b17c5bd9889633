#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the program loads: FFmpeg, OpenVINO and OpenGL when they are first used, and not before."""
import json
import os
import re
import unittest

from program import IMAGE, ProgramTest, needs_video

HEAVY = re.compile(
    r"/(lib(?:avformat|avcodec|avutil|openvino|halyard_openvino|EGL|GLESv2)\b[^/]*)$", re.M)
# Names of FFmpeg's libraries, of every version that a build can be for.
FFMPEG = [f"libavformat.so.{major}" for major in range(57, 64)]


class LoadingTest(ProgramTest):
    def environment(self, **more):
        return {**os.environ, **more}

    def loaded(self, *words):
        """Names of FFmpeg's and the engine's files that the process loads."""
        done = self.run_program(*words, env=self.environment(LD_DEBUG="files"))
        text = done.stderr.decode()
        self.assertEqual(done.returncode, 0, text)
        found = re.findall(r"calling init: (\S+)", text)
        self.assertTrue(any("libhalyard" in path for path in found), "the loader tells nothing")
        return sorted(HEAVY.findall("\n".join(found)))

    def test_version_help_and_images_load_none(self):
        for words in (["--version"], ["--help"], ["convert", IMAGE, self.dir / "out.png"]):
            with self.subTest(words=words):
                self.assertEqual(self.loaded(*words), [])

    @needs_video
    def test_video_loads_ffmpeg(self):
        self.assertTrue(any("libavformat" in name for name in self.loaded("doctor")))

    @needs_video
    def test_a_system_without_ffmpeg_is_told_what_to_install(self):
        for name in FFMPEG:
            self.write(name, b"no library")
        text = self.succeed("doctor", env=self.environment(LD_LIBRARY_PATH=str(self.dir)))
        line = next(line for line in text.splitlines() if line.startswith("video"))
        self.assertRegex(line, r" no +video: FFmpeg cannot be loaded: install libavformat\d+ ")
        self.assertIn("libavformat.so", line)

    def test_a_system_without_opengl_is_told_what_to_install(self):
        self.write("libEGL.so.1", b"no library")
        text = self.succeed("doctor", env=self.environment(LD_LIBRARY_PATH=str(self.dir)))
        lines = [line for line in text.splitlines() if line.startswith("opengl")]
        self.assertEqual(len(lines), 1, lines)
        self.assertRegex(lines[0],
                         r" no +display: (EGL cannot be loaded: install libegl1|OpenGL is not)")

    def test_doctor_tells_what_opengl_offers(self):
        environment = self.environment(HALYARD_ALLOW_SOFTWARE_GL="1")
        found = json.loads(self.succeed("doctor", "--gl", "--json", env=environment))["findings"]
        found = {finding["name"]: finding for finding in found if finding["group"] == "opengl"}
        if not found.get("context", {}).get("works"):
            self.skipTest("no OpenGL ES on this machine")
        self.assertRegex(found["context"]["remark"], r", OpenGL ES 3\.\d.*, EGL 1\.\d")
        self.assertGreaterEqual(int(found["largest texture"]["remark"]), 2048)
        self.assertIn("surfaceless", found)
        self.assertNotIn("context", self.succeed("doctor", env=environment))


if __name__ == "__main__":
    unittest.main()
