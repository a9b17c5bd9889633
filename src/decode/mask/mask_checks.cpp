// SPDX-License-Identifier: Apache-2.0
// Checks prototypes, boxes and options; each check has its own message.
#include "decode/mask/mask_checks.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/box_math.h"
#include "base/text/format_error.h"
#include "decode/head/threshold.h"

namespace halyard::decode {
namespace {

constexpr std::size_t max_pixels = 1U << 15;  // per axis; larger than any network input or image

bool is_known(DType dtype) noexcept {
  return dtype == DType::f32 || dtype == DType::f16 || dtype == DType::bf16 ||
         stored_range(dtype).highest != 0;
}

bool is_size(Size size) noexcept {
  const auto maximum = static_cast<std::int32_t>(max_pixels);
  return size.width > 0 && size.height > 0 && size.width <= maximum && size.height <= maximum;
}

Status check_stored(const MaskPrototypes& p) {
  if (p.stored.size() != p.coefficients.size()) return {};  // not used
  const StoredRange range = stored_range(p.stored_dtype);
  const auto [minimum, maximum] = std::minmax_element(p.stored.begin(), p.stored.end());
  const bool fits = p.stored.empty() || (*minimum >= range.lowest && *maximum <= range.highest);
  const std::int64_t zero = p.stored_zero_point;
  if (fits && zero >= range.lowest && zero <= range.highest && std::isfinite(p.stored_scale) &&
      p.stored_scale > 0)
    return {};
  return fail(Errc::invalid_argument,
              "stored: values and zero point must fit stored_dtype, the scale must be above 0",
              "{}, scale {}, zero point {}", to_string(p.stored_dtype), p.stored_scale, zero);
}

Status check_prototype_quantization(const MaskPrototypes& p, const PrototypeGrid& grid) {
  if (!is_integer(grid.dtype)) return {};
  const auto& quantization = p.prototypes.quantization();
  if (!quantization) {
    return fail(Errc::invalid_argument, "prototypes: integers need quantization", "{}",
                to_string(grid.dtype));
  }
  HALYARD_RETURN_IF_ERROR(validate(*quantization, grid.dtype, p.prototypes.shape()));
  if (quantization->is_per_tensor()) return {};
  const std::size_t rank = p.prototypes.rank();
  const std::size_t axis = p.order == PrototypeOrder::height_width_channels ? rank - 1 : rank - 3;
  if (quantization->axis == axis) return {};
  return fail(Errc::unsupported, "prototypes: several scales must lie along the channels",
              "axis {}, channels are axis {}", quantization->axis.value_or(rank), axis);
}

Status check_box(const Box& box, Size input, std::size_t index) {
  // A factor of 2 exceeds any real overhang, and is far below boxes in other units.
  const auto max_x = static_cast<float>(2 * input.width);
  const auto max_y = static_cast<float>(2 * input.height);
  if (is_finite(box) && std::max(box.x1, box.x2) <= max_x && std::max(box.y1, box.y2) <= max_y)
    return {};
  return fail(Errc::invalid_argument,
              "detections: boxes must be finite, in pixels of the network's input and not beyond "
              "twice its size",
              "detections[{}]: ({}, {}, {}, {}), input {}x{}", index, box.x1, box.y1, box.x2,
              box.y2, input.width, input.height);
}

}  // namespace

Result<PrototypeGrid> grid_of(const MaskPrototypes& p) {
  const Layout& layout = p.prototypes.layout();
  const std::size_t rank = layout.rank;
  if (rank != 3 && rank != 4) {
    return fail(Errc::invalid_argument,
                "prototypes: must have height, width and channels; a batch axis is optional",
                "shape [{}]", fmt::join(p.prototypes.shape(), ", "));
  }
  if (p.prototypes.is_image() && p.prototypes.plane_count() > 1)
    return fail(Errc::unsupported,
                "prototypes: an image of several planes cannot be a network output");
  const std::size_t batches = rank == 4 ? layout.shape[0] : 1;
  if (p.batch >= batches)
    return fail(Errc::invalid_argument, "batch: must be below the batch extent", "{} of {}",
                p.batch, batches);
  const bool is_packed = p.order == PrototypeOrder::height_width_channels;
  const std::size_t first = rank - 3;
  const std::size_t y = is_packed ? first : first + 1, x = y + 1;
  const std::size_t k = is_packed ? first + 2 : first;
  PrototypeGrid grid;
  grid.dtype = layout.dtype;
  grid.width = layout.shape[x];
  grid.height = layout.shape[y];
  grid.channels = layout.shape[k];
  grid.pixel_stride_bytes = layout.stride_bytes[x];
  grid.row_stride_bytes = layout.stride_bytes[y];
  grid.channel_stride_bytes = layout.stride_bytes[k];
  if (!is_known(grid.dtype)) {
    return fail(Errc::unsupported, "prototypes: must be f32, f16, bf16, i8, u8, i16 or u16", "{}",
                to_string(grid.dtype));
  }
  if (std::max({grid.width, grid.height, grid.channels}) > max_pixels ||
      std::min({grid.width, grid.height, grid.channels}) == 0) {
    return fail(Errc::invalid_argument, "prototypes: extents must be 1..32768", "shape [{}]",
                fmt::join(p.prototypes.shape(), ", "));
  }
  return grid;
}

Status check_masks(const MaskPrototypes& p, const PrototypeGrid& grid,
                   std::span<const Detection> detections) {
  if (!is_size(p.input)) {
    return fail(Errc::invalid_argument, "input: width and height must be 1..32768", "{}x{}",
                p.input.width, p.input.height);
  }
  HALYARD_RETURN_IF_ERROR(check_prototype_quantization(p, grid));
  if (!p.empty() && p.channels != grid.channels) {
    return fail(Errc::invalid_argument,
                "prototypes: must have as many channels as a row has coefficients",
                "{} channels, {} coefficients", grid.channels, p.channels);
  }
  if (p.size() != detections.size() || p.coefficients.size() != p.size() * p.channels) {
    return fail(Errc::invalid_argument, "coefficients: must be one row per detection",
                "{} values in rows of {}, {} detections", p.coefficients.size(), p.channels,
                detections.size());
  }
  const auto bad = std::find_if_not(p.coefficients.begin(), p.coefficients.end(),
                                    [](float c) { return std::isfinite(c); });
  if (bad != p.coefficients.end()) {
    return fail(Errc::invalid_argument, "coefficients: must be finite", "row {}",
                static_cast<std::size_t>(bad - p.coefficients.begin()) / p.channels);
  }
  HALYARD_RETURN_IF_ERROR(check_stored(p));
  for (std::size_t i = 0; i < detections.size(); ++i)
    HALYARD_RETURN_IF_ERROR(check_box(detections[i].box, p.input, i));
  return {};
}

Result<MaskTarget> target_of(const MaskPrototypes& p, const PrototypeGrid& grid,
                             const MaskOptions& options) {
  MaskTarget out;
  out.rule = options.rule;
  out.input = p.input;
  out.grid = {static_cast<std::int32_t>(grid.width), static_cast<std::int32_t>(grid.height)};
  out.content = options.content.value_or(Region{0, 0, p.input.width, p.input.height});
  out.is_input = !options.content && !options.size;
  const RegionF& c = out.content;
  const bool is_content = std::isfinite(c.x) && std::isfinite(c.y) && c.width > 0 && c.height > 0 &&
                          c.x >= 0 && c.y >= 0 && c.x + c.width <= p.input.width + 1e-3 &&
                          c.y + c.height <= p.input.height + 1e-3;
  if (!is_content) {
    return fail(Errc::invalid_argument, "content: must be a rectangle inside the network's input",
                "({}, {}) {}x{} in {}x{}", c.x, c.y, c.width, c.height, p.input.width,
                p.input.height);
  }
  const auto whole = [](double v) { return v == std::floor(v); };
  if (out.rule == MaskRule::ultralytics &&
      !(whole(c.x) && whole(c.y) && whole(c.width) && whole(c.height))) {
    return fail(Errc::invalid_argument, "content: must be whole pixels for rule ultralytics",
                "({}, {}) {}x{}", c.x, c.y, c.width, c.height);
  }
  if (out.rule == MaskRule::prototype || out.rule == MaskRule::probability) {
    if (options.size)
      return fail(Errc::invalid_argument,
                  "size: must not be set for rules at prototype resolution");
    out.size = out.grid;
    return out;
  }
  out.size = options.size.value_or(p.input);
  if (is_size(out.size)) return out;
  return fail(Errc::invalid_argument, "size: width and height must be 1..32768", "{}x{}",
              out.size.width, out.size.height);
}

}  // namespace halyard::decode
