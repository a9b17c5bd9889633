// SPDX-License-Identifier: Apache-2.0
// Takes tensors apart into messages and puts them together; the rules for messages at both ends.
#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "base/checked.h"
#include "base/text/format_error.h"
#include "tensor/exchange/tensor_message.h"
#include "tensor/image_storage.h"
#include "tensor/tensor_parts.h"

namespace halyard {
namespace {

constexpr auto largest_size = static_cast<std::size_t>(PTRDIFF_MAX);

Status check_enums(const TensorMessage& m) {
  const auto refuse = [](const char* what, auto value) {
    return fail(Errc::malformed, what, "{}", static_cast<unsigned>(value));
  };
  if (m.layout.dtype > DType::boolean) return refuse("message.dtype: unknown", m.layout.dtype);
  const std::size_t formats = all_formats().size();
  if (m.format && static_cast<std::size_t>(*m.format) >= formats)
    return refuse("message.format: unknown", *m.format);
  if (m.item_format && static_cast<std::size_t>(*m.item_format) >= formats)
    return refuse("message.item_format: unknown", *m.item_format);
  if (m.orientation.flip > Flip::horizontal)
    return refuse("message.orientation.flip: unknown", m.orientation.flip);
  if (m.orientation.rotation > Rotation::cw270)
    return refuse("message.orientation.rotation: unknown", m.orientation.rotation);
  const Colorimetry& c = m.colorimetry;
  if (c.space > ColorSpace::smpte170m) return refuse("message.colorimetry.space: unknown", c.space);
  if (c.transfer > ColorTransfer::linear)
    return refuse("message.colorimetry.transfer: unknown", c.transfer);
  if (c.encoding > ColorEncoding::bt2020)
    return refuse("message.colorimetry.encoding: unknown", c.encoding);
  if (c.range > ColorRange::limited) return refuse("message.colorimetry.range: unknown", c.range);
  return {};
}

Status check_layout(const Layout& layout) {
  std::size_t bytes = size_of(layout.dtype);
  for (const std::size_t extent : layout.dims()) {
    const auto product = checked_mul(bytes, std::max<std::size_t>(extent, 1));
    if (!product || *product > largest_size) {
      return fail(Errc::malformed, "message.shape: size in bytes overflows", "an extent of {}",
                  extent);
    }
    bytes = *product;
  }
  return {};
}

Status check_descriptors(const TensorMessage& m) {
  for (std::size_t i = 0; i < m.descriptor_count; ++i) {
    const TensorMessage::Descriptor& descriptor = m.descriptors[i];
    if (descriptor.size_bytes == 0 || descriptor.size_bytes > largest_size) {
      return fail(Errc::malformed, "message.descriptor.size: must be 1..2^63-1",
                  "descriptor {}: {}", i, descriptor.size_bytes);
    }
    if (descriptor.cpu_access > CpuAccess::read_write) {
      return fail(Errc::malformed, "message.descriptor.cpu_access: unknown", "descriptor {}: {}", i,
                  static_cast<unsigned>(descriptor.cpu_access));
    }
  }
  return {};
}

Status check_image(const TensorMessage& m) {
  if (!m.format) {
    if (m.width != 0 || m.height != 0 || m.plane_count != 1) {
      return fail(Errc::corrupt,
                  "message.format: must be set when there is a size or more than one plane",
                  "{} x {}, {} planes", m.width, m.height, m.plane_count);
    }
    return {};
  }
  if (m.item_format) {
    return fail(Errc::corrupt, "message.item_format: must be empty for an image");
  }
  // wrap_image() checks width and height.
  const std::size_t planes = storage_planes(info(*m.format));
  if (m.plane_count != planes) {
    return fail(Errc::corrupt, "message.planes.count: must be that of the format",
                "{} planes, {} has {}", m.plane_count, to_string(*m.format), planes);
  }
  return {};
}

Status check_planes(const TensorMessage& m) {
  for (std::size_t i = 0; i < m.plane_count; ++i) {
    const TensorMessage::Plane& plane = m.planes[i];
    if (plane.descriptor >= m.descriptor_count) {
      return fail(Errc::corrupt, "message.plane.descriptor: must be below the count of descriptors",
                  "plane {}: {} of {}", i, plane.descriptor, m.descriptor_count);
    }
    const std::size_t size = m.descriptors[plane.descriptor].size_bytes;
    if (plane.offset_bytes > size) {
      return fail(Errc::corrupt, "message.plane.offset: must not be beyond the memory",
                  "plane {}: {} of {} bytes", i, plane.offset_bytes, size);
    }
    if (plane.offset_bytes % size_of(m.layout.dtype) != 0) {
      return fail(Errc::malformed, "message.plane.offset: must be a multiple of the element size",
                  "plane {}: {} for {}", i, plane.offset_bytes, to_string(m.layout.dtype));
    }
    if ((plane.stride_bytes != 0) != m.format.has_value()) {
      return fail(Errc::corrupt, "message.plane.stride: must be above 0 for images, else 0",
                  "plane {}: {}", i, plane.stride_bytes);
    }
  }
  const auto planes = std::span(m.planes).first(m.plane_count);
  for (std::size_t i = 0; i < m.descriptor_count; ++i) {
    if (std::none_of(planes.begin(), planes.end(),
                     [i](const TensorMessage::Plane& plane) { return plane.descriptor == i; })) {
      return fail(Errc::corrupt, "message.descriptors: one belongs to no plane", "descriptor {}",
                  i);
    }
  }
  return {};
}

// Index of a plane's buffer among the buffers to send. A new buffer is added.
Result<std::size_t> descriptor_of(TensorParts& parts, const std::shared_ptr<Buffer>& buffer) {
  const auto known = std::find(parts.buffers.begin(), parts.buffers.end(), buffer);
  const auto index = static_cast<std::size_t>(known - parts.buffers.begin());
  if (known != parts.buffers.end()) return index;
  if (buffer->fd() < 0) {
    return fail(Errc::unsupported,
                "tensor: its memory has no descriptor to send; make it as Memory::shm or dma",
                "buffer {} of {}", buffer->id(), to_string(buffer->memory()));
  }
  parts.buffers.push_back(buffer);
  parts.message.descriptors[index] = {buffer->size_bytes(), buffer->cpu_access()};
  parts.message.descriptor_count = parts.buffers.size();
  return index;
}

Status take_planes(TensorParts& parts, const Tensor& tensor) {
  TensorMessage& m = parts.message;
  if (!tensor.is_image()) {
    HALYARD_TRY(const std::size_t index, descriptor_of(parts, tensor.buffer()));
    m.planes[0] = {index, tensor.offset_bytes(), 0};
    m.plane_count = 1;
    return {};
  }
  m.plane_count = storage_planes(info(*tensor.format()));
  for (std::size_t i = 0; i < m.plane_count; ++i) {
    HALYARD_TRY(const ImagePlane plane, tensor.image_plane(i));
    HALYARD_TRY(const std::size_t index, descriptor_of(parts, plane.buffer));
    m.planes[i] = {index, plane.offset_bytes, plane.stride_bytes};
  }
  return {};
}

Result<Tensor> wrap(const TensorMessage& m, std::span<const std::shared_ptr<Buffer>> buffers) {
  if (!m.format) {
    return Tensor::wrap(buffers[m.planes[0].descriptor], m.layout, m.planes[0].offset_bytes);
  }
  std::array<Tensor::PlaneSource, 3> sources;
  for (std::size_t i = 0; i < m.plane_count; ++i) {
    const TensorMessage::Plane& plane = m.planes[i];
    sources[i] = {buffers[plane.descriptor], plane.offset_bytes, plane.stride_bytes, 0};
  }
  if (info(*m.format).kind == FormatKind::planar) {
    sources[0].plane_stride_bytes = static_cast<std::size_t>(m.layout.stride_bytes[0]);
  }
  return Tensor::wrap_image(std::span(sources).first(m.plane_count), m.width, m.height, *m.format,
                            m.layout.dtype, m.modifier);
}

bool equal(const Layout& a, const Layout& b) {
  return a.dtype == b.dtype && std::ranges::equal(a.dims(), b.dims()) &&
         std::equal(a.stride_bytes.begin(), a.stride_bytes.begin() + a.rank,
                    b.stride_bytes.begin());
}

Error contradiction(const char* what, const Error& error) {
  return fail(Errc::corrupt, what, "{}", error.message());
}

}  // namespace

Status check_tensor_message(const TensorMessage& m) {
  HALYARD_RETURN_IF_ERROR(check_enums(m));
  HALYARD_RETURN_IF_ERROR(check_layout(m.layout));
  HALYARD_RETURN_IF_ERROR(check_image(m));
  HALYARD_RETURN_IF_ERROR(check_descriptors(m));
  HALYARD_RETURN_IF_ERROR(check_planes(m));
  if (!m.quantization) return {};
  if (const auto valid = validate(*m.quantization, m.layout.dtype, m.layout.dims()); !valid) {
    return fail(Errc::malformed, "message.quantization: is not valid", "{}",
                valid.error().message());
  }
  return {};
}

Result<TensorParts> take_apart(const Tensor& tensor) {
  if (tensor.is_empty()) {
    return fail(Errc::invalid_argument, "tensor: is empty, there is nothing to send");
  }
  TensorParts parts;
  HALYARD_RETURN_IF_ERROR(take_planes(parts, tensor));
  TensorMessage& m = parts.message;
  m.layout = tensor.layout();
  m.format = tensor.format();
  m.item_format = tensor.item_format();
  m.width = tensor.width();
  m.height = tensor.height();
  m.orientation = tensor.orientation();
  m.colorimetry = tensor.colorimetry();
  m.modifier = tensor.modifier();
  m.quantization = tensor.quantization();
  m.name = tensor.name();
  if (const auto valid = check_tensor_message(m); !valid) {
    return fail(Errc::invalid_argument, "tensor: a receiver would refuse it", "{}",
                valid.error().message());
  }
  return parts;
}

Result<Tensor> put_together(const TensorMessage& m,
                            std::span<const std::shared_ptr<Buffer>> buffers) {
  auto tensor = wrap(m, buffers);
  if (!tensor) return contradiction("message.planes: do not fit their memory", tensor.error());
  if (!equal(tensor->layout(), m.layout)) {
    return fail(Errc::corrupt, "message.layout: must be that of the image", "{} {}x{}",
                to_string(*m.format), m.width, m.height);
  }
  if (const auto set = tensor->set_item_format(m.item_format); !set) {
    return contradiction("message.item_format: does not fit the layout", set.error());
  }
  HALYARD_RETURN_IF_ERROR(tensor->set_quantization(m.quantization));
  tensor->set_orientation(m.orientation);
  tensor->set_colorimetry(m.colorimetry);
  tensor->set_modifier(m.modifier);
  tensor->set_name(m.name);
  return tensor;
}

}  // namespace halyard
