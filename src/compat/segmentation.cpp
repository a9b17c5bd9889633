// SPDX-License-Identifier: Apache-2.0
// Masks as bytes: lists of masks, class ids from masks, and class scores as bytes.
#include <algorithm>
#include <cstring>

#include "base/text/format_error.h"
#include "compat/segmentation.h"
#include "halyard/byte_levels.h"

namespace halyard::compat {

SegmentationList::SegmentationList() noexcept = default;
SegmentationList::SegmentationList(SegmentationList&&) noexcept = default;
SegmentationList& SegmentationList::operator=(SegmentationList&&) noexcept = default;
SegmentationList::~SegmentationList() = default;

void SegmentationList::clear() noexcept {
  views_.clear();
}

std::uint8_t* SegmentationAccess::reset(SegmentationList& list, std::size_t bytes,
                                        std::size_t masks) {
  list.views_.clear();
  list.views_.reserve(masks);
  if (list.capacity_ < bytes) {
    list.bytes_.reset(new std::uint8_t[bytes]);  // not zeroed, because all bytes are written
    list.capacity_ = bytes;
  }
  return list.bytes_.get();
}

void SegmentationAccess::assign(SegmentationList& list, const MaskSet& masks) {
  const auto bytes_of = [](const MaskView& mask) {
    return static_cast<std::size_t>(mask.region.width) *
           static_cast<std::size_t>(mask.region.height);
  };
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < masks.size(); ++i)
    bytes += bytes_of(masks[i]);
  std::uint8_t* at = reset(list, bytes, masks.size());
  for (std::size_t i = 0; i < masks.size(); ++i) {
    const MaskView mask = masks[i];
    const std::size_t count = bytes_of(mask);
    if (count != 0) std::memcpy(at, mask.data, count);
    const RegionF part = masks.fraction(i);
    list.views_.push_back(
        {Box{static_cast<float>(part.x), static_cast<float>(part.y),
             static_cast<float>(part.x + part.width), static_cast<float>(part.y + part.height)},
         static_cast<std::size_t>(mask.region.height), static_cast<std::size_t>(mask.region.width),
         1, at});
    at += count;
  }
}

Result<Tensor> segmentation_to_mask(const Segmentation& segmentation) {
  const std::size_t pixels = segmentation.height * segmentation.width;
  const std::size_t channels = segmentation.channels;
  if (pixels == 0 || channels == 0 || channels > 256 || segmentation.data == nullptr) {
    return fail(Errc::invalid_argument, "segmentation: needs pixels, and 1..256 channels",
                "{} x {} x {}", segmentation.height, segmentation.width, channels);
  }
  HALYARD_TRY(Tensor out,
              Tensor::create(DType::u8, {segmentation.height, segmentation.width}, Memory::mem));
  HALYARD_TRY(const TensorMap map, out.map(Access::write));
  HALYARD_TRY(const auto ids, map.flat<std::uint8_t>());
  const std::uint8_t* pixel = segmentation.data;
  for (std::uint8_t& id : ids) {
    id = channels == 1
             ? static_cast<std::uint8_t>(*pixel >= 128)
             : static_cast<std::uint8_t>(std::max_element(pixel, pixel + channels) - pixel);
    pixel += channels;
  }
  return out;
}

namespace {

struct ScoreAxes {
  std::size_t height = 0;
  std::size_t width = 0;
  std::optional<std::size_t> channels;
  std::optional<std::size_t> batch;
};

Result<ScoreAxes> axes_of(const OutputDescription& output, std::size_t rank) {
  if (output.axes.size() == rank) {
    const auto find = [&](AxisName name) -> std::optional<std::size_t> {
      const auto found = std::find(output.axes.begin(), output.axes.end(), name);
      if (found == output.axes.end()) return std::nullopt;
      return static_cast<std::size_t>(found - output.axes.begin());
    };
    const auto height = find(AxisName::height), width = find(AxisName::width);
    if (height && width)
      return ScoreAxes{*height, *width, find(AxisName::num_classes), find(AxisName::batch)};
  }
  if (rank != 3 && rank != 4)
    return fail(Errc::invalid_argument, "segmentation: must have height, width and classes",
                "rank {}", rank);
  const std::size_t first = rank - 3;
  const auto batch = first > 0 ? std::optional<std::size_t>(0) : std::nullopt;
  if (output.family == Family::semantic) return ScoreAxes{first + 1, first + 2, first, batch};
  return ScoreAxes{first, first + 1, first + 2, batch};
}

// The scores of one element of the batch as [height, width, channels].
struct ScoreView {
  Layout layout;
  const std::byte* data = nullptr;
};

Result<ScoreView> view_of(const TensorMap& map, const ScoreAxes& axes, std::size_t batch) {
  const Layout& all = map.layout();
  const std::size_t images = axes.batch ? all.shape[*axes.batch] : 1;
  if (batch >= images)
    return fail(Errc::invalid_argument, "batch: must be below the tensor's batch extent",
                "{} of {}", batch, images);
  ScoreView out;
  out.layout.dtype = all.dtype;
  out.layout.rank = 3;
  out.layout.shape = {all.shape[axes.height], all.shape[axes.width],
                      axes.channels ? all.shape[*axes.channels] : 1};
  out.layout.stride_bytes = {all.stride_bytes[axes.height], all.stride_bytes[axes.width],
                             axes.channels ? all.stride_bytes[*axes.channels] : 0};
  out.data = map.data();
  if (axes.batch) out.data += static_cast<std::ptrdiff_t>(batch) * all.stride_bytes[*axes.batch];
  return out;
}

}  // namespace

Status score_bytes(const Tensor& scores, const OutputDescription& output, std::size_t batch,
                   SegmentationList& out) {
  HALYARD_TRY(const ScoreAxes axes, axes_of(output, scores.rank()));
  HALYARD_TRY(const TensorMap map, scores.map(Access::read));
  HALYARD_TRY(const ScoreView view, view_of(map, axes, batch));
  std::uint8_t* const bytes = SegmentationAccess::reset(out, view.layout.element_count(), 1);
  HALYARD_RETURN_IF_ERROR(byte_levels(view.layout, view.data, bytes));
  const auto& shape = view.layout.shape;
  SegmentationAccess::add(out, {Box{0, 0, 1, 1}, shape[0], shape[1], shape[2], bytes});
  return {};
}

}  // namespace halyard::compat
