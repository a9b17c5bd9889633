// SPDX-License-Identifier: Apache-2.0
// What every part of the C interface stands on: its rules, its two generations, the enumerations
// and values that several parts use, and the text of the last failure. C99, C11 and C++.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "halyard/export.h"

// Generations. Some functions have two forms, and a program chooses before its first include:
// nothing defined, or 24, gives those of HAL 0.24; 27 those of HAL 0.27. All else is the same in
// both. The forms of 0.27 end in _27, and 27 defines the plain names as macros for them, so that
// one program may hold sources of both generations.
#ifndef HAL_API_VERSION
#define HAL_API_VERSION 24
#elif HAL_API_VERSION != 24 && HAL_API_VERSION != 27
#error "HAL_API_VERSION must be 24 or 27, or not be defined"
#endif

// Results: a pointer, or NULL with errno; an int from 0 up, or -1 with errno; getters give the
// named default for NULL, and for a handle of another kind. Success leaves errno alone. What failed
// says hal_last_error().
//
// errno: EINVAL (an argument: NULL, a handle of another kind, an address that is not aligned for
// its type, a value that is no enumerator, a size), ENOMEM, ENOTSUP (not served here, or not by
// this memory), EACCES (refused by the system, or read-only memory), EPROTO (a foreign version),
// and what system calls report. Functions that cannot fail leave out what is not aligned.
//
// Ownership: what _new, _from_, _create, _take and _clone give is the caller's and ends with the
// matching _free or _unmap, which take NULL. Strings that come back without const are released by
// free(). Arguments are borrowed for the call, unless a function says otherwise.
//
// Threads, for each function by its parameters: one that takes a handle as const may run for it on
// several threads at once, with others that do; one that takes it otherwise needs the handle alone.
// Functions say where it is not so. Handles that share bytes may be used at once; a handle may move
// between threads; functions without a handle may be called from any thread. No call orders readers
// and writers of the same bytes: callers do.
//
// "Ours:" marks what the generations above do not have.

#ifdef __cplusplus
// Callers may pass any int, and what is no enumerator is refused.
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

// AUTO takes the first of dma, shm and mem that is served; the others never fall back.
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

// What the CPU is expected to do with memory, told when it is made. A map beyond it is served, and
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

// How an image meets its destination: filling it, or keeping its aspect ratio, centred, the rest
// being pad.
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

/// Ours: the calling thread's last failure in one line, "" before the first. Valid until its next.
const char* hal_last_error(void);

HAL_END
