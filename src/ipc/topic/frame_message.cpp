// SPDX-License-Identifier: Apache-2.0
// Converts between tensors and the heads of messages.
#include "ipc/topic/frame_message.h"

#include <algorithm>
#include <cstring>

#include "base/text/format_error.h"

namespace halyard::ipc {
namespace {

Result<PixelFormat> format_from(std::uint8_t code) {
  for (const FormatInfo& row : all_formats())
    if (static_cast<std::uint8_t>(row.format) == code) return row.format;
  return fail(Errc::malformed, "message.format: is not a pixel format", "{}", code);
}

template <class E>
Result<E> checked(std::uint8_t code, E max_value, const char* what) {
  if (code > static_cast<std::uint8_t>(max_value)) return fail(Errc::malformed, what, "{}", code);
  return static_cast<E>(code);
}

Result<Colorimetry> colorimetry_of(const FrameHead& head) {
  Colorimetry c;
  HALYARD_TRY(c.space, checked(head.color_space, ColorSpace::smpte170m,
                               "message.color_space: is not a known value"));
  HALYARD_TRY(c.transfer, checked(head.color_transfer, ColorTransfer::linear,
                                  "message.color_transfer: is not a known value"));
  HALYARD_TRY(c.encoding, checked(head.color_encoding, ColorEncoding::bt2020,
                                  "message.color_encoding: is not a known value"));
  HALYARD_TRY(c.range, checked(head.color_range, ColorRange::limited,
                               "message.color_range: is not a known value"));
  return c;
}

Result<Orientation> orientation_of(const FrameHead& head) {
  Orientation o;
  HALYARD_TRY(o.flip, checked(head.flip, Flip::horizontal, "message.flip: is not a known value"));
  HALYARD_TRY(o.rotation,
              checked(head.rotation, Rotation::cw270, "message.rotation: is not a known value"));
  return o;
}

Status put_planes(const Tensor& tensor, FrameHead& head) {
  head.width = static_cast<std::uint16_t>(tensor.width());
  head.height = static_cast<std::uint32_t>(tensor.height());
  const FormatInfo& f = info(*tensor.format());
  HALYARD_TRY(const ImagePlane first, tensor.image_plane(0));
  head.plane[0] = {first.offset_bytes, first.stride_bytes};
  if (f.kind == FormatKind::planar) {
    HALYARD_TRY(const ImagePlane second, tensor.image_plane(1));
    head.planes = 1;
    head.plane_stride = second.offset_bytes - first.offset_bytes;
    return {};
  }
  head.planes = static_cast<std::uint8_t>(tensor.plane_count());
  for (std::size_t i = 1; i < head.planes; ++i) {
    HALYARD_TRY(const ImagePlane plane, tensor.image_plane(i));
    head.plane[i] = {plane.offset_bytes, plane.stride_bytes};
  }
  return {};
}

// The planes lie in one buffer, or each in a buffer of its own.
Result<Tensor> image_of(const FrameHead& head, std::span<const std::shared_ptr<Buffer>> buffers) {
  HALYARD_TRY(const PixelFormat format, format_from(head.format));
  const auto dtype = head.descriptor.dtype();
  if (!dtype) return fail(Errc::malformed, "descriptor.dtype: is not an element type");
  if (head.planes < 1 || head.planes > 3)
    return fail(Errc::malformed, "message.planes: must be 1..3", "{}", head.planes);
  if (buffers.size() != 1 && buffers.size() != head.planes) {
    return fail(Errc::malformed, "message.planes: its slot must list one buffer, or one per plane",
                "{} planes, {} buffers", head.planes, buffers.size());
  }
  std::array<Tensor::PlaneSource, 3> planes;
  for (std::size_t i = 0; i < head.planes; ++i)
    planes[i] = {buffers[buffers.size() == 1 ? 0 : i], head.plane[i].offset, head.plane[i].stride,
                 head.plane_stride};
  return Tensor::wrap_image(std::span(planes).first(head.planes), head.width, head.height, format,
                            *dtype, head.modifier);
}

}  // namespace

Result<FrameHead> head_of(const Tensor& tensor, const SlotBuffer& slot, bool is_dma) {
  FrameHead head;
  const SlotHome::Identity& home = slot.home()->identity();
  head.owner = home.node;
  head.arena_id = home.arena_id;
  HALYARD_TRY(head.descriptor, describe(tensor, slot));
  if (is_dma) {
    head.descriptor.set_device({.type = DeviceType::dma_buf});
    head.descriptor.offset = tensor.offset_bytes();
  }
  head.flip = static_cast<std::uint8_t>(tensor.orientation().flip);
  head.rotation = static_cast<std::uint8_t>(tensor.orientation().rotation);
  const Colorimetry& c = tensor.colorimetry();
  head.color_space = static_cast<std::uint8_t>(c.space);
  head.color_transfer = static_cast<std::uint8_t>(c.transfer);
  head.color_encoding = static_cast<std::uint8_t>(c.encoding);
  head.color_range = static_cast<std::uint8_t>(c.range);
  if (tensor.is_image()) {
    head.format = static_cast<std::uint8_t>(*tensor.format());
    head.modifier = tensor.modifier();
    HALYARD_RETURN_IF_ERROR(put_planes(tensor, head));
  }
  if (tensor.item_format()) head.item_format = static_cast<std::uint8_t>(*tensor.item_format());
  if (const auto& quantization = tensor.quantization()) {
    if (!quantization->is_per_tensor()) {
      return fail(Errc::unsupported, "frame: quantization must be per tensor, not per channel",
                  "{} scales", quantization->scale.size());
    }
    head.has_quantization = 1;
    head.scale = quantization->scale[0];
    head.zero_point = quantization->zero_point_at(0);
  }
  if (tensor.name().size() >= sizeof(head.name)) {
    return fail(Errc::unsupported, "frame: name must have at most 39 bytes", "{}",
                tensor.name().size());
  }
  std::copy(tensor.name().begin(), tensor.name().end(), head.name);
  return head;
}

namespace {

Result<Tensor> completed(const FrameHead& head, Result<Tensor> made) {
  HALYARD_TRY(Tensor tensor, std::move(made));
  HALYARD_TRY(const Colorimetry colorimetry, colorimetry_of(head));
  tensor.set_colorimetry(colorimetry);
  HALYARD_TRY(const Orientation orientation, orientation_of(head));
  tensor.set_orientation(orientation);
  if (head.item_format != FrameHead::no_format) {
    HALYARD_TRY(const PixelFormat format, format_from(head.item_format));
    HALYARD_RETURN_IF_ERROR(tensor.set_item_format(format));
  }
  if (head.has_quantization != 0) {
    HALYARD_RETURN_IF_ERROR(
        tensor.set_quantization(Quantization::per_tensor(head.scale, head.zero_point)));
  }
  if (head.name[0] != 0) {
    tensor.set_name(std::string(head.name, ::strnlen(head.name, sizeof(head.name))));
  }
  return tensor;
}

Result<Tensor> tensor_in(std::shared_ptr<Buffer> buffer, const TensorDescriptor& descriptor) {
  HALYARD_TRY(const Layout layout, descriptor.layout());
  const std::size_t size = buffer->size_bytes();
  if (descriptor.offset > size || descriptor.size > size - descriptor.offset) {
    return fail(Errc::corrupt, "descriptor: exceeds its buffer",
                "offset {} size {}, the buffer has {} bytes", descriptor.offset, descriptor.size,
                size);
  }
  return Tensor::wrap(std::move(buffer), layout, descriptor.offset);
}

}  // namespace

Result<Tensor> tensor_of(const FrameHead& head, std::shared_ptr<SlotBuffer> slot) {
  if (head.format == FrameHead::no_format)
    return completed(head, tensor_at(std::move(slot), head.descriptor));
  const std::shared_ptr<Buffer> buffer = std::move(slot);
  return completed(head, image_of(head, std::span(&buffer, 1)));
}

Result<Tensor> tensor_of(const FrameHead& head, std::span<const std::shared_ptr<Buffer>> buffers) {
  return completed(head, head.format != FrameHead::no_format
                             ? image_of(head, buffers)
                             : tensor_in(buffers.front(), head.descriptor));
}

namespace {

// Where the last plane or element ends in its buffer. SIZE_MAX if that is unknown.
std::size_t end_of(const Tensor& tensor) {
  if (!tensor.is_image()) {
    const auto reach = reach_of(tensor.layout());
    return reach ? tensor.offset_bytes() + static_cast<std::size_t>(reach->end) : SIZE_MAX;
  }
  if (tensor.modifier() != drm_modifier_linear) return SIZE_MAX;
  std::size_t end = 0;
  for (std::size_t i = 0; i < tensor.plane_count(); ++i) {
    const auto plane = tensor.image_plane(i);
    if (!plane) return SIZE_MAX;
    end = std::max(
        end, plane->offset_bytes + (plane->rows - 1) * plane->stride_bytes + plane->row_bytes);
  }
  return end;
}

}  // namespace

TensorForm::TensorForm(const Tensor& tensor) : Tensor(tensor), end_bytes_(end_of(tensor)) {
  Tensor::put_over(nullptr, *this);
}

[[gnu::hot]] Status TensorForm::put_over(std::shared_ptr<SlotBuffer> slot, std::uint64_t offset,
                                         Tensor& out) const {
  if (slot->size_bytes() < end_bytes_ || offset != offset_bytes()) {
    return fail(Errc::corrupt, "message.form: its tensor exceeds the slot",
                "{} bytes from byte {} on, the form has {} from {}", slot->size_bytes(), offset,
                end_bytes_, offset_bytes());
  }
  Tensor::put_over(std::move(slot), out);
  return {};
}

}  // namespace halyard::ipc
