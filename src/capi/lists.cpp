// SPDX-License-Identifier: Apache-2.0
// Lists of boxes, masks and tracks, and prototypes, in C.
#include "capi/lists.h"

#include <utility>

#include "capi/error.h"

namespace halyard::capi {
namespace {

hal_detect_box box_to_c(const Detection& detection) noexcept {
  const Box& box = detection.box;
  return {box.x1, box.y1,          box.x2,
          box.y2, detection.score, static_cast<std::size_t>(std::max(detection.label, 0))};
}

Result<const compat::Segmentation*> mask_at(const hal_segmentation_list* list, std::size_t index) {
  HALYARD_RETURN_IF_ERROR(checked(list, "list"));
  if (index >= list->list.size()) {
    return make_error(Errc::invalid_argument, "index: is beyond the end",
                      std::to_string(index) + " of " + std::to_string(list->list.size()));
  }
  return &list->list[index];
}

}  // namespace
}  // namespace halyard::capi

using namespace halyard;
using capi::checked;
using capi::guarded;
using capi::is_valid;

hal_detect_box_list* hal_detect_box_list_new(const hal_detect_box* boxes, size_t count) {
  return guarded<hal_detect_box_list*>(nullptr, [&]() -> Result<hal_detect_box_list*> {
    if (boxes == nullptr && count != 0) return capi::null_argument("boxes: is NULL");
    HALYARD_RETURN_IF_ERROR(capi::aligned(boxes, "boxes"));
    if (count > PTRDIFF_MAX / sizeof(hal_detect_box))
      return make_error(Errc::invalid_argument, "count: is beyond the address space",
                        std::to_string(count));
    auto list = std::make_unique<hal_detect_box_list>();
    list->boxes.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
      const hal_detect_box& box = boxes[i];
      if (box.label > INT32_MAX)
        return make_error(Errc::invalid_argument, "label: must be below 2^31",
                          std::to_string(box.label));
      list->boxes.push_back({{box.xmin, box.ymin, box.xmax, box.ymax},
                             box.score,
                             static_cast<std::int32_t>(box.label)});
    }
    return list.release();
  });
}

size_t hal_detect_box_list_len(const hal_detect_box_list* list) {
  return is_valid(list) ? list->boxes.size() : 0;
}

int hal_detect_box_list_get(const hal_detect_box_list* list, size_t index, hal_detect_box* out) {
  return guarded<int>(-1, [&]() -> Result<int> {
    HALYARD_RETURN_IF_ERROR(checked(list, "list"));
    return capi::get(list->boxes, index, out, [](const Detection& d) { return capi::box_to_c(d); });
  });
}

void hal_detect_box_list_free(hal_detect_box_list* list) {
  if (is_valid(list)) delete list;
}

size_t hal_segmentation_list_len(const hal_segmentation_list* list) {
  return is_valid(list) ? list->list.size() : 0;
}

int hal_segmentation_list_get_bbox(const hal_segmentation_list* list, size_t index, float* xmin,
                                   float* ymin, float* xmax, float* ymax) {
  return guarded<int>(-1, [&]() -> Result<int> {
    HALYARD_TRY(const compat::Segmentation* const mask, capi::mask_at(list, index));
    if (xmin == nullptr || ymin == nullptr || xmax == nullptr || ymax == nullptr)
      return capi::null_argument("xmin, ymin, xmax, ymax: one is NULL");
    for (const float* const out : {xmin, ymin, xmax, ymax})
      HALYARD_RETURN_IF_ERROR(capi::aligned(out, "xmin, ymin, xmax, ymax"));
    *xmin = mask->box.x1;
    *ymin = mask->box.y1;
    *xmax = mask->box.x2;
    *ymax = mask->box.y2;
    return 0;
  });
}

const uint8_t* hal_segmentation_list_get_mask(const hal_segmentation_list* list, size_t index,
                                              size_t* out_height, size_t* out_width) {
  return guarded<const uint8_t*>(nullptr, [&]() -> Result<const uint8_t*> {
    HALYARD_TRY(const compat::Segmentation* const mask, capi::mask_at(list, index));
    HALYARD_RETURN_IF_ERROR(capi::aligned(out_height, "out_height"));
    HALYARD_RETURN_IF_ERROR(capi::aligned(out_width, "out_width"));
    capi::store<std::size_t>(out_height, mask->height);
    capi::store<std::size_t>(out_width, mask->width);
    return mask->data;
  });
}

void hal_segmentation_list_free(hal_segmentation_list* list) {
  if (is_valid(list)) delete list;
}

hal_tensor* hal_segmentation_to_mask(const hal_segmentation_list* list, size_t index) {
  return guarded<hal_tensor*>(nullptr, [&]() -> Result<hal_tensor*> {
    HALYARD_TRY(const compat::Segmentation* const mask, capi::mask_at(list, index));
    HALYARD_TRY(Tensor tensor, compat::segmentation_to_mask(*mask));
    return new hal_tensor{.tensor = std::move(tensor)};
  });
}

void hal_proto_data_free(hal_proto_data* data) {
  if (is_valid(data)) delete data;
}

hal_tensor* hal_proto_data_take_protos(hal_proto_data* data) {
  return guarded<hal_tensor*>(nullptr, [&]() -> Result<hal_tensor*> {
    HALYARD_RETURN_IF_ERROR(checked(data, "data"));
    auto handle = std::make_unique<hal_tensor>();
    auto tensor = data->data.take_protos();
    if (!tensor) return make_error(Errc::invalid_argument, "data: prototypes were taken before");
    handle->tensor = *std::move(tensor);
    return handle.release();
  });
}

hal_tensor* hal_proto_data_take_mask_coefficients(hal_proto_data* data) {
  return guarded<hal_tensor*>(nullptr, [&]() -> Result<hal_tensor*> {
    HALYARD_RETURN_IF_ERROR(checked(data, "data"));
    auto handle = std::make_unique<hal_tensor>();
    HALYARD_TRY(auto tensor, data->data.take_mask_coefficients());
    if (!tensor) return make_error(Errc::invalid_argument, "data: coefficients were taken before");
    handle->tensor = *std::move(tensor);
    return handle.release();
  });
}

int32_t hal_proto_data_layout(const hal_proto_data* data) {
  if (!is_valid(data)) return -1;
  return static_cast<int32_t>(data->data.layout());
}

size_t hal_track_info_list_len(const hal_track_info_list* list) {
  return is_valid(list) ? list->tracks.size() : 0;
}

int hal_track_info_list_get(const hal_track_info_list* list, size_t index, hal_track_info* out) {
  return guarded<int>(-1, [&]() -> Result<int> {
    HALYARD_RETURN_IF_ERROR(checked(list, "list"));
    return capi::get(list->tracks, index, out,
                     [](const compat::TrackInfo& info) { return capi::track_info_to_c(info); });
  });
}

void hal_track_info_list_free(hal_track_info_list* list) {
  if (is_valid(list)) delete list;
}
