// SPDX-License-Identifier: Apache-2.0
// Other views of the same bytes: parts of images, other formats, other sizes.
#include <algorithm>
#include <optional>
#include <utility>

#include "base/region.h"
#include "base/text/format_error.h"
#include "halyard/tensor.h"
#include "tensor/format.h"
#include "tensor/image_storage.h"

namespace halyard {
namespace {

// The unit that a part's position must be a multiple of: a chroma block, or one period of a Bayer
// mosaic.
Size block_of(const FormatInfo& f) noexcept {
  if (f.model == ColorModel::bayer) return {2, 2};
  return {1 << f.chroma_shift_x, 1 << f.chroma_shift_y};
}

Status check_region(const Region& region, const Size& size, const FormatInfo& f) {
  if (!is_inside(region, size)) {
    return fail(Errc::invalid_argument, "region: empty or outside the image",
                "{}x{} at ({}, {}), the image is {}x{}", region.width, region.height, region.x,
                region.y, size.width, size.height);
  }
  const Size block = block_of(f);
  if (region.x % block.width != 0 || region.y % block.height != 0) {
    return fail(Errc::invalid_argument,
                "region: x and y must be multiples of the chroma or mosaic block",
                "({}, {}) with blocks of {}x{} in {}", region.x, region.y, block.width,
                block.height, f.name);
  }
  return {};
}

// Parameters of the indices begin..begin+count of the axis.
Quantization part_of(const Quantization& q, std::size_t begin, std::size_t count) {
  if (count == 1) return Quantization::per_tensor(q.scale_at(begin), q.zero_point_at(begin));
  const auto first = static_cast<std::ptrdiff_t>(begin);
  const auto last = static_cast<std::ptrdiff_t>(begin + count);
  Quantization part{{q.scale.begin() + first, q.scale.begin() + last}, {}, q.axis};
  if (!q.zero_point.empty())
    part.zero_point.assign(q.zero_point.begin() + first, q.zero_point.begin() + last);
  return part;
}

// The quantization of a part of an image. The rows of flat formats hold several planes, which one
// axis cannot describe.
std::optional<Quantization> region_quantization(const Tensor& image, const Region& region) {
  const auto& q = image.quantization();
  if (!q || !q->axis) return q;
  const FormatInfo& f = info(*image.format());
  if (is_flat(f)) return std::nullopt;
  const std::size_t rows = f.kind == FormatKind::packed ? 0 : 1;
  if (*q->axis == rows) {
    return part_of(*q, static_cast<std::size_t>(region.y), static_cast<std::size_t>(region.height));
  }
  if (*q->axis == rows + 1) {
    return part_of(*q, static_cast<std::size_t>(region.x), static_cast<std::size_t>(region.width));
  }
  return q;
}

// Samples per column of plane i.
std::size_t samples_per_column(const FormatInfo& f, std::size_t i) noexcept {
  if (f.kind == FormatKind::packed) return f.channels;
  return i > 0 && f.kind == FormatKind::semi_planar ? 2 : 1;
}

}  // namespace

bool Tensor::planes_adjacent() const {
  if (!format_ || !is_flat(info(*format_))) return true;
  const FormatInfo& f = info(*format_);
  const PlaneSource& luma = planes_[0];
  const std::size_t element = size_of(dtype());
  // Two chroma rows share a row of the layout.
  if (f.kind == FormatKind::tri_planar && luma.stride_bytes % (2 * element) != 0) return false;
  for (std::size_t i = 1; i < f.planes; ++i) {
    const auto g = known_plane_geometry(f, element, width_, height_, luma.stride_bytes, i);
    if (planes_[i].buffer != luma.buffer ||
        planes_[i].offset_bytes != luma.offset_bytes + g.offset_bytes ||
        planes_[i].stride_bytes != g.stride_bytes) {
      return false;
    }
  }
  return true;
}

Result<Tensor> Tensor::slice(const Region& region) const {
  if (!format_) return fail(Errc::invalid_argument, "slice: the tensor is not an image");
  const FormatInfo& f = info(*format_);
  HALYARD_RETURN_IF_ERROR(check_region(region, size(), f));
  const auto x = static_cast<std::size_t>(region.x);
  const auto y = static_cast<std::size_t>(region.y);
  Tensor part = *this;
  // Unknown colorimetry follows from the height of the whole image, not of the part.
  if (f.model == ColorModel::yuv) part.colorimetry_ = resolve(colorimetry_, height_);
  part.width_ = static_cast<std::size_t>(region.width);
  part.height_ = static_cast<std::size_t>(region.height);
  if (part.width_ == width_ && part.height_ == height_) return part;
  if (opaque_ || !is_linear(modifier_)) {
    return fail(Errc::unsupported, "slice: only the device can address a part of these pixels",
                "modifier {}", modifier_to_string(modifier_));
  }
  for (std::size_t i = 0; i < storage_planes(f); ++i) {
    const std::size_t column = i > 0 ? x >> f.chroma_shift_x : x;
    const std::size_t row = i > 0 ? y >> f.chroma_shift_y : y;
    part.planes_[i].offset_bytes +=
        row * planes_[i].stride_bytes + column * samples_per_column(f, i) * size_of(dtype());
  }
  part.layout_ = image_layout(f, dtype(), part.width_, part.height_, planes_[0].stride_bytes);
  if (f.kind == FormatKind::planar) part.layout_.stride_bytes[0] = layout_.stride_bytes[0];
  part.quantization_ = region_quantization(*this, region);
  part.capacity_bytes_ = 0;
  return part;
}

Result<Tensor> Tensor::with_format(PixelFormat format) const {
  if (is_empty()) return fail(Errc::invalid_argument, "tensor: is empty");
  if (format_ == format) return *this;
  if (!planes_adjacent()) {
    return fail(Errc::unsupported, "tensor: its planes do not follow one another");
  }
  HALYARD_TRY(const ImageExtent extent, image_extent(format, shape()));
  HALYARD_RETURN_IF_ERROR(check_image_size(extent.width, extent.height));
  const FormatInfo& f = info(format);
  const std::size_t axes = is_flat(f) ? 2 : 3;
  const std::size_t dropped = rank() - axes;
  const auto* stride = layout_.stride_bytes.data() + dropped;
  const bool planar = f.kind == FormatKind::planar;
  const std::ptrdiff_t row = planar ? stride[1] : stride[0];
  if (row <= 0 || stride[0] <= 0) {
    return fail(Errc::unsupported, "strides: rows and planes must have positive strides");
  }
  const Layout wanted =
      image_layout(f, dtype(), extent.width, extent.height, static_cast<std::size_t>(row));
  // Colour planes need not be adjacent.
  if (!std::equal(stride + (planar ? 1 : 0), stride + axes,
                  wanted.stride_bytes.begin() + (planar ? 1 : 0))) {
    return fail(Errc::unsupported, "strides: no image of this format has them", "{}", f.name);
  }
  const PlaneSource whole{planes_[0].buffer, planes_[0].offset_bytes, static_cast<std::size_t>(row),
                          planar ? static_cast<std::size_t>(stride[0]) : 0};
  HALYARD_TRY(Tensor image, wrap_image({&whole, 1}, extent.width, extent.height, format, dtype()));
  image.colorimetry_ = colorimetry_;
  image.orientation_ = orientation_;
  image.modifier_ = modifier_;
  image.opaque_ = opaque_;
  image.name_ = name_;
  image.capacity_bytes_ = capacity_bytes_;
  image.quantization_ = quantization_;
  // The leading axes have extent 1, so none of them has several scales.
  if (image.quantization_ && image.quantization_->axis) *image.quantization_->axis -= dropped;
  return image;
}

Result<Tensor> Tensor::as_image() const {
  if (format_) return *this;
  auto dims = shape();
  while (dims.size() > 3 && dims[0] == 1)
    dims = dims.subspan(1);
  if (dims.size() == 3) {
    if (dims[2] == 3) return with_format(PixelFormat::rgb);
    if (dims[2] == 4) return with_format(PixelFormat::rgba);
    if (dims[0] == 3) return with_format(PixelFormat::planar_rgb);
    if (dims[0] == 4) return with_format(PixelFormat::planar_rgba);
    if (dims[2] == 1) return with_format(PixelFormat::grey);
    if (dims[0] == 1) {
      HALYARD_TRY(const Tensor flat, reshape({dims[1], dims[2], std::size_t{1}}));
      return flat.with_format(PixelFormat::grey);
    }
  }
  return fail(Errc::invalid_argument,
              "tensor: shape must be [1,]H,W,C or [1,]C,H,W with C of 1, 3 or 4", "rank {}",
              rank());
}

Status Tensor::check_reconfigurable() const {
  if (is_empty()) return fail(Errc::invalid_argument, "tensor: is empty");
  for (const PlaneSource& plane : planes_) {
    if (plane.buffer && plane.buffer != planes_[0].buffer) {
      return fail(Errc::unsupported, "tensor: its planes lie in several buffers");
    }
  }
  if (opaque_ || !is_linear(modifier_)) {
    return fail(Errc::unsupported, "tensor: only the device can arrange these pixels",
                "modifier {}", modifier_to_string(modifier_));
  }
  if (capacity_bytes_ == 0U) {
    return fail(Errc::unsupported, "tensor: is a part of an image and shares its rows");
  }
  return {};
}

Result<Tensor> Tensor::reconfigured(std::size_t width, std::size_t height,
                                    PixelFormat format) const {
  HALYARD_RETURN_IF_ERROR(check_reconfigurable());
  HALYARD_RETURN_IF_ERROR(check_image_size(width, height));
  const std::size_t rest = planes_[0].buffer->size_bytes() - planes_[0].offset_bytes;
  const std::size_t capacity = std::min(rest, capacity_bytes_.value_or(rest));
  HALYARD_TRY(const std::size_t tight, tight_stride(format, dtype(), width));
  HALYARD_TRY(std::size_t stride, chosen_stride(format, dtype(), width, memory()));
  const std::size_t kept = row_stride_bytes();
  if (kept >= tight && kept % pitch_alignment == 0) {
    HALYARD_TRY(const std::size_t needed, image_bytes(format, dtype(), width, height, kept));
    if (needed <= capacity) stride = kept;
  }
  HALYARD_TRY(std::size_t needed, image_bytes(format, dtype(), width, height, stride));
  if (needed > capacity && stride != tight) {
    stride = tight;
    HALYARD_TRY(needed, image_bytes(format, dtype(), width, height, stride));
  }
  if (needed > capacity) {
    return fail(Errc::exhausted, "destination: too small for the image",
                "{}x{} {} {} needs {} bytes, there are {}", width, height, to_string(format),
                to_string(dtype()), needed, capacity);
  }
  const PlaneSource whole{planes_[0].buffer, planes_[0].offset_bytes, stride};
  HALYARD_TRY(Tensor image, wrap_image({&whole, 1}, width, height, format, dtype()));
  image.colorimetry_ = colorimetry_;
  image.name_ = name_;
  image.capacity_bytes_ = capacity_bytes_;
  if (quantization_ && !quantization_->axis) image.quantization_ = quantization_;
  return image;
}

}  // namespace halyard
