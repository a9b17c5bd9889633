// SPDX-License-Identifier: Apache-2.0
// Decoding in C: decoders from description documents or described outputs; boxes, masks,
// prototypes.
#pragma once

#include "halyard/c/base.h"
#include "halyard/c/mask.h"
#include "halyard/c/tensor.h"
#include "halyard/c/track.h"

HAL_BEGIN

enum HalOutputType HAL_ENUM_INT {
  HAL_OUTPUT_TYPE_DETECTION = 0,
  HAL_OUTPUT_TYPE_BOXES = 1,
  HAL_OUTPUT_TYPE_SCORES = 2,
  HAL_OUTPUT_TYPE_PROTOS = 3,
  HAL_OUTPUT_TYPE_SEGMENTATION = 4,
  HAL_OUTPUT_TYPE_MASK_COEFFICIENTS = 5,
  HAL_OUTPUT_TYPE_MASK = 6,
  HAL_OUTPUT_TYPE_CLASSES = 7,
};
typedef enum HalOutputType HalOutputType;

enum HalDecoderType HAL_ENUM_INT {
  HAL_DECODER_TYPE_ULTRALYTICS = 0,
  HAL_DECODER_TYPE_MODEL_PACK = 1,
};
typedef enum HalDecoderType HalDecoderType;

enum HalDimName HAL_ENUM_INT {
  HAL_DIM_NAME_BATCH = 0,
  HAL_DIM_NAME_HEIGHT = 1,
  HAL_DIM_NAME_WIDTH = 2,
  HAL_DIM_NAME_NUM_CLASSES = 3,
  HAL_DIM_NAME_NUM_FEATURES = 4,
  HAL_DIM_NAME_NUM_BOXES = 5,
  HAL_DIM_NAME_NUM_PROTOS = 6,
  HAL_DIM_NAME_NUM_ANCHORS_X_FEATURES = 7,
  HAL_DIM_NAME_PADDING = 8,
  HAL_DIM_NAME_BOX_COORDS = 9,
};
typedef enum HalDimName HalDimName;

enum HalDecoderVersion HAL_ENUM_INT {
  HAL_DECODER_VERSION_YOLOV5 = 0,
  HAL_DECODER_VERSION_YOLOV8 = 1,
  HAL_DECODER_VERSION_YOLO11 = 2,
  HAL_DECODER_VERSION_YOLO26 = 3,
};
typedef enum HalDecoderVersion HalDecoderVersion;

// Which boxes suppress one another. AUTO: as the document defines it, else CLASS_AGNOSTIC, or
// CLASS_AWARE after hal_decoder_params_set_native().
enum hal_nms HAL_ENUM_INT {
  HAL_NMS_CLASS_AGNOSTIC = 0,
  HAL_NMS_CLASS_AWARE = 1,
  HAL_NMS_NONE = 2,
  HAL_NMS_AUTO = 3,
};
typedef enum hal_nms hal_nms;

// real = (stored - zero_point) * scale.
struct hal_quantization {
  float scale;
  int32_t zero_point;
};
typedef struct hal_quantization hal_quantization;

typedef struct hal_decoder_params hal_decoder_params;

/// Parameters for a decoder. Defaults: score and IoU thresholds 0.5, NMS AUTO, the best 300
/// candidates enter NMS, at most 300 boxes. errno: ENOMEM.
hal_decoder_params* hal_decoder_params_new(void);
void hal_decoder_params_free(hal_decoder_params* params);
/// Sets the text of a description document, which is copied; hal_decoder_new() parses it. `len` 0:
/// the text ends at the NUL. errno: EINVAL (NULL), ENOMEM.
int hal_decoder_params_set_config_json(hal_decoder_params* params, const char* json, size_t len);
int hal_decoder_params_set_config_yaml(hal_decoder_params* params, const char* yaml, size_t len);
/// Sets the path of a description document. The extension decides between JSON and YAML, else the
/// text does. errno: EINVAL, ENOMEM.
int hal_decoder_params_set_config_file(hal_decoder_params* params, const char* path);
/// Adds one output; outputs replace a document. `shape` is in physical order, outermost first;
/// `dims` names each axis, or is NULL. Returns the output's index. errno: EINVAL (NULL, ndim not
/// 1..8, not an enumerator), ENOMEM.
int hal_decoder_params_add_output(hal_decoder_params* params, HalOutputType type,
                                  HalDecoderType decoder, const size_t* shape,
                                  const HalDimName* dims, size_t ndim);
/// errno: EINVAL (NULL, no such output).
int hal_decoder_params_output_set_quantization(hal_decoder_params* params, int index, float scale,
                                               int zero_point);
/// Sets width and height of each anchor, as fractions of the input. errno: EINVAL (also: the output
/// is not a detection).
int hal_decoder_params_output_set_anchors(hal_decoder_params* params, int index,
                                          const float (*anchors)[2], size_t num_anchors);
/// Sets whether boxes are fractions of the input (not 0) or in its pixels (0). errno: EINVAL (also:
/// the output is neither a detection nor boxes).
int hal_decoder_params_output_set_normalized(hal_decoder_params* params, int index, int normalized);
/// errno of all functions below: EINVAL (NULL, NaN, not an enumerator, an input without extent).
int hal_decoder_params_set_score_threshold(hal_decoder_params* params, float threshold);
int hal_decoder_params_set_iou_threshold(hal_decoder_params* params, float threshold);
int hal_decoder_params_set_nms(hal_decoder_params* params, hal_nms nms);
/// For outputs that were added; a document defines its own version.
int hal_decoder_params_set_decoder_version(hal_decoder_params* params, HalDecoderVersion version);
int hal_decoder_params_set_pre_nms_top_k(hal_decoder_params* params, size_t count);  ///< 0: all
int hal_decoder_params_set_max_det(hal_decoder_params* params, size_t count);
int hal_decoder_params_set_input_dims(hal_decoder_params* params, size_t width, size_t height);
/// Ours: true: every class of a box that reaches the threshold becomes a box; false: only the best
/// class does.
int hal_decoder_params_set_multi_label(hal_decoder_params* params, bool multi_label);

/// Makes a decoder; the caller keeps `params`. errno: EINVAL (NULL, not exactly one of json, yaml,
/// file and outputs), ENOENT, EACCES, EIO (the file), EBADMSG (the content of the document),
/// ENOMEM.
hal_decoder* hal_decoder_new(const hal_decoder_params* params);
void hal_decoder_free(hal_decoder* decoder);

/// Decodes boxes, best first, in the units of the outputs: see hal_decoder_normalized_boxes(). If
/// the outputs are described with a batch of several elements, decodes the first element, as
/// EdgeFirst HAL does. Outputs with another batch than described: EINVAL.
/// hal_decoder_decode_element() decodes every element and returns all kinds of results. Tensors are
/// found by name or shape, in any order. `out_segmentations` may be NULL: then masks are not
/// computed. The caller owns both lists. Thread-safe for one decoder. errno: EINVAL, ENOTSUP (a
/// type), ENOMEM, those of hal_tensor_map_create(); then both lists are NULL.
int hal_decoder_decode(const hal_decoder* decoder, const hal_tensor* const* outputs,
                       size_t num_outputs, hal_detect_box_list** out_boxes,
                       hal_segmentation_list** out_segmentations);
/// Returns the tracker's tracks as boxes: first those seen in this frame, with their masks, then
/// those that coast. `timestamp` is in ns, not below the last one. The last two lists may be NULL.
/// Threads may share the tracker. errno: as above.
int hal_decoder_decode_tracked(const hal_decoder* decoder, hal_bytetrack* tracker,
                               uint64_t timestamp, const hal_tensor* const* outputs,
                               size_t num_outputs, hal_detect_box_list** out_boxes,
                               hal_segmentation_list** out_segmentations,
                               hal_track_info_list** out_tracks);
/// Returns the boxes, and the data from which masks are made. NULL with a box list: the model has
/// no prototypes. NULL without a box list: failure; errno as above.
hal_proto_data* hal_decoder_decode_proto(const hal_decoder* decoder,
                                         const hal_tensor* const* outputs, size_t num_outputs,
                                         hal_detect_box_list** out_boxes);
/// "yolo_det", "modelpack_seg", ...; release it with free(). errno: EINVAL (NULL), ENOMEM.
char* hal_decoder_model_type(const hal_decoder* decoder);
/// 1: boxes are fractions of the input; 0: they are in its pixels; -1: unknown, or NULL (errno
/// EINVAL).
int hal_decoder_normalized_boxes(const hal_decoder* decoder);
/// Returns 1 if the size is known, else 0. Either pointer may be NULL. errno: EINVAL (decoder
/// NULL).
int hal_decoder_input_dims(const hal_decoder* decoder, size_t* width, size_t* height);

/// Converts integers of 8, 16 or 32 bits to the same number of f32. errno: EINVAL, ENOTSUP
/// (strides), those of mapping.
int hal_dequantize(const hal_tensor* input, hal_quantization quant, hal_tensor* output);

HAL_END
