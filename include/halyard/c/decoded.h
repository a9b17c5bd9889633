// SPDX-License-Identifier: Apache-2.0
// All results of a decoder in C, for any element of a batch: boxes, masks, rotated boxes,
// keypoints, classes of the image. Ours.
#pragma once

#include "halyard/c/base.h"
#include "halyard/c/decode.h"
#include "halyard/c/mask.h"
#include "halyard/c/track.h"

HAL_BEGIN

// A box that is rotated about its centre. `width` lies along the angle: radians, clockwise as seen.
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

/// Makes the decoder return Halyard's results instead of EdgeFirst HAL's. Boxes, rotated boxes and
/// keypoints are in pixels of the network's input, whatever the model holds. The best 30000
/// candidates enter suppression if no other number is set. hal_decoder_new() then refuses (EINVAL)
/// thresholds outside [0, 1], and fractions and masks without an input size. Each decode refuses
/// integers without quantization and, in calls without an element index, batches of several
/// elements. errno: EINVAL (NULL).
int hal_decoder_params_set_native(hal_decoder_params* params, bool native);

/// Writes the number of batch elements in the outputs. errno: EINVAL (NULL, shapes, extents that
/// differ), those of hal_decoder_decode().
int hal_decoder_batch_size(const hal_decoder* decoder, const hal_tensor* const* outputs,
                           size_t num_outputs, size_t* out);

/// Decodes element `batch` of the outputs and updates the tracker. `tracker` NULL: no tracker, and
/// `timestamp` is ignored. With a tracker the boxes are those of its tracks; masks, rotated boxes
/// and keypoints belong to the first ones, which were seen in this frame. The caller owns the
/// result. Thread-safe for one decoder. errno: EINVAL (NULL, batch), and that of
/// hal_decoder_decode_tracked().
hal_decoded* hal_decoder_decode_element(const hal_decoder* decoder,
                                        const hal_tensor* const* outputs, size_t num_outputs,
                                        size_t batch, hal_bytetrack* tracker, uint64_t timestamp);
void hal_decoded_free(hal_decoded* decoded);
/// Decodes and draws element `batch` of the outputs, as hal_image_processor_draw_masks() or, with a
/// tracker, hal_image_processor_draw_masks_tracked() do for outputs of one element. `tracker`,
/// `out_boxes` and `out_tracks` may be NULL. Without a tracker `timestamp` is ignored, and the
/// tracks are NULL. errno: also EINVAL (batch).
int hal_image_processor_draw_masks_element(
    hal_image_processor* processor, const hal_decoder* decoder, const hal_tensor* const* outputs,
    size_t num_outputs, size_t batch, hal_bytetrack* tracker, uint64_t timestamp, hal_tensor* dst,
    const hal_tensor* background, float opacity, const float* letterbox, hal_color_mode color_mode,
    hal_detect_box_list** out_boxes, hal_track_info_list** out_tracks);

/// Each list can be taken once; the caller then owns it. errno: EINVAL (NULL, already taken),
/// ENOMEM.
hal_detect_box_list* hal_decoded_take_boxes(hal_decoded* decoded);
hal_segmentation_list* hal_decoded_take_masks(hal_decoded* decoded);
/// One entry for each box; empty without a tracker.
hal_track_info_list* hal_decoded_take_tracks(hal_decoded* decoded);

/// Number of rotated boxes: one for each box, best first, if the head has angles. 0 if boxes are
/// fractions of an input that is not square.
size_t hal_decoded_rotated_count(const hal_decoded* decoded);  ///< NULL: 0
/// errno: EINVAL (NULL, index beyond the end).
int hal_decoded_get_rotated(const hal_decoded* decoded, size_t index, hal_rotated_box* out);
/// Number of keypoints of each box; 0: the head has none. NULL: 0.
size_t hal_decoded_keypoints_each(const hal_decoded* decoded);
/// Point `index` of box `box`. errno: EINVAL (NULL, no such box or point).
int hal_decoded_get_keypoint(const hal_decoded* decoded, size_t box, size_t index,
                             hal_keypoint* out);
/// Number of classes of the image if the head classifies: the best five, best first.
size_t hal_decoded_class_count(const hal_decoded* decoded);  ///< NULL: 0
/// errno: EINVAL (NULL, index beyond the end).
int hal_decoded_get_class(const hal_decoded* decoded, size_t index, hal_class_score* out);

HAL_END
