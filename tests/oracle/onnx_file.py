# SPDX-License-Identifier: Apache-2.0
"""Writes an ONNX file whose outputs are rows of tables: the image's middle pixel says which. What
a network would have found in each image can so be chosen."""
import numpy as np


def varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def number(field, value):
    return varint(field << 3) + varint(value)


def text(field, value):
    value = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | 2) + varint(len(value)) + value


def tensor(name, array):
    kind = {"float32": 1, "int64": 7}[array.dtype.name]
    dims = b"".join(number(1, extent) for extent in array.shape)
    return text(5, dims + number(2, kind) + text(8, name) + text(9, array.tobytes()))


def node(kind, inputs, output, **attributes):
    out = b"".join(text(1, name) for name in inputs) + text(2, output) + text(4, kind)
    for name, value in attributes.items():
        out += text(5, text(1, name) + number(3, value) + number(20, 2))  # of type INT
    return text(1, out)


def value_info(field, name, shape):
    dims = b"".join(text(1, number(1, extent)) for extent in shape)
    return text(field, text(1, name) + text(2, text(1, number(1, 1) + text(2, dims))))


def write_lookup(path, size, step, tables, metadata):
    """size: (width, height) of the input; row round(255 * middle pixel / step) of each table."""
    width, height = size
    middle = np.array([0, 0, height // 2, width // 2], np.int64)
    graph = node("Slice", ["images", "middle", "behind"], "pixel")
    graph += node("Reshape", ["pixel", "one"], "flat") + node("Mul", ["flat", "steps"], "place")
    graph += node("Round", ["place"], "whole") + node("Cast", ["whole"], "row", to=7)
    initial = tensor("middle", middle) + tensor("behind", middle + 1)
    initial += tensor("one", np.array([1], np.int64))
    initial += tensor("steps", np.array([255 / step], np.float32))
    ends = b""
    for i, table in enumerate(tables):
        initial += tensor(f"table{i}", np.ascontiguousarray(table, np.float32))
        graph += node("Gather", [f"table{i}", "row"], f"output{i}", axis=0)
        ends += value_info(12, f"output{i}", [1, *table.shape[1:]])
    graph += text(2, "lookup") + initial + value_info(11, "images", [1, 3, height, width]) + ends
    model = number(1, 8) + text(7, graph) + text(8, text(1, "") + number(2, 13))
    for key, value in metadata.items():
        model += text(14, text(1, key) + text(2, value))
    path.write_bytes(model)
