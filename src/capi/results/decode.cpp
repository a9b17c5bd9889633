// SPDX-License-Identifier: Apache-2.0
// Decoders in C: parameters, creation, and calls.
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <utility>

#include "capi/error.h"
#include "capi/lists.h"
#include "halyard/c/decoded.h"

struct hal_decoder_params {
  static constexpr std::uint32_t kind = halyard::capi::kind_of("parm");
  halyard::capi::Tag tag{kind};
  std::optional<std::string> json = {};
  std::optional<std::string> yaml = {};
  std::optional<std::string> file = {};
  std::vector<halyard::compat::Output> outputs = {};
  std::optional<halyard::compat::DecoderVersion> version = {};
  halyard::compat::DecoderOptions options = {};
  bool has_top_k = false;  ///< whether pre_nms_top_k was set
};

using namespace halyard;
using capi::checked;
using capi::enumerator;
using capi::guarded;
using capi::is_valid;
using compat::Output;
using compat::OutputKind;

namespace {

/// Runs `set` on checked parameters; `set` returns a Status or nothing.
template <class F>
int change(hal_decoder_params* params, F&& set) noexcept {
  return guarded<int>(-1, [&]() -> Result<int> {
    HALYARD_RETURN_IF_ERROR(checked(params, "params"));
    HALYARD_RETURN_IF_ERROR(std::forward<F>(set)(*params));
    return 0;
  });
}

Status keep_text(std::optional<std::string>& to, const char* text, std::size_t len) {
  if (text == nullptr) return capi::null_argument("text: is NULL");
  to = len == 0 ? std::string(text) : std::string(text, len);
  return {};
}

Status keep_number(float& to, float value) {
  if (std::isnan(value)) return make_error(Errc::invalid_argument, "threshold: is not a number");
  to = value;
  return {};
}

Result<Output*> output_at(hal_decoder_params& params, int index) {
  if (index < 0 || static_cast<std::size_t>(index) >= params.outputs.size())
    return make_error(Errc::invalid_argument, "index: no such output", std::to_string(index));
  return &params.outputs[static_cast<std::size_t>(index)];
}

// Every error in the content of a configuration is reported as malformed data.
Error as_bad_message(Error error) {
  if (error.code == Errc::invalid_argument || error.code == Errc::unsupported ||
      error.code == Errc::exhausted)
    error.code = Errc::malformed;
  return error;
}

Status check_sources(const hal_decoder_params& params) {
  const int sources = int{params.json.has_value()} + int{params.yaml.has_value()} +
                      int{params.file.has_value()} + int{!params.outputs.empty()};
  if (sources == 1) return {};
  return make_error(Errc::invalid_argument,
                    "params: must have exactly one of json, yaml, file and outputs",
                    std::to_string(sources));
}

Result<compat::Decoder> decoder_from(const hal_decoder_params& params,
                                     const compat::DecoderOptions& options) {
  if (params.json) return compat::Decoder::from_json(*params.json, options);
  if (params.yaml) return compat::Decoder::from_yaml(*params.yaml, options);
  if (params.file) return compat::Decoder::from_file(*params.file, options);
  return compat::Decoder::from_outputs(params.outputs, params.version, options);
}

// Whether the configuration makes a decoder where the parameters beside it are others.
bool is_good_configuration(const hal_decoder_params& params, compat::DecoderOptions options) {
  const compat::DecoderOptions usual;
  options.score_threshold = usual.score_threshold;
  options.iou_threshold = usual.iou_threshold;
  options.input_dims = Size{640, 640};
  return decoder_from(params, options).has_value();
}

}  // namespace

hal_decoder_params* hal_decoder_params_new(void) {
  return guarded<hal_decoder_params*>(
      nullptr, []() -> Result<hal_decoder_params*> { return new hal_decoder_params(); });
}

void hal_decoder_params_free(hal_decoder_params* params) {
  if (is_valid(params)) delete params;
}

int hal_decoder_params_set_config_json(hal_decoder_params* params, const char* json, size_t len) {
  return change(params, [&](auto& p) { return keep_text(p.json, json, len); });
}

int hal_decoder_params_set_config_yaml(hal_decoder_params* params, const char* yaml, size_t len) {
  return change(params, [&](auto& p) { return keep_text(p.yaml, yaml, len); });
}

int hal_decoder_params_set_config_file(hal_decoder_params* params, const char* path) {
  return change(params, [&](auto& p) -> Status {
    HALYARD_TRY(p.file, capi::path_from(path));
    return {};
  });
}

int hal_decoder_params_add_output(hal_decoder_params* params, HalOutputType type,
                                  HalDecoderType decoder, const size_t* shape,
                                  const HalDimName* dims, size_t ndim) {
  return guarded<int>(-1, [&]() -> Result<int> {
    HALYARD_RETURN_IF_ERROR(checked(params, "params"));
    HALYARD_TRY(const auto extents, capi::shape_from(shape, ndim));
    HALYARD_RETURN_IF_ERROR(capi::aligned(dims, "dims"));
    Output output;
    HALYARD_TRY(output.kind,
                enumerator<OutputKind>(type, "type: must be a value of HalOutputType"));
    HALYARD_TRY(output.family, enumerator<compat::OutputFamily>(
                                   decoder, "decoder: must be a value of HalDecoderType"));
    output.shape.assign(extents.begin(), extents.end());
    for (std::size_t i = 0; dims != nullptr && i < ndim; ++i) {
      HALYARD_TRY(const auto name,
                  enumerator<compat::DimName>(dims[i], "dims: each must be a value of HalDimName"));
      output.dims.push_back(name);
    }
    params->outputs.push_back(std::move(output));
    return static_cast<int>(params->outputs.size() - 1);
  });
}

int hal_decoder_params_output_set_quantization(hal_decoder_params* params, int index, float scale,
                                               int zero_point) {
  return change(params, [&](auto& p) -> Status {
    HALYARD_TRY(Output* const output, output_at(p, index));
    output->scale = scale;
    output->zero_point = zero_point;
    output->is_quantized = true;
    return {};
  });
}

int hal_decoder_params_output_set_anchors(hal_decoder_params* params, int index,
                                          const float (*anchors)[2], size_t num_anchors) {
  return change(params, [&](auto& p) -> Status {
    HALYARD_TRY(Output* const output, output_at(p, index));
    if (anchors == nullptr || num_anchors == 0)
      return capi::null_argument("anchors: must not be NULL or empty");
    HALYARD_RETURN_IF_ERROR(capi::aligned(anchors, "anchors"));
    if (num_anchors > 1024)
      return make_error(Errc::invalid_argument, "num_anchors: must be at most 1024",
                        std::to_string(num_anchors));
    if (!compat::may_have_anchors(output->kind))
      return make_error(Errc::invalid_argument, "anchors: only valid for detections");
    output->anchors.clear();
    for (std::size_t i = 0; i < num_anchors; ++i)
      output->anchors.push_back({anchors[i][0], anchors[i][1]});
    return {};
  });
}

int hal_decoder_params_output_set_normalized(hal_decoder_params* params, int index,
                                             int normalized) {
  return change(params, [&](auto& p) -> Status {
    HALYARD_TRY(Output* const output, output_at(p, index));
    if (!compat::may_be_normalized(output->kind))
      return make_error(Errc::invalid_argument, "normalized: only valid for detections and boxes");
    output->normalized = normalized != 0;
    return {};
  });
}

int hal_decoder_params_set_score_threshold(hal_decoder_params* params, float threshold) {
  return change(params, [&](auto& p) { return keep_number(p.options.score_threshold, threshold); });
}

int hal_decoder_params_set_iou_threshold(hal_decoder_params* params, float threshold) {
  return change(params, [&](auto& p) { return keep_number(p.options.iou_threshold, threshold); });
}

int hal_decoder_params_set_nms(hal_decoder_params* params, hal_nms nms) {
  return change(params, [&](auto& p) -> Status {
    HALYARD_TRY(p.options.nms, enumerator<compat::Nms>(nms, "nms: must be a value of hal_nms"));
    return {};
  });
}

int hal_decoder_params_set_decoder_version(hal_decoder_params* params, HalDecoderVersion version) {
  return change(params, [&](auto& p) -> Status {
    HALYARD_TRY(p.version, enumerator<compat::DecoderVersion>(
                               version, "version: must be a value of HalDecoderVersion"));
    return {};
  });
}

int hal_decoder_params_set_pre_nms_top_k(hal_decoder_params* params, size_t count) {
  return change(params, [&](auto& p) -> Status {
    p.options.pre_nms_top_k = count;
    p.has_top_k = true;
    return {};
  });
}

int hal_decoder_params_set_max_det(hal_decoder_params* params, size_t count) {
  return change(params, [&](auto& p) -> Status {
    p.options.max_det = count;
    return {};
  });
}

int hal_decoder_params_set_input_dims(hal_decoder_params* params, size_t width, size_t height) {
  return change(params, [&](auto& p) -> Status {
    Size size;
    HALYARD_TRY(size.width, capi::pixels_from(width, "width"));
    HALYARD_TRY(size.height, capi::pixels_from(height, "height"));
    if (size.width == 0 || size.height == 0)
      return make_error(Errc::invalid_argument, "input_dims: must be above 0");
    p.options.input_dims = size;
    return {};
  });
}

int hal_decoder_params_set_multi_label(hal_decoder_params* params, bool multi_label) {
  return change(params, [&](auto& p) -> Status {
    p.options.multi_label = multi_label;
    return {};
  });
}

int hal_decoder_params_set_native(hal_decoder_params* params, bool native) {
  return change(params, [&](auto& p) -> Status {
    p.options.convention = native ? compat::Convention::native : compat::Convention::reference;
    return {};
  });
}

hal_decoder* hal_decoder_new(const hal_decoder_params* params) {
  return guarded<hal_decoder*>(nullptr, [&]() -> Result<hal_decoder*> {
    HALYARD_RETURN_IF_ERROR(checked(params, "params"));
    HALYARD_RETURN_IF_ERROR(check_sources(*params));
    compat::DecoderOptions options = params->options;
    if (options.convention == compat::Convention::native && !params->has_top_k)
      options.pre_nms_top_k = DecodeOptions{}.pre_nms_top_k;
    auto decoder = decoder_from(*params, options);
    if (!decoder) {
      if (is_good_configuration(*params, options)) return std::move(decoder).error();
      return as_bad_message(std::move(decoder).error());
    }
    return new hal_decoder{.decoder = *std::move(decoder)};
  });
}

void hal_decoder_free(hal_decoder* decoder) {
  if (is_valid(decoder)) delete decoder;
}

int hal_decoder_decode(const hal_decoder* decoder, const hal_tensor* const* outputs,
                       size_t num_outputs, hal_detect_box_list** out_boxes,
                       hal_segmentation_list** out_segmentations) {
  capi::store(out_boxes, {});
  capi::store(out_segmentations, {});
  return guarded<int>(-1, [&]() -> Result<int> {
    HALYARD_RETURN_IF_ERROR(checked(decoder, "decoder"));
    if (out_boxes == nullptr) return capi::null_argument("out_boxes: is NULL");
    HALYARD_RETURN_IF_ERROR(capi::aligned(out_boxes, "out_boxes"));
    HALYARD_RETURN_IF_ERROR(capi::aligned(out_segmentations, "out_segmentations"));
    HALYARD_TRY(const auto tensors, capi::tensors_from(outputs, num_outputs));
    auto boxes = std::make_unique<hal_detect_box_list>();
    compat::Found found;
    if (out_segmentations == nullptr) {
      HALYARD_RETURN_IF_ERROR(decoder->decoder.decode_boxes(tensors, found));
      boxes->boxes = std::move(found.boxes);
      *out_boxes = boxes.release();
      return 0;
    }
    auto masks = std::make_unique<hal_segmentation_list>();
    HALYARD_RETURN_IF_ERROR(decoder->decoder.decode(tensors, found));
    boxes->boxes = std::move(found.boxes);
    masks->list = std::move(found.segmentations);
    *out_boxes = boxes.release();
    *out_segmentations = masks.release();
    return 0;
  });
}

int hal_decoder_decode_tracked(const hal_decoder* decoder, hal_bytetrack* tracker,
                               uint64_t timestamp, const hal_tensor* const* outputs,
                               size_t num_outputs, hal_detect_box_list** out_boxes,
                               hal_segmentation_list** out_segmentations,
                               hal_track_info_list** out_tracks) {
  capi::store(out_boxes, {});
  capi::store(out_segmentations, {});
  capi::store(out_tracks, {});
  return guarded<int>(-1, [&]() -> Result<int> {
    HALYARD_RETURN_IF_ERROR(checked(decoder, "decoder"));
    HALYARD_RETURN_IF_ERROR(checked(tracker, "tracker"));
    if (out_boxes == nullptr) return capi::null_argument("out_boxes: is NULL");
    HALYARD_RETURN_IF_ERROR(capi::aligned(out_boxes, "out_boxes"));
    HALYARD_RETURN_IF_ERROR(capi::aligned(out_segmentations, "out_segmentations"));
    HALYARD_RETURN_IF_ERROR(capi::aligned(out_tracks, "out_tracks"));
    HALYARD_TRY(const auto tensors, capi::tensors_from(outputs, num_outputs));
    auto boxes = std::make_unique<hal_detect_box_list>();
    auto masks = std::make_unique<hal_segmentation_list>();
    auto tracks = std::make_unique<hal_track_info_list>();
    compat::Found found;
    HALYARD_RETURN_IF_ERROR(
        decoder->decoder.decode_tracked(tracker->tracker, timestamp, tensors, found));
    boxes->boxes = std::move(found.boxes);
    masks->list = std::move(found.segmentations);
    tracks->tracks = std::move(found.tracks);
    *out_boxes = boxes.release();
    if (out_segmentations != nullptr) *out_segmentations = masks.release();
    if (out_tracks != nullptr) *out_tracks = tracks.release();
    return 0;
  });
}

hal_proto_data* hal_decoder_decode_proto(const hal_decoder* decoder,
                                         const hal_tensor* const* outputs, size_t num_outputs,
                                         hal_detect_box_list** out_boxes) {
  capi::store(out_boxes, {});
  return guarded<hal_proto_data*>(nullptr, [&]() -> Result<hal_proto_data*> {
    HALYARD_RETURN_IF_ERROR(checked(decoder, "decoder"));
    if (out_boxes == nullptr) return capi::null_argument("out_boxes: is NULL");
    HALYARD_RETURN_IF_ERROR(capi::aligned(out_boxes, "out_boxes"));
    HALYARD_TRY(const auto tensors, capi::tensors_from(outputs, num_outputs));
    auto boxes = std::make_unique<hal_detect_box_list>();
    std::optional<compat::ProtoData> protos;
    compat::Found found;
    HALYARD_RETURN_IF_ERROR(decoder->decoder.decode_proto(tensors, found, protos));
    boxes->boxes = std::move(found.boxes);
    hal_proto_data* const data = protos ? new hal_proto_data{.data = *std::move(protos)} : nullptr;
    *out_boxes = boxes.release();
    return data;
  });
}

char* hal_decoder_model_type(const hal_decoder* decoder) {
  return guarded<char*>(nullptr, [&]() -> Result<char*> {
    HALYARD_RETURN_IF_ERROR(checked(decoder, "decoder"));
    return capi::duplicated(decoder->decoder.model_type().c_str());
  });
}

int hal_decoder_normalized_boxes(const hal_decoder* decoder) {
  return guarded<int>(-1, [&]() -> Result<int> {
    HALYARD_RETURN_IF_ERROR(checked(decoder, "decoder"));
    const auto normalized = decoder->decoder.normalized_boxes();
    return normalized ? int{*normalized} : -1;
  });
}

int hal_decoder_input_dims(const hal_decoder* decoder, size_t* width, size_t* height) {
  return guarded<int>(-1, [&]() -> Result<int> {
    HALYARD_RETURN_IF_ERROR(checked(decoder, "decoder"));
    const auto size = decoder->decoder.input_dims();
    HALYARD_RETURN_IF_ERROR(capi::aligned(width, "width"));
    HALYARD_RETURN_IF_ERROR(capi::aligned(height, "height"));
    if (!size) return 0;
    capi::store(width, static_cast<std::size_t>(size->width));
    capi::store(height, static_cast<std::size_t>(size->height));
    return 1;
  });
}

int hal_dequantize(const hal_tensor* input, hal_quantization quant, hal_tensor* output) {
  return guarded<int>(-1, [&]() -> Result<int> {
    HALYARD_RETURN_IF_ERROR(checked(input, "input"));
    HALYARD_RETURN_IF_ERROR(checked(output, "output"));
    HALYARD_RETURN_IF_ERROR(
        compat::dequantize(input->tensor, quant.scale, quant.zero_point, output->tensor));
    return 0;
  });
}
