// SPDX-License-Identifier: Apache-2.0
// Decoding in C: decoders from documents or described outputs, boxes, masks, prototypes.
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

// Which boxes suppress one another. AUTO: as the document says, else CLASS_AGNOSTIC, or CLASS_AWARE
// after hal_decoder_params_set_native().
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

/// What a decoder is made from. Score and IoU thresholds 0.5, NMS AUTO, the best 300 enter it, 300
/// boxes at most. errno: ENOMEM.
hal_decoder_params* hal_decoder_params_new(void);
void hal_decoder_params_free(hal_decoder_params* params);
/// The text of a description document, copied; it is read by hal_decoder_new(). `len` 0: up to the
/// NUL. errno: EINVAL (NULL), ENOMEM.
int hal_decoder_params_set_config_json(hal_decoder_params* params, const char* json, size_t len);
int hal_decoder_params_set_config_yaml(hal_decoder_params* params, const char* yaml, size_t len);
/// The path of one, JSON or YAML by its extension, else by its text. errno: EINVAL, ENOMEM.
int hal_decoder_params_set_config_file(hal_decoder_params* params, const char* path);
/// One output in place of a document. `shape` in physical order, outermost first; `dims` names each
/// axis, or NULL. Returns its index. errno: EINVAL (NULL, ndim not 1..8, no enumerator), ENOMEM.
int hal_decoder_params_add_output(hal_decoder_params* params, HalOutputType type,
                                  HalDecoderType decoder, const size_t* shape,
                                  const HalDimName* dims, size_t ndim);
/// errno: EINVAL (NULL, no such output).
int hal_decoder_params_output_set_quantization(hal_decoder_params* params, int index, float scale,
                                               int zero_point);
/// Width and height of each anchor, as fractions of the input. errno: EINVAL (also: no detection).
int hal_decoder_params_output_set_anchors(hal_decoder_params* params, int index,
                                          const float (*anchors)[2], size_t num_anchors);
/// Boxes are fractions of the input (not 0), or its pixels (0). errno: EINVAL (also: neither a
/// detection nor boxes).
int hal_decoder_params_output_set_normalized(hal_decoder_params* params, int index, int normalized);
/// errno of all of these: EINVAL (NULL, NaN, no enumerator, an input without extent).
int hal_decoder_params_set_score_threshold(hal_decoder_params* params, float threshold);
int hal_decoder_params_set_iou_threshold(hal_decoder_params* params, float threshold);
int hal_decoder_params_set_nms(hal_decoder_params* params, hal_nms nms);
/// Of outputs that were added; a document has its own.
int hal_decoder_params_set_decoder_version(hal_decoder_params* params, HalDecoderVersion version);
int hal_decoder_params_set_pre_nms_top_k(hal_decoder_params* params, size_t count);  ///< 0: all
int hal_decoder_params_set_max_det(hal_decoder_params* params, size_t count);
int hal_decoder_params_set_input_dims(hal_decoder_params* params, size_t width, size_t height);
/// Ours: every class of a box that reaches the threshold becomes a box, not the best one alone.
int hal_decoder_params_set_multi_label(hal_decoder_params* params, bool multi_label);

/// Parameters stay the caller's. errno: EINVAL (NULL, not exactly one of json, yaml, file and
/// outputs), ENOENT, EACCES, EIO (the file), EBADMSG (what it says), ENOMEM.
hal_decoder* hal_decoder_new(const hal_decoder_params* params);
void hal_decoder_free(hal_decoder* decoder);

/// Boxes, best first, in the units that the outputs have: see hal_decoder_normalized_boxes().
/// Of outputs described with a batch of several the first element, as EdgeFirst HAL does; another
/// batch than described is EINVAL. hal_decoder_decode_element() decodes them all, and gives what
/// else there is. Tensors are found by name or shape, in any order. `out_segmentations` may be
/// NULL: nothing is computed for masks then. Both lists are the caller's. Thread-safe for one
/// decoder. errno: EINVAL, ENOTSUP (a type), ENOMEM, those of hal_tensor_map_create(); both lists
/// are then NULL.
int hal_decoder_decode(const hal_decoder* decoder, const hal_tensor* const* outputs,
                       size_t num_outputs, hal_detect_box_list** out_boxes,
                       hal_segmentation_list** out_segmentations);
/// The tracker's tracks as boxes: those seen in this frame first, with their masks, then those that
/// coast. `timestamp` in ns, not below the last one. The last two lists may be NULL. The tracker
/// may be shared by threads. errno: as above.
int hal_decoder_decode_tracked(const hal_decoder* decoder, hal_bytetrack* tracker,
                               uint64_t timestamp, const hal_tensor* const* outputs,
                               size_t num_outputs, hal_detect_box_list** out_boxes,
                               hal_segmentation_list** out_segmentations,
                               hal_track_info_list** out_tracks);
/// Boxes, and what masks are made from. NULL with a box list: the model has no prototypes. NULL
/// without one: failed; errno as above.
hal_proto_data* hal_decoder_decode_proto(const hal_decoder* decoder,
                                         const hal_tensor* const* outputs, size_t num_outputs,
                                         hal_detect_box_list** out_boxes);
/// "yolo_det", "modelpack_seg", ...; to be released by free(). errno: EINVAL (NULL), ENOMEM.
char* hal_decoder_model_type(const hal_decoder* decoder);
/// 1: boxes are fractions of the input; 0: its pixels; -1: unknown, or NULL (errno EINVAL).
int hal_decoder_normalized_boxes(const hal_decoder* decoder);
/// 1: known; 0: not. Either pointer may be NULL. errno: EINVAL (decoder NULL).
int hal_decoder_input_dims(const hal_decoder* decoder, size_t* width, size_t* height);

/// Integers of 8, 16 and 32 bits to as many f32. errno: EINVAL, ENOTSUP (strides), those of
/// mapping.
int hal_dequantize(const hal_tensor* input, hal_quantization quant, hal_tensor* output);

HAL_END
