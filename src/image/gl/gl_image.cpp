// SPDX-License-Identifier: Apache-2.0
#include "image/gl/gl_image.h"

#include <utility>

#include "base/text/format_error.h"
#include "gl/memory/dma_image.h"

namespace halyard::image {
namespace {

constexpr std::size_t texel_bytes_of_targets = 4;

// Plain tensors have no planes before they are images. Calls `use` with the image.
template <class Use>
auto with_image(const Tensor& tensor, const Use& use) -> decltype(use(tensor)) {
  if (tensor.is_image()) return use(tensor);
  HALYARD_TRY(const Tensor image, tensor.as_image());
  return use(image);
}

// The GPU writes whole texels, and nothing beside the rows may change.
bool is_of_target_texels(const ImagePlane& plane) noexcept {
  return (plane.row_bytes | plane.stride_bytes | plane.offset_bytes) % texel_bytes_of_targets == 0;
}

// Only these formats are to a driver, in any arrangement, what they are to the shaders.
bool is_of_one_texel(const Tensor& image) noexcept {
  return image.format() == PixelFormat::rgba || image.format() == PixelFormat::grey;
}

bool can_import(const ImagePlane& plane, const gl::Worker& worker) noexcept {
  return plane.buffer->memory() == Memory::dma &&
         plane.stride_bytes % worker.capabilities().import_pitch_bytes == 0 &&
         !gl::DmaImages::has_refused(*plane.buffer, worker);
}

bool is_pixel_buffer(const ImagePlane& plane, const gl::Worker& worker) noexcept {
  const auto* const buffer = dynamic_cast<const gl::PboBuffer*>(plane.buffer.get());
  return buffer != nullptr && buffer->worker().get() == &worker;
}

}  // namespace

std::string_view to_string(GlTransfer transfer) noexcept {
  switch (transfer) {
    case GlTransfer::dma_buf:
      return "imported";
    case GlTransfer::pixel_buffer:
      return "pixel buffer";
    case GlTransfer::copy:
      break;
  }
  return "copied";
}

Result<GlTransferRules> GlTransferRules::create(std::string_view force_transfer) {
  GlTransferRules out;
  if (force_transfer == "sync") return GlTransferRules{false, false, false};
  if (force_transfer == "pbo") return GlTransferRules{false, true, true};
  if (force_transfer == "dmabuf" || force_transfer == "dma" || force_transfer.empty())
    return GlTransferRules{};
  return fail(Errc::invalid_argument, "HALYARD_FORCE_TRANSFER: must be pbo, dmabuf or sync",
              "it is {}", force_transfer);
}

GlTransfer GlImage::find_planes(const Tensor& image, Access access, const GlTransferRules& rules,
                                const gl::Worker& worker, GlImage& out) {
  const bool is_target = can_write(access);
  bool imports = rules.imports && worker.capabilities().dma_buf_import &&
                 (is_linear(image.modifier()) || (!is_target && is_of_one_texel(image)));
  bool pixel_buffers = rules.pixel_buffers && is_linear(image.modifier());
  out.plane_count_ = image.plane_count();
  out.modifier_ = image.modifier();
  for (std::size_t i = 0; i < out.plane_count_ && (imports || pixel_buffers); ++i) {
    auto plane = image.image_plane(i);
    if (!plane || plane->buffer == nullptr) return GlTransfer::copy;
    if (is_target && !is_of_target_texels(*plane)) return GlTransfer::copy;
    imports = imports && can_import(*plane, worker);
    pixel_buffers = pixel_buffers && is_pixel_buffer(*plane, worker);
    out.planes_[i] = std::move(*plane);
  }
  if (imports) return GlTransfer::dma_buf;
  return pixel_buffers ? GlTransfer::pixel_buffer : GlTransfer::copy;
}

GlTransfer GlImage::choose(const Tensor& tensor, Access access, const GlTransferRules& rules,
                           const gl::Worker& worker) noexcept {
  const auto chosen = with_image(tensor, [&](const Tensor& image) -> Result<GlTransfer> {
    GlImage unused;
    return find_planes(image, access, rules, worker, unused);
  });
  return chosen ? *chosen : GlTransfer::copy;
}

Status GlImage::hold_planes() {
  for (std::size_t i = 0; i < plane_count_; ++i) {
    auto& buffer = static_cast<gl::PboBuffer&>(*planes_[i].buffer);
    HALYARD_RETURN_IF_ERROR(buffer.hold_for_device());
    holds_[i] = Hold(buffer);
  }
  return {};
}

Result<GlImage> GlImage::prepare(const Tensor& tensor, Access access, const GlTransferRules& rules,
                                 const gl::Worker& worker) {
  return with_image(tensor, [&](const Tensor& image) -> Result<GlImage> {
    GlImage out;
    out.transfer_ = find_planes(image, access, rules, worker, out);
    if (out.transfer_ == GlTransfer::copy) return prepare_copy(image, access);
    if (can_write(access) && !image.buffer()->is_writable())
      return fail(Errc::permission, "dst: its buffer is read-only");
    if (out.transfer_ == GlTransfer::pixel_buffer) HALYARD_RETURN_IF_ERROR(out.hold_planes());
    return out;
  });
}

Result<GlImage> GlImage::prepare_copy(const Tensor& tensor, Access access) {
  return with_image(tensor, [&](const Tensor& image) -> Result<GlImage> {
    GlImage out;
    HALYARD_TRY(out.map_, image.map(access));
    return out;
  });
}

std::uint32_t GlImage::buffer_object(std::size_t index) const noexcept {
  return static_cast<const gl::PboBuffer&>(*planes_[index].buffer).name();
}

}  // namespace halyard::image
