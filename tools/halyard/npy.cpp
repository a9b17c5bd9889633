// SPDX-License-Identifier: Apache-2.0
// Format: NumPy Enhancement Proposal 1. The header is a Python dict of three keys.
#include "npy.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>

#include "values.h"

namespace halyard::tool {
namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t max_header_bytes = 65536;

struct Code {
  std::string_view name;
  DType dtype;
};
constexpr std::array<Code, 12> codes{{{"u1", DType::u8},
                                      {"i1", DType::i8},
                                      {"u2", DType::u16},
                                      {"i2", DType::i16},
                                      {"u4", DType::u32},
                                      {"i4", DType::i32},
                                      {"u8", DType::u64},
                                      {"i8", DType::i64},
                                      {"f2", DType::f16},
                                      {"f4", DType::f32},
                                      {"f8", DType::f64},
                                      {"b1", DType::boolean}}};

struct Header {
  DType dtype = DType::u8;
  std::vector<std::size_t> shape;
};

Error malformed(std::string detail) {
  return make_error(Errc::malformed, "file is no .npy array", std::move(detail));
}

/// Text behind "'key':", spaces skipped; nothing when the key is missing.
std::optional<std::string_view> value_of(std::string_view header, std::string_view key) {
  const std::size_t at = header.find(fmt::format("'{}'", key));
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view rest = header.substr(at + key.size() + 2);
  while (!rest.empty() && (rest.front() == ' ' || rest.front() == ':'))
    rest.remove_prefix(1);
  return rest;
}

Result<DType> parse_descr(std::string_view text) {
  if (text.size() < 5 || text.front() != '\'') return malformed("dtype is not a simple one");
  const std::string_view descr = text.substr(1, text.find('\'', 1) - 1);
  if (descr.size() == 3 && descr[0] != '>') {
    for (const Code& code : codes)
      if (descr.substr(1) == code.name) return code.dtype;
  }
  return make_error(Errc::unsupported, "dtype of the array must be a little-endian number",
                    std::string(descr));
}

Result<std::vector<std::size_t>> parse_shape(std::string_view text) {
  std::vector<std::size_t> shape;
  if (text.empty() || text.front() != '(') return malformed("shape is not a tuple");
  text.remove_prefix(1);
  while (true) {
    while (!text.empty() && (text.front() == ' ' || text.front() == ','))
      text.remove_prefix(1);
    if (text.empty()) return malformed("shape does not end");
    if (text.front() == ')') break;
    std::size_t extent = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), extent);
    if (error != std::errc{}) return malformed("shape holds something else than numbers");
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    shape.push_back(extent);
    if (shape.size() > max_rank) return malformed("rank is above 8");
  }
  if (shape.empty()) shape.push_back(1);
  for (const std::size_t extent : shape)
    if (extent == 0) return malformed("the array is empty");
  return shape;
}

Result<Header> parse_header(std::string_view text) {
  const auto descr = value_of(text, "descr");
  const auto order = value_of(text, "fortran_order");
  const auto extents = value_of(text, "shape");
  if (!descr || !order || !extents) return malformed("header lacks descr, fortran_order or shape");
  Header header;
  HALYARD_TRY(header.dtype, parse_descr(*descr));
  HALYARD_TRY(header.shape, parse_shape(*extents));
  if (!order->starts_with("False") && header.shape.size() > 1)
    return make_error(Errc::unsupported, "array must be in C order", "fortran_order is True");
  return header;
}

void copy_planes(const TensorMap& map, PixelFormat format, DType dtype, Size size,
                 std::span<std::byte> raw, bool to_raw) {
  for (std::size_t i = 0; i < map.plane_count(); ++i) {
    const auto geometry = plane_geometry(format, dtype, static_cast<std::size_t>(size.width),
                                         static_cast<std::size_t>(size.height), 0, i);
    if (!geometry) return;
    const MappedPlane& plane = map.plane(i);
    for (std::size_t row = 0; row < plane.rows; ++row) {
      std::byte* mine = raw.data() + geometry->offset_bytes + row * geometry->stride_bytes;
      if (to_raw)
        std::memcpy(mine, plane.data + row * plane.stride_bytes, plane.row_bytes);
      else
        std::memcpy(plane.writable + row * plane.stride_bytes, mine, plane.row_bytes);
    }
  }
}

}  // namespace

Result<Tensor> parse_npy(std::span<const std::byte> file) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  if (text.size() < 12 || !text.starts_with(magic)) return malformed("it does not start as one");
  const auto byte = [&](std::size_t at) { return std::to_integer<std::size_t>(file[at]); };
  const std::size_t major = byte(6);
  if (major < 1 || major > 3) return malformed(fmt::format("format version {}", major));
  const std::size_t start = major == 1 ? 10 : 12;
  std::size_t length = byte(8) | byte(9) << 8;
  if (major > 1) length |= byte(10) << 16 | byte(11) << 24;
  if (length > max_header_bytes || length > text.size() - start)
    return malformed(fmt::format("header of {} bytes in a file of {}", length, text.size()));
  HALYARD_TRY(const auto header, parse_header(text.substr(start, length)));
  HALYARD_TRY(const auto layout, Layout::contiguous(header.dtype, header.shape));
  const auto data = file.subspan(start + length);
  if (data.size() != layout.size_bytes())
    return malformed(
        fmt::format("{} bytes of data, the header says {}", data.size(), layout.size_bytes()));
  HALYARD_TRY(auto tensor, Tensor::create(header.dtype, header.shape, Memory::mem));
  HALYARD_TRY(const auto map, tensor.map(Access::write));
  std::memcpy(map.writable(), data.data(), data.size());
  return tensor;
}

Result<Tensor> read_npy(const std::string& path) {
  HALYARD_TRY(const auto file, read_input(path));
  return parse_npy(file);
}

std::vector<std::byte> make_npy(DType dtype, std::span<const std::size_t> shape,
                                std::span<const std::byte> bytes) {
  std::string_view name = "u1";
  for (const Code& code : codes)
    if (code.dtype == dtype) name = code.name;
  std::string extents;
  for (const std::size_t extent : shape)
    extents += fmt::format("{}, ", extent);
  std::string header = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}), }}",
                                   size_of(dtype) == 1 ? '|' : '<', name, extents);
  // Data starts at a multiple of 64, as NumPy writes it.
  while ((10 + header.size() + 1) % 64 != 0)
    header += ' ';
  header += '\n';
  std::string head(magic);
  head += {'\x01', '\x00', static_cast<char>(header.size() & 0xff),
           static_cast<char>(header.size() >> 8)};
  head += header;
  std::vector<std::byte> file(head.size() + bytes.size());
  std::memcpy(file.data(), head.data(), head.size());
  if (!bytes.empty()) std::memcpy(file.data() + head.size(), bytes.data(), bytes.size());
  return file;
}

Result<RawPicture> raw_picture(const Tensor& picture) {
  const PixelFormat format = *picture.format();
  const DType dtype = picture.dtype();
  const std::size_t height = picture.height();
  HALYARD_TRY(const auto total, image_bytes(format, dtype, picture.width(), height, 0));
  RawPicture raw;
  raw.bytes.resize(total);
  const FormatKind kind = info(format).kind;
  if (kind == FormatKind::packed || kind == FormatKind::planar) {
    raw.shape.assign(picture.shape().begin(), picture.shape().end());
  } else {
    HALYARD_TRY(const auto stride, tight_stride(format, dtype, picture.width()));
    raw.shape = {total / stride, stride / size_of(dtype)};
  }
  HALYARD_TRY(const auto map, picture.map(Access::read));
  copy_planes(map, format, dtype, picture.size(), raw.bytes, true);
  return raw;
}

Result<Tensor> picture_from_raw(std::span<const std::byte> bytes, Size size, PixelFormat format,
                                DType dtype) {
  const auto width = static_cast<std::size_t>(size.width);
  const auto height = static_cast<std::size_t>(size.height);
  HALYARD_TRY(const auto total, image_bytes(format, dtype, width, height, 0));
  if (bytes.size() != total)
    return make_error(Errc::invalid_argument, "raw picture has another length than its size asks",
                      fmt::format("{} bytes, {} of {}x{} in {} has {}", bytes.size(),
                                  to_string(format), width, height, to_string(dtype), total));
  HALYARD_TRY(auto picture, Tensor::create_image(width, height, format, dtype));
  HALYARD_TRY(const auto map, picture.map(Access::write));
  std::vector<std::byte> raw(bytes.begin(), bytes.end());
  copy_planes(map, format, dtype, size, raw, false);
  return picture;
}

}  // namespace halyard::tool
