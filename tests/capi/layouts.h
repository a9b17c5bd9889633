// SPDX-License-Identifier: Apache-2.0
// Sizes and offsets that programs were compiled with (LP64), checked by the compiler.
#pragma once

#include "halyard/hal.h"

#ifdef __cplusplus
#define LAYOUT(name, condition) static_assert(condition, #name)
#else
#define LAYOUT(name, condition) typedef char layout_##name[(condition) ? 1 : -1]
#endif
#define AT(type, member, offset) (offsetof(struct type, member) == (offset))

LAYOUT(colorimetry, sizeof(struct hal_colorimetry) == 16 && AT(hal_colorimetry, transfer, 4) &&
                        AT(hal_colorimetry, encoding, 8) && AT(hal_colorimetry, range, 12));
LAYOUT(region, sizeof(hal_region) == 32 && AT(hal_region, y, 8) && AT(hal_region, width, 16) &&
                   AT(hal_region, height, 24));
LAYOUT(rect, sizeof(struct hal_rect) == 32 && AT(hal_rect, left, 0) && AT(hal_rect, top, 8) &&
                 AT(hal_rect, width, 16) && AT(hal_rect, height, 24));
#if HAL_API_VERSION == 27
LAYOUT(crop, sizeof(struct hal_crop) == 48 && AT(hal_crop, source, 0) &&
                 AT(hal_crop, has_source, 32) && AT(hal_crop, fit, 36) && AT(hal_crop, pad, 40));
#else
LAYOUT(crop, sizeof(struct hal_crop) == 72 && AT(hal_crop, src_rect, 0) &&
                 AT(hal_crop, dst_rect, 32) && AT(hal_crop, dst_color, 64) &&
                 AT(hal_crop, has_src_rect, 68) && AT(hal_crop, has_dst_rect, 69) &&
                 AT(hal_crop, has_dst_color, 70) && AT(hal_crop, letterbox, 71));
#endif

LAYOUT(enums, sizeof(enum hal_dtype) == 4 && sizeof(enum hal_tensor_memory) == 4 &&
                  sizeof(enum hal_pixel_format) == 4 && sizeof(enum HalCpuAccess) == 4 &&
                  sizeof(enum HalCompression) == 4 && sizeof(enum HalTensorQuantKind) == 4 &&
                  sizeof(enum hal_compute_backend) == 4 && sizeof(enum hal_rotation) == 4 &&
                  sizeof(enum hal_flip) == 4);

LAYOUT(dtypes, HAL_DTYPE_U8 == 0 && HAL_DTYPE_I8 == 1 && HAL_DTYPE_U16 == 2 && HAL_DTYPE_I16 == 3 &&
                   HAL_DTYPE_U32 == 4 && HAL_DTYPE_I32 == 5 && HAL_DTYPE_U64 == 6 &&
                   HAL_DTYPE_I64 == 7 && HAL_DTYPE_F16 == 8 && HAL_DTYPE_F32 == 9 &&
                   HAL_DTYPE_F64 == 10);
LAYOUT(memories, HAL_TENSOR_MEMORY_MEM == 0 && HAL_TENSOR_MEMORY_DMA == 1 &&
                     HAL_TENSOR_MEMORY_SHM == 2 && HAL_TENSOR_MEMORY_PBO == 3);
LAYOUT(formats,
       HAL_PIXEL_FORMAT_YUYV == 0 && HAL_PIXEL_FORMAT_NV12 == 1 && HAL_PIXEL_FORMAT_NV16 == 2 &&
           HAL_PIXEL_FORMAT_RGBA == 3 && HAL_PIXEL_FORMAT_RGB == 4 && HAL_PIXEL_FORMAT_GREY == 5 &&
           HAL_PIXEL_FORMAT_PLANAR_RGB == 6 && HAL_PIXEL_FORMAT_PLANAR_RGBA == 7 &&
           HAL_PIXEL_FORMAT_BGRA == 8 && HAL_PIXEL_FORMAT_VYUY == 9 && HAL_PIXEL_FORMAT_NV24 == 10);
LAYOUT(accesses, HAL_CPU_ACCESS_NONE == 0 && HAL_CPU_ACCESS_READ == 1 &&
                     HAL_CPU_ACCESS_WRITE == 2 && HAL_CPU_ACCESS_READ_WRITE == 3);
LAYOUT(compressions, HAL_COMPRESSION_NONE == 0 && HAL_COMPRESSION_ANY == 1 &&
                         HAL_COMPRESSION_UBWC == 2 && HAL_COMPRESSION_AFBC == 3 &&
                         HAL_COMPRESSION_PVRIC == 4 && HAL_COMPRESSION_DCC == 5);
LAYOUT(quantizations, HAL_TENSOR_QUANT_KIND_PER_TENSOR_SYMMETRIC == 0 &&
                          HAL_TENSOR_QUANT_KIND_PER_TENSOR == 1 &&
                          HAL_TENSOR_QUANT_KIND_PER_CHANNEL_SYMMETRIC == 2 &&
                          HAL_TENSOR_QUANT_KIND_PER_CHANNEL == 3);
LAYOUT(backends, HAL_COMPUTE_BACKEND_AUTO == 0 && HAL_COMPUTE_BACKEND_CPU == 1 &&
                     HAL_COMPUTE_BACKEND_G2D == 2 && HAL_COMPUTE_BACKEND_OPENGL == 3);
LAYOUT(rotations, HAL_ROTATION_NONE == 0 && HAL_ROTATION_ROTATE90 == 1 &&
                      HAL_ROTATION_ROTATE180 == 2 && HAL_ROTATION_ROTATE270 == 3);
LAYOUT(flips, HAL_FLIP_NONE == 0 && HAL_FLIP_VERTICAL == 1 && HAL_FLIP_HORIZONTAL == 2);
LAYOUT(fits, HAL_FIT_STRETCH == 0 && HAL_FIT_LETTERBOX == 1);
