// SPDX-License-Identifier: Apache-2.0
// Boxes, masks and prototypes in C, and functions to draw them.
#pragma once

#include "halyard/c/base.h"
#include "halyard/c/tensor.h"

HAL_BEGIN

// What a colour depends on. TRACK: the track if tracks are known, else the index in the list.
enum hal_color_mode HAL_ENUM_INT {
  HAL_COLOR_MODE_CLASS = 0,
  HAL_COLOR_MODE_INSTANCE = 1,
  HAL_COLOR_MODE_TRACK = 2,
};
typedef enum hal_color_mode hal_color_mode;

// Order of a prototype tensor's axes: height, width, channels, or channels first.
#define HAL_PROTO_LAYOUT_NHWC 0
#define HAL_PROTO_LAYOUT_NCHW 1

struct hal_detect_box {
  float xmin;
  float ymin;
  float xmax;
  float ymax;
  float score;
  size_t label;  // below 2^31
};
typedef struct hal_detect_box hal_detect_box;

typedef struct hal_decoder hal_decoder;
typedef struct hal_bytetrack hal_bytetrack;
typedef struct hal_track_info_list hal_track_info_list;
typedef struct hal_detect_box_list hal_detect_box_list;
typedef struct hal_segmentation_list hal_segmentation_list;
typedef struct hal_proto_data hal_proto_data;

// ---- Boxes

/// A copy of `count` boxes; for 0 boxes `boxes` may be NULL. errno: EINVAL (NULL, a label of 2^31
/// or more), ENOMEM.
hal_detect_box_list* hal_detect_box_list_new(const hal_detect_box* boxes, size_t count);
size_t hal_detect_box_list_len(const hal_detect_box_list* list);  ///< NULL: 0
/// errno: EINVAL (NULL, index beyond the end).
int hal_detect_box_list_get(const hal_detect_box_list* list, size_t index, hal_detect_box* out);
void hal_detect_box_list_free(hal_detect_box_list* list);

// ---- Masks

size_t hal_segmentation_list_len(const hal_segmentation_list* list);  ///< NULL: 0
/// The area that the mask covers, as fractions of the network's input. errno: EINVAL (NULL, index).
int hal_segmentation_list_get_bbox(const hal_segmentation_list* list, size_t index, float* xmin,
                                   float* ymin, float* xmax, float* ymax);
/// height x width bytes; for class scores, one byte per class at each pixel. Valid as long as the
/// list. The extents may be NULL. errno: EINVAL (NULL, index).
const uint8_t* hal_segmentation_list_get_mask(const hal_segmentation_list* list, size_t index,
                                              size_t* out_height, size_t* out_width);
void hal_segmentation_list_free(hal_segmentation_list* list);
/// [height, width], u8: 1 where a mask's byte is at least 128, else 0; for class scores, the first
/// class with the largest score. errno: EINVAL, ENOMEM.
hal_tensor* hal_segmentation_to_mask(const hal_segmentation_list* list, size_t index);

// ---- Prototypes

void hal_proto_data_free(hal_proto_data* data);
/// [height, width, channels] or channels first, with quantization; the caller then owns it. A
/// second call returns NULL with EINVAL.
hal_tensor* hal_proto_data_take_protos(hal_proto_data* data);
/// [boxes, channels]. A second call returns NULL with EINVAL. errno: also ENOMEM.
hal_tensor* hal_proto_data_take_mask_coefficients(hal_proto_data* data);
int32_t hal_proto_data_layout(const hal_proto_data* data);  ///< HAL_PROTO_LAYOUT_*; NULL: -1

// ---- Drawing
//
// `dst`: a u8 image, rgb, bgr, rgba, bgra or planar. All of it is written: the background (NULL:
// zeros, alpha too), masks, outlines of boxes. Boxes are fractions of the network's input.
// `letterbox`: left, top, right, bottom of the part of that input that shows the image, as
// fractions; NULL: all of it. `opacity` is clamped to 0..1. A processor serves one thread at a
// time.
//
// errno of all functions: EINVAL (NULL, a background that shares bytes with dst or has another size
// or format, letterbox, not an enumerator, shapes), ENOTSUP (format), EIO (any other failure),
// ENOMEM.

/// Draws masks that are already made. Boxes and masks may be NULL.
int hal_image_processor_draw_decoded_masks(hal_image_processor* processor, hal_tensor* dst,
                                           const hal_detect_box_list* detections,
                                           const hal_segmentation_list* segmentations,
                                           const hal_tensor* background, float opacity,
                                           const float* letterbox, hal_color_mode color_mode);
/// Makes masks of bytes 0 and 255 at the prototypes' resolution, clipped to the boxes. errno: also
/// EINVAL (the number of boxes differs from the rows of coefficients; something was taken).
hal_segmentation_list* hal_image_processor_materialize_masks(hal_image_processor* processor,
                                                             const hal_detect_box_list* detections,
                                                             const hal_proto_data* proto_data,
                                                             const float* letterbox);
/// Ours: as above, at the resolution of an image of width x height, which is the image that
/// `letterbox` shows.
hal_segmentation_list* hal_image_processor_materialize_masks_scaled(
    hal_image_processor* processor, const hal_detect_box_list* detections,
    const hal_proto_data* proto_data, const float* letterbox, size_t width, size_t height);
/// Decodes and draws. `out_boxes` may be NULL; it is NULL after a failure.
int hal_image_processor_draw_masks(hal_image_processor* processor, const hal_decoder* decoder,
                                   const hal_tensor* const* outputs, size_t num_outputs,
                                   hal_tensor* dst, const hal_tensor* background, float opacity,
                                   const float* letterbox, hal_color_mode color_mode,
                                   hal_detect_box_list** out_boxes);
int hal_image_processor_draw_proto_masks(hal_image_processor* processor, hal_tensor* dst,
                                         const hal_detect_box_list* detections,
                                         const hal_proto_data* proto_data,
                                         const hal_tensor* background, float opacity,
                                         const float* letterbox, hal_color_mode color_mode);
/// Decodes, tracks and draws. `timestamp` is in ns. `out_boxes` and `out_tracks` may be NULL.
int hal_image_processor_draw_masks_tracked(
    hal_image_processor* processor, const hal_decoder* decoder, hal_bytetrack* tracker,
    uint64_t timestamp, const hal_tensor* const* outputs, size_t num_outputs, hal_tensor* dst,
    const hal_tensor* background, float opacity, const float* letterbox, hal_color_mode color_mode,
    hal_detect_box_list** out_boxes, hal_track_info_list** out_tracks);
/// Sets R, G, B, A of each class; only the first 20 are used. errno: EINVAL (NULL, no colours).
int hal_image_processor_set_class_colors(hal_image_processor* processor, const uint8_t (*colors)[4],
                                         size_t num_colors);

HAL_END
