# SPDX-License-Identifier: Apache-2.0
"""Static int8 copy (QDQ) of the ONNX detector, calibrated on training scenes.

Activations uint8, weights int8 per output channel; input, output and the
"decode..." nodes (boxes and probabilities) and the last 1x1 convolutions of the
heads stay in float.
"""

import argparse
import os
import tempfile

import numpy as np
import onnx
from onnxruntime.quantization import (CalibrationDataReader, CalibrationMethod, QuantFormat,
                                      QuantType, quantize_static)
from onnxruntime.quantization.shape_inference import quant_pre_process

from augment import letterbox
from render import SEED_TRAIN, render_still


class Scenes(CalibrationDataReader):
    """Feeds training scenes, `count` of them, letterboxed to the side `size`."""

    def __init__(self, count, size):
        self.size = size
        self.seeds = iter(range(SEED_TRAIN, SEED_TRAIN + count))

    def get_next(self):
        """Next input dict, or None at the end."""
        seed = next(self.seeds, None)
        if seed is None:
            return None
        image = letterbox(render_still(seed)[0], self.size)[0]
        return {"images": image.transpose(2, 0, 1)[None].astype(np.float32) / 255.0}


def float_nodes(path):
    """Names of the nodes that are not quantized: the decode and the last 1x1 of the heads."""
    names = [n.name for n in onnx.load(path).graph.node]
    last = ("2.conv", "proto.cv4.conv", "light.conv")
    return [n for n in names if n.startswith("decode") or n.endswith(last) and
            n.startswith(("h", "proto.cv4", "light"))]


def quantize(source, target, count, method):
    """Write the int8 copy of `source`, with its metadata, to `target`."""
    original = onnx.load(source)
    size = original.graph.input[0].type.tensor_type.shape.dim[3].dim_value
    with tempfile.TemporaryDirectory() as folder:
        ready = os.path.join(folder, "ready.onnx")
        quant_pre_process(source, ready, skip_symbolic_shape=True, skip_optimization=True)
        quantize_static(ready, target, Scenes(count, size), quant_format=QuantFormat.QDQ,
                        op_types_to_quantize=["Conv"] if method == "conv" else None,
                        per_channel=True, reduce_range=False, activation_type=QuantType.QUInt8,
                        weight_type=QuantType.QInt8, nodes_to_exclude=float_nodes(ready),
                        calibrate_method=CalibrationMethod.MinMax,
                        extra_options={"CalibMovingAverage": True})
    model = onnx.load(target)
    model.ir_version = min(model.ir_version, 8)
    onnx.helper.set_model_props(model, {p.key: p.value for p in original.metadata_props})
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, target)


def main():
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", help="f32 ONNX")
    parser.add_argument("out", help="int8 ONNX to write")
    parser.add_argument("--count", type=int, default=200, help="calibration scenes")
    parser.add_argument("--ops", choices=["all", "conv"], default="conv",
                        help="which operators are quantized")
    args = parser.parse_args()
    quantize(args.source, args.out, args.count, args.ops)
    print(f"wrote {args.out}: {os.path.getsize(args.out)} bytes")


if __name__ == "__main__":
    main()
