# SPDX-License-Identifier: Apache-2.0
# Written by tools/python_stub.py from the package: change its sources.
from halyard import compat as compat
from halyard import edgefirst as edgefirst
from halyard import horus as horus
from halyard import typing as typing
from halyard._frames import open as open
__version__: str
from halyard._boxes import Boxes as Boxes
from halyard._boxes import Probs as Probs
from halyard._cameras import Camera as Camera
from halyard._cameras import CameraFrame as CameraFrame
from halyard._cameras import CameraInfo as CameraInfo
from halyard._cameras import CameraMode as CameraMode
from halyard._cameras import CameraStats as CameraStats
from halyard._cameras import cameras as cameras
from halyard._core import ActiveTrackInfo as ActiveTrackInfo
from halyard._core import AttributeList as AttributeList
from halyard._core import BufferLock as BufferLock
from halyard._core import BufferOperation as BufferOperation
from halyard._core import BufferPlan as BufferPlan
from halyard._core import ByteTrack as ByteTrack
from halyard._core import CameraIntrinsics as CameraIntrinsics
from halyard._core import Colorimetry as Colorimetry
from halyard._core import CudaMap as CudaMap
from halyard._core import DecodeLimits as DecodeLimits
from halyard._core import Decoder as Decoder
from halyard._core import DepthImage as DepthImage
from halyard._core import DepthStatistics as DepthStatistics
from halyard._core import Device as Device
from halyard._core import Engine as Engine
from halyard._core import Image as Image
from halyard._core import ImageInfo as ImageInfo
from halyard._core import ImageProcessor as ImageProcessor
from halyard._core import InferenceRequest as InferenceRequest
from halyard._core import ModelDescription as ModelDescription
from halyard._core import NegotiatedBuffer as NegotiatedBuffer
from halyard._core import OcSort as OcSort
from halyard._core import OperationStatus as OperationStatus
from halyard._core import Output as Output
from halyard._core import Placement as Placement
from halyard._core import PointCloud as PointCloud
from halyard._core import PointField as PointField
from halyard._core import ProtoData as ProtoData
from halyard._core import Quantization as Quantization
from halyard._core import Reconciled as Reconciled
from halyard._core import Rect as Rect
from halyard._core import Region as Region
from halyard._core import Sort as Sort
from halyard._core import Tensor as Tensor
from halyard._core import TensorDescriptor as TensorDescriptor
from halyard._core import TensorHandle as TensorHandle
from halyard._core import TensorMap as TensorMap
from halyard._core import TensorPool as TensorPool
from halyard._core import TensorPoolConfig as TensorPoolConfig
from halyard._core import TensorPoolStats as TensorPoolStats
from halyard._core import TensorSpec as TensorSpec
from halyard._core import TiledFrameAccumulator as TiledFrameAccumulator
from halyard._core import TopicStats as TopicStats
from halyard._core import TrackInfo as TrackInfo
from halyard._core import align_width_for_gpu_pitch as align_width_for_gpu_pitch
from halyard._core import align_width_for_pixel_format as align_width_for_pixel_format
from halyard._core import available_engines as available_engines
from halyard._core import build_info as build_info
from halyard._core import cuda_available as cuda_available
from halyard._core import cuda_device_count as cuda_device_count
from halyard._core import decode_lists as decode_lists
from halyard._core import default_decode_limits as default_decode_limits
from halyard._core import default_pool as default_pool
from halyard._core import describe_model as describe_model
from halyard._core import encode_lists as encode_lists
from halyard._core import gpu_dma_buf_pitch_alignment_bytes as gpu_dma_buf_pitch_alignment_bytes
from halyard._core import import_buffer as import_buffer
from halyard._core import is_cuda_available as is_cuda_available
from halyard._core import is_dma_available as is_dma_available
from halyard._core import is_gpu_buffer_available as is_gpu_buffer_available
from halyard._core import is_iosurface_available as is_iosurface_available
from halyard._core import is_shm_available as is_shm_available
from halyard._core import is_tracing_active as is_tracing_active
from halyard._core import is_v4l2_available as is_v4l2_available
from halyard._core import palette_color as palette_color
from halyard._core import parties_from_json as parties_from_json
from halyard._core import plan_buffers as plan_buffers
from halyard._core import receive_buffer as receive_buffer
from halyard._core import receive_lists as receive_lists
from halyard._core import reconcile as reconcile
from halyard._core import send_buffer as send_buffer
from halyard._core import send_lists as send_lists
from halyard._core import set_dct_method as set_dct_method
from halyard._core import set_default_decode_limits as set_default_decode_limits
from halyard._core import set_output_format as set_output_format
from halyard._core import version as version
from halyard._detection import Detection as Detection
from halyard._detections import Detections as Detections
from halyard._devices import EglDisplayInfo as EglDisplayInfo
from halyard._devices import probe_egl_displays as probe_egl_displays
from halyard._enums import ColorEncoding as ColorEncoding
from halyard._enums import ColorMode as ColorMode
from halyard._enums import ColorRange as ColorRange
from halyard._enums import ColorSpace as ColorSpace
from halyard._enums import ColorTransfer as ColorTransfer
from halyard._enums import DctMethod as DctMethod
from halyard._enums import DecoderType as DecoderType
from halyard._enums import DecoderVersion as DecoderVersion
from halyard._enums import DimName as DimName
from halyard._enums import EglDisplayKind as EglDisplayKind
from halyard._enums import Filter as Filter
from halyard._enums import Fit as Fit
from halyard._enums import Flip as Flip
from halyard._enums import LetterboxRule as LetterboxRule
from halyard._enums import MatchMetric as MatchMetric
from halyard._enums import Nms as Nms
from halyard._enums import Normalization as Normalization
from halyard._enums import PixelFormat as PixelFormat
from halyard._enums import Rotation as Rotation
from halyard._enums import TensorMemory as TensorMemory
from halyard._errors import AccessError as AccessError
from halyard._errors import BusyError as BusyError
from halyard._errors import CapacityError as CapacityError
from halyard._errors import ConflictError as ConflictError
from halyard._errors import DataError as DataError
from halyard._errors import Error as Error
from halyard._errors import InvalidArgumentError as InvalidArgumentError
from halyard._errors import MissingFileError as MissingFileError
from halyard._errors import OutOfMemoryError as OutOfMemoryError
from halyard._errors import SystemCallError as SystemCallError
from halyard._errors import UnsupportedError as UnsupportedError
from halyard._errors import WaitTimeoutError as WaitTimeoutError
from halyard._evaluate import Scores as Scores
from halyard._evaluate import val as val
from halyard._frames import Frame as Frame
from halyard._frames import Frames as Frames
from halyard._image import asarray as asarray
from halyard._image import from_numpy as from_numpy
from halyard._image import imread as imread
from halyard._image import imwrite as imwrite
from halyard._image import load as load
from halyard._image import tensor as tensor
from halyard._masks import MaskResolution as MaskResolution
from halyard._model import Model as Model
from halyard._overlay import Overlay as Overlay
from halyard._pipeline import Pipeline as Pipeline
from halyard._pipeline_result import PipelineResult as PipelineResult
from halyard._pipeline_result import StageTime as StageTime
from halyard._pipeline_stats import PipelineStats as PipelineStats
from halyard._pipeline_stats import SourceStats as SourceStats
from halyard._pipeline_stats import StageStats as StageStats
from halyard._result import Result as Result
from halyard._results import ProtoDetections as ProtoDetections
from halyard._tiling import MergeConfig as MergeConfig
from halyard._tiling import TilePlacement as TilePlacement
from halyard._tiling import TileSpec as TileSpec
from halyard._tiling import TilingConfig as TilingConfig
from halyard._tiling import lift_tile_boxes as lift_tile_boxes
from halyard._tiling import merge_tiled_detections as merge_tiled_detections
from halyard._tiling import tile_grid as tile_grid
from halyard._topics import Serializer as Serializer
from halyard._topics import Topic as Topic
from halyard._tracing import Tracing as Tracing
from halyard._tracing import span as span
from halyard._tracking import Tracker as Tracker
from halyard._video_codecs import DecodedFormat as DecodedFormat
from halyard._video_codecs import DecodedImage as DecodedImage
from halyard._video_codecs import VideoCodecInfo as VideoCodecInfo
from halyard._video_codecs import VideoCodecStats as VideoCodecStats
from halyard._video_codecs import VideoDecoder as VideoDecoder
from halyard._video_codecs import VideoEncoder as VideoEncoder
from halyard._video_codecs import VideoPacket as VideoPacket
from halyard._video_codecs import video_codecs as video_codecs
from halyard._wait_set import WaitSet as WaitSet

__all__ = [
    "AccessError",
    "ActiveTrackInfo",
    "AttributeList",
    "Boxes",
    "BufferLock",
    "BufferOperation",
    "BufferPlan",
    "BusyError",
    "ByteTrack",
    "Camera",
    "CameraFrame",
    "CameraInfo",
    "CameraIntrinsics",
    "CameraMode",
    "CameraStats",
    "CapacityError",
    "ColorEncoding",
    "ColorMode",
    "ColorRange",
    "ColorSpace",
    "ColorTransfer",
    "Colorimetry",
    "ConflictError",
    "CudaMap",
    "DataError",
    "DctMethod",
    "DecodeLimits",
    "DecodedFormat",
    "DecodedImage",
    "Decoder",
    "DecoderType",
    "DecoderVersion",
    "DepthImage",
    "DepthStatistics",
    "Detection",
    "Detections",
    "Device",
    "DimName",
    "EglDisplayInfo",
    "EglDisplayKind",
    "Engine",
    "Error",
    "Filter",
    "Fit",
    "Flip",
    "Frame",
    "Frames",
    "Image",
    "ImageInfo",
    "ImageProcessor",
    "InferenceRequest",
    "InvalidArgumentError",
    "LetterboxRule",
    "MaskResolution",
    "MatchMetric",
    "MergeConfig",
    "MissingFileError",
    "Model",
    "ModelDescription",
    "NegotiatedBuffer",
    "Nms",
    "Normalization",
    "OcSort",
    "OperationStatus",
    "OutOfMemoryError",
    "Output",
    "Overlay",
    "Pipeline",
    "PipelineResult",
    "PipelineStats",
    "PixelFormat",
    "Placement",
    "PointCloud",
    "PointField",
    "Probs",
    "ProtoData",
    "ProtoDetections",
    "Quantization",
    "Reconciled",
    "Rect",
    "Region",
    "Result",
    "Rotation",
    "Scores",
    "Serializer",
    "Sort",
    "SourceStats",
    "StageStats",
    "StageTime",
    "SystemCallError",
    "Tensor",
    "TensorDescriptor",
    "TensorHandle",
    "TensorMap",
    "TensorMemory",
    "TensorPool",
    "TensorPoolConfig",
    "TensorPoolStats",
    "TensorSpec",
    "TilePlacement",
    "TileSpec",
    "TiledFrameAccumulator",
    "TilingConfig",
    "Topic",
    "TopicStats",
    "Tracing",
    "TrackInfo",
    "Tracker",
    "UnsupportedError",
    "VideoCodecInfo",
    "VideoCodecStats",
    "VideoDecoder",
    "VideoEncoder",
    "VideoPacket",
    "WaitSet",
    "WaitTimeoutError",
    "__version__",
    "align_width_for_gpu_pitch",
    "align_width_for_pixel_format",
    "asarray",
    "available_engines",
    "build_info",
    "cameras",
    "cuda_available",
    "cuda_device_count",
    "decode_lists",
    "default_decode_limits",
    "default_pool",
    "describe_model",
    "encode_lists",
    "from_numpy",
    "gpu_dma_buf_pitch_alignment_bytes",
    "import_buffer",
    "imread",
    "imwrite",
    "is_cuda_available",
    "is_dma_available",
    "is_gpu_buffer_available",
    "is_iosurface_available",
    "is_shm_available",
    "is_tracing_active",
    "is_v4l2_available",
    "lift_tile_boxes",
    "load",
    "merge_tiled_detections",
    "palette_color",
    "parties_from_json",
    "plan_buffers",
    "probe_egl_displays",
    "receive_buffer",
    "receive_lists",
    "reconcile",
    "send_buffer",
    "send_lists",
    "set_dct_method",
    "set_default_decode_limits",
    "set_output_format",
    "span",
    "tensor",
    "tile_grid",
    "val",
    "version",
    "video_codecs",
]
