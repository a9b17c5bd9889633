# SPDX-License-Identifier: Apache-2.0
# Written by tools/python_stub.py from _enums.py: change that.
"""Types for annotations where a call takes one of the package's enumerations: a member, or
its word. ``def crop(image: Tensor, fit: FitLike) -> Tensor: ...``"""
from typing import Literal, Union

from ._enums import (
    PixelFormat, TensorMemory, Normalization, Rotation, Flip, ColorMode, EglDisplayKind, Nms,
    DecoderType, DecoderVersion, DimName, Fit, MatchMetric, ColorSpace, ColorTransfer,
    ColorEncoding, ColorRange, DctMethod, Filter, LetterboxRule)

__all__ = [
    "ColorEncodingLike", "ColorModeLike", "ColorRangeLike", "ColorSpaceLike", "ColorTransferLike",
    "DctMethodLike", "DecoderTypeLike", "DecoderVersionLike", "DimNameLike", "EglDisplayKindLike",
    "FilterLike", "FitLike", "FlipLike", "LetterboxRuleLike", "MatchMetricLike", "NmsLike",
    "NormalizationLike", "PixelFormatLike", "RotationLike", "TensorMemoryLike"]

PixelFormatLike = Union[PixelFormat, Literal[
    "rgb", "rgba", "bgra", "grey", "yuyv", "vyuy", "nv12", "nv16", "planar_rgb", "planar_rgba",
    "nv24", "uyvy", "yvyu", "nv21", "i420", "bgr", "bayer_rggb", "bayer_bggr", "bayer_grbg",
    "bayer_gbrg", "gray", "y800", "8bps"]]
TensorMemoryLike = Union[TensorMemory, Literal["dma", "shm", "pbo", "mem", "heap"]]
NormalizationLike = Union[Normalization, Literal["default", "signed", "unsigned", "raw"]]
RotationLike = Union[Rotation, Literal[
    "none", "clockwise90", "rotate180", "counterclockwise90", "rotate90", "rotate270", 0, 90, 180,
    270]]
FlipLike = Union[Flip, Literal["none", "horizontal", "vertical"]]
ColorModeLike = Union[ColorMode, Literal["class", "instance", "track"]]
EglDisplayKindLike = Union[EglDisplayKind, Literal[
    "gbm", "platform_device", "default", "surfaceless"]]
NmsLike = Union[Nms, Literal["class_agnostic", "class_aware", "auto"]]
DecoderTypeLike = Union[DecoderType, Literal["ultralytics", "modelpack"]]
DecoderVersionLike = Union[DecoderVersion, Literal["yolov5", "yolov8", "yolo11", "yolo26"]]
DimNameLike = Union[DimName, Literal[
    "batch", "height", "width", "num_classes", "num_features", "num_boxes", "num_protos",
    "num_anchors_x_features", "padding", "box_coords"]]
FitLike = Union[Fit, Literal["stretch", "letterbox", "cover", "top_left"]]
MatchMetricLike = Union[MatchMetric, Literal["iou", "ios"]]
ColorSpaceLike = Union[ColorSpace, Literal["bt709", "bt2020", "srgb", "smpte170m"]]
ColorTransferLike = Union[ColorTransfer, Literal["bt709", "srgb", "pq", "hlg", "linear"]]
ColorEncodingLike = Union[ColorEncoding, Literal["bt601", "bt709", "bt2020"]]
ColorRangeLike = Union[ColorRange, Literal["full", "limited"]]
DctMethodLike = Union[DctMethod, Literal["accurate", "fast"]]
FilterLike = Union[Filter, Literal["nearest", "bilinear", "bicubic", "lanczos3", "box"]]
LetterboxRuleLike = Union[LetterboxRule, Literal["hal", "ultralytics", "ultralytics_val"]]
