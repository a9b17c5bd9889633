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

LAYOUT(descriptor,
       sizeof(struct hal_tensor_descriptor) == 168 && AT(hal_tensor_descriptor, offset, 16) &&
           AT(hal_tensor_descriptor, dtype_code, 32) && AT(hal_tensor_descriptor, dims, 40) &&
           AT(hal_tensor_descriptor, strides, 104));
LAYOUT(messages,
       sizeof(struct hal_sensor_header) == 40 && sizeof(struct hal_image_metadata) == 112 &&
           sizeof(struct hal_depth_image_metadata) == 72 && sizeof(struct hal_point_field) == 28 &&
           sizeof(struct hal_point_cloud_metadata) == 520);

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

LAYOUT(quantization, sizeof(struct hal_quantization) == 8 && AT(hal_quantization, zero_point, 4));
LAYOUT(detect_box, sizeof(struct hal_detect_box) == 32 && AT(hal_detect_box, ymax, 12) &&
                       AT(hal_detect_box, score, 16) && AT(hal_detect_box, label, 24));
LAYOUT(tiling_config, sizeof(struct hal_tiling_config) == 32 && AT(hal_tiling_config, tile_h, 8) &&
                          AT(hal_tiling_config, overlap_ratio, 16) &&
                          AT(hal_tiling_config, pad, 20) && AT(hal_tiling_config, fit, 24));
LAYOUT(merge_config, sizeof(struct hal_merge_config) == 32 && AT(hal_merge_config, threshold, 4) &&
                         AT(hal_merge_config, class_agnostic, 8) &&
                         AT(hal_merge_config, max_det, 16) &&
                         AT(hal_merge_config, score_threshold, 24));
LAYOUT(tile_placement,
       sizeof(struct hal_tile_placement) == 64 && AT(hal_tile_placement, count, 8) &&
           AT(hal_tile_placement, origin_x, 16) && AT(hal_tile_placement, crop_w, 24) &&
           AT(hal_tile_placement, frame_h, 36) && AT(hal_tile_placement, has_letterbox, 40) &&
           AT(hal_tile_placement, letterbox, 44));
LAYOUT(tile_spec, sizeof(struct hal_tile_spec) == 56 && AT(hal_tile_spec, index, 32) &&
                      AT(hal_tile_spec, row, 40) && AT(hal_tile_spec, col, 48));
LAYOUT(track_info, sizeof(struct hal_track_info) == 56 && AT(hal_track_info, location, 16) &&
                       AT(hal_track_info, count, 32) && AT(hal_track_info, created, 40) &&
                       AT(hal_track_info, last_updated, 48));
LAYOUT(dmabuf_info,
       sizeof(struct hal_dmabuf_tensor_info) == 96 && AT(hal_dmabuf_tensor_info, offset, 8) &&
           AT(hal_dmabuf_tensor_info, shape, 16) && AT(hal_dmabuf_tensor_info, ndim, 80) &&
           AT(hal_dmabuf_tensor_info, fd, 88) && AT(hal_dmabuf_tensor_info, dtype, 92));
LAYOUT(camera_info, sizeof(struct hal_camera_adaptor_format_info) == 16 &&
                        AT(hal_camera_adaptor_format_info, output_channels, 4) &&
                        AT(hal_camera_adaptor_format_info, fourcc, 8));

LAYOUT(output_types, HAL_OUTPUT_TYPE_DETECTION == 0 && HAL_OUTPUT_TYPE_BOXES == 1 &&
                         HAL_OUTPUT_TYPE_SCORES == 2 && HAL_OUTPUT_TYPE_PROTOS == 3 &&
                         HAL_OUTPUT_TYPE_SEGMENTATION == 4 &&
                         HAL_OUTPUT_TYPE_MASK_COEFFICIENTS == 5 && HAL_OUTPUT_TYPE_MASK == 6 &&
                         HAL_OUTPUT_TYPE_CLASSES == 7);
LAYOUT(decoder_types, HAL_DECODER_TYPE_ULTRALYTICS == 0 && HAL_DECODER_TYPE_MODEL_PACK == 1);
LAYOUT(dim_names, HAL_DIM_NAME_BATCH == 0 && HAL_DIM_NAME_HEIGHT == 1 && HAL_DIM_NAME_WIDTH == 2 &&
                      HAL_DIM_NAME_NUM_CLASSES == 3 && HAL_DIM_NAME_NUM_FEATURES == 4 &&
                      HAL_DIM_NAME_NUM_BOXES == 5 && HAL_DIM_NAME_NUM_PROTOS == 6 &&
                      HAL_DIM_NAME_NUM_ANCHORS_X_FEATURES == 7 && HAL_DIM_NAME_PADDING == 8 &&
                      HAL_DIM_NAME_BOX_COORDS == 9);
LAYOUT(decoder_versions, HAL_DECODER_VERSION_YOLOV5 == 0 && HAL_DECODER_VERSION_YOLOV8 == 1 &&
                             HAL_DECODER_VERSION_YOLO11 == 2 && HAL_DECODER_VERSION_YOLO26 == 3);
LAYOUT(nms, HAL_NMS_CLASS_AGNOSTIC == 0 && HAL_NMS_CLASS_AWARE == 1 && HAL_NMS_NONE == 2 &&
                HAL_NMS_AUTO == 3);
LAYOUT(color_modes,
       HAL_COLOR_MODE_CLASS == 0 && HAL_COLOR_MODE_INSTANCE == 1 && HAL_COLOR_MODE_TRACK == 2);
LAYOUT(log_levels, HAL_LOG_LEVEL_ERROR == 1 && HAL_LOG_LEVEL_WARN == 2 && HAL_LOG_LEVEL_INFO == 3 &&
                       HAL_LOG_LEVEL_DEBUG == 4 && HAL_LOG_LEVEL_TRACE == 5);
LAYOUT(match_metrics, HAL_MATCH_METRIC_IOU == 0 && HAL_MATCH_METRIC_IOS == 1);
LAYOUT(macros, HAL_PROTO_LAYOUT_NHWC == 0 && HAL_PROTO_LAYOUT_NCHW == 1 &&
                   HAL_DMABUF_MAX_NDIM == 8 && HAL_FOURCC_MAX_LEN == 8);
LAYOUT(later_enums, sizeof(enum HalOutputType) == 4 && sizeof(enum HalDecoderType) == 4 &&
                        sizeof(enum HalDimName) == 4 && sizeof(enum HalDecoderVersion) == 4 &&
                        sizeof(enum hal_nms) == 4 && sizeof(enum hal_color_mode) == 4 &&
                        sizeof(enum hal_log_level) == 4 && sizeof(enum hal_match_metric) == 4);
