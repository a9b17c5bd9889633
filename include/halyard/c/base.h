// SPDX-License-Identifier: Apache-2.0
// The base of all parts of the C interface: its rules, its two generations, the enumerations and
// values that several parts use, and the text of the last failure. C99, C11 and C++.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "halyard/export.h"

// Generations. Some functions have two forms. A program chooses before its first include: if
// HAL_API_VERSION is not defined, or is 24, it gets the forms of HAL 0.24; 27 gives those of HAL
// 0.27. Everything else is the same in both. The names of the 0.27 forms end in _27; 27 defines the
// plain names as macros for them, so that one program may contain sources of both generations.
#ifndef HAL_API_VERSION
#define HAL_API_VERSION 24
#elif HAL_API_VERSION != 24 && HAL_API_VERSION != 27
#error "HAL_API_VERSION must be 24 or 27, or not be defined"
#endif

// Results: a pointer, or NULL with errno; an int from 0 up, or -1 with errno. Getters return the
// named default for NULL and for a handle of another kind. Success does not change errno.
// hal_last_error() describes the failure.
//
// errno: EINVAL (an argument: NULL, a handle of another kind, an address that is not aligned for
// its type, a value that is not an enumerator, a size), ENOMEM, ENOTSUP (not supported here, or not
// by this memory), EACCES (refused by the system, or read-only memory), EPROTO (a foreign version),
// and what system calls report. Functions that cannot fail skip arguments that are not aligned.
//
// Ownership: the caller owns what _new, _from_, _create, _take and _clone return, and releases it
// with the matching _free or _unmap, which accept NULL. Strings that are returned without const are
// released by free(). Arguments are borrowed for the call, unless a function documents otherwise.
//
// Threads: the parameters of a function decide. If it takes a handle as const, several threads may
// call such functions with this handle at once. If it takes the handle as non-const, no other
// thread may use the handle during the call. Functions document exceptions. Handles that share
// bytes may be used at once; a handle may move between threads; functions without a handle may be
// called from any thread. No call orders readers and writers of the same bytes: callers must do
// that.
//
// "Ours:" marks what EdgeFirst HAL does not have in either generation.

#ifdef __cplusplus
// Callers may pass any int; the functions refuse values that are not enumerators.
#define HAL_ENUM_INT : int
#define HAL_BEGIN \
  extern "C" {    \
  HALYARD_EXPORTS_BEGIN
#define HAL_END       \
  HALYARD_EXPORTS_END \
  }
#else
#define HAL_ENUM_INT
#define HAL_BEGIN HALYARD_EXPORTS_BEGIN
#define HAL_END HALYARD_EXPORTS_END
#endif

HAL_BEGIN

enum hal_dtype HAL_ENUM_INT {
  HAL_DTYPE_U8 = 0,
  HAL_DTYPE_I8 = 1,
  HAL_DTYPE_U16 = 2,
  HAL_DTYPE_I16 = 3,
  HAL_DTYPE_U32 = 4,
  HAL_DTYPE_I32 = 5,
  HAL_DTYPE_U64 = 6,
  HAL_DTYPE_I64 = 7,
  HAL_DTYPE_F16 = 8,
  HAL_DTYPE_F32 = 9,
  HAL_DTYPE_F64 = 10,
  HAL_DTYPE_BF16 = 11,  // Ours.
  HAL_DTYPE_BOOL = 12,  // Ours.
};
typedef enum hal_dtype hal_dtype;

// AUTO takes the first available of dma, shm and mem; the others never fall back.
enum hal_tensor_memory HAL_ENUM_INT {
  HAL_TENSOR_MEMORY_MEM = 0,     // heap
  HAL_TENSOR_MEMORY_DMA = 1,     // DMA-BUF
  HAL_TENSOR_MEMORY_SHM = 2,     // shared memory
  HAL_TENSOR_MEMORY_PBO = 3,     // GPU pixel buffer
  HAL_TENSOR_MEMORY_AUTO = 255,  // Ours.
};
typedef enum hal_tensor_memory hal_tensor_memory;

enum hal_pixel_format HAL_ENUM_INT {
  HAL_PIXEL_FORMAT_YUYV = 0,
  HAL_PIXEL_FORMAT_NV12 = 1,
  HAL_PIXEL_FORMAT_NV16 = 2,
  HAL_PIXEL_FORMAT_RGBA = 3,
  HAL_PIXEL_FORMAT_RGB = 4,
  HAL_PIXEL_FORMAT_GREY = 5,
  HAL_PIXEL_FORMAT_PLANAR_RGB = 6,
  HAL_PIXEL_FORMAT_PLANAR_RGBA = 7,
  HAL_PIXEL_FORMAT_BGRA = 8,
  HAL_PIXEL_FORMAT_VYUY = 9,
  HAL_PIXEL_FORMAT_NV24 = 10,
  // Ours, from here on.
  HAL_PIXEL_FORMAT_UYVY = 11,
  HAL_PIXEL_FORMAT_YVYU = 12,
  HAL_PIXEL_FORMAT_NV21 = 13,
  HAL_PIXEL_FORMAT_I420 = 14,
  HAL_PIXEL_FORMAT_BGR = 15,
  HAL_PIXEL_FORMAT_BAYER_RGGB = 16,
  HAL_PIXEL_FORMAT_BAYER_BGGR = 17,
  HAL_PIXEL_FORMAT_BAYER_GRBG = 18,
  HAL_PIXEL_FORMAT_BAYER_GBRG = 19,
};
typedef enum hal_pixel_format hal_pixel_format;

// The CPU access that a caller declares when memory is made. A map beyond it succeeds, and is
// counted: hal_unplanned_cpu_access_count().
enum HalCpuAccess HAL_ENUM_INT {
  HAL_CPU_ACCESS_NONE = 0,
  HAL_CPU_ACCESS_READ = 1,
  HAL_CPU_ACCESS_WRITE = 2,
  HAL_CPU_ACCESS_READ_WRITE = 3,
};
typedef enum HalCpuAccess HalCpuAccess;

// Clockwise, after the flip.
enum hal_rotation HAL_ENUM_INT {
  HAL_ROTATION_NONE = 0,
  HAL_ROTATION_ROTATE90 = 1,
  HAL_ROTATION_ROTATE180 = 2,
  HAL_ROTATION_ROTATE270 = 3,
};
typedef enum hal_rotation hal_rotation;

// VERTICAL swaps top and bottom, HORIZONTAL left and right.
enum hal_flip HAL_ENUM_INT {
  HAL_FLIP_NONE = 0,
  HAL_FLIP_VERTICAL = 1,
  HAL_FLIP_HORIZONTAL = 2,
};
typedef enum hal_flip hal_flip;

// How an image fits its destination: stretched to fill it, or with its aspect ratio kept, centred,
// and the rest pad.
#define HAL_FIT_STRETCH 0
#define HAL_FIT_LETTERBOX 1

/// A rectangle of whole pixels; (x, y) is its top left corner.
struct hal_region {
  size_t x;
  size_t y;
  size_t width;
  size_t height;
};
typedef struct hal_region hal_region;

typedef struct hal_tensor hal_tensor;
typedef struct hal_tensor_map hal_tensor_map;
typedef struct hal_image_processor hal_image_processor;

hal_region hal_region_new(size_t x, size_t y, size_t width, size_t height);

/// Ours: the calling thread's last failure in one line, "" before the first. Valid until its next
/// one.
const char* hal_last_error(void);

HAL_END
