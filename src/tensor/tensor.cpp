// SPDX-License-Identifier: Apache-2.0
// Tensors in general: create, wrap, reshape, batch. Images: tensor_image.cpp.
#include "halyard/tensor.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <utility>

#include "base/text/format_error.h"

namespace halyard {
namespace {

std::size_t elements_behind(const Layout& layout, std::size_t axis) noexcept {
  const auto dims = layout.dims().subspan(axis + 1);
  return std::accumulate(dims.begin(), dims.end(), std::size_t{1}, std::multiplies<>());
}

// The axis of `to` whose indices separate the same elements as `axis` of `from`. Both layouts are
// contiguous and have the same number of elements.
std::optional<std::size_t> same_axis(const Layout& from, std::size_t axis, const Layout& to) {
  for (std::size_t i = 0; i < to.rank; ++i) {
    if (to.shape[i] == from.shape[axis] && elements_behind(to, i) == elements_behind(from, axis)) {
      return i;
    }
  }
  return std::nullopt;
}

}  // namespace

Result<Tensor> Tensor::create(DType dtype, std::span<const std::size_t> shape, Memory memory) {
  Tensor tensor;
  HALYARD_TRY(tensor.layout_, Layout::contiguous(dtype, shape));
  HALYARD_TRY(tensor.planes_[0].buffer, allocate(tensor.size_bytes(), memory));
  return tensor;
}

Result<Tensor> Tensor::create(const TensorSpec& spec, Memory memory) {
  HALYARD_TRY(Tensor tensor, create(spec.dtype, spec.shape, memory));
  if (spec.format) {
    // Only a check: the tensor keeps the network's shape, batch axis included.
    HALYARD_RETURN_IF_ERROR(tensor.with_format(*spec.format));
  }
  HALYARD_RETURN_IF_ERROR(tensor.set_quantization(spec.quantization));
  tensor.set_name(spec.name);
  return tensor;
}

Result<Tensor> Tensor::wrap(std::shared_ptr<Buffer> buffer, const Layout& layout,
                            std::size_t offset_bytes) {
  Result<Tensor> made(std::in_place);
  HALYARD_RETURN_IF_ERROR(made->lay_over(std::move(buffer), layout, offset_bytes));
  return made;
}

[[gnu::hot]] Status Tensor::lay_over(std::shared_ptr<Buffer> buffer, const Layout& layout,
                                     std::size_t offset_bytes) {
  if (!buffer) return fail(Errc::invalid_argument, "buffer: is null");
  if (layout.rank == 0 || layout.rank > max_rank) {
    return fail(Errc::invalid_argument, "layout.rank: must be 1..8", "{}", layout.rank);
  }
  // With strides of 0 any shape fits the buffer, but its element count must still not overflow.
  HALYARD_RETURN_IF_ERROR(Layout::check_size(layout.dtype, layout.dims()));
  const auto reach = reach_of(layout);
  const std::size_t size = buffer->size_bytes();
  if (!reach || offset_bytes > size || reach->lowest < -static_cast<std::ptrdiff_t>(offset_bytes) ||
      reach->end > static_cast<std::ptrdiff_t>(size - offset_bytes)) {
    return fail(Errc::invalid_argument, "layout: leaves the buffer",
                "offset {} and the strides reach outside {} bytes", offset_bytes, size);
  }
  if (offset_bytes % size_of(layout.dtype) != 0) {
    return fail(Errc::invalid_argument, "offset: must be a multiple of the element size",
                "{} for {}", offset_bytes, to_string(layout.dtype));
  }
  layout_ = layout;
  planes_[0].buffer = std::move(buffer);
  planes_[0].offset_bytes = offset_bytes;
  // The gaps may belong to somebody else.
  if (!layout.is_contiguous()) capacity_bytes_ = 0;
  return {};
}

[[gnu::hot]] Tensor::Tensor(Tensor&& other) noexcept
    : layout_(other.layout_),
      planes_(std::move(other.planes_)),
      format_(other.format_),
      width_(other.width_),
      height_(other.height_),
      colorimetry_(other.colorimetry_),
      orientation_(other.orientation_),
      modifier_(other.modifier_),
      opaque_(other.opaque_),
      item_format_(other.item_format_),
      capacity_bytes_(other.capacity_bytes_),
      quantization_(std::move(other.quantization_)),
      name_(std::move(other.name_)) {
  other.forget();
}

[[gnu::hot]] Tensor& Tensor::operator=(Tensor&& other) noexcept {
  if (this == &other) return *this;
  layout_ = other.layout_;
  planes_ = std::move(other.planes_);
  format_ = other.format_;
  width_ = other.width_;
  height_ = other.height_;
  colorimetry_ = other.colorimetry_;
  orientation_ = other.orientation_;
  modifier_ = other.modifier_;
  opaque_ = other.opaque_;
  item_format_ = other.item_format_;
  capacity_bytes_ = other.capacity_bytes_;
  quantization_ = std::move(other.quantization_);
  name_ = std::move(other.name_);
  other.forget();
  return *this;
}

// Resets the numbers and flags that a move leaves; buffers and name are moved already.
[[gnu::hot]] void Tensor::forget() noexcept {
  layout_.rank = 0;
  for (PlaneSource& plane : planes_)
    plane.offset_bytes = plane.stride_bytes = plane.plane_stride_bytes = 0;
  format_.reset();
  width_ = height_ = 0;
  colorimetry_ = {};
  orientation_ = {};
  modifier_ = drm_modifier_linear;
  opaque_ = false;
  item_format_.reset();
  capacity_bytes_.reset();
  quantization_.reset();
}

[[gnu::hot]] Memory Tensor::memory() const noexcept {
  return planes_[0].buffer ? planes_[0].buffer->memory() : Memory::mem;
}

Status Tensor::set_quantization(std::optional<Quantization> quantization) {
  if (quantization) HALYARD_RETURN_IF_ERROR(validate(*quantization, dtype(), shape()));
  quantization_ = std::move(quantization);
  return {};
}

Status Tensor::set_item_format(std::optional<PixelFormat> format) {
  if (format) {
    if (format_) return fail(Errc::invalid_argument, "item_format: must be empty for an image");
    Tensor batch = *this;
    batch.item_format_ = format;
    HALYARD_RETURN_IF_ERROR(batch.batch(0));
  }
  item_format_ = format;
  return {};
}

Result<Tensor> Tensor::reshape(std::span<const std::size_t> shape) const {
  HALYARD_TRY(const Layout wanted, Layout::contiguous(dtype(), shape));
  if (wanted.element_count() != element_count()) {
    return fail(Errc::invalid_argument, "shape: count of elements differs",
                "{} wanted, there are {}", wanted.element_count(), element_count());
  }
  if (!layout_.is_contiguous() || !planes_adjacent()) {
    return fail(Errc::unsupported, "reshape: the tensor's rows or planes are not adjacent");
  }
  Tensor reshaped = *this;
  reshaped.layout_ = wanted;
  reshaped.planes_ = {planes_[0], {}, {}};
  reshaped.format_.reset();
  reshaped.item_format_.reset();
  reshaped.width_ = reshaped.height_ = 0;
  reshaped.orientation_ = {};
  if (reshaped.quantization_ && reshaped.quantization_->axis) {
    const auto axis = same_axis(layout_, *reshaped.quantization_->axis, wanted);
    reshaped.quantization_->axis = axis;
    if (!axis) reshaped.quantization_.reset();
  }
  return reshaped;
}

}  // namespace halyard
