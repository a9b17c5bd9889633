# SPDX-License-Identifier: Apache-2.0
# Written by tools/python_stub.py from the extension: change its sources.
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, Optional, SupportsIndex, overload

import numpy
from numpy.typing import ArrayLike, DTypeLike, NDArray
from typing_extensions import Buffer

import halyard._detections
import halyard._devices
import halyard._masks
import halyard._results
import halyard._tiling
import halyard._tracking
from halyard._enums import (
    ColorEncoding as ColorEncoding,
    ColorMode as ColorMode,
    ColorRange as ColorRange,
    ColorSpace as ColorSpace,
    ColorTransfer as ColorTransfer,
    DctMethod as DctMethod,
    DecoderType as DecoderType,
    DecoderVersion as DecoderVersion,
    DimName as DimName,
    EglDisplayKind as EglDisplayKind,
    Filter as Filter,
    Fit as Fit,
    Flip as Flip,
    LetterboxRule as LetterboxRule,
    MatchMetric as MatchMetric,
    Nms as Nms,
    Normalization as Normalization,
    PixelFormat as PixelFormat,
    Rotation as Rotation,
    TensorMemory as TensorMemory,
)
from halyard.typing import (
    ColorEncodingLike,
    ColorModeLike,
    ColorRangeLike,
    ColorSpaceLike,
    ColorTransferLike,
    DctMethodLike,
    DecoderTypeLike,
    DecoderVersionLike,
    DimNameLike,
    EglDisplayKindLike,
    FilterLike,
    FitLike,
    FlipLike,
    LetterboxRuleLike,
    NmsLike,
    NormalizationLike,
    PixelFormatLike,
    RotationLike,
    TensorMemoryLike,
)

__version__: str

def _ending() -> None: ...

class Region:
    """
    A rectangle of whole pixels: x, y (top left corner), width,
    height. Unsigned, readable and writable.
    """

    def __init__(self, x: int, y: int, width: int, height: int) -> None: ...

    @property
    def x(self) -> int:
        """Leftmost column."""

    @x.setter
    def x(self, value: int) -> None: ...

    @property
    def y(self) -> int:
        """Topmost row."""

    @y.setter
    def y(self, value: int) -> None: ...

    @property
    def width(self) -> int:
        """Columns."""

    @width.setter
    def width(self, value: int) -> None: ...

    @property
    def height(self) -> int:
        """Rows."""

    @height.setter
    def height(self, value: int) -> None: ...

    def __eq__(self, other: object, /) -> bool: ...

    def __repr__(self) -> str: ...

    def __iter__(self) -> Iterator[Any]: ...

    def __reduce__(self) -> tuple[Any, ...]: ...

class Rect:
    """
    A rectangle of whole pixels by its left, top, width and height;
    accepted wherever a Region is.
    """

    def __init__(self, left: int, top: int, width: int, height: int) -> None: ...

    @property
    def left(self) -> int:
        """Leftmost column."""

    @property
    def top(self) -> int:
        """Topmost row."""

    @property
    def width(self) -> int:
        """Columns."""

    @property
    def height(self) -> int:
        """Rows."""

    def __eq__(self, other: object, /) -> bool: ...

    def __repr__(self) -> str: ...

    def __reduce__(self) -> tuple[Any, ...]: ...

class Quantization:
    """
    Maps stored integers to real numbers: real = (stored - zero_point) *
    scale, for a tensor or for each index of an axis. Immutable.
    """

    @staticmethod
    def per_tensor(scale: float, zero_point: int) -> Quantization:
        """One scale and zero point for all elements."""

    @staticmethod
    def per_tensor_symmetric(scale: float) -> Quantization:
        """One scale, zero point 0."""

    @staticmethod
    def per_channel(scales: Sequence[float], zero_points: Sequence[int], axis: int) -> Quantization:
        """
        One scale and zero point for each index of `axis`. Raises RuntimeError if the
        lengths differ or are 0.
        """

    @staticmethod
    def per_channel_symmetric(scales: Sequence[float], axis: int) -> Quantization:
        """One scale for each index of `axis`."""

    @property
    def scale(self) -> list[float]:
        """Scales, one or more."""

    @property
    def zero_point(self) -> list[int] | None:
        """Zero points; None when symmetric."""

    @property
    def axis(self) -> int | None:
        """The axis of the scales; None for one scale."""

    @property
    def is_per_tensor(self) -> bool:
        """True with one scale."""

    @property
    def is_per_channel(self) -> bool:
        """True with several scales."""

    @property
    def is_symmetric(self) -> bool:
        """True when every zero point is 0."""

    def __eq__(self, other: object, /) -> bool: ...

    def __repr__(self) -> str: ...

    def __getstate__(self) -> tuple[Any, ...]: ...

    def __setstate__(self, arg: tuple[Any, ...], /) -> None: ...

class Colorimetry:
    """
    The meaning of an image's samples as colours; each axis may be None
    (unknown). Immutable, compares by value.
    """

    def __init__(self, space: ColorSpaceLike | None = None, transfer: ColorTransferLike | None = None, encoding: ColorEncodingLike | None = None, range: ColorRangeLike | None = None) -> None: ...

    @staticmethod
    def from_v4l2(colorspace: int, xfer: int, ycbcr_enc: int, quant: int) -> Colorimetry:
        """
        From the four numbers of V4L2's pixel format (enum v4l2_colorspace and so on).
        Encoding and range 0 follow from the colour space, as in the kernel; unknown
        values are None.
        """

    @property
    def space(self) -> ColorSpace | None:
        """Primaries."""

    @property
    def transfer(self) -> ColorTransfer | None:
        """Kept, but not applied."""

    @property
    def encoding(self) -> ColorEncoding | None:
        """YCbCr matrix."""

    @property
    def range(self) -> ColorRange | None:
        """Full or limited codes."""

    def __eq__(self, other: object, /) -> bool: ...

    def __hash__(self) -> int: ...

    def __repr__(self) -> str: ...

    def __reduce__(self) -> tuple[Any, ...]: ...

class ImageInfo:
    """The content of an image file's header."""

    @property
    def width(self) -> int:
        """Columns as stored, before any rotation."""

    @property
    def height(self) -> int:
        """Rows as stored."""

    @property
    def format(self) -> PixelFormat:
        """
        Format of the pixels: the file's native one, or that of the decoded pixels.
        """

    @property
    def row_stride(self) -> int:
        """Bytes between rows."""

    @property
    def rotation_degrees(self) -> int:
        """
        Clockwise rotation of 0, 90, 180 or 270 degrees that makes the image upright.
        """

    @property
    def flip_horizontal(self) -> bool:
        """True if the image must also be mirrored, before the rotation."""

    @property
    def bit_depth(self) -> int:
        """Bits per sample as stored."""

    @property
    def is_progressive(self) -> bool:
        """Progressive JPEG or interlaced PNG."""

    def __repr__(self) -> str: ...

class _FlatBytes:
    pass

class _StoredBits:
    pass

class TensorMap:
    """
    CPU access to the elements of a tensor; made by ``Tensor.map()``.

    A context manager, and a buffer: ``numpy.asarray(m)`` and ``memoryview(m)`` see the elements
    with their true strides. ``numpy()`` gives flat bytes. Views keep the mapping alive: the end
    of ``with`` closes the map for new accesses and releases the memory when the last view
    is deleted; ``unmap()`` with live views raises BufferError. ``len(m)``, ``m[i]`` and
    ``m[i] = v`` count elements in C order from 0; a negative index raises OverflowError, one
    past the last element an error that is a BufferError and an IndexError, so that iteration
    ends. Access to a closed map raises BufferError.
    """

    def __buffer__(self, flags: int, /) -> memoryview: ...

    def __enter__(self) -> TensorMap: ...

    def __exit__(self, exc_type: object | None, exc: object | None, traceback: object | None) -> None: ...

    def unmap(self) -> None:
        """
        Closes the map; a second call does nothing. While views are alive, raises
        BufferError and leaves the map open.
        """

    def numpy(self) -> memoryview:
        """
        The elements' bytes as a flat memoryview of prod(shape) * itemsize bytes. If rows
        are padded these are not only the elements: use numpy.asarray(m) then. Raises
        BufferError if elements do not follow one another in C order (flipped, repeated or
        transposed arrays).
        """

    def array(self) -> NDArray[Any]:
        """The elements as a NumPy array with their strides, without a copy."""

    def view(self) -> NDArray[Any]:
        """The same as array(), by the name in EdgeFirst HAL 0.24."""

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        """
        The elements as a NumPy array; without a copy unless another dtype is requested.
        """

    def __len__(self) -> int: ...

    def __getitem__(self, index: Any) -> Any: ...

    def __setitem__(self, index: Any, value: Any) -> None: ...

    @property
    def strides(self) -> tuple[int, ...]:
        """Bytes from one index of each axis to the next."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents, outermost first."""

    def __repr__(self) -> str: ...

class CudaMap:
    """
    A tensor's elements as CUDA sees them; made by ``Tensor.cuda_map()``.

    A context manager. ``cupy.asarray(m)`` and ``torch.from_dlpack(m)`` see the elements without
    a copy. While it or an array of it lives, the CPU cannot map a pixel buffer. CUDA's work on
    the elements must be in the map's stream, or be done, before the last of them is deleted.
    """

    @property
    def device_ptr(self) -> int:
        """Address of the elements; 0 after release()."""

    @property
    def size(self) -> int:
        """Bytes from there to the end of the memory; 0 after release()."""

    def __len__(self) -> int: ...

    def release(self) -> None:
        """
        Ends the mapping, or leaves that to the arrays of it that are alive. A second call
        does nothing.
        """

    def __enter__(self) -> CudaMap: ...

    def __exit__(self, exc_type: object | None, exc: object | None, traceback: object | None) -> None: ...

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """
        Version 3 of the interface. Raises AttributeError for bfloat16 and for images
        whose planes lie apart, BufferError after release().
        """

    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """
        A DLPack capsule on the CUDA device. Waits for the map's stream if `stream` is
        another one. Raises BufferError if the elements cannot be exported.
        """

    def __dlpack_device__(self) -> tuple[int, int]:
        """(2, n): CUDA, and the number of the device."""

class _Tensor:
    """The base of halyard.Tensor and halyard.edgefirst.Tensor."""

    def __buffer__(self, flags: int, /) -> memoryview: ...

    @property
    def nbytes(self) -> int:
        """Bytes of the elements alone, without padding."""

    @property
    def ndim(self) -> int:
        """Count of axes."""

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""

    @property
    def is_writable(self) -> bool:
        """
        False for read-only arrays, for what was published, and for tensors of other
        processes.
        """

    def __len__(self) -> int: ...

    @property
    def memory(self) -> TensorMemory:
        """Kind of memory."""

    @property
    def name(self) -> str:
        """For messages."""

    @property
    def format(self) -> PixelFormat | None:
        """None if it is not an image."""

    @property
    def width(self) -> int | None:
        """Columns; None if it is not an image."""

    @property
    def height(self) -> int | None:
        """Rows; None if it is not an image."""

    @property
    def row_stride(self) -> int | None:
        """Bytes between rows of the first plane; None if it is not an image."""

    @property
    def is_planar(self) -> bool:
        """
        True for formats with one full plane per channel (not for NV12 and the like).
        """

    @property
    def compression(self) -> str | None:
        """Scheme of compressed device memory, as "afbc"; None: linear."""

    @property
    def colorimetry(self) -> Colorimetry | None:
        """
        The meaning of the samples as colours. Decoding a file sets it; assign None to clear it.
        """

    @colorimetry.setter
    def colorimetry(self, value: Colorimetry | None) -> None: ...

    @property
    def orientation(self) -> tuple[Flip, Rotation]:
        """
        Makes the image upright: flip, then clockwise rotation. load() sets it from the
        file, convert() applies it; assign None to clear it.
        """

    @orientation.setter
    def orientation(self, value: ImageInfo | tuple[FlipLike, RotationLike] | Literal['raw'] | None) -> None: ...

    @property
    def upright_size(self) -> tuple[int, int]:
        """Width and height after the orientation is applied."""

    @property
    def quantization(self) -> Quantization | None:
        """
        The map from the stored integers to real numbers; always None for floats.
        """

    @quantization.setter
    def quantization(self, value: Quantization | None) -> None: ...

    def set_quantization_per_tensor(self, scale: float, zero_point: int) -> None:
        """
        One scale and zero point. Integer tensors only; raises RuntimeError for others.
        """

    def set_quantization_per_tensor_symmetric(self, scale: float) -> None:
        """One scale, zero point 0."""

    def set_quantization_per_channel(
        self,
        scales: Sequence[float],
        zero_points: Sequence[int],
        axis: int,
    ) -> None:
        """One scale and zero point for each index of `axis`."""

    def set_quantization_per_channel_symmetric(self, scales: Sequence[float], axis: int) -> None:
        """One scale for each index of `axis`."""

    def clear_quantization(self) -> None:
        """Removes the quantization."""

    def set_format(self, format: PixelFormatLike) -> None:
        """
        Makes the tensor an image of this format, in place. Raises RuntimeError if the shape
        cannot be one: packed [H,W,C], planar [C,H,W], NV12 [3H/2,W], NV16 [2H,W], NV24
        [3H,W].
        """

    def fill(self, value: float) -> None:
        """
        Sets every element. Raises OverflowError for a value that the dtype cannot hold.
        """

    def map(self) -> TensorMap:
        """
        Opens the elements to the CPU for reading and writing (read-only memory: for reading).
        Use it in a with statement. Any number of maps may be open. Raises RuntimeError for
        memory that the CPU cannot access.
        """

    def numpy(self) -> NDArray[Any]:
        """The elements as a NumPy array without a copy, as numpy.asarray(t)."""

    def cuda_map(self, stream: int | None = None) -> CudaMap | None:
        """
        The elements on a CUDA device, ordered before later work of `stream` (a handle of CUDA;
        None: the default stream). None where they have no address: heap and shared memory, no
        CUDA runtime or device, memory that CUDA refuses. Pixel buffers of OpenGL and DMA-BUFs
        may have one. Raises BusyError if it is mapped already, or a pixel buffer by the CPU.
        """

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        """
        The elements as a NumPy array; without a copy unless another dtype is requested.
        """

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """
        A DLPack capsule on the CPU. Raises BufferError if the tensor cannot be exported.
        """

    def __dlpack_device__(self) -> tuple[Any, ...]:
        """(1, 0): the CPU."""

    @property
    def fd(self) -> int:
        """
        A new descriptor of the memory each time, yours to close. Raises RuntimeError
        for memory without one (the heap).
        """

    def dmabuf_clone(self) -> int:
        """
        A new descriptor of the DMA-BUF, yours to close. Raises RuntimeError for other memory.
        """

    @property
    def iosurface_id(self) -> int | None:
        """None: IOSurfaces are Apple's."""

    @property
    def iosurface_ref(self) -> int | None:
        """None: IOSurfaces are Apple's."""

    @property
    def _borrowed_fd(self) -> int: ...

    @property
    def _dtype_name(self) -> str: ...

    def _shared_state(self) -> Any: ...

    def _set_name(self, arg: Any, /) -> None: ...

    def decode_image(
        self,
        data: Buffer,
        format: PixelFormatLike | None = None,
        *,
        limits: DecodeLimits | None = None,
    ) -> ImageInfo:
        """
        Decodes an image file into this tensor's memory. The tensor takes the file's size and
        format in place: JPEG 4:2:0 Nv12, 4:2:2 Nv16, 4:4:4 Nv24, grey Grey; others Rgb, Rgba
        or Grey; or `format` if the file can be decoded to it. A row stride that is wide enough is
        kept. Pixels stay as they are stored, and the ImageInfo has the orientation:
        pass it to convert() as `orientation`. Raises RuntimeError for damaged or unsupported
        files, and if the memory is too small.
        """

    def decode_image_file(
        self,
        filename: str | os.PathLike[str],
        format: PixelFormatLike | None = None,
        *,
        limits: DecodeLimits | None = None,
    ) -> ImageInfo:
        """The same from a file."""

    @staticmethod
    def peek_image_info(
        data: Buffer,
        format: PixelFormatLike | None = None,
        *,
        limits: DecodeLimits | None = None,
    ) -> ImageInfo:
        """
        The content of an image file's header; no pixel is decoded. Sizes are as stored,
        before any rotation.
        """

    @staticmethod
    def peek_image_info_file(
        filename: str | os.PathLike[str],
        format: PixelFormatLike | None = None,
        *,
        limits: DecodeLimits | None = None,
    ) -> ImageInfo:
        """The same from a file."""

    def save(self, filename: str | os.PathLike[str], quality: int = 90) -> None:
        """
        Writes the image in the format of the file's name: .jpg, .jpeg, .png, .webp, .tif, .tiff, .bmp;
        WebP and TIFF if the build has their libraries. quality: of JPEG and WebP, 1 to 100.
        All of these can hold uint8 Rgb, Rgba and Grey, some also others.

        Raises ValueError for other extensions, UnsupportedError for .gif, for file types that the build
        lacks and for pixel formats that the file type cannot hold.
        """

    def save_jpeg(self, filename: str | os.PathLike[str], quality: int = 80) -> None:
        """
        Writes the image as JPEG; quality 1 to 100. uint8 RGB, BGR, RGBA, BGRA (alpha
        dropped), grey and YUV of BT.601 full range.
        """

    def save_png(self, filename: str | os.PathLike[str], compression: int = 6) -> None:
        """Writes the image as PNG; compression 0 to 9. uint8 Rgb, Rgba and Grey."""

    def to_jpeg(self, quality: int = 80) -> bytes:
        """The image as the bytes of a JPEG file."""

    def to_png(self, compression: int = 6) -> bytes:
        """The image as the bytes of a PNG file."""

    def _repr_png_(self) -> bytes | None:
        """PNG for notebooks, at most 1024 pixels a side."""

    def from_numpy(self, src: ArrayLike) -> None:
        """
        Copies the elements of an array, of any strides, into this tensor. Count and dtype must
        be the tensor's; the shape may differ. The array may share bytes with the tensor: the
        result is as if it had been copied first. Raises RuntimeError if count or dtype differ,
        TypeError for other objects. The interpreter is released meanwhile.
        """

    def normalize_to_numpy(
        self,
        dst: NDArray[Any],
        normalization: NormalizationLike = Normalization.DEFAULT,
        zero_point: int | None = None,
    ) -> None:
        """
        Writes a packed uint8 image into an array [H,W,C] of uint8 (RAW), int8 (SIGNED: v -
        zero_point, 128 by default) or floats (SIGNED: v / 127.5 - zero_point / 127.5, 1 by
        default; UNSIGNED: v / 255; RAW: v). Rgba may drop its alpha into 3 channels. Strides
        may be any on both sides; dst may share bytes with the image. Raises TypeError for
        another dst, RuntimeError if shapes differ or elements of dst share bytes.
        """

class Tensor(_Tensor):
    """
    Elements in memory that devices share, possibly an image.

    shape, dtype, size, nbytes, ndim, strides and reshape are NumPy's; an image also has a
    format, width, height, row stride and colorimetry. View a tensor as a NumPy array without a
    copy by ``numpy.asarray(t)`` or ``t.numpy()``, or hand it to others by DLPack; both see padded
    rows as strides. Parts (``view``, ``batch``, ``t[n]``, ``reshape``) share the bytes.

    Args:
        shape: extents, outermost first, 1 to 8 of them.
        dtype: element type: anything that ``numpy.dtype`` takes, or "bfloat16".
        mem: kind of memory; None: DMA-BUF where it can be had, else the heap.
        name: for messages; None: one is made up.

    All bytes start as 0. Raises RuntimeError (halyard.Error) if the shape is empty or the
    memory cannot be allocated. A Tensor may be used by several threads; the program orders
    writes to the same bytes.
    """

    def __init__(self, shape: Sequence[int] | int, dtype: DTypeLike = 'float32', mem: TensorMemoryLike | None = None, name: str | None = None) -> None: ...

    @staticmethod
    def image(
        width: int,
        height: int,
        format: PixelFormatLike,
        mem: TensorMemoryLike | None = None,
        access: Literal['none', 'read', 'write', 'readwrite'] = 'none',
        dtype: DTypeLike = 'uint8',
    ) -> Tensor:
        """
        An image of zeros. Shape: packed [H,W,C], planar [C,H,W], NV12 [H+ceil(H/2),W], NV16
        [2H,W], NV24 [3H,W]; odd sizes are legal. `access` tells what the CPU does with
        device memory: none, read, write or readwrite. It is a hint: all access works.
        """

    @property
    def dtype(self) -> numpy.dtype[Any]:
        """
        Element type, a numpy.dtype, equal to its name, "uint8". Raises UnsupportedError
        for bfloat16 without the package ml_dtypes.
        """

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents, outermost first."""

    @property
    def size(self) -> int:
        """Count of elements; nbytes has their bytes."""

    @property
    def strides(self) -> tuple[int, ...]:
        """Bytes from one index of each axis to the next."""

    def __repr__(self) -> str: ...

    def reshape(self, *shape: SupportsIndex | Sequence[SupportsIndex]) -> Tensor:
        """
        A tensor of another shape over the same bytes: ints, or a sequence of them; one may be
        -1. Drops the image format. Raises ValueError if the count differs,
        UnsupportedError if rows are padded: NumPy copies then.
        """

    def view(self, region: Region | Rect) -> Tensor:
        """
        A rectangle of an image that shares its bytes. Subsampled formats need x and y at
        multiples of the chroma block. Raises RuntimeError outside the image.
        """

    def batch(self, n: int) -> Tensor:
        """
        Element n of the outermost axis, sharing its bytes. Raises RuntimeError if n is out
        of range, or for a single image.
        """

    def __getitem__(self, key: Any) -> Tensor:
        """
        A part that shares the bytes: for an image t[y0:y1, x0:x1]; for other tensors ints and
        slices for the leading axes; t[n] is batch(n).
        """

    def copy(self, mem: TensorMemoryLike | None = None) -> Tensor:
        """
        A copy with the same elements and properties, in memory of the same kind or
        of `mem`. Rows may be padded differently.
        """

    def __copy__(self) -> Tensor: ...

    def __deepcopy__(self, memo: Any) -> Tensor: ...

    @staticmethod
    def from_dlpack(x: Any) -> Tensor:
        """
        A tensor over another library's memory (PyTorch, JAX, NumPy), without a copy. CPU only.
        """

    @staticmethod
    def from_array(array: Any, copy: bool = False) -> Tensor:
        """
        A tensor over the memory of an array: of NumPy, or any object with a buffer,
        DLPack or NumPy's array interface. With `copy`, a tensor with its own memory. Memory whose
        elements share bytes is read-only. Set the image format by set_format().
        """

    @staticmethod
    def from_fd(
        fd: int,
        shape: Sequence[int],
        dtype: DTypeLike = 'float32',
        name: str | None = None,
        *,
        require_sealed: bool = False,
    ) -> Tensor:
        """
        A tensor over a DMA-BUF or shared memory. The descriptor is duplicated: close yours.
        With `require_sealed`, memory that its owner can shrink is sealed, or refused: a read of
        removed memory ends the process. Raises RuntimeError for other
        descriptors and for memory that is too small.
        """

    @staticmethod
    def from_iosurface(
        surface_ref: Any,
        shape: Any,
        dtype: Any = 'uint8',
        name: Any | None = None,
    ) -> Any:
        """Raises RuntimeError: IOSurfaces are Apple's."""

    @staticmethod
    def _from_shared(fd: int, state: tuple[Any, ...]) -> Tensor: ...

    @staticmethod
    def load(
        path: str | os.PathLike[str],
        format: PixelFormatLike | None = None,
        mem: TensorMemoryLike | None = None,
        *,
        limits: DecodeLimits | None = None,
    ) -> Tensor:
        """
        A new image from a file (JPEG, PNG, WebP, TIFF, BMP, GIF), in the file's own format
        or in `format`. Its pixels are as they are stored; `orientation` has the rotation, and convert()
        makes them upright.
        """

    @staticmethod
    def load_from_bytes(
        data: Buffer,
        format: PixelFormatLike | None = None,
        mem: TensorMemoryLike | None = None,
        *,
        limits: DecodeLimits | None = None,
    ) -> Tensor:
        """The same from bytes."""

class _ReferenceTensor(_Tensor):
    """
    halyard.Tensor as in EdgeFirst HAL: ``shape`` is a list, ``dtype`` a str, ``size`` a count
    of bytes, ``reshape`` changes the tensor in place. Every call takes either class.

    Args:
        shape: extents, outermost first, 1 to 8 of them.
        dtype: element type: a name, or anything that ``numpy.dtype`` takes.
        mem: kind of memory; None: DMA-BUF where it can be had, else the heap.
        name: for messages; None: one is made up.

    All bytes start as 0. Raises RuntimeError when the shape is empty or the memory is not to be
    had.
    """

    def __init__(self, shape: Sequence[int] | int, dtype: DTypeLike = 'float32', mem: TensorMemoryLike | None = None, name: str | None = None) -> None: ...

    @staticmethod
    def image(
        width: int,
        height: int,
        format: PixelFormatLike,
        mem: TensorMemoryLike | None = None,
        access: Literal['none', 'read', 'write', 'readwrite'] = 'none',
        dtype: DTypeLike = 'uint8',
    ) -> _ReferenceTensor:
        """
        An image of zeros. Shape: packed [H,W,C], planar [C,H,W], NV12 [H+ceil(H/2),W], NV16
        [2H,W], NV24 [3H,W]; odd sizes are legal. `access` tells what the CPU does with
        device memory: none, read, write or readwrite. It is a hint: all access works.
        """

    @property
    def dtype(self) -> str:
        """Element type by NumPy's name, "uint8"."""

    @property
    def shape(self) -> list[int]:
        """Extents, outermost first."""

    @property
    def size(self) -> int:
        """Bytes of the elements alone, without padding."""

    @property
    def strides(self) -> list[int]:
        """Bytes from one index of each axis to the next."""

    def __str__(self) -> str: ...

    def __repr__(self) -> str: ...

    def reshape(self, shape: Sequence[int]) -> None:
        """
        Gives the tensor another shape of the same count of elements, in place. Drops the image format.
        Raises RuntimeError if the count differs or rows are padded.
        """

    def view(self, region: Region | Rect) -> _ReferenceTensor:
        """
        A rectangle of an image that shares its bytes. Subsampled formats need x and y at
        multiples of the chroma block. Raises RuntimeError outside the image.
        """

    def batch(self, n: int) -> _ReferenceTensor:
        """
        Element n of the outermost axis, sharing its bytes. Raises RuntimeError if n is out
        of range, or for a single image.
        """

    def __getitem__(self, key: Any) -> _ReferenceTensor:
        """
        A part that shares the bytes: for an image t[y0:y1, x0:x1]; for other tensors ints and
        slices for the leading axes; t[n] is batch(n).
        """

    def copy(self, mem: TensorMemoryLike | None = None) -> _ReferenceTensor:
        """
        A copy with the same elements and properties, in memory of the same kind or
        of `mem`. Rows may be padded differently.
        """

    def __copy__(self) -> _ReferenceTensor: ...

    def __deepcopy__(self, memo: Any) -> _ReferenceTensor: ...

    @staticmethod
    def from_dlpack(x: Any) -> _ReferenceTensor:
        """
        A tensor over another library's memory (PyTorch, JAX, NumPy), without a copy. CPU only.
        """

    @staticmethod
    def from_array(array: Any, copy: bool = False) -> _ReferenceTensor:
        """
        A tensor over the memory of an array: of NumPy, or any object with a buffer,
        DLPack or NumPy's array interface. With `copy`, a tensor with its own memory. Memory whose
        elements share bytes is read-only. Set the image format by set_format().
        """

    @staticmethod
    def from_fd(
        fd: int,
        shape: Sequence[int],
        dtype: DTypeLike = 'float32',
        name: str | None = None,
        *,
        require_sealed: bool = False,
    ) -> _ReferenceTensor:
        """
        A tensor over a DMA-BUF or shared memory. The descriptor is duplicated: close yours.
        With `require_sealed`, memory that its owner can shrink is sealed, or refused: a read of
        removed memory ends the process. Raises RuntimeError for other
        descriptors and for memory that is too small.
        """

    @staticmethod
    def from_iosurface(
        surface_ref: Any,
        shape: Any,
        dtype: Any = 'uint8',
        name: Any | None = None,
    ) -> Any:
        """Raises RuntimeError: IOSurfaces are Apple's."""

    @staticmethod
    def _from_shared(fd: int, state: tuple[Any, ...]) -> _ReferenceTensor: ...

    @staticmethod
    def load(
        path: str | os.PathLike[str],
        format: PixelFormatLike | None = None,
        mem: TensorMemoryLike | None = None,
        *,
        limits: DecodeLimits | None = None,
    ) -> _ReferenceTensor:
        """
        A new image from a file (JPEG, PNG, WebP, TIFF, BMP, GIF), in the file's own format
        or in `format`. Its pixels are as they are stored; `orientation` has the rotation, and convert()
        makes them upright.
        """

    @staticmethod
    def load_from_bytes(
        data: Buffer,
        format: PixelFormatLike | None = None,
        mem: TensorMemoryLike | None = None,
        *,
        limits: DecodeLimits | None = None,
    ) -> _ReferenceTensor:
        """The same from bytes."""

class Device:
    """
    The place of a tensor's elements: a label, which allocates nothing.

    Args:
        name: "cpu", "cuda", "gpu:1", "dma_buf"..., in any case.
    """

    def __init__(self, name: str = 'cpu') -> None: ...

    @staticmethod
    def cpu() -> Device:
        """The CPU."""

    @staticmethod
    def cuda(id: int = 0) -> Device:
        """A CUDA device by its number."""

    @property
    def type(self) -> str:
        """"cpu", "cuda", "cuda_host", "cuda_managed" or "dma_buf"."""

    @property
    def id(self) -> int:
        """The number of the device, from 0."""

    def is_cpu(self) -> bool:
        """Whether it is the CPU."""

    def is_cuda(self) -> bool:
        """Whether it is a CUDA device."""

    def __eq__(self, other: object, /) -> bool: ...

    def __hash__(self) -> int: ...

    def __str__(self) -> str: ...

    def __repr__(self) -> str: ...

class TensorDescriptor:
    """
    Identifies a tensor of a pool for other processes: 168 bytes, which
    ``bytes(d)`` gives and this class takes. ``TensorPool.attach()`` makes a
    tensor of it. Bytes of other processes may be malformed; ``validate()`` checks them.
    """

    def __init__(self, data: Buffer) -> None: ...

    @property
    def pool_id(self) -> int:
        """The pool's number."""

    @property
    def slot_id(self) -> int:
        """
        The slot; the upper 8 bits are the part of the pool, which belongs to one process.
        """

    @property
    def generation(self) -> int:
        """Generation of the slot; odd while it has a tensor."""

    @property
    def offset(self) -> int:
        """Offset of the first element, in the memory of its part of the pool."""

    @property
    def size(self) -> int:
        """Bytes from there to the end of the elements."""

    @property
    def is_read_only(self) -> bool:
        """Whether the tensor was published."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents, outermost first."""

    @property
    def strides(self) -> tuple[int, ...]:
        """Bytes from one index of each axis to the next."""

    @property
    def dtype(self) -> numpy.dtype[Any] | None:
        """None for a foreign number."""

    @property
    def device(self) -> Device | None:
        """None for a foreign number."""

    def __bytes__(self) -> bytes: ...

    def __len__(self) -> int: ...

    def __reduce__(self) -> tuple[Any, ...]: ...

    def __eq__(self, other: object, /) -> bool: ...

    def __hash__(self) -> int: ...

    def __repr__(self) -> str: ...

def cuda_available() -> bool:
    """
    Whether this process can use a CUDA device: the driver exists and reports at least one.
    """

def cuda_device_count() -> int:
    """
    The number of CUDA devices that the driver reports; 0 without a driver.
    """

class TensorPoolStats:
    """
    Counts over all processes of a pool; exact if nobody allocates meanwhile.
    """

    @property
    def pool_id(self) -> int: ...

    @property
    def max_slots(self) -> int: ...

    @property
    def pool_size(self) -> int:
        """Bytes."""

    @property
    def allocated_slots(self) -> int: ...

    @property
    def processes(self) -> int:
        """Processes that have the pool open."""

    @property
    def total_refcount(self) -> int:
        """Handles, frames in topics' windows, and borrowing processes."""

    @property
    def used_bytes(self) -> int: ...

    @property
    def free_bytes(self) -> int:
        """pool_size less used_bytes."""

    @property
    def reserved_bytes(self) -> int:
        """Memory allocated from the system."""

    @property
    def peak_used_bytes(self) -> int:
        """Sum of the maxima of each process."""

    @property
    def failed_allocations(self) -> int: ...

    @property
    def slot_utilization(self) -> float:
        """0..1."""

    @property
    def data_utilization(self) -> float:
        """0..1."""

    @property
    def is_under_pressure(self) -> bool:
        """More than 80 % of the slots or of the bytes are in use."""

    def summary(self) -> str:
        """One readable line."""

    def __repr__(self) -> str: ...

class TensorPoolConfig:
    """
    Limits of a pool, as those of TensorPool: a topic's own pool is made
    with.
    """

    def __init__(self, size_mb: float = 1024, max_slots: int = 1024, *, slot_alignment: int = 64, scrub: str = 'on_handover', prefault: bool = False, lock_memory: bool = False, huge_pages: bool = False) -> None: ...

    @property
    def pool_size(self) -> int:
        """Maximum bytes of all live tensors."""

    @property
    def max_slots(self) -> int:
        """Maximum number of live tensors."""

    @property
    def slot_alignment(self) -> int:
        """Bytes."""

    @staticmethod
    def small() -> TensorPoolConfig:
        """64 MiB and 256 slots."""

    @staticmethod
    def large() -> TensorPoolConfig:
        """4 GiB and 4096 slots."""

class TensorPool:
    """
    Memory for tensors that processes share, identified by a number.

    Each process allocates from memory that only it can write; the others map it read-only.
    The memory that a process held is free at once when it ends, however it ends. In one process all
    objects of one number are the same pool. A context manager: the end of ``with`` releases
    the pool; live tensors keep their memory.

    Args:
        pool_id: the pool's number; the pool is made if no process has it, else opened.
        size_mb: MiB of all live tensors, in all processes; also a fraction.
        max_slots: maximum number of live tensors, 1..1048576.
        slot_alignment: bytes, a power of two, 64..4096.
        scrub: when the bytes of a freed tensor are set to zero: "never", "on_handover" (before
            another process gets them) or "on_free".
        prefault, lock_memory, huge_pages: how this process allocates memory of the system.

    Raises halyard.Error: a wrong limit (the message names it), or other limits than those that
    the pool has. Thread-safe. A child of fork() must open the pool again.
    """

    def __init__(self, pool_id: int = 1, size_mb: float = 1024, max_slots: int = 1024, *, slot_alignment: int = 64, scrub: str = 'on_handover', prefault: bool = False, lock_memory: bool = False, huge_pages: bool = False) -> None: ...

    @staticmethod
    def open(pool_id: int) -> TensorPool:
        """
        A pool that a process has open, with its limits. Raises MissingFileError
        if there is none.
        """

    def alloc(
        self,
        shape: Sequence[int],
        dtype: DTypeLike = 'float32',
        device: Device | str = 'cpu',
        *,
        timeout: float | None = None,
    ) -> TensorHandle:
        """
        A tensor with the bytes that the slot held before; an empty shape is one element.
        `timeout`: seconds to wait for free space; None: does not wait. Raises CapacityError (no
        free space; the message tells which limit), WaitTimeoutError, UnsupportedError (a device
        other than the CPU; a child of fork()), InvalidArgumentError (the shape).
        """

    def alloc_image(
        self,
        width: int,
        height: int,
        format: PixelFormatLike,
        dtype: DTypeLike = 'uint8',
    ) -> TensorHandle:
        """An image with the layout of Tensor.image(). Raises as alloc()."""

    def alloc_frame(self, *, timeout: float | None = None) -> TensorHandle:
        """
        A frame of a pool that Reconciled.pool() made: its image, else its tensor, as all
        parties agreed. Raises UnsupportedError (the pool has no frames), and as alloc().
        """

    def attach(self, descriptor: TensorDescriptor | Buffer) -> TensorHandle:
        """
        The tensor that a descriptor names, of any process of the pool: read-only. Raises
        InvalidArgumentError (another pool), MissingFileError (the tensor is gone), DataError
        (malformed bytes).
        """

    def validate(self, descriptor: TensorDescriptor | Buffer) -> None:
        """Raises the errors of attach()."""

    def stats(self) -> TensorPoolStats:
        """Counts over all processes of the pool."""

    def close(self) -> None:
        """
        Releases the pool; a second call does nothing. Live tensors stay valid.
        """

    @property
    def pool_id(self) -> int:
        """The pool's number."""

    @property
    def is_owner(self) -> bool:
        """Whether this process made the pool."""

    @property
    def max_slots(self) -> int:
        """Maximum number of live tensors."""

    @property
    def pool_size(self) -> int:
        """Maximum bytes of all live tensors."""

    @property
    def slot_alignment(self) -> int:
        """Alignment of each tensor in bytes."""

    @property
    def frame(self) -> str | None:
        """
        A text that describes the frames of alloc_frame(); None: the pool has no frames.
        """

    def __enter__(self) -> TensorPool: ...

    def __exit__(self, exc_type: object | None, exc: object | None, traceback: object | None) -> None: ...

    def __eq__(self, other: object, /) -> bool: ...

    def __hash__(self) -> int: ...

    def __repr__(self) -> str: ...

def default_pool() -> TensorPool:
    """This process's own pool, for messages without a pool."""

class TensorHandle(Tensor):
    """
    A Tensor in the memory of a pool; ``TensorPool.alloc()``, ``attach()`` and topics
    make it.

    Writable until it is published by a topic, from then on read-only, as are tensors
    of other processes: NumPy's views (``flags.writeable``) and DLPack's flag report this.
    A view that was taken before publishing can still write, but must not. The last object
    that holds the slot, views included, frees it.
    """

    def slice_first_dim(self, start: int, end: int) -> TensorHandle:
        """Indices start..end-1 of the first axis, sharing the slot."""

    def view(self, shape: Sequence[int] | Region | Rect) -> TensorHandle:
        """
        The same elements under another shape, sharing the slot; with a Region, a rectangle
        of an image, as Tensor.view(). Raises InvalidArgumentError if the count differs,
        UnsupportedError if there are gaps between elements.
        """

    def permute(self, order: Sequence[int]) -> TensorHandle:
        """The axes in another order, sharing the slot."""

    @staticmethod
    def of(tensor: _Tensor) -> TensorHandle:
        """
        A Tensor in a pool's memory (a part of a handle, an image's tensor) as the
        TensorHandle that it is. Raises InvalidArgumentError for other memory.
        """

    def descriptor(self) -> TensorDescriptor:
        """
        Identifies the tensor for other processes of the pool, as long as it is alive.
        """

    @property
    def refcount(self) -> int:
        """
        Handles, parts, views and topics' windows of this process that share the slot.
        """

    @property
    def device(self) -> Device:
        """Where the elements are."""

    @property
    def pool(self) -> TensorPool | None:
        """None if this process has released the pool."""

    @property
    def __array_interface__(self) -> dict[str, Any]:
        """
        NumPy's array interface, version 3, of the same bytes: for PIL and others that
        read it. AttributeError for bfloat16, for which it has no code.
        """

class Image:
    """
    A camera's image: a tensor with an encoding, a coordinate frame and a timestamp, in the
    names of sensor_msgs/Image.

    ``tensor`` is an image that ``ImageProcessor.convert`` takes directly; ``numpy()``,
    ``numpy.asarray`` and DLPack see its elements without a copy. Topics of type Image carry it.

    Args:
        width, height: pixels, 1..65535.
        encoding: "rgb8", "mono16", "32FC1", "nv12", "bayer_rggb8"...: see encodings().
        pool: where its bytes are; None: the process's own pool. They are not initialised.

    Raises halyard.Error for a wrong size or encoding, and if the pool has no free space.
    """

    def __init__(self, width: int, height: int, encoding: str = 'rgb8', *, pool: TensorPool | None = None) -> None: ...

    @staticmethod
    def from_numpy(
        array: Any,
        encoding: str | None = None,
        *,
        pool: TensorPool | None = None,
    ) -> Image:
        """
        A new image with the elements of an array, copied once. None as encoding
        means mono, rgb or rgba, by the channels.
        """

    @staticmethod
    def from_bytes(
        data: Buffer,
        width: int,
        height: int,
        encoding: str = 'rgb8',
        *,
        pool: TensorPool | None = None,
    ) -> Image:
        """The same from contiguous bytes without gaps between rows."""

    @staticmethod
    def wrap(tensor: Any, encoding: str | None = None) -> Image:
        """
        A tensor or an array as a message, without a copy. None as encoding: by the
        tensor's format, or as in from_numpy(). Raises InvalidArgumentError (another dtype or
        shape), UnsupportedError (strides that no image has).
        """

    @staticmethod
    def encodings() -> list[str]:
        """The names of all encodings."""

    @property
    def frame_id(self) -> str:
        """Coordinate frame: at most 31 bytes of UTF-8."""

    @frame_id.setter
    def frame_id(self, value: str) -> None: ...

    @property
    def timestamp_ns(self) -> int:
        """Time of the measurement, by the sender's clock."""

    @timestamp_ns.setter
    def timestamp_ns(self, value: int) -> None: ...

    @property
    def dtype(self) -> numpy.dtype[Any]:
        """Element type of the tensor."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents of the tensor."""

    @property
    def nbytes(self) -> int:
        """Bytes of the elements without padding."""

    @property
    def is_writable(self) -> bool:
        """False for published messages and for messages of other processes."""

    @property
    def tensor(self) -> Tensor:
        """
        The elements as a tensor that shares the bytes; a TensorHandle in a pool's memory.
        """

    def numpy(self) -> NDArray[Any]:
        """
        The tensor's elements as a NumPy array, without a copy; read-only once published.
        """

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]: ...

    def __dlpack__(self, **kwargs: Any) -> Any:
        """As Tensor.__dlpack__()."""

    def __dlpack_device__(self) -> tuple[Any, ...]:
        """(1, 0): the CPU."""

    def copy_from(self, data: Buffer) -> None:
        """
        Fills the message with `nbytes` contiguous bytes. Raises InvalidArgumentError for
        another length, AccessError if it is read-only.
        """

    def tobytes(self) -> bytes:
        """A copy of the elements without gaps."""

    @property
    def width(self) -> int:
        """Columns."""

    @property
    def height(self) -> int:
        """Rows."""

    @property
    def channels(self) -> int:
        """Samples per pixel of packed encodings; 3 for planar YUV."""

    @property
    def encoding(self) -> str:
        """Its name in sensor_msgs."""

    @property
    def step(self) -> int:
        """Bytes between rows of the first plane."""

    @property
    def bytes_per_pixel(self) -> int:
        """Bytes per pixel of packed encodings; 0 for planar ones."""

    @property
    def is_bigendian(self) -> bool:
        """Order of the bytes of a sample: this machine's."""

    @property
    def format(self) -> PixelFormat:
        """The tensor's format."""

    @property
    def colorimetry(self) -> Colorimetry | None:
        """The meaning of the samples as colours."""

    @colorimetry.setter
    def colorimetry(self, value: Colorimetry | None) -> None: ...

    def __repr__(self) -> str: ...

    def pixel(self, x: int, y: int) -> tuple[int | float, ...]:
        """
        The samples of a pixel. For many pixels use numpy(). Raises InvalidArgumentError outside
        the image, UnsupportedError for planar encodings.
        """

    def set_pixel(self, x: int, y: int, value: Any) -> None:
        """
        Sets the samples of a pixel: numbers, or bytes. Raises also AccessError where the image
        is read-only.
        """

    def fill(self, value: Any) -> None:
        """
        Gives all pixels one value: a number for each sample of a pixel, or bytes; of packed
        4:2:2 the four samples of a pair, for planar images one for each plane.
        """

    def roi(self, x: int, y: int, width: int, height: int) -> Image:
        """
        A part of the image that shares its bytes. Raises InvalidArgumentError for a part that
        is empty or outside, or at an odd position of subsampled and Bayer encodings.
        """

    def copy_roi(self, x: int, y: int, width: int, height: int) -> bytes:
        """The same part copied, without gaps between rows."""

class PointField:
    """
    One field of every point.

    Args:
        name: 1..15 bytes of UTF-8.
        offset: bytes from the start of a point.
        datatype: of each number: int8 to uint32, float32, float64.
        count: numbers in the field.
    """

    def __init__(self, name: str, offset: int, datatype: DTypeLike = 'float32', count: int = 1) -> None: ...

    @property
    def name(self) -> str: ...

    @property
    def offset(self) -> int:
        """Bytes from the start of a point."""

    @property
    def datatype(self) -> str:
        """NumPy's name."""

    @property
    def count(self) -> int:
        """Numbers in the field."""

    def __repr__(self) -> str: ...

    def __eq__(self, other: object, /) -> bool: ...

class PointCloud:
    """
    Points with named fields, with the names of sensor_msgs/PointCloud2: one row of them, or height
    x width.

    ``points()`` is a structured NumPy array over the bytes and ``field(name)`` one field of all
    points; ``numpy()`` and ``tensor`` are [N, K] or [H, W, K] numbers if all fields have one
    type, else bytes. None of them copies. Topics of type PointCloud carry it.

    Args:
        num_points: count of points.
        fields: count of numbers of a point: x y z for 3, x y z r g b for 6, else x y z intensity
            f4 f5...; f0 f1 below 3. See with_fields() for others.
        dtype: of each number.
        pool: where its bytes are; None: the process's own pool. They are not initialised.
    """

    def __init__(self, num_points: int, fields: int = 3, dtype: DTypeLike = 'float32', *, pool: TensorPool | None = None) -> None: ...

    @staticmethod
    def with_fields(
        width: int,
        height: int,
        fields: Sequence[PointField] | numpy.dtype[Any],
        point_step: int = 0,
        *,
        pool: TensorPool | None = None,
    ) -> PointCloud:
        """
        A cloud of any fields; height 1 is an unorganised one. `fields` may be a
        structured dtype. `point_step` 0: where the last field ends. Raises
        InvalidArgumentError: not 1..16 fields, two of one name, a field that leaves the
        point.
        """

    @staticmethod
    def from_numpy(array: Any, *, pool: TensorPool | None = None) -> PointCloud:
        """
        A new cloud with a copy of the points of an array: [N, K] or [H, W, K]
        numbers, or a structured array [N] or [H, W], whose fields it keeps.
        """

    @staticmethod
    def wrap(
        tensor: Any,
        fields: Sequence[PointField] | numpy.dtype[Any] | None = None,
    ) -> PointCloud:
        """
        A tensor or an array as a message, without a copy: [N, K] or [H, W, K], the last
        axis without gaps. `fields` describes the bytes of a point.
        """

    @property
    def frame_id(self) -> str:
        """Coordinate frame: at most 31 bytes of UTF-8."""

    @frame_id.setter
    def frame_id(self, value: str) -> None: ...

    @property
    def timestamp_ns(self) -> int:
        """Time of the measurement, by the sender's clock."""

    @timestamp_ns.setter
    def timestamp_ns(self, value: int) -> None: ...

    @property
    def dtype(self) -> numpy.dtype[Any]:
        """Element type of the tensor."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents of the tensor."""

    @property
    def nbytes(self) -> int:
        """Bytes of the elements without padding."""

    @property
    def is_writable(self) -> bool:
        """False for published messages and for messages of other processes."""

    @property
    def tensor(self) -> Tensor:
        """
        The elements as a tensor that shares the bytes; a TensorHandle in a pool's memory.
        """

    def numpy(self) -> NDArray[Any]:
        """
        The tensor's elements as a NumPy array, without a copy; read-only once published.
        """

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]: ...

    def __dlpack__(self, **kwargs: Any) -> Any:
        """As Tensor.__dlpack__()."""

    def __dlpack_device__(self) -> tuple[Any, ...]:
        """(1, 0): the CPU."""

    def copy_from(self, data: Buffer) -> None:
        """
        Fills the message with `nbytes` contiguous bytes. Raises InvalidArgumentError for
        another length, AccessError if it is read-only.
        """

    def tobytes(self) -> bytes:
        """A copy of the elements without gaps."""

    @property
    def point_count(self) -> int:
        """width x height."""

    def __len__(self) -> int: ...

    @property
    def width(self) -> int:
        """Points of a row."""

    @property
    def height(self) -> int:
        """Rows; 1 for an unorganised cloud."""

    @property
    def is_organized(self) -> bool:
        """More than one row."""

    @property
    def point_step(self) -> int:
        """Bytes from one point to the next."""

    @property
    def row_step(self) -> int:
        """Bytes from one row to the next."""

    @property
    def is_dense(self) -> bool:
        """Whether no point has a NaN or an infinity, as the sender states."""

    @is_dense.setter
    def is_dense(self, value: bool) -> None: ...

    @property
    def fields(self) -> list[PointField]:
        """The layout of the bytes of a point."""

    @property
    def fields_per_point(self) -> int:
        """Their count."""

    @property
    def is_xyz(self) -> bool:
        """x, y and z, and nothing else."""

    @property
    def has_intensity(self) -> bool:
        """A field intensity or i."""

    @property
    def has_color(self) -> bool:
        """A field rgb or rgba, or r, g and b."""

    def __repr__(self) -> Any: ...

    def points(self) -> NDArray[Any]:
        """A structured array [N] or [H, W] over the bytes, without a copy."""

    def field(self, name: str) -> NDArray[Any]:
        """
        The numbers of a field of all points, [N] or [H, W], without a copy; a field of several
        numbers has one more axis. Raises InvalidArgumentError if there is no such field.
        """

    def extract_xyz(self) -> NDArray[Any]:
        """x, y and z of all points as float32 [N, 3], copied."""

    def transform(self, matrix: ArrayLike, *, pool: TensorPool | None = None) -> PointCloud:
        """
        A copy whose x, y and z are transformed by a 4 x 4 matrix with the last row 0 0 0 1. All
        other fields are copied unchanged. Raises InvalidArgumentError for another matrix.
        """

class CameraIntrinsics:
    """
    A pinhole camera without distortion, in pixels; (0, 0) is the
    centre of the first pixel.
    """

    def __init__(self, fx: float, fy: float, cx: float, cy: float) -> None: ...

    @property
    def fx(self) -> float: ...

    @property
    def fy(self) -> float: ...

    @property
    def cx(self) -> float: ...

    @property
    def cy(self) -> float: ...

class DepthStatistics:
    """Of the valid pixels, in metres; all zero if there is none."""

    @property
    def min(self) -> float: ...

    @property
    def max(self) -> float: ...

    @property
    def mean(self) -> float: ...

    @property
    def count(self) -> int: ...

class DepthImage:
    """
    Distances along a camera's axis: float32 metres or uint16 millimetres, [H, W].

    A depth is valid when it is finite, above 0, and within [min_depth, max_depth]. What is not
    valid is not a measurement: 0 in uint16, NaN in float32. Topics of type DepthImage carry it.

    Args:
        width, height: pixels, 1..65535.
        dtype: "float32" (metres) or "uint16" (millimetres).
        pool: where its bytes are; None: the process's own pool. They are not initialised.
    """

    def __init__(self, width: int, height: int, dtype: DTypeLike = 'float32', *, pool: TensorPool | None = None) -> None: ...

    @staticmethod
    def meters(width: int, height: int, *, pool: TensorPool | None = None) -> DepthImage:
        """float32 metres."""

    @staticmethod
    def millimeters(width: int, height: int, *, pool: TensorPool | None = None) -> DepthImage:
        """uint16 millimetres."""

    @staticmethod
    def from_numpy(array: Any, *, pool: TensorPool | None = None) -> DepthImage:
        """A new image with a copy of an array [H, W] of float32 or uint16."""

    @staticmethod
    def wrap(tensor: Any) -> DepthImage:
        """
        A tensor or an array as a message, without a copy: [H, W], [H, W, 1] or a grey image;
        rows may be padded.
        """

    @property
    def frame_id(self) -> str:
        """Coordinate frame: at most 31 bytes of UTF-8."""

    @frame_id.setter
    def frame_id(self, value: str) -> None: ...

    @property
    def timestamp_ns(self) -> int:
        """Time of the measurement, by the sender's clock."""

    @timestamp_ns.setter
    def timestamp_ns(self, value: int) -> None: ...

    @property
    def dtype(self) -> numpy.dtype[Any]:
        """Element type of the tensor."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents of the tensor."""

    @property
    def nbytes(self) -> int:
        """Bytes of the elements without padding."""

    @property
    def is_writable(self) -> bool:
        """False for published messages and for messages of other processes."""

    @property
    def tensor(self) -> Tensor:
        """
        The elements as a tensor that shares the bytes; a TensorHandle in a pool's memory.
        """

    def numpy(self) -> NDArray[Any]:
        """
        The tensor's elements as a NumPy array, without a copy; read-only once published.
        """

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]: ...

    def __dlpack__(self, **kwargs: Any) -> Any:
        """As Tensor.__dlpack__()."""

    def __dlpack_device__(self) -> tuple[Any, ...]:
        """(1, 0): the CPU."""

    def copy_from(self, data: Buffer) -> None:
        """
        Fills the message with `nbytes` contiguous bytes. Raises InvalidArgumentError for
        another length, AccessError if it is read-only.
        """

    def tobytes(self) -> bytes:
        """A copy of the elements without gaps."""

    @property
    def width(self) -> int:
        """Columns."""

    @property
    def height(self) -> int:
        """Rows."""

    @property
    def step(self) -> int:
        """Bytes between rows."""

    @property
    def is_meters(self) -> bool:
        """float32 metres."""

    @property
    def is_millimeters(self) -> bool:
        """uint16 millimetres."""

    @property
    def depth_scale(self) -> float:
        """Millimetres of one unit of uint16."""

    @depth_scale.setter
    def depth_scale(self, value: float) -> None: ...

    @property
    def min_depth(self) -> float:
        """Metres; nearer depths are not measurements."""

    @property
    def max_depth(self) -> float:
        """Metres; farther depths are not measurements."""

    def set_depth_range(self, min_depth: float, max_depth: float) -> None:
        """The range of measurements, in metres; max_depth may be infinite."""

    def __repr__(self) -> str: ...

    def get_depth(self, x: int, y: int) -> float:
        """Metres, as stored. Raises InvalidArgumentError outside the image."""

    def set_depth(self, x: int, y: int, meters: float) -> None:
        """
        Rounds to the nearest unit; 0 and, in float32, NaN mean that there is no measurement.
        Raises InvalidArgumentError (outside the image or the depth range), AccessError.
        """

    def get_depth_u16(self, x: int, y: int) -> int:
        """The stored unit of uint16."""

    def depth_statistics(self) -> DepthStatistics:
        """
        Minimum, maximum and mean depth of the valid pixels in metres, and their count.
        """

    def to_meters(self, *, pool: TensorPool | None = None) -> DepthImage:
        """A copy in float32 metres."""

    def to_millimeters(self, *, pool: TensorPool | None = None) -> DepthImage:
        """
        A copy in uint16 units of depth_scale; values that do not fit become 0.
        """

    def deproject(
        self,
        intrinsics: CameraIntrinsics | Sequence[float],
        *,
        valid_only: bool = False,
        pool: TensorPool | None = None,
    ) -> PointCloud:
        """
        float32 points x y z in metres, height x width, NaN for invalid pixels; with
        `valid_only` one row with the valid pixels only.
        """

    def as_image(self) -> Image:
        """"32FC1" or "16UC1", sharing the bytes."""

class TopicStats:
    """The counters of one endpoint, and the properties of the topic."""

    @property
    def depth(self) -> int:
        """Messages kept for each publisher."""

    @property
    def history(self) -> int:
        """Messages that a late subscriber gets."""

    @property
    def max_endpoints(self) -> int: ...

    @property
    def overflow(self) -> str:
        """"drop_oldest", "drop_newest" or "block"."""

    @property
    def publishers(self) -> int:
        """Other endpoints, in all processes."""

    @property
    def subscribers(self) -> int:
        """Other endpoints, in all processes."""

    @property
    def sent(self) -> int: ...

    @property
    def refused(self) -> int:
        """Messages that send() did not take."""

    @property
    def received(self) -> int: ...

    @property
    def lost(self) -> int:
        """Messages that were overwritten before this endpoint read them."""

    @property
    def copied(self) -> int:
        """Frames that were in no pool and were copied into the topic's."""

    @property
    def copied_bytes(self) -> int: ...

    @property
    def corrupt(self) -> int:
        """Lost messages that were malformed."""

    @property
    def last_error(self) -> str | None:
        """
        Reason of the last message that was lost for another reason than the overflow rule.
        """

class _Endpoint:
    """An endpoint of a topic, for the class Topic."""

    def __init__(self, name: Any, kind: Any, message_name: object | None, size: Any, alignment: Any, options: dict[str, Any]) -> None: ...

    def send(self, message: Any, timeout: Any | None = None) -> None: ...

    def recv(self, timeout: Any | None = None) -> Any: ...

    def has_message(self) -> bool: ...

    def fileno(self) -> int: ...

    def count_malformed(self) -> None: ...

    def stats(self) -> TopicStats: ...

    def pool(self) -> TensorPool: ...

    @property
    def lost(self) -> int: ...

    @property
    def name(self) -> str: ...

    @property
    def is_closed(self) -> bool: ...

    def refuse(self) -> None: ...

    def close(self) -> None: ...

class _WaitSet:
    """Topics, timers and descriptors, for the class WaitSet."""

    def __init__(self) -> None: ...

    def add(self, endpoint: Any) -> int: ...

    def add_timer(self, interval: Any) -> int: ...

    def add_fd(self, fd: Any) -> int: ...

    def remove(self, token: int) -> None: ...

    def wait(self, timeout: float | None) -> list[int]: ...

class AttributeList:
    """
    The needs of one party for a shared buffer; reconcile() finds that buffer.

    Each key is set once; names, units and rules of all keys are in docs/negotiation.md. A value
    is written as in a file of parties: a number, True, a name ("f32", "cached"), a list.

    Args:
        party: its name in reports.
        keys: values by key: {"t.dtype": "f32", "t.shape": [1, 3, 480, 640]}.
        engine: a built-in engine that adds the rest: "dla", "egl.dmabuf", "v4l2.capture".
        settings: numbers of the engine's table to replace: {"pitch_align": 256}.
        optional: whether the party may be left out; an int is its priority, the lowest is left out
            first.
        process: the id of the party's process, for reports; 0: not given.

    One thread uses it at a time.
    """

    def __init__(self, party: str, keys: Mapping[str, Any] | None = None, *, engine: str | None = None, settings: Mapping[str, Any] | None = None, optional: bool | int | None = None, process: int = 0) -> None: ...

    def set(self, key: str, value: Any, *, source: str | None = None) -> None:
        """
        Sets a value, once. `source`: its origin, for reports; None: the line of the
        call. Raises SystemCallError with the code "exists" (set already),
        InvalidArgumentError (not the key's type, out of its range), MissingFileError (no such
        key).
        """

    def __setitem__(self, key: str, value: Any, /) -> None:
        """As set()."""

    def accept(
        self,
        tag: str | PixelFormat,
        cost: int = 0,
        keys: Mapping[str, Any] | None = None,
    ) -> None:
        """
        Adds a layout that the party accepts ("NHWC", "NCxHWx32", "nv12"), at most 64;
        without any it accepts all. The lowest sum of costs wins; `keys` apply only to this layout.
        Raises as set().
        """

    @property
    def party(self) -> str:
        """The party's name."""

    @property
    def engine(self) -> str:
        """The engine's name; empty without one."""

    @property
    def process(self) -> int:
        """Id of the process; 0: not given."""

    @property
    def optional(self) -> int | None:
        """The priority of a party that may be left out; None: it is needed."""

    @property
    def attributes(self) -> dict[str, str]:
        """The values that were set, with units: {"t.row_align": "64 B"}."""

    @property
    def alternatives(self) -> list[tuple[str, int, dict[str, str]]]:
        """Accepted layouts, their costs, and the values of each."""

    def copy(self) -> AttributeList:
        """An independent copy."""

    def __repr__(self) -> str: ...

def parties_from_json(parties: str | Mapping[str, Any]) -> list[AttributeList]:
    """
    The lists of a file of parties, as `halyard negotiate` reads it: its text, or the object
    in it. Raises DataError (malformed JSON), InvalidArgumentError, MissingFileError (a key or
    an engine); the message names the party.
    """

def encode_lists(lists: Iterable[AttributeList]) -> bytes:
    """
    Lists as bytes, for the process that reconciles; the order does not matter. Raises
    CapacityError above 65536 bytes, InvalidArgumentError for lists with an engine.
    """

def decode_lists(blob: Buffer) -> list[AttributeList]:
    """
    The lists of encode_lists(), from anybody. Raises DataError (damaged, another version),
    UnsupportedError (an unknown key that must be understood), and as AttributeList.set().
    """

class Reconciled:
    """
    A buffer that serves all parties, not allocated yet; made by reconcile().

    ``str(result)`` is a readable line, ``outputs`` has the computed values, ``explain(key)`` who
    caused a value. Immutable; thread-safe.
    """

    @property
    def outputs(self) -> dict[str, Any]:
        """
        The computed values by name: "t.strides", "i.planes", "g.heap", "g.size".
        """

    def explain(self, key: str) -> list[dict[str, Any]]:
        """
        The parties that caused a value, with value and source; empty: nobody set it. Raises
        MissingFileError: no such key.
        """

    def to_dict(self) -> dict[str, Any]:
        """All of it, as `halyard negotiate --json` prints it."""

    @property
    def size_bytes(self) -> int:
        """Bytes that tensor and image use."""

    @property
    def allocated_bytes(self) -> int:
        """Bytes with slack, in whole pages where needed."""

    @property
    def count(self) -> int:
        """Buffers that all parties together need."""

    @property
    def heap(self) -> str:
        """The memory that fits best: "memfd"."""

    @property
    def heaps(self) -> list[str]:
        """All kinds of memory that all parties accept, best first."""

    @property
    def digest(self) -> bytes:
        """16 bytes, equal for equal results."""

    @property
    def dropped(self) -> dict[str, str]:
        """Parties that were left out, and the report of each."""

    def __str__(self) -> str: ...

    def __repr__(self) -> str: ...

    def allocate(
        self,
        count: int = 0,
        *,
        party: str | None = None,
        label: str | None = None,
    ) -> list[NegotiatedBuffer]:
        """
        Makes buffers in the first memory of `heaps` that works here. `count`: 0 for the count that the
        parties need. `party`: the party of this process: lock() allows the access that it asked for;
        None: that of any party. Raises MissingFileError (no such party), UnsupportedError and
        AccessError (no memory works; the message has the reason of each), CapacityError
        (more than the parties allow), OutOfMemoryError.
        """

    def adopt(self, tensor: _Tensor, *, party: str | None = None) -> NegotiatedBuffer:
        """
        Applies the result to the memory of a Tensor, from its first byte. Raises
        InvalidArgumentError (too small, wrong alignment), UnsupportedError (memory that not
        all parties reach).
        """

    def pool(self, pool_id: int, count: int) -> TensorPool:
        """
        A pool whose alloc_frame() gives frames of this layout to all processes, `count` at a
        time. Raises UnsupportedError (not all parties reach memfd), and as TensorPool().
        """

    def encode(self, party: str) -> bytes:
        """
        The result as bytes for a party's process. Raises MissingFileError: no such party.
        """

    @staticmethod
    def decode(blob: Buffer) -> Reconciled:
        """
        The result of encode(), from anybody: computed again from the needs of the parties. Raises
        as decode_lists().
        """

    def validate(self, lists: Iterable[AttributeList], *, heap: str | None = None) -> None:
        """
        Raises ConflictError if a buffer of this result in memory of `heap` (None: the
        best) does not serve these lists unchanged.
        """

class BufferPlan:
    """
    Groups of parties that each share a buffer, and the copies between them; made by plan_buffers().
    """

    @property
    def groups(self) -> list[tuple[list[str], Reconciled]]:
        """Names of the parties, and their buffer."""

    @property
    def copies(self) -> list[tuple[int, int, int, str]]:
        """From a group to a group, by index; bytes; and why they cannot share."""

    def to_dict(self) -> dict[str, Any]:
        """All of it, as `halyard negotiate --plan --json` prints it."""

    def __str__(self) -> str: ...

def reconcile(
    lists: Iterable[AttributeList],
    *,
    allow_drop: bool = False,
    can_anchor: bool = True,
) -> Reconciled:
    """
    Finds the buffer that serves up to 64 parties; asks their engines.

    Args:
        allow_drop: leaves out optional parties that cause a conflict.
        can_anchor: whether this machine can keep a buffer attached to a device.

    Raises ConflictError: the parties disagree; InvalidArgumentError: no list, or nobody states
    what the buffer holds; CapacityError: more than 64 parties.
    """

def plan_buffers(lists: Iterable[AttributeList]) -> BufferPlan:
    """
    Splits the parties into the fewest groups that each agree. Raises ConflictError if a
    party agrees with nobody: element types or extents that differ.
    """

class BufferLock:
    """
    CPU access to all bytes of a NegotiatedBuffer until unlock(), the end of ``with``, or the
    object's end. A buffer of bytes: ``numpy.asarray(lock)``; read-only if it is for reading.
    Views that outlive the lock keep the memory alive, but must not be used. Belongs to the
    thread that locked.
    """

    def __buffer__(self, flags: int, /) -> memoryview: ...

    def unlock(self) -> None:
        """
        Hands the bytes over to engines. Raises InvalidArgumentError (unlocked already),
        AccessError (another thread's; the lock is kept), SystemCallError (devices were not
        notified).
        """

    def sync_range(self, offset_bytes: int, size_bytes: int) -> None:
        """
        Hands a range over and keeps the lock. Raises as unlock(), and for a range past the end.
        """

    @property
    def size_bytes(self) -> int:
        """Bytes of the buffer; 0 once it is unlocked."""

    def __enter__(self) -> BufferLock: ...

    def __exit__(self, exc_type: object | None, exc: object | None, traceback: object | None) -> None: ...

class BufferOperation:
    """
    One use of a buffer by an engine, until finish() or fail(). The end of ``with`` finishes it, or
    fails it if an exception is raised. An object that is destroyed before that counts as failed.
    """

    def finish(self) -> None:
        """
        The engine is done. Raises InvalidArgumentError: the operation is over.
        """

    def fail(self, code: int) -> None:
        """
        The engine has failed; `code` is shown by status(). Raises as finish().
        """

    def __enter__(self) -> BufferOperation: ...

    def __exit__(self, exc_type: object | None, exc: object | None, traceback: object | None) -> None: ...

class OperationStatus:
    """The state of the latest use of a buffer by an engine."""

    @property
    def state(self) -> str:
        """"none", "pending", "done" or "failed"."""

    @property
    def seconds(self) -> float:
        """Duration of the operation; while it is pending, until now."""

    @property
    def code(self) -> int:
        """The code of fail(), or the fence's error."""

    @property
    def is_poisoned(self) -> bool:
        """A lock's end could not hand the bytes over to devices."""

class NegotiatedBuffer:
    """
    Memory that serves all parties; made by Reconciled.allocate() and import_buffer().

    lock() orders the CPU and the engines of this process: many readers, one writer, and none
    during an operation that submit() began. Maps of tensor() and image() do not wait. Other
    processes must be ordered by messages. Thread-safe.
    """

    def tensor(self) -> Tensor:
        """
        The tensor in the buffer, without a copy. Raises UnsupportedError: there is none.
        """

    def image(self) -> Tensor:
        """
        The image in the buffer, without a copy. Raises UnsupportedError: there is none.
        """

    def copy_from(
        self,
        source: _Tensor | ArrayLike,
        order: str = 'NCHW',
        *,
        timeout: float | None = None,
    ) -> None:
        """
        Copies an array into the buffer's tensor, whatever its order of axes. `order` of
        the array: "NCHW", "NHWC", or "NCxHWx" ([N, C/x rounded up, H, W, x]). Padding
        channels get the padding value of the parties; without one they stay. Raises
        UnsupportedError (no tensor), InvalidArgumentError (another type or extents), and as
        lock().
        """

    def copy_to(
        self,
        destination: _Tensor | ArrayLike,
        order: str = 'NCHW',
        *,
        timeout: float | None = None,
    ) -> None:
        """The reverse. Raises as copy_from()."""

    def lock(self, access: str = 'read_write', timeout: float | None = None) -> BufferLock:
        """
        Waits until the buffer is free, at most `timeout` seconds, and makes the bytes ready
        for the CPU. `access`: "read", "write" or "read_write". Raises UnsupportedError
        (no CPU may see the memory), AccessError (more than the party asked for), BusyError
        (this thread holds a lock), WaitTimeoutError, CapacityError (64 threads hold locks).
        """

    def submit(self) -> BufferOperation:
        """
        An engine begins to use the buffer. Raises BusyError: locked, or an operation is under
        way.
        """

    def submit_fence(self, fence: int) -> None:
        """
        The same, until a descriptor becomes readable (a sync_file, an eventfd), which is
        duplicated. Raises as submit(), and halyard.Error if it is not a descriptor.
        """

    def status(self, timeout: float | None = 0.0) -> OperationStatus:
        """
        Waits for the end of the latest operation; 0 does not wait, None waits for
        ever. Raises WaitTimeoutError.
        """

    def export(self, party: str, permission: str | None = None) -> tuple[bytes, int]:
        """
        Bytes and a descriptor for the process of a party; the caller closes the descriptor.
        `permission`: "read" or "read_write"; None: what the party asked for. Raises
        MissingFileError (no such party), UnsupportedError (memory without a descriptor),
        AccessError (more than the party asked for).
        """

    def attach(self, lists: Iterable[AttributeList]) -> NegotiatedBuffer:
        """
        The same buffer, also for parties that come late. Raises ConflictError if it does
        not serve them unchanged, SystemCallError if a party of that name took part.
        """

    @property
    def attributes(self) -> Reconciled:
        """What the parties agreed on."""

    @property
    def size_bytes(self) -> int:
        """Bytes of the memory."""

    @property
    def heap(self) -> str:
        """The kind of memory: "memfd"."""

    @property
    def permission(self) -> str:
        """What this process may do: "read" or "read_write"."""

    @property
    def enforcement(self) -> str:
        """
        What keeps readers from writing: "none" (not needed), "advisory", "hard".
        """

    def __repr__(self) -> str: ...

def import_buffer(
    blob: Buffer,
    fd: int,
    lists: Iterable[AttributeList] = (),
    *,
    permission: str | None = None,
    validates: bool = True,
    max_bytes: int = 2147483648,
) -> NegotiatedBuffer:
    """
    The buffer of NegotiatedBuffer.export(), from anybody; the descriptor is borrowed.

    Args:
        lists: the needs of this process; `validates` compares them with the agreement.
        permission: "read" or "read_write"; None: as exported.
        max_bytes: maximum size of the memory; 0: no limit.

    Nothing is mapped before everything is checked. Raises DataError (a damaged blob, too
    little memory), InvalidArgumentError (another kind of memory than the blob states),
    AccessError (more than was exported; memory that its owner can shrink), UnsupportedError
    (the buffer does not serve `lists`: the report), CapacityError (above max_bytes).
    """

def send_buffer(
    socket: Any,
    buffer: NegotiatedBuffer,
    party: str,
    timeout: float | None = None,
) -> None:
    """
    Sends a buffer to a party over a connected Unix socket (an object with fileno(), or a
    descriptor). Raises as export(), WaitTimeoutError, MissingFileError (the peer has
    closed).
    """

def receive_buffer(
    socket: Any,
    lists: Iterable[AttributeList] = (),
    timeout: float | None = None,
    *,
    permission: str | None = None,
    validates: bool = True,
    max_bytes: int = 2147483648,
) -> NegotiatedBuffer:
    """
    Receives what send_buffer() sends, as import_buffer(). Raises also WaitTimeoutError,
    MissingFileError (the peer has closed).
    """

def send_lists(socket: Any, lists: Iterable[AttributeList], timeout: float | None = None) -> None:
    """
    Sends lists to the process that reconciles. Raises as encode_lists() and send_buffer().
    """

def receive_lists(socket: Any, timeout: float | None = None) -> list[AttributeList]:
    """
    Receives what send_lists() sends. Raises as decode_lists() and receive_buffer().
    """

class DecodeLimits:
    """
    Limits of decoding, checked before pixels are decoded or memory is
    allocated. The message of the error names the limit and both numbers.
    The default of each limit is the process's: see set_default_decode_limits().
    """

    def __init__(self, *, max_width: int | None = None, max_height: int | None = None, max_pixels: int | None = None, max_bytes: int | None = None, max_expansion: int | None = None, expansion_floor: int | None = None, max_scans: int | None = None, max_scan_passes: int | None = None) -> None: ...

    @property
    def max_width(self) -> int:
        """Columns."""

    @max_width.setter
    def max_width(self, value: int) -> None: ...

    @property
    def max_height(self) -> int:
        """Rows."""

    @max_height.setter
    def max_height(self, value: int) -> None: ...

    @property
    def max_pixels(self) -> int:
        """Columns times rows."""

    @max_pixels.setter
    def max_pixels(self, value: int) -> None: ...

    @property
    def max_bytes(self) -> int:
        """Bytes of the pixels and of the other memory of decoding."""

    @max_bytes.setter
    def max_bytes(self, value: int) -> None: ...

    @property
    def max_expansion(self) -> int:
        """Decoded bytes for each byte of the file, above expansion_floor."""

    @max_expansion.setter
    def max_expansion(self, value: int) -> None: ...

    @property
    def expansion_floor(self) -> int:
        """Decoded bytes up to which max_expansion does not apply."""

    @expansion_floor.setter
    def expansion_floor(self, value: int) -> None: ...

    @property
    def max_scans(self) -> int:
        """Scans of a JPEG."""

    @max_scans.setter
    def max_scans(self, value: int) -> None: ...

    @property
    def max_scan_passes(self) -> int:
        """Visits of each block of a JPEG by its scans, on average."""

    @max_scan_passes.setter
    def max_scan_passes(self, value: int) -> None: ...

    def __eq__(self, other: object, /) -> bool: ...

    def __repr__(self) -> Any: ...

def default_decode_limits() -> DecodeLimits:
    """The limits of calls without `limits`."""

def set_default_decode_limits(limits: DecodeLimits | None) -> None:
    """
    Sets the limits of calls without `limits`, on all threads; None: the library's own.
    Services that take untrusted files call it once at start.
    """

def set_dct_method(method: DctMethodLike) -> None:
    """
    Accepted for programs that choose it; no effect: the JPEG decoder is both accurate and fast.
    """

def set_output_format(format: PixelFormatLike | None = None) -> None:
    """
    The format of this thread's later decode_image() calls, for JPEGs that can be decoded
    to it; others, and None, keep the file's own. A call's own `format` takes precedence.
    """

class Placement:
    """
    The map between source and destination pixels of one convert(). Pixel (i, j) covers
    [i, i+1) x [j, j+1).
    """

    def to_source(self, boxes: Any) -> Any:
        """
        Boxes (N, 4) or (4,) x1 y1 x2 y2 in destination pixels as float32 boxes in source
        pixels, clipped to the source. Results of a Decoder are returned with keypoints and
        rotated boxes mapped too, for every unit; ValueError if the unit is not known.
        """

    def to_destination(self, boxes: Any) -> NDArray[numpy.float32]:
        """The reverse; not clipped."""

    def points_to_source(self, points: Any) -> NDArray[numpy.float32]:
        """
        Points (N, 2) x y in destination pixels as points in source pixels, not clipped.
        """

    def points_to_destination(self, points: Any) -> NDArray[numpy.float32]:
        """The reverse."""

    @property
    def source(self) -> tuple[int, int]:
        """Width and height of the source."""

    @property
    def destination(self) -> tuple[int, int]:
        """Width and height of the destination."""

    @property
    def content(self) -> Region:
        """The Region of the destination that shows the image; the rest is pad."""

    @property
    def letterbox(self) -> tuple[float, float, float, float]:
        """
        The same as fractions of the destination (x1, y1, x2, y2), as drawing calls
        take it.
        """

    @property
    def crop(self) -> tuple[float, float, float, float]:
        """x, y, width, height of the converted part, in source pixels."""

    @property
    def forward(self) -> tuple[float, float, float, float, float, float]:
        """
        From source to destination: x' = m[0] x + m[1] y + m[2], y' = m[3] x + m[4] y
        + m[5].
        """

    @property
    def backward(self) -> tuple[float, float, float, float, float, float]:
        """From destination to source."""

    def __repr__(self) -> str: ...

    def __reduce__(self) -> tuple[Any, ...]: ...

    def __copy__(self) -> Placement: ...

    def __deepcopy__(self, memo: Any) -> Placement: ...

    def __eq__(self, other: object, /) -> bool: ...

def _placement_of(source: Sequence[int], crop: Sequence[float], orientation: Sequence[int], destination: Sequence[int], content: Sequence[int], forward: Sequence[float]) -> Placement: ...

class ImageProcessor:
    """
    Converts images: crop, flip, rotate, resize, place, colours, element type; draws results.

    Construction always succeeds; requests that no backend of this machine serves raise
    RuntimeError. HALYARD_FORCE_BACKEND (opengl, g2d, cpu) selects a backend. One processor serves one call at a
    time, other threads wait; give each thread its own to run in parallel. A context manager.

    Args:
        egl_display: the display for OpenGL; None: the first that works. All processors share one.
        threads: maximum number of threads for one call; 0: all cores.
        backend: 'auto', or what serves a request if it can, before the CPU: 'opengl', 'g2d', 'cpu'.
    """

    def __init__(self, egl_display: EglDisplayKindLike | None = None, threads: int = 0, backend: Literal['auto', 'cpu', 'g2d', 'opengl'] = 'auto') -> None: ...

    def close(self) -> None:
        """
        Ends the processor: later calls raise RuntimeError. A second close() does nothing.
        """

    def __enter__(self) -> ImageProcessor: ...

    def __exit__(self, exc_type: object | None, exc: object | None, traceback: object | None) -> None: ...

    def convert(
        self,
        src: _Tensor,
        dst: _Tensor,
        rotation: RotationLike = Rotation.Rotate0,
        flip: FlipLike = Flip.NoFlip,
        source: Region | Sequence[int] | None = None,
        letterbox: Sequence[int] | None = None,
        *,
        src_crop: Rect | Region | Sequence[int] | None = None,
        dst_crop: Rect | Region | Sequence[int] | None = None,
        dst_color: Sequence[int] | None = None,
        fit: FitLike | None = None,
        filter: FilterLike | None = None,
        antialias: bool = False,
        normalize: NormalizationLike | tuple[Sequence[float], Sequence[float]] | Literal['imagenet'] | None = None,
        pad: Sequence[int] | None = None,
        place: Region | Sequence[int] | None = None,
        orientation: ImageInfo | tuple[FlipLike, RotationLike] | Literal['raw'] | None = None,
        letterbox_rule: LetterboxRuleLike | None = None,
        bgr: bool = False,
    ) -> Placement:
        """
        Fills ``dst`` from ``src``, two images of any formats: orientation, crop, flip, rotation,
        fit, place, colours, element type, in this order. Returns a Placement, which maps boxes
        between dst and the upright src. dst is upright, and carries no orientation of its own.
        From YUV to RGB and grey, luma below black counts as black; YUV of one colorimetry becomes
        that of another by one matrix, without RGB between.

        Args:
            src: the image to read.
            dst: the image to fill; its size and format define the result. A view or an element of a
                batch fills that part. A tensor that is not an image yet is used as one.
            rotation, flip: a clockwise rotation, and a mirror applied before it.
            source (src_crop): the part of the upright src to show; None: all.
            letterbox: R G B A; keeps the aspect ratio and fills the pad with it; None: stretches.
            dst_crop: the part of dst to fill. With dst_color the rest gets that colour (as place and
                pad do), without it the rest keeps its pixels.
            fit, pad, place: stretch, letterbox, cover or top left; the colour of the pad; the
                rectangle of the result.
            filter, antialias: resampling; antialias widens the kernel when shrinking.
            normalize: for float and quantized dst: a Normalization, "imagenet", or (mean, std) of
                R G B on the scale 0..1; None: value / 255.
            orientation: makes src upright, applied first; None: src.orientation, which load()
                sets. Or that of a file (ImageInfo), (Flip, Rotation), or "raw": as stored.
            letterbox_rule, bgr: how a letterbox is rounded; swaps red and blue of dst.

        Raises RuntimeError (halyard.Error) for parts outside an image, formats that do not convert,
        and src and dst that share bytes. The interpreter is released meanwhile.
        """

    def convert_deferred(
        self,
        src: _Tensor,
        dst: _Tensor,
        rotation: RotationLike = Rotation.Rotate0,
        flip: FlipLike = Flip.NoFlip,
        source: Region | Sequence[int] | None = None,
        letterbox: Sequence[int] | None = None,
        *,
        src_crop: Rect | Region | Sequence[int] | None = None,
        dst_crop: Rect | Region | Sequence[int] | None = None,
        dst_color: Sequence[int] | None = None,
        fit: FitLike | None = None,
        filter: FilterLike | None = None,
        antialias: bool = False,
        normalize: NormalizationLike | tuple[Sequence[float], Sequence[float]] | Literal['imagenet'] | None = None,
        pad: Sequence[int] | None = None,
        place: Region | Sequence[int] | None = None,
        orientation: ImageInfo | tuple[FlipLike, RotationLike] | Literal['raw'] | None = None,
        letterbox_rule: LetterboxRuleLike | None = None,
        bgr: bool = False,
    ) -> Placement:
        """
        As convert(), but may wait for flush(), which runs all requests that wait together: until then src
        must not change, and dst keeps its content.
        """

    def convert_with_fence(
        self,
        src: _Tensor,
        dst: _Tensor,
        rotation: RotationLike = Rotation.Rotate0,
        flip: FlipLike = Flip.NoFlip,
        source: Region | Sequence[int] | None = None,
        letterbox: Sequence[int] | None = None,
        *,
        src_crop: Rect | Region | Sequence[int] | None = None,
        dst_crop: Rect | Region | Sequence[int] | None = None,
        dst_color: Sequence[int] | None = None,
        fit: FitLike | None = None,
        filter: FilterLike | None = None,
        antialias: bool = False,
        normalize: NormalizationLike | tuple[Sequence[float], Sequence[float]] | Literal['imagenet'] | None = None,
        pad: Sequence[int] | None = None,
        place: Region | Sequence[int] | None = None,
        orientation: ImageInfo | tuple[FlipLike, RotationLike] | Literal['raw'] | None = None,
        letterbox_rule: LetterboxRuleLike | None = None,
        bgr: bool = False,
        wait_for: int | None = None,
    ) -> int | None:
        """
        As convert(), but the GPU may still work when it returns: then returns a sync file, a
        descriptor that becomes readable when dst is written, and that the caller closes. None:
        dst is written. Until then src must not change, and dst must not be read. wait_for: a sync
        file to wait for before the images are accessed; the caller keeps it.
        """

    def explain(
        self,
        src: _Tensor,
        dst: _Tensor,
        rotation: RotationLike = Rotation.Rotate0,
        flip: FlipLike = Flip.NoFlip,
        source: Region | Sequence[int] | None = None,
        letterbox: Sequence[int] | None = None,
        *,
        src_crop: Rect | Region | Sequence[int] | None = None,
        dst_crop: Rect | Region | Sequence[int] | None = None,
        dst_color: Sequence[int] | None = None,
        fit: FitLike | None = None,
        filter: FilterLike | None = None,
        antialias: bool = False,
        normalize: NormalizationLike | tuple[Sequence[float], Sequence[float]] | Literal['imagenet'] | None = None,
        pad: Sequence[int] | None = None,
        place: Region | Sequence[int] | None = None,
        orientation: ImageInfo | tuple[FlipLike, RotationLike] | Literal['raw'] | None = None,
        letterbox_rule: LetterboxRuleLike | None = None,
        bgr: bool = False,
    ) -> str:
        """
        The backend that would run this convert(), and why others decline. One line
        each.
        """

    def flush(self) -> None:
        """
        Runs the requests of convert_deferred(); their results may be read afterwards.
        """

    def create_image(
        self,
        width: int,
        height: int,
        format: PixelFormatLike = PixelFormat.Rgba,
        dtype: DTypeLike = 'uint8',
        access: Literal['none', 'read', 'write', 'readwrite'] = 'none',
        compression: Literal['any', 'ubwc', 'afbc', 'pvric', 'dcc'] | None = None,
    ) -> Tensor:
        """
        An image of zeros in the memory that suits this machine's backends best. `access`: what
        the CPU does with it (none, read, write, readwrite). `compression` (any, ubwc, afbc,
        pvric, dcc) needs access "none".
        """

    def import_image(
        self,
        fd: int,
        width: int,
        height: int,
        format: PixelFormatLike,
        dtype: DTypeLike = 'uint8',
        stride: int | None = None,
        offset: int | None = None,
        chroma_fd: int | None = None,
        chroma_stride: int | None = None,
        chroma_offset: int | None = None,
        colorimetry: Colorimetry | None = None,
        *,
        require_sealed: bool = False,
    ) -> Tensor:
        """
        An image over a DMA-BUF or shared memory of somebody else. Descriptors are duplicated:
        close yours. `stride` and `offset` in bytes; without a stride rows have no padding. Chroma
        follows the luma unless it has a descriptor or an offset. With `require_sealed`,
        memory that its owner can shrink is sealed, or refused: a read of memory that was taken taken
        away ends the process. Raises RuntimeError for planes that do not fit their memory.
        """

    def draw_decoded_masks(
        self,
        dst: _Tensor,
        bbox: Any,
        scores: Any = None,
        classes: Any = None,
        seg: Sequence[Any] | None = None,
        background: Any | None = None,
        opacity: float = 1.0,
        letterbox: Sequence[float] | None = None,
        color_mode: ColorModeLike = ColorMode.Class,
        input_dims: tuple[int, int] | None = None,
    ) -> None:
        """
        Draws boxes and masks.

        Args:
            dst: uint8 image: Rgb, Rgba, Bgra or Bgr.
            bbox: the result of a Decoder, with scores, classes and masks; or (N, 4) fractions of
                the network's input, or its pixels if input_dims is given.
            scores, classes: (N,), (N,); None: those of bbox.
            seg: list of uint8 (h, w, 1), one for a box and at most N; or one (h, w, classes)
                of the whole image.
            background: image of dst's size and format to draw over; None: dst as it is;
                "black": black, alpha 0.
            opacity: of masks, clamped to 0..1.
            letterbox: left, top, right, bottom of the part of the input that shows the
                image, in fractions: Placement.letterbox.
            color_mode: what determines a colour.
            input_dims: (width, height) of the network's input.

        Raises ValueError for boxes that are not fractions and whose input is not known.
        """

    @overload
    def draw_masks(
        self,
        decoder: Decoder,
        model_output: Sequence[Any],
        dst: _Tensor,
        tracker: halyard._tracking.AnyTracker,
        timestamp: int | None = None,
        background: Any | None = None,
        opacity: float = 1.0,
        letterbox: Sequence[float] | None = None,
        color_mode: ColorModeLike = ColorMode.Class,
        batch: int | None = None,
    ) -> tuple[NDArray[numpy.float32], NDArray[numpy.float32], NDArray[numpy.uintp], list[TrackInfo]]: ...
    @overload
    def draw_masks(
        self,
        decoder: Decoder,
        model_output: Sequence[Any],
        dst: _Tensor,
        tracker: None = None,
        timestamp: int | None = None,
        background: Any | None = None,
        opacity: float = 1.0,
        letterbox: Sequence[float] | None = None,
        color_mode: ColorModeLike = ColorMode.Class,
        batch: int | None = None,
    ) -> tuple[NDArray[numpy.float32], NDArray[numpy.float32], NDArray[numpy.uintp]]:
        """
        Decodes a model's outputs and draws what they hold, in one go: masks, outlines of boxes,
        rotated boxes with their angle, keypoints of visibility 0.5 and more.

        Args:
            decoder, model_output: as Decoder.decode takes them.
            tracker: of any kind, to update with this frame of time `timestamp` in ns; None: the next
                frame of a Tracker, of the others now.
            batch: the element of the batch; None if the outputs hold one.
            The others are those of draw_decoded_masks.

        Returns (boxes, scores, classes), with a tracker also the list of TrackInfo.
        """

    def materialize_masks(
        self,
        bbox: Any,
        scores: Any,
        classes: Any,
        proto_data: ProtoData,
        letterbox: Sequence[float] | None = None,
        resolution: halyard._masks.MaskResolution | None = None,
    ) -> list[NDArray[numpy.uint8]]:
        """
        Masks from prototypes: a list of uint8 (h, w, 1), one for a box, of 0 and 255.

        Args:
            bbox, scores, classes, proto_data: as Decoder.decode_proto gives them.
            letterbox: the part of the network's input that shows the image, in fractions.
            resolution: a MaskResolution; None: Proto().

        Raises ValueError if the counts of coefficients and boxes differ.
        """

    def set_class_colors(self, colors: Sequence[Sequence[int]]) -> None:
        """
        Colours of classes, R, G, B, A of 0..255 each; only the first 20 are used.
        """

    def set_int8_interpolation(self, mode: Literal['nearest', 'bilinear', 'twopass']) -> None:
        """
        Takes "nearest", "bilinear" and "twopass", and changes nothing: masks of int8
        prototypes are always sampled as those of floats.
        """

    def alloc_tile_batch(
        self,
        n: int,
        cfg: halyard._tiling.TilingConfig,
        format: PixelFormatLike = PixelFormat.Rgba,
        dtype: DTypeLike = 'uint8',
        memory: TensorMemoryLike | None = None,
        access: Literal['none', 'read', 'write', 'readwrite'] = 'none',
    ) -> Tensor:
        """
        An image for n tiles, one below the other: tile_w x (n * tile_h) pixels.

        The other arguments are those of create_image; memory None: the most suitable.
        """

    def plan_tiles(
        self,
        width: int,
        height: int,
        cfg: halyard._tiling.TilingConfig,
    ) -> list[halyard._tiling.TilePlacement]:
        """
        The placements of the tiles of a frame of width x height pixels; reads no pixel.
        """

    def tile_into(
        self,
        src: Any,
        dst_batched: _Tensor,
        cfg: halyard._tiling.TilingConfig,
    ) -> list[halyard._tiling.TilePlacement]:
        """
        Renders every tile of src into an image of alloc_tile_batch, from the top.

        Returns their placements. Raises ValueError if the image is too short.
        """

    def tile_one(
        self,
        src: Any,
        dst_slot: _Tensor,
        placement: halyard._tiling.TilePlacement,
        cfg: halyard._tiling.TilingConfig,
    ) -> None:
        """
        Renders one tile of src into an image of the tile's size.

        Raises ValueError if the placement is not in src at whole pixels.
        """

class _ReferenceProcessor(ImageProcessor):
    """
    Converts images: crop, flip, rotate, resize, place, colours, element type; draws results.

    Construction always succeeds; requests that no backend of this machine serves raise
    RuntimeError. HALYARD_FORCE_BACKEND (opengl, g2d, cpu) selects a backend. One processor serves one call at a
    time, other threads wait; give each thread its own to run in parallel. A context manager.

    Args:
        egl_display: the display for OpenGL; None: the first that works. All processors share one.
        threads: maximum number of threads for one call; 0: all cores.
        backend: 'auto', or what serves a request if it can, before the CPU: 'opengl', 'g2d', 'cpu'.
    """

    def __init__(self, egl_display: EglDisplayKindLike | None = None, threads: int = 0, backend: Literal['auto', 'cpu', 'g2d', 'opengl'] = 'auto') -> None: ...

    def create_image(  # type: ignore[override]
        self,
        width: int,
        height: int,
        format: PixelFormatLike = PixelFormat.Rgba,
        dtype: DTypeLike = 'uint8',
        access: Literal['none', 'read', 'write', 'readwrite'] = 'none',
        compression: Literal['any', 'ubwc', 'afbc', 'pvric', 'dcc'] | None = None,
    ) -> _ReferenceTensor:
        """
        An image of zeros in the memory that suits this machine's backends best. `access`: what
        the CPU does with it (none, read, write, readwrite). `compression` (any, ubwc, afbc,
        pvric, dcc) needs access "none".
        """

    def import_image(  # type: ignore[override]
        self,
        fd: int,
        width: int,
        height: int,
        format: PixelFormatLike,
        dtype: DTypeLike = 'uint8',
        stride: int | None = None,
        offset: int | None = None,
        chroma_fd: int | None = None,
        chroma_stride: int | None = None,
        chroma_offset: int | None = None,
        colorimetry: Colorimetry | None = None,
        *,
        require_sealed: bool = False,
    ) -> _ReferenceTensor:
        """
        An image over a DMA-BUF or shared memory of somebody else. Descriptors are duplicated:
        close yours. `stride` and `offset` in bytes; without a stride rows have no padding. Chroma
        follows the luma unless it has a descriptor or an offset. With `require_sealed`,
        memory that its owner can shrink is sealed, or refused: a read of memory that was taken taken
        away ends the process. Raises RuntimeError for planes that do not fit their memory.
        """

def is_dma_available() -> bool:
    """True when DMA-BUFs can be allocated here. Probed once."""

def is_shm_available() -> bool:
    """True when shared memory can be allocated here. Probed once."""

def is_gpu_buffer_available() -> bool:
    """True when memory that a GPU shares can be allocated: DMA-BUF on Linux."""

def is_iosurface_available() -> bool:
    """False: IOSurfaces are Apple's."""

def is_cuda_available() -> bool:
    """
    True when NVIDIA's CUDA runtime is found and reports a device. Asked once.
    """

def is_v4l2_available() -> bool:
    """False: this build has no JPEG decoder in hardware."""

def _usable_displays() -> list[tuple[int, str]]: ...

def version() -> str:
    """The library's version, "1.2.3"."""

def build_info() -> str:
    """Product and version, and how half floats are computed, in two lines."""

def gpu_dma_buf_pitch_alignment_bytes() -> int:
    """Row strides of DMA-BUF images are multiples of this: 64."""

def align_width_for_gpu_pitch(width: int, bpp: int) -> int:
    """
    The smallest width from `width` on that makes rows of `bpp` bytes a pixel multiples of 64
    bytes; `width` itself when either is 0.
    """

def align_width_for_pixel_format(
    width: int,
    format: PixelFormatLike,
    dtype: DTypeLike = 'uint8',
) -> int:
    """The same for a format and element type."""

def _trace_start(arg: Any, /) -> None: ...

def _trace_stop() -> None: ...

def is_tracing_active() -> bool:
    """True while a Tracing session records."""

class _Span:
    def __init__(self, arg0: Any, arg1: dict[str, Any], /) -> None: ...

    def __enter__(self) -> None: ...

    def __exit__(self, *args: Any) -> None: ...

class TrackInfo:
    """The state of one tracked object after a frame."""

    def __init__(
        self,
        uuid: str,
        tracked_location: Sequence[float],
        count: int,
        created: int,
        last_updated: int,
    ) -> None:
        """
        Args:
            uuid: 32 hexadecimal digits, with or without dashes.
            tracked_location: x1, y1, x2, y2.
            count: detections so far.
            created, last_updated: nanoseconds.
        """

    @property
    def uuid(self) -> str:
        """Id of the object, which never changes: "f81d4fae-7dec-..."."""

    @property
    def tracked_location(self) -> list[float]:
        """The filter's estimate: [x1, y1, x2, y2] in the units of the boxes."""

    @property
    def count(self) -> int:
        """Detections so far, including the first."""

    @property
    def created(self) -> int:
        """Time of the first detection, ns."""

    @property
    def last_updated(self) -> int:
        """Time of the last detection, ns."""

    def __eq__(self, other: object, /) -> bool: ...

    def __hash__(self) -> int: ...

    def __repr__(self) -> str: ...

    def __reduce__(self) -> tuple[Any, ...]: ...

class ActiveTrackInfo:
    """A live track and its last detection."""

    @overload
    def __init__(self, track_info: TrackInfo, bbox: Sequence[float], score: float, label: int) -> None: ...

    @overload
    def __init__(self, info: TrackInfo, bbox: Sequence[float], score: float, label: int) -> None: ...

    @property
    def info(self) -> TrackInfo:
        """The track itself: a TrackInfo."""

    @property
    def last_box(self) -> tuple[list[float], float, int]:
        """([x1, y1, x2, y2], score, label) of the last detection."""

    def __eq__(self, other: object, /) -> bool: ...

    def __hash__(self) -> int: ...

    def __repr__(self) -> str: ...

    def __reduce__(self) -> tuple[Any, ...]: ...

class ByteTrack:
    """
    Follows objects by box overlap, with detections of a low score too. One object may be used from
    several threads; calls wait for each other.
    """

    def __init__(
        self,
        high_conf: float = 0.7,
        iou: float = 0.25,
        update: float = 0.25,
        lifespan_ns: int = 500000000,
    ) -> None:
        """
        Args:
            high_conf: score of the first pass, and needed to start a track; 0..1.
            iou: minimum overlap with a track's predicted box; 0..1.
            update: share of the correction that a detection makes; clamped to 0..1.
            lifespan_ns: a track unseen for longer ends.
        """

    def update(
        self,
        boxes: Any,
        scores: Any,
        labels: Any,
        timestamp_ns: int,
    ) -> list[TrackInfo | None]:
        """
        Advances to the frame of time timestamp_ns and associates its detections.

        Args:
            boxes: (N, 4) float x1, y1, x2, y2; pixels or fractions, not mixed.
            scores: (N,) float.
            labels: (N,) integers.
            timestamp_ns: not before that of the last call.

        Returns a list of N: a TrackInfo, or None if a detection belongs to no track.
        Raises TypeError and ValueError naming the argument.
        """

    def get_active_tracks(self) -> list[ActiveTrackInfo]:
        """
        Live tracks, those seen in the last frame first: a list of ActiveTrackInfo.
        """

    @property
    def left_out(self) -> int:
        """
        Detections of the last update that could be tracked but are not, because a tracker follows
        at most 1000 objects: the lowest scores beyond 1000 detections, and those that would have
        begun a track while 1000 were live.
        """

class _Tracker:
    """A tracker with the same interface as ByteTrack."""

    def update(
        self,
        boxes: Any,
        scores: Any,
        labels: Any,
        timestamp_ns: int,
    ) -> list[TrackInfo | None]:
        """
        Advances to the frame of time timestamp_ns and associates its detections.

        Args:
            boxes: (N, 4) float x1, y1, x2, y2; pixels or fractions, not mixed.
            scores: (N,) float.
            labels: (N,) integers.
            timestamp_ns: not before that of the last call.

        Returns a list of N: a TrackInfo, or None if a detection belongs to no track.
        Raises TypeError and ValueError naming the argument.
        """

    def get_active_tracks(self) -> list[ActiveTrackInfo]:
        """
        Live tracks, those seen in the last frame first: a list of ActiveTrackInfo.
        """

    @property
    def left_out(self) -> int:
        """
        Detections of the last update that could be tracked but are not, because a tracker follows
        at most 1000 objects: the lowest scores beyond 1000 detections, and those that would have
        begun a track while 1000 were live.
        """

class OcSort(_Tracker):
    """
    OC-SORT: trusts observations more than predictions; for objects that change direction.
    """

    def __init__(self, high_conf: float = 0.6, iou: float = 0.3, inertia: float = 0.2, min_hits: int = 3, lifespan_ns: int = 1000000000, is_class_aware: bool = False) -> None: ...

class Sort(_Tracker):
    """SORT: the plain original."""

    def __init__(self, min_score: float = 0.0, iou: float = 0.3, min_hits: int = 3, lifespan_ns: int = 50000000, is_class_aware: bool = False) -> None: ...

class _TrackerCore:
    """The C++ part of halyard.Tracker."""

    def __init__(self, kind: str, options: dict[str, Any], step_ns: int) -> None: ...

    def update(
        self,
        boxes: Any,
        scores: Any,
        labels: Any,
        timestamp_ns: int | None,
    ) -> tuple[Any, Any, Any, Any, list[str], Any]:
        """
        Tracks that are not tentative, those seen first: boxes, scores, classes, ids, UUIDs,
        index of the detection (all bits set: none). Without a time: one step after the last one.
        """

    @property
    def left_out(self) -> int: ...

def _suppress(
    boxes: Any,
    scores: Any,
    classes: Any,
    obb: Any,
    threshold: float,
    class_agnostic: bool,
) -> Any:
    """Rows of the survivors, best first."""

def _run_lengths(mask: Any, left: int, top: int, width: int, height: int) -> str:
    """Counts as pycocotools writes them, of a frame of width x height."""

def _outlines(mask: Any, left: int, top: int, tolerance: float, holes: bool) -> list[Any]:
    """Outlines as float32 arrays (P, 2), largest first."""

class ProtoData:
    """
    The data of masks: prototypes that all boxes share, and a row of
    coefficients for each. Made by Decoder.decode_proto.
    """

    @property
    def layout(self) -> str:
        """"nhwc": prototypes are (H, W, K); "nchw": (K, H, W)."""

    def take_protos(self) -> Tensor | None:
        """The prototypes as a Tensor, with their quantization; once, then None."""

    def take_mask_coefficients(self) -> Tensor | None:
        """The coefficients as a Tensor (N, K); once, then None."""

    def __len__(self) -> int:
        """Rows of coefficients."""

class Output:
    """
    One output of a model: made by the functions named after its role, each
    with its shape, or with pairs of (DimName, extent). The calls with_...()
    change it and return it.
    """

    @staticmethod
    def detection(
        shape: Sequence[int] | None = None,
        dshape: Sequence[tuple[DimNameLike, int]] | None = None,
        decoder: DecoderTypeLike = DecoderType.Ultralytics,
    ) -> Output:
        """
        Args:
            shape: list of extents, outermost first.
            dshape: list of (DimName, extent) instead.
            decoder: family of the model.
        """

    @staticmethod
    def boxes(
        shape: Sequence[int] | None = None,
        dshape: Sequence[tuple[DimNameLike, int]] | None = None,
        decoder: DecoderTypeLike = DecoderType.Ultralytics,
    ) -> Output:
        """
        Args:
            shape: list of extents, outermost first.
            dshape: list of (DimName, extent) instead.
            decoder: family of the model.
        """

    @staticmethod
    def scores(
        shape: Sequence[int] | None = None,
        dshape: Sequence[tuple[DimNameLike, int]] | None = None,
        decoder: DecoderTypeLike = DecoderType.Ultralytics,
    ) -> Output:
        """
        Args:
            shape: list of extents, outermost first.
            dshape: list of (DimName, extent) instead.
            decoder: family of the model.
        """

    @staticmethod
    def protos(
        shape: Sequence[int] | None = None,
        dshape: Sequence[tuple[DimNameLike, int]] | None = None,
        decoder: DecoderTypeLike = DecoderType.Ultralytics,
    ) -> Output:
        """
        Args:
            shape: list of extents, outermost first.
            dshape: list of (DimName, extent) instead.
            decoder: family of the model.
        """

    @staticmethod
    def segmentation(
        shape: Sequence[int] | None = None,
        dshape: Sequence[tuple[DimNameLike, int]] | None = None,
        decoder: DecoderTypeLike = DecoderType.Ultralytics,
    ) -> Output:
        """
        Args:
            shape: list of extents, outermost first.
            dshape: list of (DimName, extent) instead.
            decoder: family of the model.
        """

    @staticmethod
    def mask_coefficients(
        shape: Sequence[int] | None = None,
        dshape: Sequence[tuple[DimNameLike, int]] | None = None,
        decoder: DecoderTypeLike = DecoderType.Ultralytics,
    ) -> Output:
        """
        Args:
            shape: list of extents, outermost first.
            dshape: list of (DimName, extent) instead.
            decoder: family of the model.
        """

    @staticmethod
    def mask(
        shape: Sequence[int] | None = None,
        dshape: Sequence[tuple[DimNameLike, int]] | None = None,
        decoder: DecoderTypeLike = DecoderType.Ultralytics,
    ) -> Output:
        """
        Args:
            shape: list of extents, outermost first.
            dshape: list of (DimName, extent) instead.
            decoder: family of the model.
        """

    @staticmethod
    def classes(
        shape: Sequence[int] | None = None,
        dshape: Sequence[tuple[DimNameLike, int]] | None = None,
        decoder: DecoderTypeLike = DecoderType.Ultralytics,
    ) -> Output:
        """
        Args:
            shape: list of extents, outermost first.
            dshape: list of (DimName, extent) instead.
            decoder: family of the model.
        """

    def with_quantization(self, scale: float, zero_point: int) -> Output:
        """
        For integer tensors: value = (stored - zero_point) * scale. Returns this object.
        """

    def with_anchors(self, anchors: Sequence[Sequence[float]]) -> Output:
        """
        For detection outputs: pairs (width, height) in fractions. Returns this object.
        """

    def with_normalized(self, normalized: bool) -> Output:
        """Whether boxes are fractions of the input. Returns this object."""

    def __repr__(self) -> str: ...

class Decoder:
    """
    Decodes the outputs of one model; make it once, use it for every frame, from several
    threads at once if you like. Thresholds are read and written as attributes.

    Boxes, keypoints and rotated boxes are in pixels of the network's input for every model.
    Raises ValueError for thresholds outside [0, 1], for integer outputs without
    quantization and for boxes in fractions if input_dims is not known.
    """

    def __init__(
        self,
        config: Mapping[str, Any],
        score_threshold: float = 0.25,
        iou_threshold: float = 0.45,
        nms: NmsLike | None = Nms.Auto,
        input_dims: tuple[int, int] | None = None,
        multi_label: bool | None = None,
    ) -> None:
        """
        Args:
            config: dict that describes the model's outputs, of schema 1 or 2.
            score_threshold: a box is kept if its score is at least this.
            iou_threshold: a box is suppressed if it overlaps a better one by more.
            nms: Nms.Auto: the configuration's, else Nms.ClassAware (in EdgeFirst HAL's decoder
                ClassAgnostic); None: no suppression.
            input_dims: (width, height) of the network's input; overrules the configuration.
            multi_label: every class of a box that reaches the threshold counts.
        """

    @staticmethod
    def new_from_json_str(
        json_str: str,
        score_threshold: float = 0.25,
        iou_threshold: float = 0.45,
        nms: NmsLike | None = Nms.Auto,
        input_dims: tuple[int, int] | None = None,
        multi_label: bool | None = None,
    ) -> Decoder:
        """A decoder from a JSON document of schema 1 or 2."""

    @staticmethod
    def new_from_yaml_str(
        yaml_str: str,
        score_threshold: float = 0.25,
        iou_threshold: float = 0.45,
        nms: NmsLike | None = Nms.Auto,
        input_dims: tuple[int, int] | None = None,
        multi_label: bool | None = None,
    ) -> Decoder:
        """A decoder from a YAML document of schema 1 or 2."""

    @staticmethod
    def new_from_outputs(
        outputs: Sequence[Output],
        score_threshold: float = 0.25,
        iou_threshold: float = 0.45,
        nms: NmsLike | None = Nms.Auto,
        decoder_version: DecoderVersionLike | None = None,
        input_dims: tuple[int, int] | None = None,
        multi_label: bool | None = None,
    ) -> Decoder:
        """
        A decoder of a model whose outputs are described one by one: a list of Output.
        """

    @property
    def score_threshold(self) -> float:
        """A box is kept if its score is at least this; float."""

    @score_threshold.setter
    def score_threshold(self, arg: float, /) -> None: ...

    @property
    def iou_threshold(self) -> float:
        """
        A box is suppressed if it overlaps a better one by more than this; float.
        """

    @iou_threshold.setter
    def iou_threshold(self, arg: float, /) -> None: ...

    @property
    def pre_nms_top_k(self) -> int:
        """
        Maximum number of candidates that enter suppression, the best ones; default 30000; 0: all.
        """

    @pre_nms_top_k.setter
    def pre_nms_top_k(self, arg: Any, /) -> None: ...

    @property
    def max_det(self) -> int:
        """Maximum number of boxes of a decode."""

    @max_det.setter
    def max_det(self, arg: Any, /) -> None: ...

    @property
    def nms(self) -> Nms | None:
        """The Nms in use, never Auto; None: nothing is suppressed."""

    @property
    def multi_label(self) -> bool:
        """
        Whether every class of a box that reaches the threshold counts, not only the best.
        """

    @property
    def normalized_boxes(self) -> bool | None:
        """
        True: boxes are fractions of the network's input; False: pixels, as of every
        halyard.Decoder; None: not known.
        """

    @property
    def input_dims(self) -> tuple[int, int] | None:
        """(width, height) of the network's input; None: not known."""

    @property
    def model_type(self) -> str:
        """The arrangement of the model's outputs: "yolo_det", "modelpack_seg"..."""

    @property
    def labels(self) -> list[str]:
        """Class names of the configuration; may be empty."""

    def decode(
        self,
        model_output: Sequence[Any],
        max_boxes: int | None = None,
        batch: int | None = None,
    ) -> Any:
        """
        Decodes the outputs of one frame, or of a batch of them.

        Args:
            model_output: list or tuple with a tensor for each output: Tensor, NumPy array or
                anything with a buffer or DLPack on the CPU; read without a copy.
            max_boxes: maximum number of boxes; None: max_det.
            batch: the element of the batch; None: all of them.

        Returns Detections; for a batch of several a list with one for each element.
        Raises TypeError (not a tensor) and RuntimeError (shapes, dtypes, quantization).
        """

    @overload
    def decode_proto(
        self,
        model_output: Sequence[Any],
        max_boxes: int | None,
        batch: int,
    ) -> halyard._results.ProtoDetections: ...
    @overload
    def decode_proto(
        self,
        model_output: Sequence[Any],
        max_boxes: int | None = None,
        *,
        batch: int,
    ) -> halyard._results.ProtoDetections: ...
    @overload
    def decode_proto(
        self,
        model_output: Sequence[Any],
        max_boxes: int | None = None,
        batch: None = None,
    ) -> Any:
        """
        The same boxes, and the data that masks are made from.

        Returns ProtoDetections, a tuple (boxes, scores, classes, ProtoData or None); for a
        batch of several a list of these.
        """

    def decode_tracked(
        self,
        tracker: halyard._tracking.AnyTracker,
        timestamp: int | None,
        model_output: Sequence[Any],
        max_boxes: int | None = None,
        batch: int | None = None,
        coasting: bool = False,
    ) -> halyard._detections.Detections:
        """
        Decodes the frame of time `timestamp` (ns; None: one frame later by the tracker's rate) and
        updates the tracker, of any kind, with it. A batch of several needs `batch`: a tracker
        follows one camera.

        Returns Detections with tracker_id: those that belong to a track, at its estimated boxes;
        with `coasting` the tracks that were not seen in this frame follow.
        """

    @staticmethod
    def for_model(
        model: Engine | ModelDescription | str | os.PathLike[str],
        score_threshold: float = 0.25,
        iou_threshold: float = 0.45,
        nms: Nms | None = Nms.Auto,
        max_det: int = 300,
        multi_label: bool = False,
    ) -> Decoder:
        """
        A decoder for an Engine, a model file, or its description, from the model's
        metadata, with C++'s defaults. Nms.Auto: the model's rule, else ClassAware.
        """

    def explain(self) -> str:
        """
        Lines that say which head is decoded, with which options, and where each value came
        from.
        """

class _ReferenceDecoder(Decoder):
    """
    The Decoder of programs written for EdgeFirst HAL: halyard.edgefirst.Decoder. Boxes have
    the unit of normalized_boxes, the best 300 candidates enter suppression, thresholds
    outside [0, 1] pass all or nothing, integers without quantization count as they are.
    """

    def __init__(
        self,
        config: Mapping[str, Any],
        score_threshold: float = 0.1,
        iou_threshold: float = 0.7,
        nms: NmsLike | None = Nms.Auto,
        input_dims: tuple[int, int] | None = None,
        multi_label: bool | None = None,
    ) -> None:
        """
        Args:
            config: dict that describes the model's outputs, of schema 1 or 2.
            score_threshold: a box is kept if its score is at least this.
            iou_threshold: a box is suppressed if it overlaps a better one by more.
            nms: Nms.Auto: the configuration's, else Nms.ClassAware (in EdgeFirst HAL's decoder
                ClassAgnostic); None: no suppression.
            input_dims: (width, height) of the network's input; overrules the configuration.
            multi_label: every class of a box that reaches the threshold counts.
        """

    @staticmethod
    def new_from_json_str(
        json_str: str,
        score_threshold: float = 0.1,
        iou_threshold: float = 0.7,
        nms: NmsLike | None = Nms.Auto,
        input_dims: tuple[int, int] | None = None,
        multi_label: bool | None = None,
    ) -> _ReferenceDecoder:
        """A decoder from a JSON document of schema 1 or 2."""

    @staticmethod
    def new_from_yaml_str(
        yaml_str: str,
        score_threshold: float = 0.1,
        iou_threshold: float = 0.7,
        nms: NmsLike | None = Nms.Auto,
        input_dims: tuple[int, int] | None = None,
        multi_label: bool | None = None,
    ) -> _ReferenceDecoder:
        """A decoder from a YAML document of schema 1 or 2."""

    @staticmethod
    def new_from_outputs(
        outputs: Sequence[Output],
        score_threshold: float = 0.25,
        iou_threshold: float = 0.45,
        nms: NmsLike | None = Nms.Auto,
        decoder_version: DecoderVersionLike | None = None,
        input_dims: tuple[int, int] | None = None,
        multi_label: bool | None = None,
    ) -> _ReferenceDecoder:
        """
        A decoder of a model whose outputs are described one by one: a list of Output.
        """

    def decode(
        self,
        model_output: Sequence[Any],
        max_boxes: int | None = 100,
        batch: int | None = None,
    ) -> halyard._results.Detections:
        """
        Detections of element 0, as EdgeFirst HAL gives them, or of element `batch`.
        """

    def decode_proto(
        self,
        model_output: Sequence[Any],
        max_boxes: int | None = 100,
        batch: int | None = None,
    ) -> halyard._results.ProtoDetections:
        """
        The same boxes, up to max_det of them, and the data that masks are made from.
        """

    def decode_tracked(  # type: ignore[override]
        self,
        tracker: halyard._tracking.AnyTracker,
        timestamp: int,
        model_output: Sequence[Any],
        max_boxes: int | None = 100,
        batch: int | None = None,
    ) -> halyard._results.TrackedDetections:
        """Decodes element 0 and updates the tracker with it."""

class TensorSpec:
    """The metadata of one input or output of a model."""

    @property
    def name(self) -> str: ...

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents, outermost first; a variable batch is 1."""

    @property
    def dtype(self) -> str:
        """"float32", "int8"..."""

    @property
    def quantization(self) -> Quantization | None: ...

    @property
    def format(self) -> PixelFormat | None:
        """Format of an image input: PlanarRgb or Rgb."""

    def __repr__(self) -> str: ...

class InferenceRequest:
    """
    A run in flight, from Engine.submit(). If it is dropped, the run is cancelled.
    """

    def is_ready(self) -> bool:
        """Whether wait() returns at once."""

    def wait(self) -> list[Tensor]:
        """
        Waits for the end, once, and gives the outputs, in the engine's memory. Other threads
        run meanwhile. Raises as Engine.run(), and Error with the code of a cancelled run.
        """

    def cancel(self) -> None:
        """
        Asks the run to end early, from any thread. wait() then raises Error, or gives
        the outputs if the engine finished.
        """

    @property
    def times(self) -> tuple[float, float]:
        """Seconds in the queue and in the engine; zeros before wait()."""

class Engine:
    """
    A model file, run by the C++ engine with OpenVINO, ONNX Runtime and others, whose libraries
    are those of their packages: `pip install halyard-vision[openvino]`, or [onnxruntime]. May be
    used from several threads at once. A child of fork() can use no engine if its parent had opened one.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        device: str = "CPU",
        threads: int = 0,
        *,
        engine: str = "",
        requests: int = 0,
        batch: int = 1,
        delegate: str | os.PathLike[str] | None = None,
        settings: dict[str, str] | None = None,
    ) -> None:
        """
        Args:
            path: of an .onnx, .tflite or .xml file, or of a plugin's.
            device: the engine's name of it.
            threads: of inference; 0: the engine's choice.
            engine: "openvino", "onnxruntime", "tflite"...; "": the first that opens it.
            requests: most runs in flight, with their living results; 0: no limit.
            batch: images per run, where the model leaves it open.
            delegate: shared object of TFLite's external delegate.
            settings: the engine's own, by its names.

        Raises MissingFileError, DataError (the file is not a model), ValueError (no such engine)
        and UnsupportedError (nothing opens it: the message tells what to install).
        """

    @property
    def name(self) -> str:
        """"openvino"."""

    @property
    def runtime(self) -> str:
        """"openvino 2026.4 CPU"."""

    @property
    def path(self) -> str: ...

    @property
    def inputs(self) -> list[TensorSpec]: ...

    @property
    def outputs(self) -> list[TensorSpec]: ...

    @property
    def input_size(self) -> tuple[int, int] | None:
        """(width, height) of the first image input."""

    @property
    def labels(self) -> list[str]:
        """Class names of the metadata; may be empty."""

    @property
    def metadata(self) -> dict[str, str]:
        """The metadata of the file."""

    def create_input(self) -> Tensor:
        """
        A new tensor for run(), with the first input's shape, dtype, quantization and format, so
        that convert() can fill it.
        """

    def run(self, inputs: Any) -> list[Tensor]:
        """
        Runs on one input, or a list of one for each: Tensors or arrays of the model's shapes
        and dtypes, read without a copy; leading axes of 1 may be missing. The interpreter is
        released. The result is in the engine's memory, alive as long as the tensors.
        """

    def submit(self, inputs: Any) -> InferenceRequest:
        """
        Begins a run as run() does, and returns. The inputs must not change before its end.
        """

    def make_inputs(self) -> list[Tensor]:
        """New tensors for all inputs; of a batch, batch(n) is image n."""

    def warm_up(self, runs: int = 1) -> None:
        """Makes the requests and runs each of them on zeros."""

    def __repr__(self) -> str: ...

def available_engines() -> list[str]:
    """Engines of this build, one line each, or what to install."""

class ModelDescription:
    """
    The meaning of a model's outputs: made by describe_model(), or from a document.
    """

    @staticmethod
    def from_json(text: str) -> ModelDescription:
        """From a document, as to_json() gives it."""

    @staticmethod
    def from_file(path: str | os.PathLike[str]) -> ModelDescription:
        """From a .json or .yaml file."""

    @property
    def task(self) -> str:
        """"detect", "segment", "pose", "obb", "classify" or "semantic"."""

    @property
    def labels(self) -> list[str]:
        """Class names; may be empty."""

    @property
    def input_size(self) -> tuple[int, int] | None:
        """(width, height) of the network's input."""

    @property
    def warnings(self) -> list[str]:
        """Parts of the document that were ignored."""

    @property
    def origins(self) -> dict[str, str]:
        """The source of each value that is not from a document."""

    def explain(self) -> str:
        """Lines with the head that is decoded and the source of each value."""

    def to_json(self) -> str:
        """The description as a document (JSON, version 2)."""

    def __eq__(self, other: object, /) -> bool: ...

    def __repr__(self) -> str: ...

    def __reduce__(self) -> tuple[Any, ...]: ...

def describe_model(model: Engine | str | os.PathLike[str]) -> ModelDescription:
    """
    How the decoder reads a model: its task, labels, heads and units. An .onnx file needs
    no engine; others are opened by one.

    Raises MissingFileError, DataError and UnsupportedError (outputs of no known kind).
    """

def _describe_outputs(outputs: Sequence[Any], input_size: tuple[int, int], labels: Sequence[str]) -> ModelDescription: ...

class _CocoTruth:
    """A ground truth in COCO's format."""

    def __init__(self, text: bytes, kind: str) -> None: ...

    @property
    def images(self) -> list[tuple[int, str, int, int]]: ...

    @property
    def categories(self) -> list[tuple[int, str]]: ...

    @property
    def annotations(self) -> int: ...

    @property
    def has_segmentations(self) -> bool: ...

    @property
    def has_keypoints(self) -> bool: ...

    @property
    def has_rotated_boxes(self) -> bool: ...

    def evaluate(self, results: bytes, kind: str) -> tuple[list[tuple[str, str, float | None]], list[float | None], int, int]: ...

    def match(self, labels: Sequence[str]) -> list[int | None]: ...

class _PresetRun:
    """The steps of a preset from an image to detections."""

    def __init__(self, preset: str, conf: float | None, iou: float | None) -> None: ...

    def set_model(self, model: ModelDescription) -> None: ...

    @property
    def class_count(self) -> int: ...

    def prepare(self, processor: ImageProcessor, image: _Tensor, input: _Tensor) -> Placement: ...

    def find(self, outputs: Sequence[Any], placement: Placement, masks: bool) -> list[tuple[int, float, dict[str, Any]]]: ...

def _tile_grid(arg0: Any, arg1: Any, arg2: Any, arg3: Any, arg4: float, /) -> list[Any]: ...

def _lift_tile_boxes(bbox: Any, scores: object | None, classes: object | None, placement: Any, input_dims: object | None) -> tuple[Any, ...]: ...

def _merge_tiled_detections(arg0: Any, arg1: Any, arg2: Any, arg3: Any, /) -> tuple[Any, ...]: ...

class TiledFrameAccumulator:
    """
    Collects the detections of the tiles of one frame, in any order, and merges them.
    Any call after finalize() raises RuntimeError.
    """

    def __init__(
        self,
        frame_dims: Sequence[float],
        tiles_total: int,
        cfg: halyard._tiling.MergeConfig,
        est_per_tile: int = 16,
    ) -> None:
        """
        Args:
            frame_dims: (width, height) of the frame in pixels.
            tiles_total: tiles of the frame.
            cfg: a MergeConfig.
            est_per_tile: detections of a tile for which memory is allocated at once.
        """

    def push_tile(
        self,
        bbox: Any,
        scores: Any,
        classes: Any,
        placement: halyard._tiling.TilePlacement,
        input_dims: tuple[int, int] | None = None,
    ) -> bool:
        """
        Adds the detections of one tile: the result of a Decoder, with None for scores and
        classes; or boxes (N, 4) in fractions of the network's input, or in its pixels if
        input_dims is given.

        False, with nothing changed, for a tile that was added before or is not of this frame.
        """

    def is_complete(self) -> bool:
        """True if every tile was added."""

    def remaining(self) -> int:
        """Count of tiles that are still missing."""

    def finalize(
        self,
    ) -> tuple[NDArray[numpy.float32], NDArray[numpy.float32], NDArray[numpy.uintp]]:
        """
        Merges the added tiles: (boxes, scores, classes), boxes in frame pixels, best first.
        """

    def finalize_normalized(
        self,
    ) -> tuple[NDArray[numpy.float32], NDArray[numpy.float32], NDArray[numpy.uintp]]:
        """The same with boxes in fractions of the frame."""

def palette_color(index: int) -> tuple[int, int, int]:
    """R, G, B of a class or track: the same index has the same colour."""

class _OverlayCore:
    """The C++ part of halyard.Overlay."""

    def __init__(self, labels: Sequence[str], color_by: str, line_px: int, text_px: int, show_score: bool, trail_length: int, font: str, backend: str) -> None: ...

    def draw(self, picture: Any, boxes: Any, scores: Any, classes: Any) -> None: ...

    def draw_tracks(self, picture: Any, boxes: Any, scores: Any, classes: Any, ids: Sequence[int], coasting: Sequence[int]) -> None: ...

    def explain(self, picture: Any) -> str: ...

    def text(self, picture: Any, x: int, y: int, text: str, color: Sequence[int]) -> None: ...

    def outlines(self, picture: Any, points: Sequence[float], colors: Sequence[Sequence[int]]) -> None: ...

    def points(self, picture: Any, points: Sequence[float], colors: Sequence[Sequence[int]]) -> None: ...

    def paint(self, picture: Any, map: Any, colors: Sequence[Sequence[int]], opacity: float) -> None: ...

class _FrameSource:
    """The C++ part of halyard.open()."""

    def __init__(self, source: Any, picture_rate: float, limits: DecodeLimits | None, timeout: float | None, **playback: Any) -> None: ...

    def next(self) -> tuple[Tensor, str, int, int] | None:
        """
        Image, name, index and timestamp in ns of the next frame; None at the end.
        """

    def seek(self, seconds: float) -> None: ...

    @property
    def is_live(self) -> bool: ...

    @property
    def reconnect_count(self) -> int: ...

    def close(self) -> None: ...

    @property
    def count(self) -> int | None: ...

    @property
    def is_video(self) -> bool: ...

    @property
    def rate(self) -> float: ...

def _cameras() -> list[dict[str, Any]]: ...

class _Camera:
    """The C++ part of halyard.Camera."""

    def __init__(self, source: Any, options: dict[str, Any]) -> None: ...

    def next(self, timeout: float) -> tuple[Tensor, int, int, int]: ...

    def close(self) -> None: ...

    def cancel(self) -> None: ...

    def fileno(self) -> int: ...

    def mode(self) -> dict[str, Any]: ...

    def stats(self) -> dict[str, int]: ...

    def controls(self) -> list[dict[str, Any]]: ...

    def control(self, name: str) -> int: ...

    def set_control(self, name: str, value: int | str) -> None: ...

def _video_codecs() -> list[dict[str, Any]]: ...

class _VideoDecoder:
    """The C++ part of halyard.VideoDecoder."""

    def __init__(self, options: dict[str, Any]) -> None: ...

    def is_ready(self) -> bool: ...

    def drain(self) -> None: ...

    def cancel(self) -> None: ...

    def close(self) -> None: ...

    def path(self) -> str: ...

    def stats(self) -> dict[str, int]: ...

    def send(self, data: Any, timestamp_ns: int, timeout: float) -> bool: ...

    def next(self, timeout: float) -> tuple[Tensor, int, bool] | None: ...

    def flush(self) -> None: ...

    def format(self) -> dict[str, Any] | None: ...

class _VideoEncoder:
    """The C++ part of halyard.VideoEncoder."""

    def __init__(self, options: dict[str, Any]) -> None: ...

    def is_ready(self) -> bool: ...

    def drain(self) -> None: ...

    def cancel(self) -> None: ...

    def close(self) -> None: ...

    def path(self) -> str: ...

    def stats(self) -> dict[str, int]: ...

    def image(self, timeout: float) -> Tensor | None: ...

    def encode(self, image: _Tensor, timestamp_ns: int, is_key_frame: bool, timeout: float) -> bool: ...

    def next(self, timeout: float) -> tuple[bytes, int, bool] | None: ...

    def stride_bytes(self) -> int: ...

    def memory(self) -> str: ...

    def controls(self) -> list[dict[str, Any]]: ...

    def set_control(self, name: str, value: int | str) -> None: ...

class _PipelineFeed:
    """Hands the frames of an iterator to a pipeline."""

    def __init__(self) -> None: ...

    def put(self, image: _Tensor, source: str, index: int, timestamp_ns: int) -> bool:
        """Waits for room. False: the pipeline takes no more frames."""

    def fail(self, message: str) -> bool: ...

    def end(self) -> bool: ...

    def cancel(self) -> None: ...

class _PipelineItem:
    """The C++ part of halyard.PipelineResult."""

    @property
    def source(self) -> int: ...

    @property
    def ordinal(self) -> int: ...

    @property
    def frame(self) -> tuple[Tensor, str, int, int]: ...

    @property
    def drawn(self) -> Tensor | None: ...

    @property
    def times(self) -> list[tuple[str, float, float]]: ...

    @property
    def error(self) -> Exception | None: ...

    @property
    def failed_stage(self) -> str: ...

    def is_skipped(self, model: int) -> bool: ...

    def detections(self, model: int) -> halyard._detections.Detections: ...

    def placement(self, model: int) -> Placement | None: ...

    def tracks(self, model: int) -> tuple[Any, Any, Any, Any, list[str], Any] | None: ...

    def release(self) -> None:
        """Gives the frame back."""

class _PipelineSource:
    """A file, camera, address or topic of a pipeline."""

    def __init__(self, path: str) -> None: ...

    @property
    def name(self) -> str: ...

class _PipelineCore:
    """The C++ part of halyard.Pipeline."""

    def __init__(self, options: dict[str, Any]) -> None: ...

    def add_stage(self, name: str, function: Any, in_order: bool) -> None: ...

    def start(self) -> None: ...

    def next(self, timeout: float | None = None) -> Any:
        """The next PipelineResult; None at the end."""

    def wait(self) -> None: ...

    def stop(self) -> None: ...

    def request_drain(self) -> None: ...

    def close(self) -> None:
        """After the end: drops the program's functions."""

    def add_drawing(self, mask_opacity: float) -> None: ...

    def add_json_lines(self, path: Any) -> None: ...

    def add_video(self, path: Any, rate: float) -> None: ...

    def add_topic(self, name: str) -> None: ...

    def set_paused(self, is_paused: bool) -> None: ...

    @property
    def is_paused(self) -> bool: ...

    @property
    def lanes(self) -> int: ...

    def stats(self) -> dict[str, Any]: ...
