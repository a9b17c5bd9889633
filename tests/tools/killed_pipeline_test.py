# SPDX-License-Identifier: Apache-2.0
"""A pipeline between two topics that is killed with frames in its hands: nothing stays behind."""
import os
import subprocess
import unittest

from program import MODEL, PROGRAM, needs_engine
from publishing import TopicTest


def entries(folder):
    """All files below a folder."""
    return {os.path.join(where, name) for where, _, names in os.walk(folder) for name in names}


def descriptors(process):
    return len(os.listdir(f"/proc/{process.pid}/fd"))


@needs_engine
class KilledPipeline(TopicTest):
    def setUp(self):
        super().setUp()
        self.camera = self.start("images", "cam/left", 100)
        self.viewer = self.start("view", "seen", 20)

    def run_pipeline(self):
        process = subprocess.Popen(
            [PROGRAM, "run", "--model", str(MODEL), "--topic", "cam/left", "--track",
             "--publish", "seen", "--json", os.devnull],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(self.kill, process)
        return process

    def sent(self, process):
        """Frames that a process has published as "seen"."""
        return sum(endpoint["sent"] for endpoint in self.json("topic", "info", "seen")["endpoints"]
                   if endpoint["pid"] == process.pid)

    def borrowed(self, owner, borrower):
        """Slots of the owner's pools that another process holds."""
        return sum(held["slots"] for pool in self.json("pool", "ls")["pools"]
                   for part in self.json("pool", "stats", pool["id"])["parts"]
                   for held in part["borrowers"]
                   if part["pid"] == owner.pid and held["pid"] == borrower.pid)

    def kill_with_frames(self, process):
        """Kills it while it has published, and holds a frame of the camera's pool."""
        self.wait_for(lambda: self.sent(process) > 5)
        self.wait_for(lambda: self.borrowed(self.camera, process) > 0)
        process.kill()
        process.wait()

    def test_the_camera_gets_its_slots_back(self):
        process = self.run_pipeline()
        self.kill_with_frames(process)
        self.wait_for(lambda: self.borrowed(self.camera, process) == 0)
        before = self.json("topic", "info", "cam/left")["endpoints"]
        self.assertNotIn(process.pid, [endpoint["pid"] for endpoint in before])
        # It publishes on.
        self.lines("topic", "echo", "cam/left", "--count", "20")

    def test_the_next_one_takes_its_place(self):
        def held():
            return descriptors(self.camera), descriptors(self.viewer)
        before = None
        for _ in range(4):
            process = self.run_pipeline()
            self.kill_with_frames(process)
            self.wait_for(lambda killed=process: self.borrowed(self.camera, killed) == 0)
            self.succeed("pool", "gc")
            before = before or held()
            # They do not grow with each killed process.
            self.wait_for(lambda: held() <= before)
        self.assertGreater(self.sent(self.run_and_wait()), 5)

    def run_and_wait(self):
        process = self.run_pipeline()
        self.wait_for(lambda: self.sent(process) > 5)
        return process

    def test_nothing_stays_behind_after_gc(self):
        process = self.run_pipeline()
        self.kill_with_frames(process)
        for other in (self.camera, self.viewer):
            other.kill()
            other.wait()
        self.succeed("pool", "gc")
        self.assertEqual(self.json("pool", "ls"), {"schema": 1, "pools": []})
        self.assertEqual(self.json("topic", "ls"), {"schema": 1, "topics": []})
        self.assertEqual(self.succeed("pool", "gc"), "nothing to remove\n")
        self.assertEqual(entries(os.environ["HALYARD_SHM_DIR"]), set())


if __name__ == "__main__":
    unittest.main()
