#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A camera, a network and a program agree on one buffer. With a display that needs another pitch
they do not agree, and the report gives the reason."""
from __future__ import annotations

import sys

import numpy as np

import halyard


def parties() -> list[halyard.AttributeList]:
    app = halyard.AttributeList("app", {"i.w": 650, "i.h": 480, "g.cpu": "read_write"})
    app.accept("rgb")
    camera = halyard.AttributeList("camera", {"i.pitch_align": 64, "g.camp": 2})
    network = halyard.AttributeList("network", engine="cpu.simd32")
    return [app, camera, network]


def use(result: halyard.Reconciled) -> None:
    buffers = result.allocate(party="app")
    image = buffers[0].image()
    with buffers[0].lock("write"):
        np.asarray(image)[:] = (0, 128, 255)
    with buffers[0].submit() as operation:  # an engine works; nobody may lock meanwhile
        operation.finish()
    row_bytes = np.asarray(image).strides[0]
    print(f"{len(buffers)} buffers of {buffers[0].heap}, rows of {row_bytes} bytes")


def main() -> int:
    agreed = halyard.reconcile(parties())
    print(agreed)
    for said in agreed.explain("i.pitch_align[0]"):
        print(f"{said['value']} is asked for by {said['party']} ({said['source']})")
    use(agreed)
    display = halyard.AttributeList("display", {"i.pitch_exact": 1950})
    try:
        halyard.reconcile([*parties(), display])
    except halyard.ConflictError as error:
        print(error)
        print("legal:", error.conflicts[0]["nearest"])
        return 0
    return 1


if __name__ == "__main__":
    sys.exit(main())
