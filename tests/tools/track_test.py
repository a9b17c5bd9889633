# SPDX-License-Identifier: Apache-2.0
"""halyard track: MOTChallenge files in and out, and what is wrong with them."""
import unittest

from program import ProgramTest


def line(frame, x, score=0.9, name=-1):
    return f"{frame},{name},{x},100,50,80,{score},-1,-1,-1\n"


class TrackFiles(ProgramTest):
    def setUp(self):
        super().setUp()
        self.detections = self.write("det.txt", "".join(
            line(frame, 100 + 2 * frame) + line(frame, 400, 0.8) for frame in range(1, 11)))

    def test_every_tracker_writes_two_tracks(self):
        for tracker in ("bytetrack", "bytetrack-paper", "ocsort", "sort"):
            with self.subTest(tracker):
                text = self.succeed("track", "--mot", self.detections, "--tracker", tracker,
                                    "--fps", 25, "--out", self.dir / "out.txt")
                self.assertEqual(text, "10 frames, 20 detections, 2 tracks, 20 boxes\n")
                rows = [row.split(",") for row in (self.dir / "out.txt").read_text().splitlines()]
                self.assertEqual({len(row) for row in rows}, {10})
                self.assertEqual([(row[0], row[1]) for row in rows[:3]],
                                 [("1", "1"), ("1", "2"), ("2", "1")])
                self.assertEqual(rows[1][2:7], ["400.000", "100.000", "50.000", "80.000", "0.8"])
        self.assert_only("det.txt", "out.txt")

    def test_results_go_to_standard_output_alone(self):
        text = self.succeed("track", "--mot", self.detections, "--out", "-")
        self.assertEqual(len(text.splitlines()), 20)
        self.assertTrue(text.startswith("1,1,102.000,100.000,50.000,80.000,0.9,-1,-1,-1\n"))

    def test_perfect_tracks_score_a_hundred(self):
        truth = self.write("gt.txt", "".join(
            line(frame, 400, 1, 7) + line(frame, 100 + 2 * frame, 1, 9) for frame in range(1, 11)))
        text = self.succeed("track", "--mot", self.detections, "--gt", truth,
                            "--tracker", "ocsort")
        self.assertIn("HOTA 100.000  DetA 100.000  AssA 100.000", text)
        self.assertIn("MOTA 100.000  MOTP 100.000  misses 0  false alarms 0  switches 0", text)
        self.assertIn("IDF1 100.000  precision 100.000  recall 100.000", text)

    def test_truth_that_does_not_count_is_left_out(self):
        truth = self.write("gt.txt", "".join(
            line(frame, 400, 1, 7) + line(frame, 100 + 2 * frame, 0, 9) for frame in range(1, 11)))
        text = self.succeed("track", "--mot", self.detections, "--gt", truth,
                            "--tracker", "ocsort")
        self.assertIn("misses 0  false alarms 10", text)

    def test_no_truth_and_no_detections(self):
        empty = self.write("empty.txt", "\n\r\n")
        text = self.succeed("track", "--mot", empty, "--gt", self.write("gt.txt", line(1, 5, 1, 1)))
        self.assertIn("0 frames, 0 detections, 0 tracks, 0 boxes", text)
        self.assertIn("HOTA 0.000", text)
        text = self.succeed("track", "--mot", self.detections, "--gt", empty)
        self.assertIn("misses 0  false alarms 20", text)

    def test_bad_lines_are_named(self):
        good = line(1, 100)
        for text, says in (
                ("1,-1,1,2,3\n", "line 2"), ("1,-1,1,2,3,4\n", "line 2"),
                ("1,-1,x,2,3,4,0.5\n", "line 2: 1,-1,x"), ("1,-1,1,2,,4,0.5\n", "line 2"),
                ("1 -1 1 2 3 4 0.5\n", "line 2"), ("0" + line(0, 5), "line 2"),
                (line(1.5, 5), "frame: must be a whole number"), (line(10000001, 5), "line 2"),
                (line(-1, 5), "line 2"), (line(1, "nan"), "line 2"), (line(1, "inf"), "line 2"),
                ("1,-1,1,2,0,4,0.5\n", "width, height"), ("1,-1,1,2,3,-4,0.5\n", "width, height"),
                (line(1, 5, 1.01), "score: must be in [0, 1]"), (line(1, 5, -0.5), "score"),
                (line(1, 5, "1e999"), "line 2")):
            with self.subTest(text):
                bad = self.write("bad.txt", good + text + good)
                self.fail_with(1, "track", "--mot", bad, says=says)

    def test_a_truth_names_an_object_once_in_a_frame(self):
        twice = self.write("gt.txt", line(1, 5, 1, 3) + line(2, 5, 1, 3) + line(2, 9, 1, 3))
        self.fail_with(1, "track", "--mot", self.detections, "--gt", twice, says="line 3")
        half = self.write("gt.txt", line(1, 5, 1, 3.5))
        self.fail_with(1, "track", "--mot", self.detections, "--gt", half, says="id: must be")

    def test_missing_files_and_wrong_lines(self):
        self.fail_with(1, "track", "--mot", self.dir / "none.txt", says="none.txt")
        self.fail_with(1, "track", "--mot", self.detections, "--gt", self.dir / "none.txt",
                       says="none.txt")
        self.fail_with(1, "track", "--mot", self.detections, "--out", self.dir / "no" / "out.txt",
                       says="--out")
        for wrong in (("--tracker", "none"), ("--fps", "0"), ("--coast", "-1"),
                      ("--high-score", "2")):
            self.fail_with(2, "track", "--mot", self.detections, *wrong)
        self.fail_with(2, "track")


if __name__ == "__main__":
    unittest.main()
