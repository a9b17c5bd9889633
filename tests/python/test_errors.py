# SPDX-License-Identifier: Apache-2.0
"""Exception classes: what programs may catch, and that they travel between processes."""
import pickle

import pytest

import halyard as ef
from halyard import _errors
from helpers import fails


@pytest.mark.parametrize("kind", sorted(set(_errors.BY_CODE.values()), key=lambda k: k.__name__))
def test_every_class_is_a_runtime_error_and_pickles(kind):
    raised = kind("width: must be 1..65535 (0)", "invalid_argument", 7)
    assert isinstance(raised, RuntimeError) and isinstance(raised, ef.Error)
    back = pickle.loads(pickle.dumps(raised))
    assert type(back) is kind
    assert (str(back), back.code, back.errno) == (str(raised), "invalid_argument", 7)


def test_kinds_are_those_that_python_programmers_catch():
    assert issubclass(ef.InvalidArgumentError, ValueError)
    assert issubclass(ef.MissingFileError, FileNotFoundError)
    assert issubclass(ef.AccessError, PermissionError)
    assert issubclass(ef.OutOfMemoryError, MemoryError)


@pytest.mark.parametrize("call", [
    ef.load, ef.imread, ef.Tensor.load, ef.Tensor.peek_image_info_file,
    lambda path: ef.Tensor.image(8, 8, "rgb").decode_image_file(path),
    lambda path: ef.Tensor.load(path, "nv12", limits=ef.DecodeLimits(max_pixels=1))])
def test_errors_of_files_name_the_file(call, tmp_path):
    png = ef.Tensor.image(8, 8, "rgb").to_png()
    for name, data in (("noise.jpg", b"nonsense"), ("cut.png", png[:40]), ("empty", b"")):
        (tmp_path / name).write_bytes(data)
        fails(RuntimeError, name, lambda: call(tmp_path / name))
    fails(FileNotFoundError, "missing.png", lambda: call(tmp_path / "missing.png"))


@pytest.mark.parametrize("call, text", [
    (lambda: ef.Tensor([2]).set_quantization_per_tensor(1, 0), "float32"),
    (lambda: ef.Tensor.image(4, 4, "nv12").to_png(), "uint8 nv12"),
    (lambda: ef.DepthImage(8, 8, "int8"), "float32 .* uint16 .* int8"),
    (lambda: ef.Tensor.image(4, 4, "rgb").to_jpeg(0), "^quality must be 1 to 100"),
    (lambda: ef.Tensor.image(4, 4, "rgb").to_png(99), "^compression must be"),
    (lambda: ef.ImageProcessor().convert(ef.Tensor([2]), ef.Tensor.image(4, 4, "rgb")),
     "set_format")])
def test_errors_are_in_the_words_of_python(call, text):
    caught = fails(RuntimeError, text, call)
    for word in ("with_format", "options.", "::", " u8", " f32", " i8", " u16"):
        assert word not in str(caught)


def test_keys_of_parties_keep_their_own_words():
    fails(ef.InvalidArgumentError, "f32", lambda: ef.AttributeList("app", {"g.heaps": "f32"}))
