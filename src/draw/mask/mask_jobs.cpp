// SPDX-License-Identifier: Apache-2.0
#include "draw/mask/mask_jobs.h"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace halyard::draw {
namespace {

// Whether integers of prototypes and coefficients can be multiplied as they are.
bool has_integers(const decode::PrototypeGrid& grid, const MaskPrototypes& p) noexcept {
  const auto& quantization = p.prototypes.quantization();
  return is_integer(grid.dtype) && quantization && quantization->is_per_tensor() &&
         p.stored.size() == p.coefficients.size();
}

// The elements and strides of a mapped tensor. False if no device reads it: negative strides, or
// strides and addresses that are not whole elements.
bool find_elements(const decode::PrototypeGrid& grid, LogitSource& out) noexcept {
  const std::size_t element = size_of(grid.dtype);
  const std::ptrdiff_t strides[] = {grid.pixel_stride_bytes, grid.row_stride_bytes,
                                    grid.channel_stride_bytes};
  const std::size_t extents[] = {grid.width, grid.height, grid.channels};
  std::int32_t* const places[] = {&out.pixel_stride, &out.row_stride, &out.channel_stride};
  std::size_t last = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    // The stride of a single pixel or channel does not count.
    const auto stride = extents[i] == 1 ? 0 : static_cast<std::size_t>(strides[i]);
    if (extents[i] > 1 && strides[i] < 0) return false;
    if (stride % element != 0 || stride / element > std::numeric_limits<std::int32_t>::max())
      return false;
    *places[i] = static_cast<std::int32_t>(stride / element);
    last += (extents[i] - 1) * (stride / element);
  }
  if (reinterpret_cast<std::uintptr_t>(grid.data) % element != 0 ||
      last >= std::numeric_limits<std::int32_t>::max())
    return false;
  out.elements = {grid.data, grid.dtype, last + 1};
  out.channels = static_cast<std::int32_t>(grid.channels);
  out.grid = {static_cast<std::int32_t>(grid.width), static_cast<std::int32_t>(grid.height)};
  return true;
}

// LogitSource::numbers: the stored integers where all rows have them, so that sums below 2^24 are
// exact; else real values.
void fill_numbers(const decode::PrototypeGrid& grid, const MaskPrototypes& p,
                  std::vector<float>& numbers) {
  const std::size_t channels = grid.channels;
  const auto& quantization = p.prototypes.quantization();
  const bool has_zeros = is_integer(grid.dtype) && quantization.has_value();
  const bool as_stored = has_integers(grid, p);
  numbers.assign(channels, 0);
  numbers.reserve(channels + p.coefficients.size());
  for (std::size_t k = 0; k < channels && has_zeros; ++k)
    numbers[k] = static_cast<float>(quantization->zero_point_at(k));
  for (std::size_t i = 0; i < p.coefficients.size(); ++i) {
    const float scale = has_zeros ? quantization->scale_at(i % channels) : 1.0F;
    numbers.push_back(as_stored ? static_cast<float>(p.stored[i] - p.stored_zero_point)
                                : p.coefficients[i] * scale);
  }
}

}  // namespace

PaintJob prototype_job(PaintWorkspace& own, const MaskPrototypes& prototypes,
                       const decode::PrototypeGrid& grid) {
  PaintJob out;
  out.is_readable = find_elements(grid, out.logits);
  if (!out.is_readable) return out;
  fill_numbers(grid, prototypes, own.numbers);
  out.logits.numbers = own.numbers;
  out.logits.x = &own.masks.x;
  out.logits.y = &own.masks.y;
  own.operations.clear();
  for (std::size_t i = own.masks.plans.size(); i-- > 0;) {
    const decode::MaskPlan& plan = own.masks.plans[i];
    if (plan.rows.is_empty() || own.inks[i].alpha == 0) continue;
    MaskOp& mask = own.operations.emplace_back();
    mask.rect = {plan.columns.begin, plan.rows.begin, plan.columns.end, plan.rows.end};
    mask.ink = own.inks[i];
    mask.source = {plan.source_columns.begin, plan.source_rows.begin, plan.source_columns.length(),
                   plan.source_rows.length()};
    mask.row = static_cast<std::int32_t>(i);
  }
  out.masks = own.operations;
  return out;
}

PaintJob mask_set_job(PaintWorkspace& own, const MaskSet& masks) {
  PaintJob out;
  out.kind = PaintKind::mask_bytes;
  const std::uint8_t* first = nullptr;
  const std::uint8_t* end = nullptr;
  const auto is_visible = [&](std::size_t i) {
    return masks[i].region.width > 0 && masks[i].region.height > 0 && own.inks[i].alpha != 0;
  };
  for (std::size_t i = 0; i < masks.size(); ++i) {
    if (!is_visible(i)) continue;
    const MaskView mask = masks[i];
    first = first == nullptr ? mask.data : std::min(first, mask.data);
    end = std::max(end, mask.row(mask.region.height));
  }
  own.operations.clear();
  for (std::size_t i = masks.size(); i-- > 0;) {
    if (!is_visible(i)) continue;
    const MaskView mask = masks[i];
    const Region& r = mask.region;
    const auto offset = static_cast<std::int32_t>(mask.data - first);
    own.operations.push_back(
        {{r.x, r.y, r.x + r.width, r.y + r.height}, own.inks[i], {offset, r.width, r.x, r.y}, 0});
  }
  out.masks = own.operations;
  out.bytes = {reinterpret_cast<const std::byte*>(first), DType::u8,
               static_cast<std::size_t>(end - first)};
  return out;
}

PaintJob class_map_job(const TensorMap& map) noexcept {
  const Layout& layout = map.layout();
  const std::size_t element = size_of(layout.dtype);
  const std::ptrdiff_t stride = layout.stride_bytes[0];
  PaintJob out;
  out.kind = PaintKind::class_map;
  out.is_readable = stride > 0 && static_cast<std::size_t>(stride) % element == 0 &&
                    reinterpret_cast<std::uintptr_t>(map.data()) % element == 0;
  const std::size_t row = static_cast<std::size_t>(stride) / element;
  out.bytes = {map.data(), layout.dtype, (layout.shape[0] - 1) * row + layout.shape[1]};
  out.id_row_stride = static_cast<std::int32_t>(row);
  return out;
}

}  // namespace halyard::draw
