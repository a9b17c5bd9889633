// SPDX-License-Identifier: Apache-2.0
// Tensors in C: memory, shape, maps, quantization, colorimetry, device memory, DLPack.
#pragma once

#include "halyard/c/base.h"

HAL_BEGIN

// ---- Making tensors

/// A zero-filled tensor, C-contiguous. `name` may be NULL; one that is not UTF-8 counts as NULL.
/// errno: EINVAL (shape NULL, ndim not 1..8, sizes that overflow, values that are no dtype or
/// memory), ENOMEM, ENOTSUP, EACCES.
hal_tensor* hal_tensor_new(hal_dtype dtype, const size_t* shape, size_t ndim,
                           hal_tensor_memory memory, const char* name);
/// A tensor over the start of a DMA-BUF or shared memory. `fd` is duplicated and stays the
/// caller's. errno: EINVAL (as above; fd is negative, closed, smaller than the shape, or something
/// else), and what system calls report.
hal_tensor* hal_tensor_from_fd(hal_dtype dtype, int fd, const size_t* shape, size_t ndim,
                               const char* name);
/// The same, of memory that nobody can shrink: reading what an owner has taken away ends this
/// process (SIGBUS). Memory that is not sealed against it is sealed, and refused where it cannot
/// be. Not of EdgeFirst HAL. errno: also EACCES.
hal_tensor* hal_tensor_from_sealed_fd(hal_dtype dtype, int fd, const size_t* shape, size_t ndim,
                                      const char* name);
/// An IOSurface, of Apple's systems. errno here: ENOTSUP.
hal_tensor* hal_tensor_from_iosurface(hal_dtype dtype, void* surface_ref, const size_t* shape,
                                      size_t ndim, const char* name);
/// An AHardwareBuffer, of Android. errno here: ENOTSUP.
hal_tensor* hal_tensor_from_hardware_buffer(hal_dtype dtype, void* buffer, const size_t* shape,
                                            size_t ndim, const char* name);
/// Gives up the handle. The bytes live on as long as maps, views, other tensors or consumers hold
/// them.
void hal_tensor_free(hal_tensor* tensor);

// ---- What a tensor is

hal_dtype hal_tensor_dtype(const hal_tensor* tensor);  ///< NULL: U8
/// Bytes of one element; NULL: 0.
size_t hal_tensor_dtype_size(const hal_tensor* tensor);
hal_tensor_memory hal_tensor_memory_type(const hal_tensor* tensor);  ///< NULL: MEM
/// A copy, to be released by free(); NULL without a name. errno: EINVAL (NULL), ENOMEM.
char* hal_tensor_name(const hal_tensor* tensor);
/// Outermost extent first; valid until the tensor is freed, reshaped or given another format.
/// `out_ndim` may be NULL. NULL: NULL and 0.
const size_t* hal_tensor_shape(const hal_tensor* tensor, size_t* out_ndim);
/// Count of elements; NULL: 0.
size_t hal_tensor_len(const hal_tensor* tensor);
/// Bytes of the elements, without padding; NULL: 0.
size_t hal_tensor_size(const hal_tensor* tensor);

/// A descriptor of the memory for the caller to close. errno: EINVAL (NULL), ENOTSUP (MEM, PBO, a
/// tensor of a pool: hal_tensor_descriptor_of() names it to others).
int hal_tensor_clone_fd(const hal_tensor* tensor);
/// The same for DMA-BUFs alone. errno: also ENOTSUP (SHM).
int hal_tensor_dmabuf_clone(const hal_tensor* tensor);

/// Memory of other systems: NULL, -1 or 0, and ENOTSUP here.
void* hal_tensor_hardware_buffer_ptr(const hal_tensor* tensor);
int hal_tensor_hardware_buffer_physical_dims(const hal_tensor* tensor, size_t* width,
                                             size_t* height);
uint32_t hal_tensor_iosurface_id(const hal_tensor* tensor);
void* hal_tensor_iosurface_ref(const hal_tensor* tensor);

// ---- Shapes and parts

/// Another shape over the same elements; the tensor is no image afterwards. Maps and views that
/// exist keep the old one. errno: EINVAL (NULL, ndim not 1..8, another count of elements, padded
/// rows, planes in several places).
int hal_tensor_reshape(hal_tensor* tensor, const size_t* shape, size_t ndim);
/// A part of an image, sharing its bytes; never clamped. errno: EINVAL (no image; region empty,
/// outside, or not on whole chroma samples).
hal_tensor* hal_tensor_view(const hal_tensor* tensor, hal_region region);
/// Element n of the outermost axis, sharing the bytes. errno: EINVAL (n out of range, a single
/// image, one axis alone).
hal_tensor* hal_tensor_batch(const hal_tensor* tensor, size_t n);
/// Bytes between rows where they are more than the rows need, and of semi-planar images; 0: flat.
/// errno: EINVAL (NULL).
size_t hal_tensor_recorded_row_stride(const hal_tensor* tensor);
/// Bytes between rows of an image, 0 of other tensors. errno: EINVAL (NULL).
size_t hal_tensor_effective_row_stride(const hal_tensor* tensor);
/// The elements without padding. errno: EINVAL (NULL; dst_len is not hal_tensor_size()), and those
/// of hal_tensor_map_create().
int hal_tensor_copy_to_flat(const hal_tensor* tensor, uint8_t* dst, size_t dst_len);

// ---- Maps

/// Opens the bytes to the CPU, to read and write; to read alone where the memory must not be
/// written. Several maps may exist at once. errno: EINVAL (NULL), ENOTSUP, and system calls'.
hal_tensor_map* hal_tensor_map_create(const hal_tensor* tensor);
/// Address of the first element; NULL for NULL, and for a map to read alone.
void* hal_tensor_map_data(hal_tensor_map* map);
const void* hal_tensor_map_data_const(const hal_tensor_map* map);
const size_t* hal_tensor_map_shape(const hal_tensor_map* map, size_t* out_ndim);
/// Count of elements; NULL: 0.
size_t hal_tensor_map_len(const hal_tensor_map* map);
/// Bytes from the first element to the end of the last, padding between rows included; of a whole
/// image those of all rows at their stride. An image whose planes lie in several places: those
/// of the first. NULL: 0.
size_t hal_tensor_map_size(const hal_tensor_map* map);
/// Ends the access and gives up the handle.
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

/// Per tensor. errno: EINVAL (NULL, dtype is no integer, scale not finite or not above 0,
/// zero_point outside the dtype).
int hal_tensor_set_quantization(hal_tensor* tensor, float scale, int zero_point);
/// A copy, for hal_quantization_free(); NULL, and errno as it was, where there is none. errno:
/// EINVAL (NULL), ENOMEM.
HalTensorQuant* hal_tensor_quantization(const hal_tensor* tensor);
void hal_quantization_free(HalTensorQuant* quant);
HalTensorQuantKind hal_quantization_kind(const HalTensorQuant* quant);  ///< NULL: PER_TENSOR
/// Count of scales: 1 per tensor; NULL: 0.
size_t hal_quantization_scale_len(const HalTensorQuant* quant);
float hal_quantization_scale_at(const HalTensorQuant* quant, size_t i);         ///< outside: 0
int32_t hal_quantization_zero_point_at(const HalTensorQuant* quant, size_t i);  ///< outside: 0
bool hal_quantization_is_symmetric(const HalTensorQuant* quant);                ///< NULL: false
/// Whether there is one scale per index of an axis; then its number goes to `axis_out`, which may
/// be NULL.
bool hal_quantization_axis(const HalTensorQuant* quant, size_t* axis_out);

// ---- Colorimetry

/// What the numbers of an image mean as colours; 0 is unknown on every axis.
struct hal_colorimetry {
  int space;     ///< 1 BT.709, 2 BT.2020, 3 sRGB, 4 SMPTE 170M
  int transfer;  ///< 1 BT.709, 2 sRGB, 3 PQ, 4 HLG, 5 linear
  int encoding;  ///< 1 BT.601, 2 BT.709, 3 BT.2020
  int range;     ///< 1 full, 2 limited
};
typedef struct hal_colorimetry hal_colorimetry;

/// NULL clears; numbers that mean nothing count as unknown. A NULL tensor is ignored.
void hal_tensor_set_colorimetry(hal_tensor* tensor, const hal_colorimetry* colorimetry);
/// As set: unknown axes stay 0. errno: EINVAL (NULL).
int hal_tensor_colorimetry(const hal_tensor* tensor, hal_colorimetry* out);
/// From the numbers of V4L2's pixel format. A colour encoding or quantization of 0 (default) takes
/// what the colour space has by default. errno: EINVAL (out NULL).
int hal_colorimetry_from_v4l2(uint32_t colorspace, uint32_t xfer, uint32_t ycbcr_enc,
                              uint32_t quant, hal_colorimetry* out);

// ---- Device memory

/// Opens the bytes to CUDA; NULL, and errno as it was, where they have no address there, which is
/// usual for MEM and SHM. errno: EINVAL (NULL), EBUSY (mapped there already, or by the CPU).
void* hal_tensor_cuda_map(const hal_tensor* tensor);
/// The device's address of the tensor, and the bytes from there to the end of the memory;
/// `out_size` may be NULL. NULL: NULL and 0.
void* hal_tensor_cuda_device_ptr(const void* map, size_t* out_size);
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
/// Requests for ANY that gave linear memory, in this process.
uint64_t hal_compression_fallback_count(void);
/// Maps of this process that went beyond the CPU access that was declared.
uint64_t hal_unplanned_cpu_access_count(void);

/// What this process can get here. Probed once.
bool hal_is_dma_available(void);
bool hal_is_iosurface_available(void);
bool hal_is_gpu_buffer_available(void);
bool hal_is_shm_available(void);
bool hal_is_cuda_available(void);

// ---- Ours: DLPack, with the structs of its own dlpack.h. See halyard/dlpack.h for what is
// checked.

struct DLManagedTensor;
struct DLManagedTensorVersioned;

/// Ours: export to one consumer, who calls the deleter, on any thread. The bytes stay mapped till
/// then. errno: EINVAL (NULL), ENOTSUP (strides that DLPack cannot say), EACCES (read-only memory:
/// only the versioned form with `read_only` serves it), those of hal_tensor_map_create().
struct DLManagedTensor* hal_tensor_to_dlpack(const hal_tensor* tensor);
struct DLManagedTensorVersioned* hal_tensor_to_dlpack_versioned(const hal_tensor* tensor,
                                                                bool read_only);
/// Ours: takes over a producer's tensor without a copy; its deleter runs behind the last user. On
/// failure it stays the caller's. errno: EINVAL, ENOTSUP (device, element type), EPROTO (not DLPack
/// 1.x).
hal_tensor* hal_tensor_from_dlpack(struct DLManagedTensor* managed);
hal_tensor* hal_tensor_from_dlpack_versioned(struct DLManagedTensorVersioned* managed);

/// Ours: copies of payload that the library has made in this process, and their bytes: none on a
/// path without copies. Either pointer may be NULL.
void hal_copy_stats(uint64_t* copies, uint64_t* bytes);

HAL_END
