// SPDX-License-Identifier: Apache-2.0
// All results of a decoder, in C.
#include "halyard/c/decoded.h"

#include <memory>
#include <utility>

#include "capi/error.h"
#include "capi/lists.h"

struct hal_decoded {
  static constexpr std::uint32_t kind = halyard::capi::kind_of("dcdd");
  halyard::capi::Tag tag{kind};
  halyard::compat::Found found = {};
  std::unique_ptr<hal_detect_box_list> boxes = {};
  std::unique_ptr<hal_segmentation_list> masks = {};
  std::unique_ptr<hal_track_info_list> tracks = {};
};

using namespace halyard;
using capi::checked;
using capi::guarded;
using capi::is_valid;

namespace {

template <class List>
List* take_part(hal_decoded* decoded, std::unique_ptr<List> hal_decoded::*part) noexcept {
  return guarded<List*>(nullptr, [&]() -> Result<List*> {
    HALYARD_RETURN_IF_ERROR(checked(decoded, "decoded"));
    if (decoded->*part == nullptr)
      return make_error(Errc::invalid_argument, "decoded: this part was taken before");
    return (decoded->*part).release();
  });
}

// Moves boxes, masks and tracks into the lists that C has for them; the rest stays in `found`.
void split(hal_decoded& decoded) {
  decoded.boxes = std::make_unique<hal_detect_box_list>();
  decoded.masks = std::make_unique<hal_segmentation_list>();
  decoded.tracks = std::make_unique<hal_track_info_list>();
  decoded.boxes->boxes = std::move(decoded.found.boxes);
  decoded.masks->list = std::move(decoded.found.segmentations);
  decoded.tracks->tracks = std::move(decoded.found.tracks);
}

}  // namespace

int hal_decoder_batch_size(const hal_decoder* decoder, const hal_tensor* const* outputs,
                           size_t num_outputs, size_t* out) {
  return guarded<int>(-1, [&]() -> Result<int> {
    HALYARD_RETURN_IF_ERROR(checked(decoder, "decoder"));
    if (out == nullptr) return capi::null_argument("out: is NULL");
    HALYARD_RETURN_IF_ERROR(capi::aligned(out, "out"));
    HALYARD_TRY(const auto tensors, capi::tensors_from(outputs, num_outputs));
    HALYARD_TRY(*out, decoder->decoder.batch_size(tensors));
    return 0;
  });
}

hal_decoded* hal_decoder_decode_element(const hal_decoder* decoder,
                                        const hal_tensor* const* outputs, size_t num_outputs,
                                        size_t batch, hal_bytetrack* tracker, uint64_t timestamp) {
  return guarded<hal_decoded*>(nullptr, [&]() -> Result<hal_decoded*> {
    HALYARD_RETURN_IF_ERROR(checked(decoder, "decoder"));
    if (tracker != nullptr) HALYARD_RETURN_IF_ERROR(checked(tracker, "tracker"));
    HALYARD_TRY(const auto tensors, capi::tensors_from(outputs, num_outputs));
    if (batch == compat::only_element)
      return make_error(Errc::invalid_argument, "batch: must be below the tensors' batch extent");
    auto decoded = std::make_unique<hal_decoded>();
    if (tracker == nullptr) {
      HALYARD_RETURN_IF_ERROR(decoder->decoder.decode(tensors, decoded->found, SIZE_MAX, batch));
    } else {
      HALYARD_RETURN_IF_ERROR(decoder->decoder.decode_tracked(tracker->tracker, timestamp, tensors,
                                                              decoded->found, SIZE_MAX, batch));
    }
    split(*decoded);
    return decoded.release();
  });
}

void hal_decoded_free(hal_decoded* decoded) {
  if (is_valid(decoded)) delete decoded;
}

hal_detect_box_list* hal_decoded_take_boxes(hal_decoded* decoded) {
  return take_part(decoded, &hal_decoded::boxes);
}

hal_segmentation_list* hal_decoded_take_masks(hal_decoded* decoded) {
  return take_part(decoded, &hal_decoded::masks);
}

hal_track_info_list* hal_decoded_take_tracks(hal_decoded* decoded) {
  return take_part(decoded, &hal_decoded::tracks);
}

size_t hal_decoded_rotated_count(const hal_decoded* decoded) {
  return is_valid(decoded) ? decoded->found.rotated.size() : 0;
}

int hal_decoded_get_rotated(const hal_decoded* decoded, size_t index, hal_rotated_box* out) {
  return guarded<int>(-1, [&]() -> Result<int> {
    HALYARD_RETURN_IF_ERROR(checked(decoded, "decoded"));
    return capi::get(decoded->found.rotated, index, out, [](const RotatedBox& box) {
      return hal_rotated_box{box.cx, box.cy, box.width, box.height, box.angle};
    });
  });
}

size_t hal_decoded_keypoints_each(const hal_decoded* decoded) {
  return is_valid(decoded) ? decoded->found.keypoints_each : 0;
}

int hal_decoded_get_keypoint(const hal_decoded* decoded, size_t box, size_t index,
                             hal_keypoint* out) {
  return guarded<int>(-1, [&]() -> Result<int> {
    HALYARD_RETURN_IF_ERROR(checked(decoded, "decoded"));
    const std::size_t each = decoded->found.keypoints_each;
    if (index >= each)
      return make_error(Errc::invalid_argument, "index: is beyond the points of a box",
                        std::to_string(index) + " of " + std::to_string(each));
    if (box >= decoded->found.keypoints.size() / each)
      return make_error(Errc::invalid_argument, "box: has no keypoints", std::to_string(box));
    return capi::get(decoded->found.keypoints, box * each + index, out, [](const Keypoint& point) {
      return hal_keypoint{point.at.x, point.at.y, point.score};
    });
  });
}

size_t hal_decoded_class_count(const hal_decoded* decoded) {
  return is_valid(decoded) ? decoded->found.classes.size() : 0;
}

int hal_decoded_get_class(const hal_decoded* decoded, size_t index, hal_class_score* out) {
  return guarded<int>(-1, [&]() -> Result<int> {
    HALYARD_RETURN_IF_ERROR(checked(decoded, "decoded"));
    return capi::get(decoded->found.classes, index, out, [](const ClassScore& each) {
      return hal_class_score{static_cast<std::size_t>(each.label), each.score};
    });
  });
}
