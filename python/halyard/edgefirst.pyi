# SPDX-License-Identifier: Apache-2.0
# Written by tools/python_stub.py from the package: change its sources.
from __future__ import annotations
import os
from typing import Any, Optional, Sequence, Tuple, Union
from numpy.typing import ArrayLike
import halyard as _halyard
from halyard import _core, _tiling
from halyard import __version__ as __version__
from halyard._core import DecodeLimits, _Tensor
from halyard._enums import ColorMode
from halyard._results import Detections as Detections
from halyard._results import TrackedDetections as TrackedDetections
from halyard._tiling import Arrays, TilePlacement
from halyard._tracking import AnyTracker
from halyard.typing import ColorModeLike, PixelFormatLike, TensorMemoryLike
from halyard import AccessError as AccessError
from halyard import ActiveTrackInfo as ActiveTrackInfo
from halyard import AttributeList as AttributeList
from halyard import Boxes as Boxes
from halyard import BufferLock as BufferLock
from halyard import BufferOperation as BufferOperation
from halyard import BufferPlan as BufferPlan
from halyard import BusyError as BusyError
from halyard import ByteTrack as ByteTrack
from halyard import Camera as Camera
from halyard import CameraFrame as CameraFrame
from halyard import CameraInfo as CameraInfo
from halyard import CameraIntrinsics as CameraIntrinsics
from halyard import CameraMode as CameraMode
from halyard import CameraStats as CameraStats
from halyard import CapacityError as CapacityError
from halyard import ColorEncoding as ColorEncoding
from halyard import ColorMode as ColorMode
from halyard import ColorRange as ColorRange
from halyard import ColorSpace as ColorSpace
from halyard import ColorTransfer as ColorTransfer
from halyard import Colorimetry as Colorimetry
from halyard import ConflictError as ConflictError
from halyard import CudaMap as CudaMap
from halyard import DataError as DataError
from halyard import DctMethod as DctMethod
from halyard import DecodeLimits as DecodeLimits
from halyard import DecodedFormat as DecodedFormat
from halyard import DecodedImage as DecodedImage
from halyard import DecoderType as DecoderType
from halyard import DecoderVersion as DecoderVersion
from halyard import DepthImage as DepthImage
from halyard import DepthStatistics as DepthStatistics
from halyard import Detection as Detection
from halyard import Device as Device
from halyard import DimName as DimName
from halyard import EglDisplayInfo as EglDisplayInfo
from halyard import EglDisplayKind as EglDisplayKind
from halyard import Engine as Engine
from halyard import Error as Error
from halyard import Filter as Filter
from halyard import Fit as Fit
from halyard import Flip as Flip
from halyard import Frame as Frame
from halyard import Frames as Frames
from halyard import Image as Image
from halyard import ImageInfo as ImageInfo
from halyard import InferenceRequest as InferenceRequest
from halyard import InvalidArgumentError as InvalidArgumentError
from halyard import LetterboxRule as LetterboxRule
from halyard import MaskResolution as MaskResolution
from halyard import MatchMetric as MatchMetric
from halyard import MergeConfig as MergeConfig
from halyard import MissingFileError as MissingFileError
from halyard import Model as Model
from halyard import ModelDescription as ModelDescription
from halyard import NegotiatedBuffer as NegotiatedBuffer
from halyard import Nms as Nms
from halyard import Normalization as Normalization
from halyard import OcSort as OcSort
from halyard import OperationStatus as OperationStatus
from halyard import OutOfMemoryError as OutOfMemoryError
from halyard import Output as Output
from halyard import Overlay as Overlay
from halyard import Pipeline as Pipeline
from halyard import PipelineResult as PipelineResult
from halyard import PipelineStats as PipelineStats
from halyard import PixelFormat as PixelFormat
from halyard import Placement as Placement
from halyard import PointCloud as PointCloud
from halyard import PointField as PointField
from halyard import Probs as Probs
from halyard import ProtoData as ProtoData
from halyard import ProtoDetections as ProtoDetections
from halyard import Quantization as Quantization
from halyard import Reconciled as Reconciled
from halyard import Rect as Rect
from halyard import Region as Region
from halyard import Result as Result
from halyard import Rotation as Rotation
from halyard import Scores as Scores
from halyard import Serializer as Serializer
from halyard import Sort as Sort
from halyard import SourceStats as SourceStats
from halyard import StageStats as StageStats
from halyard import StageTime as StageTime
from halyard import SystemCallError as SystemCallError
from halyard import TensorDescriptor as TensorDescriptor
from halyard import TensorHandle as TensorHandle
from halyard import TensorMap as TensorMap
from halyard import TensorMemory as TensorMemory
from halyard import TensorPool as TensorPool
from halyard import TensorPoolConfig as TensorPoolConfig
from halyard import TensorPoolStats as TensorPoolStats
from halyard import TensorSpec as TensorSpec
from halyard import TilePlacement as TilePlacement
from halyard import TileSpec as TileSpec
from halyard import TilingConfig as TilingConfig
from halyard import Topic as Topic
from halyard import TopicStats as TopicStats
from halyard import Tracing as Tracing
from halyard import TrackInfo as TrackInfo
from halyard import Tracker as Tracker
from halyard import UnsupportedError as UnsupportedError
from halyard import VideoCodecInfo as VideoCodecInfo
from halyard import VideoCodecStats as VideoCodecStats
from halyard import VideoDecoder as VideoDecoder
from halyard import VideoEncoder as VideoEncoder
from halyard import VideoPacket as VideoPacket
from halyard import WaitSet as WaitSet
from halyard import WaitTimeoutError as WaitTimeoutError
from halyard import align_width_for_gpu_pitch as align_width_for_gpu_pitch
from halyard import align_width_for_pixel_format as align_width_for_pixel_format
from halyard import available_engines as available_engines
from halyard import build_info as build_info
from halyard import cameras as cameras
from halyard import cuda_available as cuda_available
from halyard import cuda_device_count as cuda_device_count
from halyard import decode_lists as decode_lists
from halyard import default_decode_limits as default_decode_limits
from halyard import default_pool as default_pool
from halyard import describe_model as describe_model
from halyard import encode_lists as encode_lists
from halyard import gpu_dma_buf_pitch_alignment_bytes as gpu_dma_buf_pitch_alignment_bytes
from halyard import import_buffer as import_buffer
from halyard import imread as imread
from halyard import imwrite as imwrite
from halyard import is_cuda_available as is_cuda_available
from halyard import is_dma_available as is_dma_available
from halyard import is_gpu_buffer_available as is_gpu_buffer_available
from halyard import is_iosurface_available as is_iosurface_available
from halyard import is_shm_available as is_shm_available
from halyard import is_tracing_active as is_tracing_active
from halyard import is_v4l2_available as is_v4l2_available
from halyard import merge_tiled_detections as merge_tiled_detections
from halyard import palette_color as palette_color
from halyard import parties_from_json as parties_from_json
from halyard import plan_buffers as plan_buffers
from halyard import probe_egl_displays as probe_egl_displays
from halyard import receive_buffer as receive_buffer
from halyard import receive_lists as receive_lists
from halyard import reconcile as reconcile
from halyard import send_buffer as send_buffer
from halyard import send_lists as send_lists
from halyard import set_dct_method as set_dct_method
from halyard import set_default_decode_limits as set_default_decode_limits
from halyard import set_output_format as set_output_format
from halyard import span as span
from halyard import tile_grid as tile_grid
from halyard import val as val
from halyard import version as version
from halyard import video_codecs as video_codecs
Tensor = _core._ReferenceTensor
Decoder = _core._ReferenceDecoder

class ImageProcessor(_core._ReferenceProcessor):
    """halyard.ImageProcessor, whose drawing calls rewrite all of their destination."""

    def draw_decoded_masks(  # type: ignore[override]
        self,
        dst: _Tensor,
        bbox: Any,
        scores: Any,
        classes: Any,
        seg: Sequence[Any]=(),
        background: Optional[Any]=None,
        opacity: float=1.0,
        letterbox: Optional[Sequence[float]]=None,
        color_mode: ColorModeLike=ColorMode.Class,
    ) -> None:
        """Draws boxes in fractions of the network's input, and masks, over the background, or
        black and alpha 0."""

    def draw_masks(  # type: ignore[override]
        self,
        decoder: Any,
        model_output: Sequence[Any],
        dst: _Tensor,
        tracker: Optional[AnyTracker]=None,
        timestamp: Optional[int]=None,
        background: Optional[Any]=None,
        opacity: float=1.0,
        letterbox: Optional[Sequence[float]]=None,
        color_mode: ColorModeLike=ColorMode.Class,
    ) -> Tuple[Any, ...]:
        """Decodes element 0 of a model's outputs and draws it over the background, or black and
        alpha 0."""

class TiledFrameAccumulator(_core.TiledFrameAccumulator):
    """halyard.TiledFrameAccumulator over boxes in fractions of the network's input."""

    def push_tile(  # type: ignore[override]
        self,
        bbox: Any,
        scores: Any,
        classes: Any,
        placement: TilePlacement,
    ) -> bool:
        """Adds the detections of one tile. False, with nothing changed, for a tile that was there
        or is none of this frame."""

def lift_tile_boxes(
    bbox: ArrayLike,
    scores: ArrayLike,
    classes: ArrayLike,
    placement: TilePlacement,
) -> Arrays:
    """Boxes of one tile, (N, 4) in fractions of the network's input, as frame pixels."""

def load(
    path: Union[str, 'os.PathLike[str]'],
    format: Optional[PixelFormatLike]=None,
    mem: Optional[TensorMemoryLike]=None,
    *,
    limits: Optional[DecodeLimits]=None,
) -> Tensor:
    """The same as ``Tensor.load``."""

def tensor(array: Any, copy: bool=False) -> Tensor:
    """The same as ``Tensor.from_array``."""

def from_numpy(array: Any) -> Tensor:
    """halyard.from_numpy, of this module's class."""

def asarray(x: Any, *, copy: Optional[bool]=None) -> Tensor:
    """halyard.asarray, of this module's class."""
