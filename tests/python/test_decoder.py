# SPDX-License-Identifier: Apache-2.0
"""Decoder: constructors, calls, settings, results, bad input."""
import gc
import json
import sys

import numpy as np
import pytest

import halyard as ef
import models
from helpers import fails, in_threads

BOXES = models.pixels([box for box, _, _ in models.OBJECTS])


def check(boxes, scores, classes, dtype=np.int64):
    assert (boxes.dtype, scores.dtype, classes.dtype) == (np.float32, np.float32, dtype)
    assert boxes.flags.c_contiguous and boxes.flags.writeable and boxes.flags.owndata
    assert np.allclose(boxes, BOXES, atol=1e-2)
    assert np.allclose(scores, [0.9, 0.7]) and classes.tolist() == [2, 0]


@pytest.mark.parametrize("make", [
    models.tensor, lambda a: a, lambda a: np.asfortranarray(a), lambda a: a[:, ::-1][:, ::-1],
    lambda a: np.ascontiguousarray(a.transpose(0, 2, 1)).transpose(0, 2, 1),
    lambda a: a.astype(np.float16), memoryview])
@pytest.mark.parametrize("sequence", [list, tuple])
def test_outputs_of_many_kinds_are_read(make, sequence):
    found = models.decoder().decode(sequence([make(models.detection_output())]))
    boxes, scores, classes = models.arrays(found)
    assert isinstance(found, ef.Detections) and found.masks is None
    assert np.allclose(boxes, BOXES, atol=1) and classes.tolist() == [2, 0]
    assert np.allclose(scores, [0.9, 0.7], atol=1e-3)


def test_results_have_the_documented_types():
    found = models.decoder().decode([models.tensor(models.detection_output())])
    check(*models.arrays(found))


def test_nothing_found_is_empty_arrays():
    empty = models.decoder().decode([models.detection_output([])])
    assert [a.shape for a in models.arrays(empty)] == [(0, 4), (0,), (0,)] and len(empty) == 0


def test_the_dict_json_and_yaml_constructors_agree():
    config = models.config()
    as_lists = json.loads(json.dumps(config))
    yaml = """
outputs:
  - type: detection
    decoder: ultralytics
    normalized: true
    shape: [1, 9, 400]
    dshape: [[batch, 1], [num_features, 9], [num_boxes, 400]]
"""
    with_numpy = models.config()
    with_numpy["outputs"][0]["shape"] = np.array([1, 9, 400])
    with_numpy["outputs"][0]["dshape"][0] = ("batch", np.int64(1))
    size = dict(input_dims=models.INPUT)
    for decoder in (ef.Decoder(config, 0.5, 0.45, **size), ef.Decoder(config=as_lists, **size),
                    ef.Decoder(with_numpy, **size),
                    ef.Decoder.new_from_json_str(json.dumps(config), **size),
                    ef.Decoder.new_from_yaml_str(yaml, score_threshold=0.2, **size)):
        check(*models.arrays(decoder.decode([models.detection_output()])))


def test_defaults_are_one_and_those_of_edgefirst_its_own():
    text, size = json.dumps(models.config()), dict(input_dims=models.INPUT)
    for package, score, iou in ((ef, 0.25, 0.45), (ef.edgefirst, 0.1, 0.7)):
        for decoder in (package.Decoder(models.config(), **size),
                        package.Decoder.new_from_json_str(text, **size),
                        package.Decoder.new_from_yaml_str(text, **size)):
            assert decoder.score_threshold == pytest.approx(score)
            assert decoder.iou_threshold == pytest.approx(iou)
    output = [ef.Output.detection(shape=[1, 9, 400])]
    decoder, theirs = (package.Decoder.new_from_outputs(output) for package in (ef, ef.edgefirst))
    assert decoder.score_threshold == theirs.score_threshold == pytest.approx(0.25)
    assert decoder.iou_threshold == theirs.iou_threshold == pytest.approx(0.45)
    assert (decoder.pre_nms_top_k, decoder.max_det) == (30000, 300)
    assert decoder.nms == ef.Nms.ClassAware and theirs.nms == ef.Nms.ClassAgnostic
    assert decoder.input_dims is None


def test_every_constructor_has_the_defaults_of_the_library():
    text = json.dumps(models.config())
    size = dict(input_dims=models.INPUT)
    for decoder in (ef.Decoder(models.config(), **size),
                    ef.Decoder.new_from_json_str(text, **size),
                    ef.Decoder.new_from_yaml_str(text, **size),
                    ef.Decoder.new_from_outputs([ef.Output.detection(shape=[1, 9, 400])])):
        assert decoder.score_threshold == pytest.approx(0.25)
        assert decoder.iou_threshold == pytest.approx(0.45)
        assert (decoder.pre_nms_top_k, decoder.max_det) == (30000, 300)
        assert decoder.nms is ef.Nms.ClassAware
    assert decoder.input_dims is None
    for make in (ef.Decoder.__init__, ef.Decoder.new_from_json_str, ef.Decoder.new_from_yaml_str,
                 ef.Decoder.new_from_outputs):
        assert "score_threshold: float = 0.25, iou_threshold: float = 0.45, " in make.__doc__


def test_settings_are_read_and_written():
    decoder = models.decoder(input_dims=(640, 320), nms=ef.Nms.ClassAware)
    assert decoder.input_dims == (640, 320) and decoder.nms is ef.Nms.ClassAware
    assert models.decoder(nms=None).nms is None
    decoder.score_threshold = 0.8
    assert len(decoder.decode([models.detection_output()])) == 1
    decoder.score_threshold, decoder.max_det = 0.1, 1
    assert len(decoder.decode([models.detection_output()])) == 1
    decoder.max_det, decoder.pre_nms_top_k, decoder.iou_threshold = 300, 0, 0.5
    assert len(decoder.decode([models.detection_output()])) == 2
    assert len(decoder.decode([models.detection_output()], max_boxes=1)) == 1
    for name in ("max_det", "pre_nms_top_k"):
        fails(OverflowError, name, lambda: setattr(decoder, name, -1))
        fails(TypeError, lambda: setattr(decoder, name, 1.5))
    with pytest.raises(ValueError):
        decoder.score_threshold = float("nan")
    for name in ("nms", "input_dims", "normalized_boxes"):
        fails(AttributeError, lambda: setattr(decoder, name, None))
    assert decoder.normalized_boxes is False


def test_masks_are_cut_at_their_boxes():
    outputs = [models.detection_output(extra=models.PROTOS), models.prototypes()]
    check(*models.arrays(models.segmenter().decode(outputs)))
    found = models.segmenter(ef.edgefirst).decode(outputs)
    assert len(found.masks) == 2
    for mask in found.masks:
        assert mask.dtype == np.uint8 and mask.ndim == 3 and mask.shape[2] == 1
    # The second box lies on prototype 1, which is on everywhere: sigmoid(4) * 255.
    assert found.masks[1].min() == found.masks[1].max() == 250


def test_prototypes_can_be_taken_once():
    outputs = [models.detection_output(extra=models.PROTOS), models.prototypes()]
    found = models.segmenter().decode_proto(outputs)
    check(found.boxes, found.scores, found.classes, np.uintp)
    boxes, scores, classes, protos = found
    assert (boxes is found.boxes is found.xyxy and scores is found.scores is found.confidence
            and classes is found.classes is found.class_id and protos is found.protos)
    assert isinstance(found, ef.ProtoDetections) and (found.unit, len(found)) == ("pixels", 4)
    assert found.protos.layout == "nhwc" and len(found.protos) == 2
    taken = found.protos.take_protos()
    assert taken.shape == (models.SIDE, models.SIDE, models.PROTOS)
    assert found.protos.take_protos() is None
    assert found.protos.take_mask_coefficients().shape == (2, models.PROTOS)
    assert found.protos.take_mask_coefficients() is None
    assert models.decoder().decode_proto([models.detection_output()]).protos is None
    theirs = models.segmenter(ef.edgefirst).decode_proto(outputs)
    assert isinstance(theirs, tuple) and len(theirs) == 4
    assert [type(each).__name__ for each in theirs] == ["ndarray"] * 3 + ["ProtoData"]


def test_decode_tracked_names_what_it_finds():
    tracker, decoder = ef.ByteTrack(), models.decoder()
    first = decoder.decode_tracked(tracker, 1000, [models.detection_output()])
    active = tracker.get_active_tracks()
    assert first.tracker_uuid.tolist() == [t.info.uuid for t in active] and len(active) == 2
    assert first.tracker_id.tolist() == [1, 2] and not first.is_coasting.any()
    assert np.allclose(first.xyxy, BOXES, atol=0.1) and first.class_id.tolist() == [2, 0]
    second = [models.detection_output(models.OBJECTS[1:])]
    again = decoder.decode_tracked(tracker, 2000, second)
    assert again.tracker_id.tolist() == [2]
    again = decoder.decode_tracked(tracker, 3000, second, coasting=True)
    assert again.tracker_id.tolist() == [2, 1] and again.is_coasting.tolist() == [False, True]
    assert again.tracker_uuid.tolist() == first.tracker_uuid[::-1].tolist()
    fails(TypeError, lambda: decoder.decode_tracked(None, 3000, [models.detection_output()]))


@pytest.mark.parametrize("outputs, error, text", [
    (models.detection_output(), TypeError, "model_output"), (None, TypeError, "model_output"),
    ([3], TypeError, "model_output"), (["a"], TypeError, "model_output"),
    ([None], TypeError, "model_output"), ([], RuntimeError, ""),
    ([np.zeros((1, 9, 400), ">f4")], (TypeError, ValueError), "model_output"),
    ([np.zeros((1, 8, 400), np.float32)], RuntimeError, ""),
    ([np.zeros((0, 9, 400), np.float32)], RuntimeError, ""),
    ([np.zeros((1, 9, 400), np.complex64)], (TypeError, RuntimeError), ""),
    ([np.zeros((1, 9, 400), object)], (TypeError, RuntimeError), "")])
def test_bad_outputs_are_refused(outputs, error, text):
    decoder = models.decoder()
    for call in (decoder.decode, decoder.decode_proto):
        fails(error, text or None, lambda: call(outputs))
    check(*models.arrays(decoder.decode([models.detection_output()])))


@pytest.mark.parametrize("most, error", [(-1, OverflowError), ("a", TypeError), (1.5, TypeError)])
def test_max_boxes_is_a_count(most, error):
    fails(error, "max_boxes", lambda: models.decoder().decode([models.detection_output()], most))


@pytest.mark.parametrize("config", [{}, {"outputs": []}, {"outputs": 3}, {"outputs": [{}]},
                                    {"schema_version": 99, "outputs": []}])
def test_bad_configurations_are_runtime_errors(config):
    fails(RuntimeError, lambda: ef.Decoder(config))
    fails(RuntimeError, lambda: ef.Decoder.new_from_json_str(json.dumps(config)))


def test_documents_that_are_none_are_refused():
    fails(RuntimeError, lambda: ef.Decoder.new_from_json_str("{"))
    fails(RuntimeError, lambda: ef.Decoder.new_from_yaml_str("a: ["))
    fails(TypeError, lambda: ef.Decoder("config.json"))
    fails(TypeError, lambda: ef.Decoder({"outputs": [object()]}))
    fails(RuntimeError, lambda: ef.Decoder.new_from_outputs([]))
    fails((TypeError, RuntimeError), lambda: ef.Decoder.new_from_outputs([3]))
    fails(RuntimeError, "99|not supported",
          lambda: ef.Decoder({"schema_version": 99, "outputs": models.config()["outputs"]}))


@pytest.mark.parametrize("dims, error", [((640,), TypeError), (640, TypeError),
                                         ((-1, 2), OverflowError), (("a", 2), TypeError)])
def test_input_dims_are_two_counts(dims, error):
    fails(error, "input_dims", lambda: models.decoder(input_dims=dims))


@pytest.mark.parametrize("kind", ["detection", "boxes", "scores", "protos", "segmentation",
                                  "mask_coefficients", "mask", "classes"])
def test_output_factories(kind):
    make = getattr(ef.Output, kind)
    assert kind in repr(make(shape=[1, 2, 3]))
    made = make(dshape=[(ef.DimName.Batch, 1), (ef.DimName.Height, 2), (ef.DimName.Width, 3)],
                decoder=ef.DecoderType.ModelPack)
    assert made.with_quantization(0.5, 3) is made
    for wrong in ({}, dict(shape=[1], dshape=[(ef.DimName.Batch, 1)])):
        fails(ValueError, lambda: make(**wrong))
    fails(TypeError, lambda: make(dshape=[3]))
    fails(OverflowError, lambda: make(shape=[-1]))
    if kind == "detection":
        assert made.with_anchors([(0.1, 0.2)]) is made
        fails(ValueError, lambda: made.with_anchors([(1, 2, 3)]))
    else:
        fails(ValueError, lambda: made.with_anchors([(0.1, 0.2)]))
    if kind in ("detection", "boxes"):
        assert made.with_normalized(True) is made
    else:
        fails(ValueError, lambda: made.with_normalized(True))


def test_stored_integers_are_read_with_their_scale():
    scale, zero = 1 / 255, -128
    stored = np.clip(np.round(models.detection_output() / scale) + zero, -128, 127).astype(np.int8)
    output = ef.Output.detection(shape=[1, 9, 400]).with_quantization(scale, zero)
    decoder = ef.Decoder.new_from_outputs([output.with_normalized(True)],
                                          input_dims=models.INPUT)
    boxes, scores, classes = models.arrays(decoder.decode([stored]))
    assert np.allclose(boxes, BOXES, atol=5) and classes.tolist() == [2, 0]


def test_threads_share_a_decoder():
    decoder, outputs = models.decoder(), [models.detection_output()]

    def work(_):
        for i in range(100):
            check(*models.arrays(decoder.decode(outputs)))
            decoder.iou_threshold = 0.4 + i / 1000

    in_threads(work, range(4))


def test_many_calls_leak_nothing():
    decoder, outputs = models.decoder(), [models.detection_output()]
    tracker = ef.ByteTrack()
    array = outputs[0]
    none_before, array_before = sys.getrefcount(ef.Nms.Auto), sys.getrefcount(array)
    gc.collect()
    before = len(gc.get_objects())
    for i in range(1000):
        decoder.decode(outputs)
        decoder.decode_tracked(tracker, i, outputs)
    for _ in range(100_000):
        decoder.score_threshold
        decoder.nms
    gc.collect()
    assert len(gc.get_objects()) - before < 100
    assert sys.getrefcount(array) == array_before
    assert abs(sys.getrefcount(ef.Nms.Auto) - none_before) < 5
