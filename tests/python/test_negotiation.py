# SPDX-License-Identifier: Apache-2.0
"""AttributeList and reconcile(): what was agreed, or who disagrees about what."""
import enum
import json
import os
import pickle
import subprocess

import numpy as np
import pytest

from parties import app
from helpers import fails

import halyard as ef


# AttributeList
def test_a_list_shows_what_was_said():
    attrs = app()
    attrs["t.row_align"] = 64
    attrs.set("g.base_align", np.int64(128), source="data sheet")
    attrs.accept("NHWC", 3, {"t.cpad": 4})
    assert attrs.party == "app" and attrs.engine == "" and attrs.optional is None
    assert attrs.attributes["t.row_align"] == "64 B"
    assert attrs.attributes["t.dtype"] == "u8"
    assert attrs.attributes["g.base_align"] == "128 B"
    assert [tag for tag, _, _ in attrs.alternatives] == ["NHWC"]
    assert attrs.alternatives[0][1:] == (3, {"t.cpad": "4 channels"})
    assert repr(attrs).startswith("AttributeList('app', ")


def test_a_copy_is_independent():
    attrs = app()
    other = attrs.copy()
    other["t.row_align"] = 64
    assert "t.row_align" not in attrs.attributes
    attrs["t.row_align"] = 32
    assert other.attributes["t.row_align"] == "64 B"


class Colour(enum.Enum):
    CACHED = 5


@pytest.mark.parametrize("key, value, shown", [
    ("t.dtype", np.float32, "f32"), ("t.dtype", "float16", "f16"), ("t.dtype", "f16", "f16"),
    ("g.policy", Colour.CACHED, "cached"), ("g.heaps", ("memfd", "dmabuf.cma"),
                                            "{memfd, dmabuf.cma}"),
    ("g.heaps", {"memfd"}, "{memfd}"), ("t.row_align", np.uint8(64), "64 B"),
    ("g.contig", True, "true"),
])
def test_values_are_those_of_python(key, value, shown):
    assert ef.AttributeList("x", {key: value}).attributes[key] == shown


@pytest.mark.parametrize("key, value, error, text", [
    ("t.rowalign", 64, FileNotFoundError, "t.rowalign"),
    ("t.row_align", "wide", ValueError, "t.row_align"),
    ("t.row_align", -1, ValueError, "t.row_align"), ("t.row_align", 0, ValueError, "t.row_align"),
    ("t.row_align", object(), TypeError, "object"),
    ("t.row_align", float("nan"), ValueError, "JSON"), ("t.dtype", "u7", ValueError, "u7"),
    (7, 7, TypeError, "key")])
def test_a_wrong_value_names_the_key(key, value, error, text):
    attrs = ef.AttributeList("npu")
    fails(error, text, lambda: attrs.set(key, value))
    assert attrs.attributes == {}


def test_a_key_is_set_once():
    attrs = ef.AttributeList("npu", {"t.row_align": 64})
    with pytest.raises(ef.SystemCallError) as caught:
        attrs["t.row_align"] = 32
    assert caught.value.code == "exists"
    assert "npu" in str(caught.value) and "64 B" in str(caught.value) and "32" in str(caught.value)
    assert attrs.attributes["t.row_align"] == "64 B"


@pytest.mark.parametrize("arguments, error, text", [
    (dict(engine="dlb"), FileNotFoundError, "dlb"),
    (dict(engine="egl.dmabuf", settings={"pitch": 1}), ValueError, "pitch"),
    (dict(settings={"pitch_align": 1}), ValueError, "settings"),
    (dict(keys=[1]), TypeError, "keys"), (dict(process=-1), OverflowError, "process"),
    (dict(optional="yes"), TypeError, "optional"), (dict(engine=3), TypeError, "engine")])
def test_a_wrong_argument_is_named(arguments, error, text):
    fails(error, text, lambda: ef.AttributeList("gpu", **arguments))


def test_a_wrong_layout_is_named():
    attrs = ef.AttributeList("gpu")
    fails(ValueError, "tag", lambda: attrs.accept("NWHC"))
    with pytest.raises(ef.Error, match="NHWC"):
        attrs.accept("NHWC")
        attrs.accept("nhwc")
    attrs.accept(ef.PixelFormat.Nv12)
    assert [tag for tag, _, _ in attrs.alternatives] == ["NHWC", "nv12"]


# reconcile
def test_rows_are_those_that_all_accept():
    result = ef.reconcile([app(), ef.AttributeList("npu", {"t.row_align": 64})])
    assert result.outputs["t.strides"] == [3 * 64 * 128, 64 * 128, 128, 1]
    assert result.size_bytes <= result.allocated_bytes and result.count == 1
    assert result.heap == result.heaps[0] == "heap"
    (said,) = result.explain("t.row_align")
    assert said["party"] == "npu" and said["value"] == "64 B"
    assert said["source"].startswith("test_negotiation.py:")
    assert result.explain("t.surf_align") == []
    assert result.to_dict()["ok"] is True and len(result.digest) == 16
    assert str(result) in repr(result)
    fails(FileNotFoundError, "t.rows", lambda: result.explain("t.rows"))


def test_the_order_of_lists_does_not_matter():
    lists = [app(), ef.AttributeList("npu", {"t.row_align": 64}),
             ef.AttributeList("dsp", {"t.row_align": 48})]
    one, other = ef.reconcile(lists), ef.reconcile(iter(lists[::-1]))
    assert one.digest == other.digest and str(one) == str(other)
    assert one.outputs["t.strides"][2] == 192


def test_a_conflict_is_the_report_and_its_json():
    camera = ef.AttributeList("camera", {"i.w": 1920, "i.h": 1080, "i.pitch_exact": 1920})
    camera.accept("nv12")
    gpu = ef.AttributeList("gpu", engine="egl.dmabuf", settings={"pitch_align": 256})
    error = fails(ef.ConflictError, lambda: ef.reconcile([camera, gpu]))
    assert isinstance(error, ef.UnsupportedError) and error.code == "unsupported"
    assert str(error).startswith("reconcile: 1 conflict")
    assert "1920 mod 256 = 128; nearest legal: 2048" in str(error)
    (conflict,) = error.conflicts
    assert conflict["key"] == "i.pitch_exact[0]" and conflict["nearest"] == [2048]
    assert [each["name"] for each in conflict["parties"]] == ["camera", "gpu"]
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error) and again.conflicts == error.conflicts


def test_the_program_says_the_same(tmp_path):
    parties = {"parties": [
        {"name": "app", "keys": {"t.dtype": "f32", "t.shape": [1, 3, 48, 650]}},
        {"name": "npu", "keys": {"t.row_align": 64}}]}
    result = ef.reconcile(ef.parties_from_json(parties))
    assert ef.reconcile(ef.parties_from_json(json.dumps(parties))).digest == result.digest
    program = os.environ.get("HALYARD_PROGRAM")
    if not program:
        pytest.skip("the program is not there")
    file = tmp_path / "parties.json"
    file.write_text(json.dumps(parties))
    told = subprocess.run([program, "negotiate", file, "--json"], capture_output=True, text=True,
                          check=True).stdout
    assert json.loads(told) == {"schema": 1, **result.to_dict()}


def test_parties_of_a_file_name_their_faults():
    fails(ValueError, lambda: ef.parties_from_json("{"))
    fails(FileNotFoundError, "npu",
          lambda: ef.parties_from_json({"parties": [{"name": "npu", "keys": {"t.rows": 1}}]}))


def test_optional_parties_are_left_out():
    odd = ef.AttributeList("odd", {"t.row_exact": 100}, optional=True)
    npu = ef.AttributeList("npu", {"t.row_align": 64})
    fails(ef.ConflictError, lambda: ef.reconcile([app(), npu, odd]))
    result = ef.reconcile([app(), npu, odd], allow_drop=True)
    assert list(result.dropped) == ["odd"] and "100 mod 64" in result.dropped["odd"]


def test_a_plan_has_groups_and_copies():
    odd = ef.AttributeList("odd", {"t.row_exact": 100})
    plan = ef.plan_buffers([app(), ef.AttributeList("npu", {"t.row_align": 64}), odd])
    assert len(plan.groups) == 2 and len(plan.copies) == 1
    assert sorted(sum((names for names, _ in plan.groups), [])) == ["app", "npu", "odd"]
    for _, buffer in plan.groups:
        assert isinstance(buffer, ef.Reconciled)
    source, destination, size, why = plan.copies[0]
    assert {source, destination} == {0, 1} and size > 0 and "100" in why
    assert plan.to_dict()["ok"] is True and "copy" in str(plan)


@pytest.mark.parametrize("lists, error", [([], ValueError), ([1], TypeError), (None, TypeError),
                                          ("ab", TypeError)])
def test_what_is_no_list_is_refused(lists, error):
    fails(error, "list", lambda: ef.reconcile(lists))
    fails(error, "list", lambda: ef.plan_buffers(lists))


def test_objects_of_calls_have_no_constructor():
    fails(TypeError, ef.Reconciled, ef.NegotiatedBuffer, ef.BufferLock, ef.BufferOperation,
          ef.OperationStatus, ef.BufferPlan)
