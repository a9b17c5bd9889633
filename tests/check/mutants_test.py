#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The faults that tools/mutants.py draws: where they are put, and where none is.

    mutants_test.py REPOSITORY
"""
import sys
import unittest
from pathlib import Path

REPOSITORY = Path(sys.argv.pop(1) if len(sys.argv) > 1 else Path(__file__).resolve().parents[2])
sys.dont_write_bytecode = True
sys.path.insert(0, str(REPOSITORY / "tools"))
import mutants  # noqa: E402


def faults(line):
    return [place.after for place in mutants.places_in("a.cpp", line + "\n")]


class Faults(unittest.TestCase):
    def test_each_operator_has_one(self):
        for line, after in (
                ("a < b;", "a <= b;"), ("a >= b;", "a > b;"), ("a == b;", "a != b;"),
                ("a && b;", "a || b;"), ("a + b;", "a - b;"), ("a * (b);", "a / (b);"),
                ("std::min(a, b);", "std::max(a, b);"), ("return true;", "return false;"),
                ("if (!a) b();", "if (a) b();"), ("continue;", ";")):
            self.assertEqual(faults(line), [after])

    def test_a_line_of_several_has_all_one_at_a_time(self):
        self.assertEqual(sorted(faults("  if (i < 8 && j) k = 3;")),
                         ["  if (i < 8 && j) k = 4;", "  if (i < 8 || j) k = 3;",
                          "  if (i < 9 && j) k = 3;", "  if (i <= 8 && j) k = 3;"])

    def test_texts_comments_types_and_names_have_none(self):
        for line in ('make_error(code, "a < b && 3");', "// i < 8", "/// true", "#if A == 3",
                     "using A = std::array<int, 4>;", "std::vector<int> a;", "float32x4 b;",
                     "x = 'a';", "const T* p;", "  static_assert(a == 4);", "case 3:"):
            self.assertEqual(faults(line), [], line)
        self.assertEqual(faults("f(a); // true"), [])

    def test_a_seed_draws_the_same_places(self):
        files = {"b.cpp": "a < b;\nc == d;\n", "a.cpp": "return true;\nx = y + 1;\n"}
        first = mutants.draw(files, 7)
        self.assertEqual(first, mutants.draw(dict(reversed(files.items())), 7))
        self.assertNotEqual(first, mutants.draw(files, 8))
        self.assertEqual({place.path for place in first}, {"a.cpp", "b.cpp"})
        for place in first:
            self.assertEqual(files[place.path].splitlines()[place.line - 1], place.before)
            self.assertNotEqual(place.before, place.after)


class Layers(unittest.TestCase):
    def test_all_places_of_this_project_are_code(self):
        texts = {str(path): path.read_text() for path in (REPOSITORY / "src/base").glob("*.cpp")}
        places = mutants.draw(texts, 1)
        self.assertGreater(len(places), 500)
        for place in places:
            self.assertNotRegex(place.before, r"^\s*//")


if __name__ == "__main__":
    unittest.main()
