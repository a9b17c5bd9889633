# SPDX-License-Identifier: Apache-2.0
"""halyard negotiate: results, reports and exit codes."""
import json
import unittest
from pathlib import Path

from json_schema import SCHEMA, definitions_of, hold, seen_keys
from program import SOURCE, ProgramTest

EXAMPLES = SOURCE / "examples" / "negotiation"


class NegotiateTest(ProgramTest):
    def negotiate(self, parties, *options, code=0):
        """What the program prints of a file, or of a list of parties."""
        path = parties
        if not isinstance(parties, Path):
            path = self.write("parties.json", {"parties": parties})
        done = self.run_program("negotiate", path, *options)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout.decode()

    def json(self, parties, *options, code=0):
        """The same as JSON, held to docs/json.schema.json."""
        return hold(self, "negotiate", self.negotiate(parties, *options, "--json", code=code))

    def test_the_examples(self):
        codes = {path.name: self.run_program("negotiate", path).returncode
                 for path in EXAMPLES.glob("*.json")}
        self.assertEqual(codes, {"camera_g2d.json": 0, "camera_gpu.json": 3,
                                 "camera_network.json": 0, "network_input.json": 0})

    def test_a_camera_a_gpu_an_accelerator_and_a_viewer(self):
        text = self.negotiate(EXAMPLES / "camera_network.json")
        self.assertIn("rgba 1280x720 pitch 5120 offset 0 = tensor NHWC i8 [1,720,1280,4] "
                      "strides [3686400,5120,4,1] size 3686400 heap dmabuf.system", text)
        self.assertIn("sync=yes count>=5", text)
        found = self.json(EXAMPLES / "camera_network.json")
        self.assertEqual(found["outputs"]["g.base_align"] % 512, 0)
        self.assertEqual({name: view["cpu"] for name, view in found["views"].items()},
                         {"app": "none", "camera": "none", "gpu": "none", "network": "none",
                          "viewer": "read"})

    def test_a_plan(self):
        text = self.negotiate(EXAMPLES / "camera_gpu.json", "--plan")
        self.assertIn("copy 3317760 bytes from buffer 1 to buffer 0, because", text)
        self.assertIn("1920 mod 256 = 128", text)
        found = self.json(EXAMPLES / "camera_gpu.json", "--plan")
        self.assertEqual([group["parties"] for group in found["groups"]],
                         [["app", "blitter", "gpu"], ["camera"]])
        self.assertEqual([(copy["from"], copy["to"]) for copy in found["copies"]], [(1, 0)])
        self.assertEqual(self.json(EXAMPLES / "camera_g2d.json", "--plan")["copies"], [])
        self.negotiate([{"name": "a", "keys": {"t.dtype": "u8", "t.shape": [1, 1, 1, 1]}},
                        {"name": "b", "keys": {"t.dtype": "i8"}}], "--plan", code=3)

    def test_a_buffer(self):
        text = self.negotiate(EXAMPLES / "camera_g2d.json")
        self.assertIn("nv12 1920x1080 pitch 1920/1920 offset 0/2073600 size 3110400 "
                      "heap dmabuf.cma", text)
        self.assertIn("policy cached sync=yes count>=4", text)

    def test_a_conflict(self):
        found = self.json(EXAMPLES / "camera_gpu.json", code=3)
        self.assertFalse(found["ok"])
        one, = found["conflicts"]
        self.assertEqual(one["key"], "i.pitch_exact[0]")
        self.assertEqual([party["name"] for party in one["parties"]], ["camera", "gpu"])
        self.assertEqual(one["nearest"], [2048])
        self.assertTrue(all(party["origin"] == "set" for party in one["parties"]))

    def test_json_of_a_buffer(self):
        found = self.json([{"name": "app", "keys": {"t.dtype": "f16", "t.row_align": 64,
                                                    "t.shape": [1, 3, 480, 650]}}])
        self.assertEqual(found["outputs"]["t.strides"], [1935360, 645120, 1344, 2])
        self.assertEqual(found["explain"]["t.row_align"], ["app"])

    def test_every_documented_key_is_written(self):
        parties = json.loads((EXAMPLES / "camera_gpu.json").read_text())["parties"]
        parties[-1].update(optional=True, pid=4321)
        seen = seen_keys(self.json(parties, "--allow-drop"), "negotiate")
        for parties, *options in ((EXAMPLES / "camera_gpu.json",),
                                  (EXAMPLES / "camera_gpu.json", "--plan"),
                                  (EXAMPLES / "camera_network.json",)):
            code = 3 if options == [] and parties.name == "camera_gpu.json" else 0
            seen_keys(self.json(parties, *options, code=code), "negotiate", seen)
        self.assertEqual({name: sorted(keys) for name, keys in seen.items()},
                         {name: sorted(SCHEMA["$defs"][name]["properties"])
                          for name in definitions_of("negotiate")})

    def test_explanations(self):
        text = self.negotiate(EXAMPLES / "camera_g2d.json", "--explain", "g.contig",
                              "--explain", "i.pitch_align[1]", "--explain", "t.row_align")
        self.assertEqual(text.splitlines(), [
            "g.contig = true  blitter  (table)", "i.pitch_align[1] = 8 B  blitter  (table)",
            "t.row_align: no party sets it; the default is element"])
        self.fail_with(2, "negotiate", EXAMPLES / "camera_g2d.json", "--explain", "t.rows",
                       says="t.rows")

    def test_optional_parties(self):
        parties = json.loads((EXAMPLES / "camera_gpu.json").read_text())["parties"]
        parties[-1]["optional"] = True
        self.negotiate(parties, code=3)
        self.assertIn("left out: gpu", self.negotiate(parties, "--allow-drop"))

    def test_without_an_anchor(self):
        parties = json.loads((EXAMPLES / "camera_g2d.json").read_text())["parties"]
        self.negotiate(parties, "--no-anchor", code=3)
        parties[0]["keys"]["g.cpu"] = "none"
        self.negotiate(parties, "--no-anchor")

    def test_bad_files(self):
        path = self.dir / "bad.json"
        for text in ("", "{", "[]", '{"parties": [{"name": "a", "keys": {"t.x": 1}}]}',
                     '{"parties": [{"name": "a"}]}', '{"parties": []}',
                     '{"parties": [{"name": "a\\nb", "keys": {"r.size": 1}}]}'):
            path.write_text(text)
            self.fail_with(2, "negotiate", path, says="bad.json")
        self.fail_with(2, "negotiate", self.dir / "none.json", says="none.json")
        path.write_text(" " * (1 << 20) + "{}")
        self.fail_with(2, "negotiate", path, says="1 MiB")


if __name__ == "__main__":
    unittest.main()
