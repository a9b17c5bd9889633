// SPDX-License-Identifier: Apache-2.0
// Handles of boxes, masks, tracks and prototypes and of the objects that make them, and checks of
// their arguments.
#pragma once

#include <string>
#include <vector>

#include "capi/arguments.h"
#include "capi/handles.h"
#include "halyard/c/decode.h"
#include "halyard/c/mask.h"
#include "halyard/c/tile.h"
#include "halyard/c/track.h"
#include "halyard/compat/compat.h"

struct hal_detect_box_list {
  static constexpr std::uint32_t kind = halyard::capi::kind_of("boxl");
  halyard::capi::Tag tag{kind};
  std::vector<halyard::Detection> boxes = {};
};

struct hal_segmentation_list {
  static constexpr std::uint32_t kind = halyard::capi::kind_of("segl");
  halyard::capi::Tag tag{kind};
  halyard::compat::SegmentationList list = {};
};

struct hal_track_info_list {
  static constexpr std::uint32_t kind = halyard::capi::kind_of("trkl");
  halyard::capi::Tag tag{kind};
  std::vector<halyard::compat::TrackInfo> tracks = {};
};

struct hal_proto_data {
  static constexpr std::uint32_t kind = halyard::capi::kind_of("prto");
  halyard::capi::Tag tag{kind};
  halyard::compat::ProtoData data;
};

struct hal_decoder {
  static constexpr std::uint32_t kind = halyard::capi::kind_of("deco");
  halyard::capi::Tag tag{kind};
  halyard::compat::Decoder decoder;
};

struct hal_bytetrack {
  static constexpr std::uint32_t kind = halyard::capi::kind_of("byte");
  halyard::capi::Tag tag{kind};
  halyard::compat::ByteTrack tracker;
};

namespace halyard::capi {

/// Copies element `index` of a list with `to_c`. For lists with functions len, get and free.
template <class Items, class Out, class F>
Result<int> get(const Items& items, std::size_t index, Out* out, F&& to_c) {
  if (out == nullptr) return null_argument("out: is NULL");
  HALYARD_RETURN_IF_ERROR(aligned(out, "out"));
  if (index >= items.size()) {
    return make_error(Errc::invalid_argument, "index: is beyond the end",
                      std::to_string(index) + " of " + std::to_string(items.size()));
  }
  *out = to_c(items[index]);
  return 0;
}

/// The tensors of a call, sharing their bytes. Errors: invalid_argument (NULL, none, another kind).
inline Result<std::vector<Tensor>> tensors_from(const hal_tensor* const* outputs,
                                                std::size_t count) {
  if (outputs == nullptr) return null_argument("outputs: is NULL");
  HALYARD_RETURN_IF_ERROR(aligned(outputs, "outputs"));
  if (count == 0 || count > 64) {
    return make_error(Errc::invalid_argument, "num_outputs: must be 1..64", std::to_string(count));
  }
  std::vector<Tensor> tensors;
  tensors.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    HALYARD_TRY(const hal_tensor* const tensor, checked(outputs[i], "outputs"));
    tensors.push_back(tensor->tensor);
  }
  return tensors;
}

inline hal_track_info track_info_to_c(const compat::TrackInfo& info) noexcept {
  hal_track_info out{};
  std::memcpy(out.uuid, info.uuid.bytes.data(), sizeof out.uuid);
  out.location[0] = info.location.x1;
  out.location[1] = info.location.y1;
  out.location[2] = info.location.x2;
  out.location[3] = info.location.y2;
  out.count = info.count;
  out.created = info.created;
  out.last_updated = info.last_updated;
  return out;
}

}  // namespace halyard::capi
