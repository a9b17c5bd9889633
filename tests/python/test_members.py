# SPDX-License-Identifier: Apache-2.0
"""Every name, member and parameter of the reference's package exists here, by the list in
reference_members.txt. HALYARD_MEMBERS_TABLE names a file that the table is written to."""
import enum
import inspect
import os
import pathlib
import re

import pytest

import halyard as ef

LIST = pathlib.Path(__file__).with_name("reference_members.txt")


def rows():
    for line in LIST.read_text().splitlines():
        if line and not line.startswith("#"):
            path, _, call = line.partition(" ")
            yield path, [name for name in call.strip("()").split(", ") if name]


def find(path):
    item = ef
    for name in path.split("."):
        if name in getattr(item, "__dataclass_fields__", {}):
            return item.__dataclass_fields__[name]
        item = inspect.getattr_static(item, name) if inspect.isclass(item) else getattr(item, name)
        item = getattr(item, "__func__", item)
    return item


def names_of(item):
    """Names of the parameters of all overloads, or None where they cannot be known."""
    if inspect.isclass(item) and issubclass(item, enum.Enum):
        return None
    if inspect.isclass(item):
        item = inspect.getattr_static(item, "__init__")
    signatures = getattr(item, "__nb_signature__", None)
    if signatures:
        return {name for row in signatures for name in re.findall(r"(\w+)\s*:", row[0])}
    try:
        return set(inspect.signature(item).parameters)
    except (TypeError, ValueError):
        return None


def missing(path, parameters):
    """What of a row is not here; empty: nothing."""
    try:
        item = find(path)
    except AttributeError:
        return path
    known = names_of(item) if parameters else None
    if known is None or "kwargs" in known or "arguments" in known:
        return ""
    lost = [name for name in parameters if name not in known]
    return f"{path}({', '.join(lost)})" if lost else ""


def test_the_list_is_the_reference_s():
    names = [path for path, _ in rows()]
    assert len(names) > 250 and {"Tensor", "Decoder.decode", "set_dct_method", "Rect"} <= set(names)


def test_nothing_of_the_reference_is_missing():
    table = [(path, missing(path, parameters)) for path, parameters in rows()]
    if target := os.environ.get("HALYARD_MEMBERS_TABLE"):
        pathlib.Path(target).write_text("".join(
            f"{'missing' if lost else 'here':8} {lost or path}\n" for path, lost in table))
    assert [lost for _, lost in table if lost] == []


@pytest.mark.parametrize("name", sorted(
    {path.split(".")[0] for path, _ in rows()} - {"edgefirst_hal"}))
def test_every_class_and_function_has_a_docstring_and_its_module(name):
    item = getattr(ef, name)
    assert inspect.getdoc(item)
    assert item.__module__.split(".")[0] == "halyard"
