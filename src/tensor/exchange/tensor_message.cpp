// SPDX-License-Identifier: Apache-2.0
// The wire form of a tensor message: writes it, and reads it without trusting the sender.
#include "tensor/exchange/tensor_message.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>
#include <utility>

#include "base/text/format_error.h"
#include "halyard/transfer.h"
#include "tensor/tensor_parts.h"

namespace halyard {
namespace {

constexpr std::array<char, 4> magic = {'H', 'Y', 'T', 'M'};
constexpr std::uint16_t byte_order_mark = 0x0102;
constexpr std::uint8_t no_format = 255;

class Writer {
 public:
  template <class T>
  void put(T value) {
    static_assert(std::is_arithmetic_v<T> || std::is_enum_v<T>);
    put_bytes(&value, sizeof(value));
  }
  void put_bytes(const void* data, std::size_t size) {
    const auto* first = static_cast<const std::byte*>(data);
    bytes_.insert(bytes_.end(), first, first + size);
  }
  void put_format(std::optional<PixelFormat> format) {
    put(format ? static_cast<std::uint8_t>(*format) : no_format);
  }
  std::vector<std::byte>& bytes() noexcept { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) noexcept : rest_(bytes) {}

  template <class T>
  Status get(const char* field, T& value) {
    static_assert(std::is_arithmetic_v<T> || std::is_enum_v<T>);
    return get_bytes(field, &value, sizeof(value));
  }
  /// Reads a number whose type on the wire differs from that of `value`.
  template <class Wire, class T>
  Status get_as(const char* field, T& value) {
    Wire wire{};
    HALYARD_RETURN_IF_ERROR(get(field, wire));
    value = static_cast<T>(wire);
    return {};
  }
  /// Reads `count` numbers. Allocates nothing if fewer are left.
  template <class T>
  Status get_all(const char* field, std::size_t count, std::vector<T>& values) {
    if (count > rest_.size() / sizeof(T)) return ends_early(field);
    values.resize(count);
    return get_bytes(field, values.data(), count * sizeof(T));
  }
  Status get_text(const char* field, std::size_t size, std::string& text) {
    if (size > rest_.size()) return ends_early(field);
    text.resize(size);
    return get_bytes(field, text.data(), size);
  }
  Status get_format(const char* field, std::optional<PixelFormat>& format) {
    std::uint8_t wire = 0;
    HALYARD_RETURN_IF_ERROR(get(field, wire));
    if (wire != no_format) format = static_cast<PixelFormat>(wire);
    return {};
  }
  std::size_t left() const noexcept { return rest_.size(); }

 private:
  Status get_bytes(const char* field, void* to, std::size_t size) {
    if (size > rest_.size()) return ends_early(field);
    if (size != 0) std::memcpy(to, rest_.data(), size);
    rest_ = rest_.subspan(size);
    return {};
  }
  Error ends_early(const char* field) const {
    return fail(Errc::corrupt, "message: ends before its last field", "in {}", field);
  }
  std::span<const std::byte> rest_;
};

Status read_descriptors(Reader& in, TensorMessage& message) {
  for (std::size_t i = 0; i < message.descriptor_count; ++i) {
    TensorMessage::Descriptor& descriptor = message.descriptors[i];
    HALYARD_RETURN_IF_ERROR(in.get_as<std::uint64_t>("descriptor.size", descriptor.size_bytes));
    HALYARD_RETURN_IF_ERROR(in.get("descriptor.cpu_access", descriptor.cpu_access));
  }
  return {};
}

Status read_layout(Reader& in, Layout& layout) {
  HALYARD_RETURN_IF_ERROR(in.get("dtype", layout.dtype));
  HALYARD_RETURN_IF_ERROR(in.get("rank", layout.rank));
  if (layout.rank == 0 || layout.rank > max_rank) {
    return fail(Errc::malformed, "message.rank: must be 1..8", "{}", layout.rank);
  }
  for (std::size_t axis = 0; axis < layout.rank; ++axis) {
    HALYARD_RETURN_IF_ERROR(in.get_as<std::uint64_t>("shape", layout.shape[axis]));
    HALYARD_RETURN_IF_ERROR(in.get_as<std::int64_t>("strides", layout.stride_bytes[axis]));
  }
  return {};
}

Status read_image_part(Reader& in, TensorMessage& message) {
  HALYARD_RETURN_IF_ERROR(in.get_format("format", message.format));
  HALYARD_RETURN_IF_ERROR(in.get_format("item_format", message.item_format));
  HALYARD_RETURN_IF_ERROR(in.get_as<std::uint16_t>("width", message.width));
  HALYARD_RETURN_IF_ERROR(in.get("orientation.flip", message.orientation.flip));
  HALYARD_RETURN_IF_ERROR(in.get("orientation.rotation", message.orientation.rotation));
  HALYARD_RETURN_IF_ERROR(in.get_as<std::uint32_t>("height", message.height));
  HALYARD_RETURN_IF_ERROR(in.get("colorimetry.space", message.colorimetry.space));
  HALYARD_RETURN_IF_ERROR(in.get("colorimetry.transfer", message.colorimetry.transfer));
  HALYARD_RETURN_IF_ERROR(in.get("colorimetry.encoding", message.colorimetry.encoding));
  HALYARD_RETURN_IF_ERROR(in.get("colorimetry.range", message.colorimetry.range));
  return in.get("modifier", message.modifier);
}

Status read_planes(Reader& in, TensorMessage& message) {
  HALYARD_RETURN_IF_ERROR(in.get_as<std::uint8_t>("planes.count", message.plane_count));
  if (message.plane_count == 0 || message.plane_count > message.planes.size()) {
    return fail(Errc::malformed, "message.planes.count: must be 1..3", "{}", message.plane_count);
  }
  for (std::size_t i = 0; i < message.plane_count; ++i) {
    TensorMessage::Plane& plane = message.planes[i];
    HALYARD_RETURN_IF_ERROR(in.get_as<std::uint8_t>("plane.descriptor", plane.descriptor));
    HALYARD_RETURN_IF_ERROR(in.get_as<std::uint64_t>("plane.offset", plane.offset_bytes));
    HALYARD_RETURN_IF_ERROR(in.get_as<std::uint64_t>("plane.stride", plane.stride_bytes));
  }
  return {};
}

Status read_quantization(Reader& in, std::optional<Quantization>& quantization) {
  std::uint32_t scales = 0;
  std::uint32_t zero_points = 0;
  std::int32_t axis = -1;
  HALYARD_RETURN_IF_ERROR(in.get("quantization.scales", scales));
  HALYARD_RETURN_IF_ERROR(in.get("quantization.zero_points", zero_points));
  HALYARD_RETURN_IF_ERROR(in.get("quantization.axis", axis));
  if (axis < -1 || (scales == 0 && (zero_points != 0 || axis != -1))) {
    return fail(Errc::malformed, "message.quantization: axis below -1, or set without scales",
                "{} scales, {} zero points, axis {}", scales, zero_points, axis);
  }
  if (scales == 0) return {};
  Quantization read;
  HALYARD_RETURN_IF_ERROR(in.get_all("quantization.scales", scales, read.scale));
  HALYARD_RETURN_IF_ERROR(in.get_all("quantization.zero_points", zero_points, read.zero_point));
  if (axis >= 0) read.axis = static_cast<std::size_t>(axis);
  quantization = std::move(read);
  return {};
}

Status read_name(Reader& in, std::string& name) {
  std::uint32_t size = 0;
  HALYARD_RETURN_IF_ERROR(in.get("name.size", size));
  return in.get_text("name", size, name);
}

void write_image(Writer& out, const TensorMessage& m) {
  out.put_format(m.format);
  out.put_format(m.item_format);
  out.put(static_cast<std::uint16_t>(m.width));
  out.put(m.orientation.flip);
  out.put(m.orientation.rotation);
  out.put(static_cast<std::uint32_t>(m.height));
  out.put(m.colorimetry.space);
  out.put(m.colorimetry.transfer);
  out.put(m.colorimetry.encoding);
  out.put(m.colorimetry.range);
  out.put(m.modifier);
  out.put(static_cast<std::uint8_t>(m.plane_count));
  for (const auto& plane : std::span(m.planes).first(m.plane_count)) {
    out.put(static_cast<std::uint8_t>(plane.descriptor));
    out.put(std::uint64_t{plane.offset_bytes});
    out.put(std::uint64_t{plane.stride_bytes});
  }
}

void write_quantization(Writer& out, const Quantization& q) {
  out.put(static_cast<std::uint32_t>(q.scale.size()));
  out.put(static_cast<std::uint32_t>(q.zero_point.size()));
  out.put(q.axis ? static_cast<std::int32_t>(*q.axis) : std::int32_t{-1});
  out.put_bytes(q.scale.data(), q.scale.size() * sizeof(float));
  out.put_bytes(q.zero_point.data(), q.zero_point.size() * sizeof(std::int32_t));
}

}  // namespace

Result<std::vector<std::byte>> encode_tensor_message(const TensorMessage& m) {
  Writer out;
  out.put_bytes(magic.data(), magic.size());
  out.put(byte_order_mark);
  out.put(tensor_message_version);
  const std::size_t size_at = out.bytes().size();
  out.put(std::uint32_t{0});  // the size, written at the end
  out.put(static_cast<std::uint32_t>(m.descriptor_count));
  for (const auto& descriptor : std::span(m.descriptors).first(m.descriptor_count)) {
    out.put(std::uint64_t{descriptor.size_bytes});
    out.put(descriptor.cpu_access);
  }
  out.put(m.layout.dtype);
  out.put(m.layout.rank);
  for (std::size_t axis = 0; axis < std::min<std::size_t>(m.layout.rank, max_rank); ++axis) {
    out.put(std::uint64_t{m.layout.shape[axis]});
    out.put(std::int64_t{m.layout.stride_bytes[axis]});
  }
  write_image(out, m);
  write_quantization(out, m.quantization.value_or(Quantization{}));
  out.put(static_cast<std::uint32_t>(m.name.size()));
  out.put_bytes(m.name.data(), m.name.size());
  const std::size_t size = out.bytes().size();
  if (size > tensor_message_limit) {
    return fail(Errc::invalid_argument, "tensor: its name and scales are too long for a message",
                "{} bytes of at most {}", size, tensor_message_limit);
  }
  const auto wire_size = static_cast<std::uint32_t>(size);
  std::memcpy(out.bytes().data() + size_at, &wire_size, sizeof(wire_size));
  return std::move(out.bytes());
}

Result<MessageHeader> decode_message_header(std::span<const std::byte> bytes) {
  Reader in(bytes);
  std::array<char, 4> seen_magic{};
  for (char& character : seen_magic)
    HALYARD_RETURN_IF_ERROR(in.get("magic", character));
  if (seen_magic != magic) return fail(Errc::malformed, "message.magic: not a tensor message");
  std::uint16_t order = 0;
  std::uint16_t version = 0;
  MessageHeader header;
  HALYARD_RETURN_IF_ERROR(in.get("byte_order", order));
  if (order != byte_order_mark) {
    return fail(Errc::malformed, "message.byte_order: not this machine's", "{:#06x}", order);
  }
  HALYARD_RETURN_IF_ERROR(in.get("version", version));
  if (version != tensor_message_version) {
    return fail(Errc::version, "message.version: not supported", "{}, this library supports {}",
                version, tensor_message_version);
  }
  HALYARD_RETURN_IF_ERROR(in.get_as<std::uint32_t>("size", header.size_bytes));
  HALYARD_RETURN_IF_ERROR(in.get_as<std::uint32_t>("descriptors", header.descriptors));
  if (header.size_bytes < message_header_bytes || header.size_bytes > tensor_message_limit) {
    return fail(Errc::malformed, "message.size: outside its limits", "{} bytes, limits {}..{}",
                header.size_bytes, message_header_bytes, tensor_message_limit);
  }
  if (header.descriptors == 0 || header.descriptors > message_descriptor_limit) {
    return fail(Errc::malformed, "message.descriptors: must be 1..3", "{}", header.descriptors);
  }
  return header;
}

Result<TensorMessage> decode_tensor_message(std::span<const std::byte> bytes,
                                            std::size_t descriptors) {
  HALYARD_TRY(const MessageHeader header, decode_message_header(bytes));
  if (header.size_bytes != bytes.size()) {
    return fail(Errc::corrupt, "message.size: must be the bytes received",
                "{} in the header, {} received", header.size_bytes, bytes.size());
  }
  if (header.descriptors != descriptors) {
    return fail(Errc::corrupt, "message.descriptors: must be the count received",
                "{} in the header, {} received", header.descriptors, descriptors);
  }
  Reader in(bytes.subspan(message_header_bytes));
  TensorMessage message;
  message.descriptor_count = descriptors;
  HALYARD_RETURN_IF_ERROR(read_descriptors(in, message));
  HALYARD_RETURN_IF_ERROR(read_layout(in, message.layout));
  HALYARD_RETURN_IF_ERROR(read_image_part(in, message));
  HALYARD_RETURN_IF_ERROR(read_planes(in, message));
  HALYARD_RETURN_IF_ERROR(read_quantization(in, message.quantization));
  HALYARD_RETURN_IF_ERROR(read_name(in, message.name));
  if (in.left() != 0) {
    return fail(Errc::corrupt, "message: has bytes after its end", "{}", in.left());
  }
  HALYARD_RETURN_IF_ERROR(check_tensor_message(message));
  return message;
}

}  // namespace halyard
