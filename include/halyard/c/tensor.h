// SPDX-License-Identifier: Apache-2.0
// Tensors in C: memory, shape, maps, quantization, colorimetry, device memory, DLPack.
#pragma once

#include "halyard/c/base.h"

HAL_BEGIN

// ---- Making tensors

/// A zero-filled tensor, C-contiguous. `name` may be NULL; a name that is not UTF-8 counts as NULL.
/// errno: EINVAL (shape NULL, ndim not 1..8, sizes that overflow, values that are not a dtype or
/// memory), ENOMEM, ENOTSUP, EACCES.
hal_tensor* hal_tensor_new(hal_dtype dtype, const size_t* shape, size_t ndim,
                           hal_tensor_memory memory, const char* name);
/// A tensor over the start of a DMA-BUF or shared memory. `fd` is duplicated; the caller keeps its
/// own. errno: EINVAL (as above; fd is negative, closed, smaller than the shape, or of another
/// kind), and what system calls report.
hal_tensor* hal_tensor_from_fd(hal_dtype dtype, int fd, const size_t* shape, size_t ndim,
                               const char* name);
/// As above, for memory that nobody can shrink: to read memory that its owner has removed ends this
/// process (SIGBUS). Memory that is not sealed against shrinking is sealed here, or refused if it
/// cannot be sealed. Not in EdgeFirst HAL. errno: also EACCES.
hal_tensor* hal_tensor_from_sealed_fd(hal_dtype dtype, int fd, const size_t* shape, size_t ndim,
                                      const char* name);
/// An IOSurface of Apple's systems. errno on other systems: ENOTSUP.
hal_tensor* hal_tensor_from_iosurface(hal_dtype dtype, void* surface_ref, const size_t* shape,
                                      size_t ndim, const char* name);
/// An AHardwareBuffer of Android. errno on other systems: ENOTSUP.
hal_tensor* hal_tensor_from_hardware_buffer(hal_dtype dtype, void* buffer, const size_t* shape,
                                            size_t ndim, const char* name);
/// Releases the handle. The bytes stay valid as long as maps, views, other tensors or consumers
/// hold them.
void hal_tensor_free(hal_tensor* tensor);

// ---- Properties of a tensor

hal_dtype hal_tensor_dtype(const hal_tensor* tensor);  ///< NULL: U8
/// Bytes of one element; NULL: 0.
size_t hal_tensor_dtype_size(const hal_tensor* tensor);
hal_tensor_memory hal_tensor_memory_type(const hal_tensor* tensor);  ///< NULL: MEM
/// A copy, to release with free(); NULL without a name. errno: EINVAL (NULL), ENOMEM.
char* hal_tensor_name(const hal_tensor* tensor);
/// Outermost extent first; valid until the tensor is freed, reshaped or given another format.
/// `out_ndim` may be NULL. NULL: NULL and 0.
const size_t* hal_tensor_shape(const hal_tensor* tensor, size_t* out_ndim);
/// Number of elements; NULL: 0.
size_t hal_tensor_len(const hal_tensor* tensor);
/// Bytes of the elements, without padding; NULL: 0.
size_t hal_tensor_size(const hal_tensor* tensor);

/// A new descriptor of the memory; the caller closes it. errno: EINVAL (NULL), ENOTSUP (MEM, PBO, a
/// tensor of a pool: use hal_tensor_descriptor_of() for these).
int hal_tensor_clone_fd(const hal_tensor* tensor);
/// As above, only for DMA-BUFs. errno: also ENOTSUP (SHM).
int hal_tensor_dmabuf_clone(const hal_tensor* tensor);

/// Memory of other systems: NULL, -1 or 0 with ENOTSUP here.
void* hal_tensor_hardware_buffer_ptr(const hal_tensor* tensor);
int hal_tensor_hardware_buffer_physical_dims(const hal_tensor* tensor, size_t* width,
                                             size_t* height);
uint32_t hal_tensor_iosurface_id(const hal_tensor* tensor);
void* hal_tensor_iosurface_ref(const hal_tensor* tensor);

// ---- Shapes and parts

/// Gives the same elements another shape; the tensor is not an image afterwards. Existing maps and
/// views keep the old shape. errno: EINVAL (NULL, ndim not 1..8, another count of elements, padded
/// rows, planes in several places).
int hal_tensor_reshape(hal_tensor* tensor, const size_t* shape, size_t ndim);
/// A part of an image, sharing its bytes. The region is never clamped. errno: EINVAL (not an image;
/// region empty, outside, or not on whole chroma samples).
hal_tensor* hal_tensor_view(const hal_tensor* tensor, hal_region region);
/// Element n of the outermost axis, sharing the bytes. errno: EINVAL (n out of range, a single
/// image, a tensor with one axis).
hal_tensor* hal_tensor_batch(const hal_tensor* tensor, size_t n);
/// Bytes between rows, if rows are padded or the image is semi-planar; else 0. errno: EINVAL
/// (NULL).
size_t hal_tensor_recorded_row_stride(const hal_tensor* tensor);
/// Bytes between rows of an image; 0 for other tensors. errno: EINVAL (NULL).
size_t hal_tensor_effective_row_stride(const hal_tensor* tensor);
/// Copies the elements without padding. errno: EINVAL (NULL; dst_len is not hal_tensor_size()), and
/// those of hal_tensor_map_create().
int hal_tensor_copy_to_flat(const hal_tensor* tensor, uint8_t* dst, size_t dst_len);

// ---- Maps

/// Maps the bytes for the CPU, for reading and writing; only for reading if the memory is
/// read-only. Several maps may exist at once. errno: EINVAL (NULL), ENOTSUP, and what system calls
/// report.
hal_tensor_map* hal_tensor_map_create(const hal_tensor* tensor);
/// Address of the first element; NULL for NULL, and for a read-only map.
void* hal_tensor_map_data(hal_tensor_map* map);
const void* hal_tensor_map_data_const(const hal_tensor_map* map);
const size_t* hal_tensor_map_shape(const hal_tensor_map* map, size_t* out_ndim);
/// Number of elements; NULL: 0.
size_t hal_tensor_map_len(const hal_tensor_map* map);
/// Bytes from the first element to the end of the last, padding between rows included; for a whole
/// image, the bytes of all rows at their stride. For an image whose planes lie in several places,
/// the bytes of the first plane. NULL: 0.
size_t hal_tensor_map_size(const hal_tensor_map* map);
/// Ends the access and releases the handle.
void hal_tensor_map_unmap(hal_tensor_map* map);

// ---- Quantization: real = (stored - zero_point) * scale

enum HalTensorQuantKind HAL_ENUM_INT {
  HAL_TENSOR_QUANT_KIND_PER_TENSOR_SYMMETRIC = 0,  // every zero point is 0
  HAL_TENSOR_QUANT_KIND_PER_TENSOR = 1,
  HAL_TENSOR_QUANT_KIND_PER_CHANNEL_SYMMETRIC = 2,
  HAL_TENSOR_QUANT_KIND_PER_CHANNEL = 3,
};
typedef enum HalTensorQuantKind HalTensorQuantKind;

typedef struct HalTensorQuant HalTensorQuant;

/// Sets quantization per tensor. errno: EINVAL (NULL, dtype is not an integer, scale not finite or
/// not above 0, zero_point outside the dtype).
int hal_tensor_set_quantization(hal_tensor* tensor, float scale, int zero_point);
/// A copy, to release with hal_quantization_free(). NULL without a change of errno: the tensor has
/// no quantization. errno: EINVAL (NULL), ENOMEM.
HalTensorQuant* hal_tensor_quantization(const hal_tensor* tensor);
void hal_quantization_free(HalTensorQuant* quant);
HalTensorQuantKind hal_quantization_kind(const HalTensorQuant* quant);  ///< NULL: PER_TENSOR
/// Number of scales: 1 per tensor; NULL: 0.
size_t hal_quantization_scale_len(const HalTensorQuant* quant);
float hal_quantization_scale_at(const HalTensorQuant* quant, size_t i);         ///< outside: 0
int32_t hal_quantization_zero_point_at(const HalTensorQuant* quant, size_t i);  ///< outside: 0
bool hal_quantization_is_symmetric(const HalTensorQuant* quant);                ///< NULL: false
/// Whether there is one scale per index of an axis; if so, `axis_out` receives its number; it may
/// be NULL.
bool hal_quantization_axis(const HalTensorQuant* quant, size_t* axis_out);

// ---- Colorimetry

/// The meaning of an image's numbers as colours; 0 is unknown in every member.
struct hal_colorimetry {
  int space;     ///< 1 BT.709, 2 BT.2020, 3 sRGB, 4 SMPTE 170M
  int transfer;  ///< 1 BT.709, 2 sRGB, 3 PQ, 4 HLG, 5 linear
  int encoding;  ///< 1 BT.601, 2 BT.709, 3 BT.2020
  int range;     ///< 1 full, 2 limited
};
typedef struct hal_colorimetry hal_colorimetry;

/// NULL clears; invalid numbers count as unknown. A NULL tensor is ignored.
void hal_tensor_set_colorimetry(hal_tensor* tensor, const hal_colorimetry* colorimetry);
/// The values that were set; unknown members stay 0. errno: EINVAL (NULL).
int hal_tensor_colorimetry(const hal_tensor* tensor, hal_colorimetry* out);
/// From the numbers of V4L2's pixel format. A colour encoding or quantization of 0 (default) means
/// the default of the colour space. errno: EINVAL (out NULL).
int hal_colorimetry_from_v4l2(uint32_t colorspace, uint32_t xfer, uint32_t ycbcr_enc,
                              uint32_t quant, hal_colorimetry* out);

// ---- Device memory

/// Maps the bytes for CUDA, ordered after earlier work of OpenGL and before later work of the
/// default stream. While a PBO is mapped so, the CPU cannot map it. Flush deferred conversions into
/// the tensor before. NULL without a change of errno: they have no address there, which is usual:
/// MEM, SHM, no CUDA runtime, memory that CUDA refuses; hal_last_error() has the reason. errno:
/// EINVAL (NULL), EBUSY (already mapped for CUDA, or a PBO by the CPU), ENOMEM, EIO.
void* hal_tensor_cuda_map(const hal_tensor* tensor);
/// The device address of the tensor. `out_size` receives the bytes from there to the end of the
/// memory and may be NULL. NULL: NULL and 0.
void* hal_tensor_cuda_device_ptr(const void* map, size_t* out_size);
/// CUDA's work on the bytes must be in the default stream, or be done. May be called on any thread.
void hal_tensor_cuda_unmap(void* map);

enum HalCompression HAL_ENUM_INT {
  HAL_COMPRESSION_NONE = 0,
  HAL_COMPRESSION_ANY = 1,
  HAL_COMPRESSION_UBWC = 2,
  HAL_COMPRESSION_AFBC = 3,
  HAL_COMPRESSION_PVRIC = 4,
  HAL_COMPRESSION_DCC = 5,
};
typedef enum HalCompression HalCompression;

HalCompression hal_tensor_compression(const hal_tensor* tensor);  ///< NULL: NONE
/// Number of requests for ANY that gave linear memory, in this process.
uint64_t hal_compression_fallback_count(void);
/// Number of maps of this process that exceeded the declared CPU access.
uint64_t hal_unplanned_cpu_access_count(void);

/// What is available to this process. Checked once.
bool hal_is_dma_available(void);
bool hal_is_iosurface_available(void);
bool hal_is_gpu_buffer_available(void);
bool hal_is_shm_available(void);
bool hal_is_cuda_available(void);

// ---- Ours: DLPack, with the structs of its own dlpack.h. halyard/dlpack.h documents what is
// checked.

struct DLManagedTensor;
struct DLManagedTensorVersioned;

/// Ours: exports the tensor to one consumer, who calls the deleter, on any thread. The bytes stay
/// mapped until then. errno: EINVAL (NULL), ENOTSUP (strides that DLPack cannot express), EACCES
/// (read-only memory: only the versioned form with `read_only` accepts it), those of
/// hal_tensor_map_create().
struct DLManagedTensor* hal_tensor_to_dlpack(const hal_tensor* tensor);
struct DLManagedTensorVersioned* hal_tensor_to_dlpack_versioned(const hal_tensor* tensor,
                                                                bool read_only);
/// Ours: takes ownership of a producer's tensor without a copy; its deleter runs after the last
/// use. On failure the caller keeps it. errno: EINVAL, ENOTSUP (device, element type), EPROTO (not
/// DLPack 1.x).
hal_tensor* hal_tensor_from_dlpack(struct DLManagedTensor* managed);
hal_tensor* hal_tensor_from_dlpack_versioned(struct DLManagedTensorVersioned* managed);

/// Ours: number and bytes of the copies of tensor data that the library has made in this process;
/// both are 0 if no copy was made. Either pointer may be NULL.
void hal_copy_stats(uint64_t* copies, uint64_t* bytes);

HAL_END
