// SPDX-License-Identifier: Apache-2.0
// Masks as bytes: lists of masks, class ids from masks, and class scores as bytes.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base/text/format_error.h"
#include "compat/segmentation.h"
#include "halyard/format.h"

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
  ScoreAxes out;
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

float real_of(float value) noexcept {
  return value;
}
float real_of(double value) noexcept {
  return static_cast<float>(value);
}
float real_of(Half value) noexcept {
  return to_float(value);
}

/// Scores of one element of the batch, pixel by pixel.
struct ScoreView {
  const std::byte* base = nullptr;
  std::size_t height = 0, width = 0, channels = 1;
  std::ptrdiff_t row_stride = 0, column_stride = 0, channel_stride = 0;

  template <class T, class F>
  void each(F&& use) const {
    for (std::size_t y = 0; y < height; ++y)
      for (std::size_t x = 0; x < width; ++x)
        for (std::size_t c = 0; c < channels; ++c) {
          const std::byte* const at = base + static_cast<std::ptrdiff_t>(y) * row_stride +
                                      static_cast<std::ptrdiff_t>(x) * column_stride +
                                      static_cast<std::ptrdiff_t>(c) * channel_stride;
          T value;
          std::memcpy(&value, at, sizeof value);
          use(value);
        }
  }
};

template <class T>
void shift_to_bytes(const ScoreView& view, std::uint8_t* out) {
  using Unsigned = std::make_unsigned_t<T>;
  constexpr unsigned shift = 8 * (sizeof(T) - 1);
  // Two's complement with an inverted sign bit counts from the lowest value on.
  constexpr auto turn =
      std::is_signed_v<T> ? Unsigned(Unsigned{1} << (8 * sizeof(T) - 1)) : Unsigned{0};
  view.each<T>([&](T value) {
    *out++ = static_cast<std::uint8_t>(static_cast<Unsigned>(static_cast<Unsigned>(value) ^ turn) >>
                                       shift);
  });
}

template <class T>
void stretch_to_bytes(const ScoreView& view, std::uint8_t* out) {
  float minimum = std::numeric_limits<float>::infinity();
  float maximum = -minimum;
  view.each<T>([&](T value) {
    const float real = real_of(value);
    if (!std::isfinite(real)) return;
    minimum = std::min(minimum, real);
    maximum = std::max(maximum, real);
  });
  const float scale = maximum > minimum ? 255.0F / (maximum - minimum) : 0.0F;
  view.each<T>([&](T value) {
    const float real = real_of(value);
    const float byte =
        std::isnan(real) ? 0.0F : (std::clamp(real, minimum, maximum) - minimum) * scale;
    *out++ = static_cast<std::uint8_t>(std::lround(byte));
  });
}

ScoreView view_of_batch(const TensorMap& map, const ScoreAxes& axes, std::size_t batch) {
  const Layout& layout = map.layout();
  const std::ptrdiff_t image =
      axes.batch ? static_cast<std::ptrdiff_t>(batch) * layout.stride_bytes[*axes.batch] : 0;
  ScoreView view{map.data() + image,
                 layout.shape[axes.height],
                 layout.shape[axes.width],
                 1,
                 layout.stride_bytes[axes.height],
                 layout.stride_bytes[axes.width],
                 0};
  if (axes.channels) {
    view.channels = layout.shape[*axes.channels];
    view.channel_stride = layout.stride_bytes[*axes.channels];
  }
  return view;
}

Status scores_to_bytes(const ScoreView& view, DType dtype, std::uint8_t* out) {
  switch (dtype) {
    case DType::u8:
      shift_to_bytes<std::uint8_t>(view, out);
      return {};
    case DType::i8:
      shift_to_bytes<std::int8_t>(view, out);
      return {};
    case DType::u16:
      shift_to_bytes<std::uint16_t>(view, out);
      return {};
    case DType::i16:
      shift_to_bytes<std::int16_t>(view, out);
      return {};
    case DType::u32:
      shift_to_bytes<std::uint32_t>(view, out);
      return {};
    case DType::i32:
      shift_to_bytes<std::int32_t>(view, out);
      return {};
    case DType::f16:
      stretch_to_bytes<Half>(view, out);
      return {};
    case DType::f32:
      stretch_to_bytes<float>(view, out);
      return {};
    case DType::f64:
      stretch_to_bytes<double>(view, out);
      return {};
    default:
      return fail(Errc::unsupported,
                  "segmentation: scores must be integers of 8, 16 or 32 bits, or floats", "{}",
                  to_string(dtype));
  }
}

}  // namespace

Status score_bytes(const Tensor& scores, const OutputDescription& output, std::size_t batch,
                   SegmentationList& out) {
  HALYARD_TRY(const ScoreAxes axes, axes_of(output, scores.rank()));
  HALYARD_TRY(const TensorMap map, scores.map(Access::read));
  const Layout& layout = map.layout();
  const std::size_t images = axes.batch ? layout.shape[*axes.batch] : 1;
  if (batch >= images)
    return fail(Errc::invalid_argument, "batch: must be below the tensor's batch extent",
                "{} of {}", batch, images);
  const ScoreView view = view_of_batch(map, axes, batch);
  std::uint8_t* const bytes =
      SegmentationAccess::reset(out, view.height * view.width * view.channels, 1);
  HALYARD_RETURN_IF_ERROR(scores_to_bytes(view, scores.dtype(), bytes));
  SegmentationAccess::add(out, {Box{0, 0, 1, 1}, view.height, view.width, view.channels, bytes});
  return {};
}

}  // namespace halyard::compat
