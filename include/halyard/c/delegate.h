// SPDX-License-Identifier: Apache-2.0
// Delegates that own DMA-BUFs for a network's tensors (drivers of NPUs as TFLite plug-ins): the
// functions that they export, and functions to call them.
//
// A delegate is a shared object that exports functions of the types below, with the names in their
// comments and default visibility. It may define HAL_DELEGATE_IMPLEMENTATION before this header to
// get their prototypes. Programs load it with hal_delegate_open(). For one delegate only one thread
// at a time may call these functions.
//
// Structs may get new members at their end. A function that fills a struct first clears `info_size`
// bytes, then writes the members that fit into them: hal_delegate_fill().
#pragma once

#include "halyard/c/base.h"

HAL_BEGIN

#define HAL_DMABUF_MAX_NDIM 8
#define HAL_FOURCC_MAX_LEN 8

typedef void* hal_delegate_t;

struct hal_dmabuf_tensor_info {
  size_t size;    // bytes of the tensor
  size_t offset;  // offset of its first byte in the buffer
  size_t shape[HAL_DMABUF_MAX_NDIM];
  size_t ndim;  // 0: the shape is unknown
  int fd;       // owned by the delegate: do not close it
  hal_dtype dtype;
};
typedef struct hal_dmabuf_tensor_info hal_dmabuf_tensor_info;

struct hal_camera_adaptor_format_info {
  int input_channels;
  int output_channels;
  char fourcc[HAL_FOURCC_MAX_LEN];  // NUL-terminated
};
typedef struct hal_camera_adaptor_format_info hal_camera_adaptor_format_info;

/// hal_dmabuf_get_instance: the delegate in use, or NULL.
typedef hal_delegate_t (*hal_dmabuf_get_instance_fn)(void);
/// hal_dmabuf_is_supported: 1 or 0.
typedef int (*hal_dmabuf_is_supported_fn)(hal_delegate_t delegate);
/// hal_dmabuf_get_tensor_info. errno: EINVAL (NULL, negative index, info_size too small), ERANGE
/// (no such tensor), ENOTSUP, EIO.
typedef int (*hal_dmabuf_get_tensor_info_fn)(hal_delegate_t delegate, int tensor_index,
                                             hal_dmabuf_tensor_info* info, size_t info_size);
/// hal_dmabuf_sync_for_device and hal_dmabuf_sync_for_cpu. errno: EINVAL, ERANGE, EIO.
typedef int (*hal_dmabuf_sync_fn)(hal_delegate_t delegate, int tensor_index);
/// hal_camera_adaptor_is_supported: 1 or 0.
typedef int (*hal_camera_adaptor_is_supported_fn)(hal_delegate_t delegate, const char* format);
/// hal_camera_adaptor_get_format_info. errno: EINVAL, ENOTSUP.
typedef int (*hal_camera_adaptor_get_format_info_fn)(hal_delegate_t delegate, const char* format,
                                                     hal_camera_adaptor_format_info* info,
                                                     size_t info_size);

typedef struct hal_delegate_library hal_delegate_library;

/// Ours, to the end of this header. Loads a delegate's shared object. NULL: functions of the
/// process itself and of libraries that are loaded globally. errno: ENOENT (it cannot be loaded;
/// hal_last_error() has the reason), ENOTSUP (it exports none of the functions), ENOMEM.
hal_delegate_library* hal_delegate_open(const char* path);
/// Instances from this library must not be used afterwards.
void hal_delegate_close(hal_delegate_library* library);
/// The delegate in use. errno: EINVAL (NULL), ENOTSUP (no such function), ENODEV (no delegate).
hal_delegate_t hal_delegate_instance(const hal_delegate_library* library);
/// 1 or 0; also 0 if the functions are missing. errno: EINVAL (NULL).
int hal_delegate_has_dmabuf(const hal_delegate_library* library, hal_delegate_t delegate);
/// Fills `info_size` bytes of `info` with what the delegate knows, and the rest with 0, so that
/// callers and delegates of different versions work together. errno: EINVAL (NULL, negative index,
/// info_size below 96), ENOTSUP (no such function), those of the delegate, EIO (its answer is not
/// consistent, or it fails without errno).
int hal_delegate_tensor_info(const hal_delegate_library* library, hal_delegate_t delegate,
                             int tensor_index, hal_dmabuf_tensor_info* info, size_t info_size);
/// A tensor over the delegate's buffer, to make once for all frames. It keeps the buffer alive, but
/// not the delegate. errno: as above, those of hal_tensor_from_fd(), ENOTSUP (the shape is
/// unknown).
hal_tensor* hal_delegate_tensor(const hal_delegate_library* library, hal_delegate_t delegate,
                                int tensor_index);
/// Call sync_for_device after the CPU or a converter has written and before the network runs. Call
/// sync_for_cpu before the CPU reads. errno: EINVAL (NULL, negative index), ENOTSUP, those of the
/// delegate.
int hal_delegate_sync_for_device(const hal_delegate_library* library, hal_delegate_t delegate,
                                 int tensor_index);
int hal_delegate_sync_for_cpu(const hal_delegate_library* library, hal_delegate_t delegate,
                              int tensor_index);
/// 1 or 0; also 0 if the functions are missing. errno: EINVAL (NULL).
int hal_delegate_has_camera_adaptor(const hal_delegate_library* library, hal_delegate_t delegate,
                                    const char* format);
/// As hal_delegate_tensor_info(), with info_size of at least 16.
int hal_delegate_format_info(const hal_delegate_library* library, hal_delegate_t delegate,
                             const char* format, hal_camera_adaptor_format_info* info,
                             size_t info_size);

#ifdef HAL_DELEGATE_IMPLEMENTATION
#if defined(__GNUC__)
#define HAL_DELEGATE_EXPORT __attribute__((visibility("default")))
#else
#define HAL_DELEGATE_EXPORT
#endif
HAL_DELEGATE_EXPORT hal_delegate_t hal_dmabuf_get_instance(void);
HAL_DELEGATE_EXPORT int hal_dmabuf_is_supported(hal_delegate_t delegate);
HAL_DELEGATE_EXPORT int hal_dmabuf_get_tensor_info(hal_delegate_t delegate, int tensor_index,
                                                   hal_dmabuf_tensor_info* info, size_t info_size);
HAL_DELEGATE_EXPORT int hal_dmabuf_sync_for_device(hal_delegate_t delegate, int tensor_index);
HAL_DELEGATE_EXPORT int hal_dmabuf_sync_for_cpu(hal_delegate_t delegate, int tensor_index);
HAL_DELEGATE_EXPORT int hal_camera_adaptor_is_supported(hal_delegate_t delegate,
                                                        const char* format);
HAL_DELEGATE_EXPORT int hal_camera_adaptor_get_format_info(hal_delegate_t delegate,
                                                           const char* format,
                                                           hal_camera_adaptor_format_info* info,
                                                           size_t info_size);

/// Copies a filled struct of `size` bytes to a caller's struct of `info_size` bytes: copies what
/// fits and sets the caller's other bytes to 0. Returns -1 if `info` is NULL or `info_size` is
/// below `minimum`: then set errno to EINVAL.
static inline int hal_delegate_fill(void* info, size_t info_size, const void* filled, size_t size,
                                    size_t minimum) {
  size_t i;
  if (info == 0 || info_size < minimum) return -1;
  for (i = 0; i < info_size; ++i)
    ((unsigned char*)info)[i] = i < size ? ((const unsigned char*)filled)[i] : 0;
  return 0;
}
#endif

HAL_END
