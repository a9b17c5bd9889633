# SPDX-License-Identifier: Apache-2.0
"""Calls with arguments that do not fit: Python's words, whoever is called."""
import inspect
import sys

import numpy as np
import pytest

import halyard
import models
from helpers import fails, run_python
from halyard import _calls, _core, edgefirst


def image():
    return halyard.Tensor.image(8, 8, "rgb", "heap")


def reference():
    output = edgefirst.Output.detection(shape=[1, 9, 400])
    return edgefirst.Decoder.new_from_outputs([output])


P = halyard.ImageProcessor
WRONG = [
    (lambda: models.decoder().decode([1], confidence=0.3),
     "decode() got an unexpected keyword argument 'confidence'; 'score_threshold' is an attribute "
     "of Decoder"),
    (lambda: models.decoder().decode([1], maxboxes=3),
     "decode() got an unexpected keyword argument 'maxboxes'; did you mean 'max_boxes'?"),
    (lambda: models.decoder().decode([1], zzz=3),
     "decode() got an unexpected keyword argument 'zzz'; it takes model_output, max_boxes and "
     "batch"),
    (lambda: models.decoder().decode(),
     "decode() missing 1 required positional argument: 'model_output'"),
    (lambda: models.decoder().decode([1], 2, 3, 4),
     "decode() takes from 2 to 4 positional arguments but 5 were given"),
    (lambda: models.decoder().decode([1], model_output=[1]),
     "decode() got multiple values for argument 'model_output'"),
    (lambda: models.decoder().decode(None), "model_output: must be a sequence, not NoneType"),
    (lambda: reference().decode([1], confidence=0.3),
     "decode() got an unexpected keyword argument 'confidence'; 'score_threshold' is an attribute "
     "of Decoder"),
    (lambda: halyard.Decoder({}, confidence=0.3),
     "Decoder() got an unexpected keyword argument 'confidence'; did you mean 'score_threshold'?"),
    (lambda: halyard.Decoder(), "Decoder() missing 1 required positional argument: 'config'"),
    (lambda: halyard.Decoder.decode(3, [1]), "self: must be a Decoder, not int"),
    (lambda: halyard.Tensor([2], typ="f4"),
     "Tensor() got an unexpected keyword argument 'typ'; did you mean 'dtype'?"),
    (lambda: edgefirst.Tensor([2], typ="f4"),
     "Tensor() got an unexpected keyword argument 'typ'; did you mean 'dtype'?"),
    (lambda: halyard.Tensor.image(8, 8), "image() missing 1 required positional argument: "
     "'format'"),
    (lambda: halyard.Tensor.load("x", fmt="rgb"),
     "load() got an unexpected keyword argument 'fmt'; did you mean 'format'?"),
    (lambda: image().set_format(), "set_format() missing 1 required positional argument: "
     "'format'"),
    (lambda: P(thread=3),
     "ImageProcessor() got an unexpected keyword argument 'thread'; did you mean 'threads'?"),
    (lambda: edgefirst.ImageProcessor(thread=3),
     "ImageProcessor() got an unexpected keyword argument 'thread'; did you mean 'threads'?"),
    (lambda: P().convert(image(), image(), rotate=90),
     "convert() got an unexpected keyword argument 'rotate'; did you mean 'rotation'?"),
    (lambda: P().convert(image()), "convert() missing 1 required positional argument: 'dst'"),
    (lambda: P().draw_masks(3, [], image()), "decoder: must be a Decoder, not int"),
    (lambda: P().draw_masks(models.decoder(), [], image(), trackr=3),
     "draw_masks() got an unexpected keyword argument 'trackr'; did you mean 'tracker'?"),
    (lambda: P().materialize_masks([], [], [], 3), "proto_data: must be a ProtoData, not int"),
    (lambda: halyard.ByteTrack(conf=0.3),
     "ByteTrack() got an unexpected keyword argument 'conf'; did you mean 'high_conf'?"),
    (lambda: halyard.OcSort(is_class_aware=None), "is_class_aware: must be a bool, not NoneType"),
    (lambda: setattr(models.decoder(), "score_threshold", None),
     "score_threshold: must be a number, not NoneType"),
    (lambda: halyard.ActiveTrackInfo(1, [0, 0, 1, 1], 0.5, 1),
     "track_info: must be a TrackInfo, not int"),
    (lambda: halyard.set_output_format(frmat="rgb"),
     "set_output_format() got an unexpected keyword argument 'frmat'; did you mean 'format'?"),
    (lambda: halyard.DecodeLimits(1), "DecodeLimits() takes 1 positional argument but 2 were "
     "given"),
    (lambda: halyard.Engine("x", threds=1),
     "Engine() got an unexpected keyword argument 'threds'; did you mean 'threads'?"),
    (lambda: halyard.Model(3), "model: must be a str or os.PathLike, not int"),
    (lambda: halyard.imread(3), "path: must be a str or os.PathLike, not int"),
    (lambda: halyard.open(3.0), "source: must be a path, an address, the number of a camera or a "
                                "Topic, not float"),
]


@pytest.mark.parametrize("call, text", WRONG, ids=[text[:60] for _, text in WRONG])
def test_what_does_not_fit_is_said_in_the_words_of_python(call, text):
    raised = fails(TypeError, call)
    assert str(raised) == text
    assert "incompatible" not in str(raised.__context__)


@pytest.mark.parametrize("call", [
    lambda: halyard.Tracker("sort", conf=0.3), lambda: halyard.imread("x", fmt="rgb"),
    lambda: halyard.open("x", looped=1), lambda: halyard.Model("x.onnx", imgsz=3),
    lambda: halyard.imwrite("x.png"), lambda: halyard.Overlay(colour=3)])
def test_functions_of_python_have_them_too(call):
    fails(TypeError, "unexpected keyword argument|missing 1 required", call)


def functions():
    """All functions of the extension: of the module, of its classes, and setters."""
    nb = ("nb_func", "nb_method")
    for name, each in vars(_core).items():
        if type(each).__name__ in nb:
            yield name, each
        for key, member in vars(each).items() if inspect.isclass(each) else ():
            member = member.fset if isinstance(member, property) else member
            if type(member).__name__ in nb:
                yield f"{name}.{key}", member


FUNCTIONS = dict(functions())


def test_every_function_of_the_extension_tells_what_does_not_fit():
    assert len(FUNCTIONS) > 400
    for name, function in FUNCTIONS.items():
        signatures = [_calls._signature(each[0]) for each in function.__nb_signature__]
        if any(each.takes_any for each in signatures):
            continue
        try:
            # An operator says so, and Python asks the other side.
            assert function(**{"no_such_keyword": 1}) is NotImplemented, name
            continue
        except TypeError as error:
            text = str(error)
        assert "got an unexpected keyword argument 'no_such_keyword'" in text, (name, text)


def test_failed_calls_hold_nothing():
    decoder, value = models.decoder(), object()
    counts = sys.getrefcount(decoder), sys.getrefcount(value)
    for _ in range(100):
        fails(TypeError, lambda: decoder.decode(value, nothing=value),
              lambda: decoder.decode(value, value, value, value),
              lambda: halyard.Decoder(value, nothing=value))
    assert (sys.getrefcount(decoder), sys.getrefcount(value)) == counts


@pytest.mark.parametrize("explain", ["1 / 0", "None"])
def test_what_cannot_be_explained_keeps_the_list_of_signatures(explain):
    program = ("import halyard, halyard._calls\n"
               f"halyard._calls.explain = lambda *_: {explain}\n"
               "try:\n    halyard.Decoder(1, 2, nothing=3)\n"
               "except TypeError as error:\n    print(error, error.__context__)")
    done = run_python("-c", program, timeout=100)
    assert "__init__(): incompatible function arguments" in done.stdout, done.stderr
    assert done.stdout.endswith("None\n")
    assert _calls.explain(FUNCTIONS["Decoder.decode"], [models.decoder(), [1]], {}) is None


def test_errors_of_arguments_that_fit_stay_as_they_are():
    fails(TypeError, "^dst: must be a Tensor, not int$", lambda: P().convert(image(), 3))
    fails(TypeError, "^width: must be an int, not str$",
          lambda: halyard.Tensor.image("8", 8, "rgb"))
    fails(ValueError, "is not a known pixel format", lambda: halyard.Tensor.image(8, 8, "rbg"))
    assert models.decoder() != 3 and not models.decoder() == np.zeros(1)


class TestFunctionsOfPython:
    """Those that are written in Python name what an unknown keyword may mean."""

    def network(self):
        return halyard.Model(engine=lambda array: np.zeros((1, 6, 400), np.float32),
                             input_size=(64, 64))

    @pytest.mark.parametrize("call, says", [
        (lambda self: self.network()(np.zeros((8, 8, 3), np.uint8), confidence=0.3),
         "Model() got an unexpected keyword argument 'confidence'; did you mean 'conf'?"),
        (lambda self: halyard.Model("m.onnx", lables=["a"]),
         "Model() got an unexpected keyword argument 'lables'; did you mean 'labels'?"),
        (lambda self: self.network().stream("x", score_threshold=0.3),
         "stream() got an unexpected keyword argument 'score_threshold'; did you mean 'conf'?"),
        (lambda self: self.network().val({}, "x", presets="hal"),
         "val() got an unexpected keyword argument 'presets'; did you mean 'preset'?"),
        (lambda self: halyard.open("x", picture_rat=2),
         "open() got an unexpected keyword argument 'picture_rat'; did you mean 'picture_rate'?"),
        (lambda self: halyard.imread("x", fromat="rgb"),
         "imread() got an unexpected keyword argument 'fromat'; did you mean 'format'?"),
        (lambda self: halyard.Tracker(zzzzzz=1),
         "Tracker() got an unexpected keyword argument 'zzzzzz'; it takes kind, "),
        (lambda self: halyard.Detections([[0, 0, 1, 1]], scores=[1]),
         "Detections() got an unexpected keyword argument 'scores'"),
    ])
    def test_name_the_parameter(self, call, says):
        raised = fails(TypeError, lambda: call(self))
        assert str(raised).startswith(says)

    def test_leave_all_other_errors_as_they_are(self):
        fails(TypeError, "missing 1 required positional argument: 'path'", lambda: halyard.imread())

        def breaks(array):
            raise TypeError("of the engine")

        with pytest.raises(TypeError, match="of the engine"):
            halyard.Model(engine=breaks, input_size=(8, 8))(np.zeros((8, 8, 3), np.uint8))

    def test_show_their_signature(self):
        assert "conf: 'float' = 0.25" in str(inspect.signature(halyard.Model.__call__))
        assert halyard.open.__doc__ and halyard.open.__name__ == "open"
