// SPDX-License-Identifier: Apache-2.0
// Drawing in C.
#include <memory>
#include <utility>

#include "capi/error.h"
#include "capi/lists.h"
#include "halyard/c/decoded.h"

using namespace halyard;
using capi::checked;
using capi::guarded;

namespace {

// The arguments that all draw calls share, as the caller gave them.
struct DrawRequest {
  hal_image_processor* processor;
  hal_tensor* dst;
  const hal_tensor* background;
  float opacity;
  const float* letterbox;
  int color_mode;
};

Result<std::optional<compat::Letterbox>> letterbox_from(const float* letterbox) {
  std::optional<compat::Letterbox> out;
  HALYARD_RETURN_IF_ERROR(capi::aligned(letterbox, "letterbox"));
  if (letterbox != nullptr) out = {letterbox[0], letterbox[1], letterbox[2], letterbox[3]};
  return out;
}

Result<compat::DrawOptions> options_of(const DrawRequest& request) {
  HALYARD_RETURN_IF_ERROR(checked(request.processor, "processor"));
  HALYARD_RETURN_IF_ERROR(checked(request.dst, "dst"));
  compat::DrawOptions out;
  if (request.background != nullptr) {
    HALYARD_RETURN_IF_ERROR(checked(request.background, "background"));
    out.background = &request.background->tensor;
  }
  HALYARD_TRY(out.color_mode,
              capi::enumerator<ColorBy>(request.color_mode,
                                        "color_mode: must be a value of hal_color_mode"));
  out.opacity = request.opacity;
  HALYARD_TRY(out.letterbox, letterbox_from(request.letterbox));
  return out;
}

Result<std::span<const Detection>> boxes_of(const hal_detect_box_list* list) {
  if (list == nullptr) return std::span<const Detection>();
  HALYARD_RETURN_IF_ERROR(checked(list, "detections"));
  return std::span<const Detection>(list->boxes);
}

Result<hal_segmentation_list*> materialized(hal_image_processor* processor,
                                            const hal_detect_box_list* detections,
                                            const hal_proto_data* proto_data,
                                            const float* letterbox,
                                            const compat::MaskResolution& resolution) {
  HALYARD_RETURN_IF_ERROR(checked(processor, "processor"));
  HALYARD_RETURN_IF_ERROR(checked(detections, "detections"));
  HALYARD_RETURN_IF_ERROR(checked(proto_data, "proto_data"));
  HALYARD_TRY(const auto box, letterbox_from(letterbox));
  auto list = std::make_unique<hal_segmentation_list>();
  HALYARD_RETURN_IF_ERROR(processor->painter.materialize_masks(detections->boxes, proto_data->data,
                                                               box, resolution, list->list));
  return list.release();
}

// What to decode and draw; `processor` and `dst` have been checked.
struct Work {
  hal_image_processor* processor;
  const hal_decoder* decoder;
  const hal_tensor* const* outputs;
  size_t num_outputs;
  hal_tensor* dst;
};

struct Tracking {
  hal_bytetrack* tracker;
  uint64_t timestamp;
};

Result<int> decode_and_draw(const Work& work, const compat::DrawOptions& options,
                            hal_detect_box_list** out_boxes) {
  HALYARD_RETURN_IF_ERROR(checked(work.decoder, "decoder"));
  HALYARD_RETURN_IF_ERROR(capi::aligned(out_boxes, "out_boxes"));
  HALYARD_TRY(const auto tensors, capi::tensors_from(work.outputs, work.num_outputs));
  auto boxes = std::make_unique<hal_detect_box_list>();
  HALYARD_RETURN_IF_ERROR(work.processor->painter.draw_masks(
      work.decoder->decoder, tensors, work.dst->tensor, boxes->boxes, options));
  if (out_boxes != nullptr) *out_boxes = boxes.release();
  return 0;
}

Result<int> track_and_draw(const Work& work, const Tracking& tracking,
                           const compat::DrawOptions& options, hal_detect_box_list** out_boxes,
                           hal_track_info_list** out_tracks) {
  HALYARD_RETURN_IF_ERROR(checked(work.decoder, "decoder"));
  HALYARD_RETURN_IF_ERROR(capi::aligned(out_boxes, "out_boxes"));
  HALYARD_RETURN_IF_ERROR(capi::aligned(out_tracks, "out_tracks"));
  HALYARD_RETURN_IF_ERROR(checked(tracking.tracker, "tracker"));
  HALYARD_TRY(const auto tensors, capi::tensors_from(work.outputs, work.num_outputs));
  auto boxes = std::make_unique<hal_detect_box_list>();
  auto tracks = std::make_unique<hal_track_info_list>();
  HALYARD_RETURN_IF_ERROR(work.processor->painter.draw_masks_tracked(
      work.decoder->decoder, tracking.tracker->tracker, tracking.timestamp, tensors,
      work.dst->tensor, boxes->boxes, tracks->tracks, options));
  if (out_boxes != nullptr) *out_boxes = boxes.release();
  if (out_tracks != nullptr) *out_tracks = tracks.release();
  return 0;
}

}  // namespace

int hal_image_processor_draw_decoded_masks(hal_image_processor* processor, hal_tensor* dst,
                                           const hal_detect_box_list* detections,
                                           const hal_segmentation_list* segmentations,
                                           const hal_tensor* background, float opacity,
                                           const float* letterbox, hal_color_mode color_mode) {
  return guarded<int>(-1, [&]() -> Result<int> {
    HALYARD_TRY(const auto options,
                options_of({processor, dst, background, opacity, letterbox, color_mode}));
    HALYARD_TRY(const auto boxes, boxes_of(detections));
    std::span<const compat::Segmentation> masks;
    if (segmentations != nullptr) {
      HALYARD_RETURN_IF_ERROR(checked(segmentations, "segmentations"));
      masks = segmentations->list.views();
    }
    HALYARD_RETURN_IF_ERROR(
        processor->painter.draw_decoded_masks(dst->tensor, boxes, masks, options));
    return 0;
  });
}

hal_segmentation_list* hal_image_processor_materialize_masks(hal_image_processor* processor,
                                                             const hal_detect_box_list* detections,
                                                             const hal_proto_data* proto_data,
                                                             const float* letterbox) {
  return guarded<hal_segmentation_list*>(
      nullptr, [&] { return materialized(processor, detections, proto_data, letterbox, {}); });
}

hal_segmentation_list* hal_image_processor_materialize_masks_scaled(
    hal_image_processor* processor, const hal_detect_box_list* detections,
    const hal_proto_data* proto_data, const float* letterbox, size_t width, size_t height) {
  return guarded<hal_segmentation_list*>(nullptr, [&]() -> Result<hal_segmentation_list*> {
    Size size;
    HALYARD_TRY(size.width, capi::pixels_from(width, "width"));
    HALYARD_TRY(size.height, capi::pixels_from(height, "height"));
    return materialized(processor, detections, proto_data, letterbox, {size});
  });
}

int hal_image_processor_draw_masks(hal_image_processor* processor, const hal_decoder* decoder,
                                   const hal_tensor* const* outputs, size_t num_outputs,
                                   hal_tensor* dst, const hal_tensor* background, float opacity,
                                   const float* letterbox, hal_color_mode color_mode,
                                   hal_detect_box_list** out_boxes) {
  capi::store(out_boxes, {});
  return guarded<int>(-1, [&]() -> Result<int> {
    HALYARD_TRY(const auto options,
                options_of({processor, dst, background, opacity, letterbox, color_mode}));
    return decode_and_draw({processor, decoder, outputs, num_outputs, dst}, options, out_boxes);
  });
}

int hal_image_processor_draw_masks_element(
    hal_image_processor* processor, const hal_decoder* decoder, const hal_tensor* const* outputs,
    size_t num_outputs, size_t batch, hal_bytetrack* tracker, uint64_t timestamp, hal_tensor* dst,
    const hal_tensor* background, float opacity, const float* letterbox, hal_color_mode color_mode,
    hal_detect_box_list** out_boxes, hal_track_info_list** out_tracks) {
  capi::store(out_boxes, {});
  capi::store(out_tracks, {});
  return guarded<int>(-1, [&]() -> Result<int> {
    HALYARD_TRY(auto options,
                options_of({processor, dst, background, opacity, letterbox, color_mode}));
    options.batch = batch;
    const Work work{processor, decoder, outputs, num_outputs, dst};
    if (tracker == nullptr) return decode_and_draw(work, options, out_boxes);
    return track_and_draw(work, {tracker, timestamp}, options, out_boxes, out_tracks);
  });
}

int hal_image_processor_draw_proto_masks(hal_image_processor* processor, hal_tensor* dst,
                                         const hal_detect_box_list* detections,
                                         const hal_proto_data* proto_data,
                                         const hal_tensor* background, float opacity,
                                         const float* letterbox, hal_color_mode color_mode) {
  return guarded<int>(-1, [&]() -> Result<int> {
    HALYARD_TRY(const auto options,
                options_of({processor, dst, background, opacity, letterbox, color_mode}));
    HALYARD_TRY(const auto boxes, boxes_of(detections));
    HALYARD_RETURN_IF_ERROR(checked(proto_data, "proto_data"));
    HALYARD_RETURN_IF_ERROR(
        processor->painter.draw_proto_masks(dst->tensor, boxes, proto_data->data, options));
    return 0;
  });
}

int hal_image_processor_draw_masks_tracked(
    hal_image_processor* processor, const hal_decoder* decoder, hal_bytetrack* tracker,
    uint64_t timestamp, const hal_tensor* const* outputs, size_t num_outputs, hal_tensor* dst,
    const hal_tensor* background, float opacity, const float* letterbox, hal_color_mode color_mode,
    hal_detect_box_list** out_boxes, hal_track_info_list** out_tracks) {
  capi::store(out_boxes, {});
  capi::store(out_tracks, {});
  return guarded<int>(-1, [&]() -> Result<int> {
    HALYARD_TRY(const auto options,
                options_of({processor, dst, background, opacity, letterbox, color_mode}));
    return track_and_draw({processor, decoder, outputs, num_outputs, dst}, {tracker, timestamp},
                          options, out_boxes, out_tracks);
  });
}

int hal_image_processor_set_class_colors(hal_image_processor* processor, const uint8_t (*colors)[4],
                                         size_t num_colors) {
  return guarded<int>(-1, [&]() -> Result<int> {
    HALYARD_RETURN_IF_ERROR(checked(processor, "processor"));
    if (colors == nullptr) return capi::null_argument("colors: is NULL");
    std::vector<Color> made;
    for (std::size_t i = 0; i < std::min<std::size_t>(num_colors, 20); ++i)
      made.push_back({colors[i][0], colors[i][1], colors[i][2], colors[i][3]});
    HALYARD_RETURN_IF_ERROR(processor->painter.set_class_colors(made));
    return 0;
  });
}
