#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tensors and PyTorch over the same memory, both ways, without a copy."""
from __future__ import annotations

import torch

import halyard as ef


def main() -> None:
    tensor = ef.Tensor([2, 3], "float32", ef.TensorMemory.MEM)
    shared = torch.from_dlpack(tensor)
    shared.fill_(7)
    with tensor.map() as mapped:
        assert mapped[5] == 7

    weights = torch.arange(6, dtype=torch.float32).reshape(2, 3)
    back = ef.Tensor.from_dlpack(weights)
    weights[1, 2] = 42
    with back.map() as mapped:
        assert mapped[5] == 42

    # The decoder takes a network's output directly.
    output = torch.zeros(1, 9, 400)
    output[0, :4, 3] = torch.tensor([0.5, 0.5, 0.2, 0.2])
    output[0, 6, 3] = 0.9
    decoder = ef.Decoder.new_from_outputs(
        [ef.Output.detection(shape=[1, 9, 400]).with_normalized(True)], input_dims=(640, 640))
    found = decoder.decode([output])
    assert found.class_id.tolist() == [2]
    print("same memory both ways, and", len(found), "box decoded from a torch tensor")


if __name__ == "__main__":
    main()
