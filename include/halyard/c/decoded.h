// SPDX-License-Identifier: Apache-2.0
// All that a decoder finds, in C: boxes, masks, rotated boxes, keypoints, classes of the image,
// of any element of a batch. Ours.
#pragma once

#include "halyard/c/base.h"
#include "halyard/c/decode.h"
#include "halyard/c/mask.h"
#include "halyard/c/track.h"

HAL_BEGIN

// A box that is turned about its centre; `width` lies along the angle: radians, clockwise as seen.
struct hal_rotated_box {
  float cx;
  float cy;
  float width;
  float height;
  float angle;
};
typedef struct hal_rotated_box hal_rotated_box;

// A named point of an object; `score` is its visibility, 0..1.
struct hal_keypoint {
  float x;
  float y;
  float score;
};
typedef struct hal_keypoint hal_keypoint;

// A class of the whole image.
struct hal_class_score {
  size_t label;
  float score;
};
typedef struct hal_class_score hal_class_score;

typedef struct hal_decoded hal_decoded;

/// Results as halyard has them, not as EdgeFirst HAL: boxes, rotated boxes and keypoints in pixels
/// of the network's input whatever the model holds, the best 30000 candidates before suppression
/// where no other number is set; and hal_decoder_new() refuses thresholds outside [0, 1], fractions
/// and masks without an input size (EINVAL), each decode integers without quantization and, in
/// calls that name no element, batches of several. errno: EINVAL (NULL).
int hal_decoder_params_set_native(hal_decoder_params* params, bool native);

/// Elements of the batch that the outputs hold. errno: EINVAL (NULL, shapes, extents that differ),
/// those of hal_decoder_decode().
int hal_decoder_batch_size(const hal_decoder* decoder, const hal_tensor* const* outputs,
                           size_t num_outputs, size_t* out);

/// Decodes element `batch` of the outputs, and moves the tracker to it: NULL: none, `timestamp` is
/// not looked at. With a tracker boxes are those of its tracks, and masks, rotated boxes and
/// keypoints belong to the first ones, which were seen in this frame. The caller's. Thread-safe for
/// one decoder. errno: EINVAL (NULL, batch), and that of hal_decoder_decode_tracked().
hal_decoded* hal_decoder_decode_element(const hal_decoder* decoder,
                                        const hal_tensor* const* outputs, size_t num_outputs,
                                        size_t batch, hal_bytetrack* tracker, uint64_t timestamp);
void hal_decoded_free(hal_decoded* decoded);
/// Draws element `batch` of the outputs: hal_image_processor_draw_masks(), or with a tracker
/// hal_image_processor_draw_masks_tracked(), which else take the one element that there is.
/// `tracker`, `out_boxes` and `out_tracks` may be NULL; without a tracker `timestamp` is not looked
/// at, and the tracks are NULL. errno: also EINVAL (batch).
int hal_image_processor_draw_masks_element(
    hal_image_processor* processor, const hal_decoder* decoder, const hal_tensor* const* outputs,
    size_t num_outputs, size_t batch, hal_bytetrack* tracker, uint64_t timestamp, hal_tensor* dst,
    const hal_tensor* background, float opacity, const float* letterbox, hal_color_mode color_mode,
    hal_detect_box_list** out_boxes, hal_track_info_list** out_tracks);

/// Each once, the caller's from then on. errno: EINVAL (NULL, it was taken), ENOMEM.
hal_detect_box_list* hal_decoded_take_boxes(hal_decoded* decoded);
hal_segmentation_list* hal_decoded_take_masks(hal_decoded* decoded);
/// One for each box; empty without a tracker.
hal_track_info_list* hal_decoded_take_tracks(hal_decoded* decoded);

/// Of heads with angles, one for each box, best first. None in fractions of an input that is not
/// square.
size_t hal_decoded_rotated_count(const hal_decoded* decoded);  ///< NULL: 0
/// errno: EINVAL (NULL, index beyond the end).
int hal_decoded_get_rotated(const hal_decoded* decoded, size_t index, hal_rotated_box* out);
/// Points of each box; 0: the head has none. NULL: 0.
size_t hal_decoded_keypoints_each(const hal_decoded* decoded);
/// Point `index` of box `box`. errno: EINVAL (NULL, no such box or point).
int hal_decoded_get_keypoint(const hal_decoded* decoded, size_t box, size_t index,
                             hal_keypoint* out);
/// Of heads that classify: the best five, best first.
size_t hal_decoded_class_count(const hal_decoded* decoded);  ///< NULL: 0
/// errno: EINVAL (NULL, index beyond the end).
int hal_decoded_get_class(const hal_decoded* decoded, size_t index, hal_class_score* out);

HAL_END
