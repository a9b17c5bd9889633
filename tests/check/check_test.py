#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Long: a case for each breach of each rule.
"""Proves that tools/check.py can fail: seeds one breach of each kind in a copy of the tree's texts
and expects check.py's status to be 1 and its output to name the file and the rule.

    check_test.py REPOSITORY
"""
import contextlib
import copy
import functools
import io
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

REPOSITORY = Path(sys.argv.pop(1) if len(sys.argv) > 1 else Path(__file__).resolve().parents[2])
sys.dont_write_bytecode = True
sys.path.insert(0, str(REPOSITORY / "tools"))
import check  # noqa: E402

HEAD = "// SPDX-License-Identifier: Apache-2.0\n// Seeded by check_test.py.\n"
HEADER = HEAD + "#pragma once\n"
# Split, so that this file does not breach the rules that it tests.
MACHINE = "/ho" + "me/somebody/halyard"
SHARED = ".." + "/shared/data"


# What the seeds concern: without tests, benchmarks and Python's module each rule is quicker.
READ = ("include/", "src/", "docs/", "cmake/", "examples/", "tools/", "scripts/", "CMakeLists.txt",
        "README.md", "Makefile")
TREE = check.Tree(REPOSITORY)
TEXTS = {path: text for path, text in TREE.texts.items() if path.startswith(READ)}


def report(texts, rule, root=None):
    """check.py's exit status and what it prints of these texts."""
    tree = copy.copy(TREE)
    tree.root, tree.texts, tree.breaches, tree.notes = root, texts, [], []
    with contextlib.redirect_stdout(io.StringIO()) as output:
        status = check.report(tree, [rule])
    return status, output.getvalue()


@functools.cache
def report_before(rule):
    return report(TEXTS, rule)


class Seeded(unittest.TestCase):
    def setUp(self):
        self.texts = dict(TEXTS)

    def run_check(self, rule):
        if rule in ("headers", "format"):  # their programs read files
            with self.folder() as folder:
                return report(self.texts, rule, folder)
        return report_before(rule) if self.texts == TEXTS else report(self.texts, rule)

    @contextlib.contextmanager
    def folder(self):
        """The texts as files."""
        with tempfile.TemporaryDirectory() as name:
            for path, text in self.texts.items():
                file = Path(name, path)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(text.encode("utf-8", "surrogateescape"))
            shutil.copy(REPOSITORY / ".clang-format", name)
            yield Path(name)

    def expect(self, rule, named, seed):
        """`seed` breaks the tree; `named` appears in one line of `rule` then, and not before."""
        def naming(output):
            return [line for line in output.splitlines() if named in line and f" {rule}: " in line]
        self.assertEqual(naming(self.run_check(rule)[1]), [], "before the breach")
        seed()
        status, output = self.run_check(rule)
        self.assertEqual(status, 1, output)
        self.assertNotEqual(naming(output), [], f"{named} is not named in:\n{output}")

    def write(self, path, text):
        self.texts[path] = text

    def replace(self, path, old, new):
        self.assertIn(old, self.texts[path])
        self.write(path, self.texts[path].replace(old, new, 1))

    def expect_source(self, rule, text, path="src/tensor/seeded.cpp", named=None):
        self.expect(rule, named or path, lambda: self.write(path, text))

    # layers
    def test_a_layer_that_the_table_does_not_know(self):
        self.expect("layers", "layer bridge is not in", lambda: self.replace(
            "CMakeLists.txt", "halyard_layer(tensor ", "halyard_layer(bridge DEPS base)\n"
            "halyard_layer(tensor "))

    def test_a_layer_that_is_linked_above_another_one(self):
        self.expect("layers", "layer track is linked above", lambda: self.replace(
            "CMakeLists.txt", "halyard_layer(track   DEPS base",
            "halyard_layer(track   DEPS codec"))

    def test_a_layer_that_is_not_built(self):
        self.expect("layers", "layer capture is not built", lambda: self.replace(
            "CMakeLists.txt", "halyard_layer(capture", "# halyard_layer(capture"))

    def test_a_folder_that_is_no_layer(self):
        self.expect_source("layers", HEAD, "src/bridge/deck.cpp")

    def test_a_drawing_that_differs_from_the_table(self):
        self.expect("layers", "draw depends on", lambda: self.replace(
            "docs/architecture.md", "| `image`, `track`, `decode` |", "| `image` |"))

    def test_a_public_header_that_the_page_does_not_list(self):
        self.expect("layers", "public headers of scene differ: ['scene']", lambda: self.replace(
            "docs/architecture.md", "| `decode`, `track` | - | `scene` |",
            "| `decode`, `track` | - | - |"))

    # moves
    def test_a_defaulted_move_beside_a_size(self):
        list_of = ("class Bytes {\n public:\n  Bytes(Bytes&&) noexcept = default;\n"
                   "  std::size_t size() const { return size_; }\n\n private:\n"
                   "  std::unique_ptr<char[]> bytes_;\n  {} size_ = 0;\n}};\n")
        self.write("src/tensor/apart.h", HEADER + list_of.replace("{}", "Moved<std::size_t>")
                   .replace("}}", "}"))
        self.expect("moves", "src/tensor/seeded.h:11", lambda: self.write(
            "src/tensor/seeded.h", HEADER + list_of.replace("{}", "std::size_t")
            .replace("}}", "}")))
        self.assertNotIn("apart.h", self.run_check("moves")[1])

    def test_a_move_that_is_defaulted_elsewhere_beside_a_flag(self):
        self.expect("moves", "moves by default and leaves has_one_ behind", lambda: (
            self.write("src/tensor/seeded.h", HEADER + "class Seeded {\n  Seeded(Seeded&&)"
                       " noexcept;\n  bool has_one_ = false;\n};\n"),
            self.write("src/tensor/seeded.cpp",
                       HEAD + "Seeded::Seeded(Seeded&&) noexcept = default;\n")))

    def test_an_array_that_moves_by_itself_and_leaves_its_address(self):
        self.expect_source("moves", HEAD + "struct Arena {\n  std::unique_ptr<std::byte[]> memory_;"
                           "\n  std::byte* begin_ = nullptr;\n};\n")

    # includes
    def test_a_layer_that_includes_upwards(self):
        self.expect_source("includes", HEAD + '#include "halyard/codec.h"\n')

    def test_a_layer_that_includes_its_neighbour(self):
        self.expect_source("includes", HEAD + '#include "halyard/decode.h"\n',
                           "src/track/seeded.cpp")

    def test_a_layer_that_includes_the_umbrella(self):
        self.expect_source("includes", HEAD + '#include "halyard/halyard.h"\n')

    def test_a_layer_that_includes_private_headers_of_another(self):
        self.expect_source("includes", HEAD + '#include "tensor/write_claim.h"\n',
                           "src/image/seeded.cpp")

    def test_a_public_header_that_includes_a_private_one(self):
        self.expect("includes", "include/halyard/tensor.h", lambda: self.replace(
            "include/halyard/tensor.h", "#pragma once", '#pragma once\n#include "base/checked.h"'))

    def test_a_public_header_that_includes_upwards(self):
        self.expect("includes", "include/halyard/tensor.h", lambda: self.replace(
            "include/halyard/tensor.h", "#pragma once", '#pragma once\n#include "halyard/image.h"'))

    def test_a_public_header_that_no_layer_owns(self):
        self.expect_source("includes", HEADER, "include/halyard/anchor.h")

    def test_a_program_that_includes_private_headers(self):
        self.expect_source("includes", HEAD + '#include "base/checked.h"\n', "examples/seeded.cpp")

    # printing
    def test_a_program_that_prints_without_cleaning(self):
        for call in ('std::printf("%s", name);', "std::fputs(name, stderr);", "std::cout << name;",
                     'fmt::print("{}", name);', "::write(1, name, 3);", "std::puts(name);",
                     "std::fwrite(name, 1, 3, stdout);"):
            with self.subTest(call):
                self.expect_source("printing", HEAD + f"void f() {{ {call} }}\n",
                                   "tools/halyard/seeded.cpp")
                del self.texts["tools/halyard/seeded.cpp"]

    # homes
    def test_an_outside_header_away_from_home(self):
        self.expect_source("homes", HEAD + "#include <jpeglib.h>\n")

    def test_a_kernel_header_away_from_home(self):
        self.expect_source("homes", HEAD + "#include <sys/mman.h>\n", "src/codec/seeded.cpp")

    def test_an_outside_header_without_a_home(self):
        self.expect_source("homes", HEAD + "#include <boost/any.hpp>\n")

    def test_an_outside_header_in_a_public_one(self):
        self.expect("homes", "include/halyard/log.h", lambda: self.replace(
            "include/halyard/log.h", "#pragma once", "#pragma once\n#include <fmt/format.h>"))

    def test_an_adapter_that_includes_a_library_not_its_own(self):
        self.expect("homes", "include/halyard/eigen.h", lambda: self.replace(
            "include/halyard/eigen.h", "#pragma once",
            "#pragma once\n#include <opencv2/core/mat.hpp>"))

    def test_a_system_header_in_a_public_one(self):
        self.expect("homes", "include/halyard/fd.h", lambda: self.replace(
            "include/halyard/fd.h", "#pragma once", "#pragma once\n#include <unistd.h>"))

    # headers
    def drop_sources(self):
        """Leaves next to nothing to compile or to format, so that those rules are quick."""
        self.texts = {path: text for path, text in self.texts.items()
                      if path == "include/halyard/export.h" or
                      not path.startswith(("src/", "tools/halyard/", "include/halyard/"))}
        self.write("include/halyard/halyard.h", HEADER)

    def test_a_header_that_does_not_compile_alone(self):
        self.drop_sources()
        self.expect_source("headers", HEADER + "inline std::size_t anchor() { return 0; }\n",
                           "include/halyard/anchor.h")

    def test_a_header_that_includes_one_that_is_compiled_before(self):
        self.drop_sources()
        self.write(check.BASES[-1], HEADER + "#include <cstddef>\n")
        self.expect_source("headers", f'{HEADER}#include "{check.BASES[-1][8:]}"\n'
                           "std::size_t right;\nstd::vector<int> wrong;\n",
                           "include/halyard/anchor.h", "vector")

    def test_a_header_without_a_guard(self):
        self.drop_sources()
        self.expect_source("headers", HEAD + "struct Anchor {};\n", "include/halyard/anchor.h")

    @unittest.skipUnless(Path("/usr/include/eigen3/Eigen/Core").exists(), "Eigen is not there")
    def test_an_adapter_that_does_not_compile_beside_its_library(self):
        self.drop_sources()
        self.write("include/halyard/eigen.h", HEADER + "#include <Eigen/Core>\n")
        self.expect_source("headers", HEADER + "#include <Eigen/Core>\nEigen::Anchor anchor;\n",
                           "include/halyard/eigen.h")

    def test_an_adapter_of_a_library_that_is_missing_is_noted(self):
        self.drop_sources()
        self.write("include/halyard/eigen.h", HEADER + "#error compiled\n")
        with mock.patch.dict(check.ADAPTERS, eigen=("Eigen/None", "eigen3")):
            status, output = self.run_check("headers")
        self.assertEqual(status, 0, output)
        self.assertIn("note: headers: include/halyard/eigen.h not compiled", output)

    # umbrella
    def test_an_adapter_in_the_umbrella(self):
        self.expect("umbrella", "eigen.h does not belong", lambda: self.replace(
            "include/halyard/halyard.h", "#pragma once",
            '#pragma once\n#include "halyard/eigen.h"'))

    def test_a_header_that_the_umbrella_misses(self):
        self.expect_source("umbrella", HEADER, "include/halyard/anchor.h", "halyard/anchor.h")

    # text
    def test_a_character_that_is_not_ascii(self):
        self.expect_source("text", HEAD + "// \u00e9\n", named="src/tensor/seeded.cpp:3")

    def test_a_trailing_space(self):
        self.expect_source("text", HEAD + "int a; \n", named="src/tensor/seeded.cpp:3")

    def test_a_tab(self):
        self.expect_source("text", HEAD + "\tint a;\n", named="src/tensor/seeded.cpp:3")

    def test_a_line_of_101_columns(self):
        self.expect_source("text", HEAD + "//" + "x" * 99 + "\n", named="src/tensor/seeded.cpp:3")

    def test_no_newline_at_the_end(self):
        self.expect_source("text", HEAD + "int a;", named="src/tensor/seeded.cpp:3")

    # spdx, paths
    def test_no_licence_line(self):
        self.expect_source("spdx", "// A file.\n")

    def test_a_machine_path(self):
        self.expect_source("paths", HEAD + f'const char* where = "{MACHINE}";\n')

    def test_a_machine_path_behind_a_flag(self):
        self.expect_source("paths", "Build with -I" + MACHINE + ".\n", "docs/seeded.md")

    def test_a_path_beside_the_repository(self):
        self.expect_source("paths", f"Data lies in {SHARED}.\n", "docs/seeded.md")

    # environment
    def test_a_variable_that_is_not_listed(self):
        self.expect("environment", "HALYARD_ANCHOR is read", lambda: self.replace(
            "src/base/env.cpp", '"DISABLE_G2D"', '"DISABLE_G2D", "ANCHOR"'))

    def test_a_variable_that_is_not_read(self):
        self.expect("environment", "HALYARD_ANCHOR is listed", lambda: self.replace(
            "docs/env.md", "| `HALYARD_LOG` |", "| `HALYARD_ANCHOR` | x |\n| `HALYARD_LOG` |"))

    def test_the_environment_read_elsewhere(self):
        self.expect_source("environment", HEAD + 'auto* home = std::getenv("HOME");\n')

    # calls
    def test_a_buffer_that_is_opened_outside_of_its_file(self):
        text = HEAD + "int f(PyObject* o, Py_buffer* v) { return PyObject_GetBuffer(o, v, 0); }\n"
        self.expect_source("calls", text, path="python/src/seeded.cpp")

    # examples
    def test_code_in_a_page_that_differs_from_its_source(self):
        function = "static int hoist(int a) {\n  int b = a;\n  return b;\n}\n"
        self.write("examples/seeded.cpp", HEAD + "int hoist(int);\n" + function)
        page = f"<!-- from examples/seeded.cpp: hoist -->\n```cpp\n{function}```\n"
        self.write("docs/seeded.md", page)
        self.expect("examples", "docs/seeded.md",
                    lambda: self.write("docs/seeded.md", page.replace("return b", "return a")))

    def test_code_in_a_page_without_a_source(self):
        self.expect_source("examples", "<!-- from examples/none.cpp: hoist -->\n```cpp\n```\n",
                           "docs/seeded.md")

    # folders
    def test_a_folder_of_26_files(self):
        self.expect("folders", "src/track/crowd:1", lambda: [
            self.write(f"src/track/crowd/part_{i}.h", HEADER) for i in range(26)])

    def test_a_folder_of_25_files_passes(self):
        for i in range(25):
            self.write(f"src/track/crowd/part_{i}.h", HEADER)
        self.assertNotIn("crowd", self.run_check("folders")[1])

    # pairs
    def test_a_function_that_another_file_than_the_one_beside_defines(self):
        declared = (HEADER + "namespace halyard {\nint seeded_value(int a,\n"
                    "    int b) noexcept;\n}\n")
        defined = HEAD + "namespace halyard {\nint seeded_value(int a, int b) noexcept {\n}\n}\n"
        self.write("src/track/right.h", declared.replace("seeded", "right"))
        self.write("src/track/right.cpp", defined.replace("seeded", "right"))
        self.expect("pairs", "src/track/seeded.h:5", lambda: (
            self.write("src/track/seeded.h", declared),
            self.write("src/track/other.cpp", defined)))
        self.assertNotIn("right", self.run_check("pairs")[1])

    # locks
    def test_a_mutex_without_a_rank(self):
        for code in ("std::mutex mutex_;", "mutable std::shared_mutex mutex_;",
                     "std::condition_variable changed_;", "ForkMutex mutex_;",
                     "const ForkLock lock(mutex_);"):
            with self.subTest(code):
                self.expect_source("locks", HEAD + code + "\n", named="src/tensor/seeded.cpp:3")
                del self.texts["src/tensor/seeded.cpp"]

    def test_a_mutex_that_the_page_does_not_list(self):
        self.expect_source("locks", HEAD + "RankedMutex<LockRank::leaf> mutex_;\n")

    def test_a_rank_for_a_time_that_the_page_does_not_list(self):
        self.expect_source("locks", HEAD + "const HeldRank<LockRank::leaf> rank;\n"
                           "const ForkLock lock(mutex_);\n")

    def test_a_mutex_that_is_only_on_the_page(self):
        self.expect("locks", "src/base/log.cpp has no such anchor", lambda: self.replace(
            "docs/threads.md", "| `log_sink` |", "| `leaf` | `src/base/log.cpp` `anchor` |\n"
            "| `log_sink` |"))

    def test_a_mutex_with_another_rank_on_the_page(self):
        self.expect("locks", "no row of mutex with rank log_sink", lambda: self.replace(
            "docs/threads.md", "| `log_sink` |", "| `leaf` |"))

    def test_a_rank_that_the_page_does_not_list(self):
        self.expect("locks", "the ranks differ: anchor is leaf", lambda: self.replace(
            "src/base/system/ranked_mutex.h", "  leaf,\n", "  anchor,\n  leaf,\n"))

    def test_ranks_that_the_page_lists_in_another_order(self):
        self.expect("locks", "the ranks differ: topic_send is topic_receive", lambda: (
            self.replace("docs/threads.md", "2. `topic_send`", "2. `topic_receive`"),
            self.replace("docs/threads.md", "3. `topic_receive`", "3. `topic_send`")))

    # names
    def test_a_private_type_with_the_name_of_a_public_one(self):
        for path in ("src/track/seeded.cpp", "tools/halyard/seeded.cpp"):
            self.expect_source("names", HEAD + "struct Tensor final {\n};\n", path)

    def test_a_function_that_two_files_of_a_layer_define(self):
        text = HEAD + "namespace halyard {\nint hoist(int a) {\n  return a;\n}\n}\n"
        self.write("src/track/first.cpp", text)
        self.write("src/codec/hoist.cpp", text)  # another layer
        self.assertNotIn("hoist", self.run_check("names")[1])
        self.expect_source("names", text, "src/track/second.cpp", "hoist is in")

    def test_a_constant_that_two_files_of_a_suite_define(self):
        text = HEAD + "namespace {\nconstexpr std::size_t sails{3};\n}\n"
        self.write("tests/track/first_test.cpp", text)
        self.write("tests/track/second_test.cpp", text.replace("sails", "masts"))
        self.write("tests/codec/sails_test.cpp", text)  # another suite
        self.assertNotIn("sails", self.run_check("names")[1])
        self.expect_source("names", text, "tests/track/third_test.cpp", "sails is in")

    def test_a_function_that_two_files_of_a_suite_define_for_the_same_arguments(self):
        text = HEAD + "namespace {\nint hoist(int a, bool b) {\n  return a + b;\n}\n}\n"
        self.write("tests/track/first_test.cpp", text)
        self.write("tests/track/second_test.cpp", text.replace("bool b", "double b"))
        self.assertNotIn("hoist", self.run_check("names")[1])
        self.expect_source("names", text.replace("int a", "int c").replace("a + b", "c + b"),
                           "tests/track/third_test.cpp", "hoist")

    def test_a_variable_that_two_files_of_a_layer_define(self):
        for text in ("PyType_Slot sails[] = {{1, nullptr}};", "constexpr Seconds b(1), sails(2);"):
            text = HEAD + "namespace {\n" + text + "\n}\n"
            self.write("python/src/first.cpp", text)
            self.write("python/src/second.cpp", "")
            self.expect_source("names", text, "python/src/second.cpp", "sails is in")

    def test_two_types_with_one_name_in_a_layer(self):
        text = HEAD + "namespace {\nusing Sails = std::vector<int>;\n}\n"
        self.write("src/track/first.cpp", text)
        self.write("src/track/second.cpp", text)
        self.assertNotIn("Sails", self.run_check("names")[1])
        self.expect_source("names", text.replace("<int>", "<char>"), "src/track/third.cpp",
                           "Sails is in")

    def test_a_function_that_python_calls_beside_another_with_its_name(self):
        text = HEAD + "namespace {\nint hoist(int a) {\n  return a;\n}\n}\n"
        self.write("python/src/first.cpp", text)
        self.write("python/src/second.cpp", text.replace("int a)", "double a)"))
        self.assertNotIn("hoist", self.run_check("names")[1])
        self.expect_source("names", HEAD + "void add() {\n  def(\"hoist\", &hoist);\n}\n",
                           "python/src/third.cpp", "hoist is in")

    def test_a_variable_with_the_name_of_a_function_of_its_suite(self):
        text = HEAD + "namespace {\nint hoist(int a) {\n  return a;\n}\n}\n"
        self.write("tests/track/first_test.cpp", text)
        self.assertNotIn("hoist", self.run_check("names")[1])
        self.expect_source("names", HEAD + "namespace {\nconst int hoist = 3;\n}\n",
                           "tests/track/second_test.cpp", "hoist is in")

    def test_a_function_that_hides_a_declared_one_from_the_sources_behind_it(self):
        text = HEAD + "namespace halyard {\nnamespace {\n\nint hoist(int a) {\n  return a;\n}\n\n}"
        text += "  // namespace\n}\n"
        self.write("python/src/first.cpp", text)
        self.assertNotIn("hoist", self.run_check("names")[1])
        self.expect_source("names", HEADER + "namespace halyard {\nint hoist(double a);\n}\n",
                           "python/src/second.h", "python/src/first.cpp:1: names: hoist is in")

    # words
    def test_words_that_others_have_replaced(self):
        for line in ("// A pic" "ture of the sea.", "int mo" "st_rows = 0;",
                     "HALYARD_CH" "ECK(status);", "// Good un" "til the next call.",
                     "// Boxes that are tur" "ned.", "// The header sa" "ys it."):
            with self.subTest(line):
                self.expect_source("words", HEAD + line + "\n", named="src/tensor/seeded.cpp:3")
                del self.texts["src/tensor/seeded.cpp"]

    # length
    def test_a_file_of_401_lines(self):
        self.expect_source("length", HEAD + "\n" * 399)

    def test_a_long_file_that_gives_its_reason_passes(self):
        self.write("src/tensor/seeded.cpp", HEAD + "// Long: one row per format.\n" + "\n" * 500)
        self.assertNotIn("seeded", self.run_check("length")[1])

    def test_a_function_of_41_lines(self):
        body = "int f() {\n" + "  g();\n" * 39 + "}\n"
        text = HEAD + "namespace a {\nclass B {\n" + body + "};\n}\n"
        for path in ("src/tensor/seeded.cpp", "python/src/seeded.cpp"):
            with self.subTest(path):
                self.expect_source("length", text, path, f"{path}:5")
                self.write(path, text.replace("  g();\n", "", 1))
                self.assertNotIn("seeded", self.run_check("length")[1])

    # format
    @unittest.skipUnless(shutil.which("clang-format-14"), "clang-format-14 is not installed")
    def test_code_that_clang_format_would_change(self):
        self.drop_sources()
        self.expect_source("format", HEAD + "int  a;\n", named="src/tensor/seeded.cpp:3")

    # the command line
    def run_program(self, *words):
        return subprocess.run([sys.executable, "-B", REPOSITORY / "tools/check.py", *words],
                              capture_output=True, text=True, check=False)

    def test_the_files_of_a_root_are_checked(self):
        for text, status in ((HEAD, 0), ("// A file.\n", 1)):
            self.write("src/tensor/seeded.cpp", text)
            with self.folder() as folder:
                done = self.run_program("--root", folder, "--only", "spdx", "--only", "paths")
            self.assertEqual((done.returncode, done.stderr), (status, ""))
            self.assertEqual(done.stdout.startswith("src/tensor/seeded.cpp:1: spdx: "), status == 1)
            self.assertIn(f" files, 2 rules, {status} breaches", done.stdout)

    def test_an_unknown_rule_and_a_wrong_root_are_refused(self):
        for words in (["--only", "nonsense"], ["--root", str(REPOSITORY / "docs")]):
            done = self.run_program(*words)
            self.assertEqual(done.returncode, 2)
            self.assertIn(words[1], done.stderr)


if __name__ == "__main__":
    unittest.main()
