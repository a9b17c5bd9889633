# SPDX-License-Identifier: Apache-2.0
"""Exception classes: what programs may catch, and that they travel between processes."""
import pickle

import pytest

import halyard as ef
from halyard import _errors


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
