// SPDX-License-Identifier: Apache-2.0
// Reads and writes .npy files (NumPy Enhancement Proposal 1): a header that is a Python dict of
// three keys, then the elements.
#include "halyard/npy.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>

#include "base/text/format_error.h"
#include "halyard/codec.h"

namespace halyard {
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
  return make_error(Errc::malformed, "file is not a .npy array", std::move(detail));
}

/// The text after "'key':" without leading spaces; nullopt when the key is missing.
std::optional<std::string_view> value_of(std::string_view header, std::string_view key) {
  const std::size_t at = header.find(fmt::format("'{}'", key));
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view rest = header.substr(at + key.size() + 2);
  while (!rest.empty() && (rest.front() == ' ' || rest.front() == ':'))
    rest.remove_prefix(1);
  return rest;
}

Result<DType> parse_descr(std::string_view text) {
  if (text.size() < 5 || text.front() != '\'') return malformed("descr must be one quoted type");
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
    if (text.empty()) return malformed("shape has no closing parenthesis");
    if (text.front() == ')') break;
    std::size_t extent = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), extent);
    if (error != std::errc{}) return malformed("shape must hold numbers only");
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

std::optional<std::string_view> code_of(DType dtype) {
  for (const Code& code : codes)
    if (code.dtype == dtype) return code.name;
  return std::nullopt;
}

// Everything before the data. The data starts at a multiple of 64, as NumPy writes it.
std::string preamble(DType dtype, std::string_view code, std::span<const std::size_t> shape) {
  std::string extents;
  for (const std::size_t extent : shape)
    extents += fmt::format("{}{}", extents.empty() ? "" : ", ", extent);
  if (shape.size() == 1) extents += ',';
  std::string header = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}), }}",
                                   size_of(dtype) == 1 ? '|' : '<', code, extents);
  while ((10 + header.size() + 1) % 64 != 0)
    header += ' ';
  header += '\n';
  std::string head(magic);
  head += {'\x01', '\x00', static_cast<char>(header.size() & 0xff),
           static_cast<char>(header.size() >> 8)};
  return head + header;
}

}  // namespace

Result<Tensor> decode_npy(std::span<const std::byte> file) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  if (text.size() < 12 || !text.starts_with(magic))
    return malformed("it does not start with the .npy signature");
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
        fmt::format("{} bytes of data, the header declares {}", data.size(), layout.size_bytes()));
  HALYARD_TRY(auto tensor, Tensor::create(header.dtype, header.shape, Memory::mem));
  HALYARD_TRY(const auto map, tensor.map(Access::write));
  std::memcpy(map.writable(), data.data(), data.size());
  return tensor;
}

Result<Tensor> load_npy(const std::string& path, std::size_t max_bytes) {
  HALYARD_TRY(const auto file, read_file(path, max_bytes));
  return decode_npy(file);
}

Result<std::vector<std::byte>> encode_npy(DType dtype, std::span<const std::size_t> shape,
                                          std::span<const std::byte> bytes) {
  const auto code = code_of(dtype);
  if (!code)
    return fail(Errc::unsupported, "dtype cannot be stored in a .npy file", "{}", to_string(dtype));
  HALYARD_TRY(const auto layout, Layout::contiguous(dtype, shape));
  if (bytes.size() != layout.size_bytes())
    return fail(Errc::invalid_argument, "bytes: must hold the elements of shape",
                "{} bytes, {} are needed", bytes.size(), layout.size_bytes());
  const std::string head = preamble(dtype, *code, shape);
  std::vector<std::byte> file(head.size() + bytes.size());
  std::memcpy(file.data(), head.data(), head.size());
  if (!bytes.empty()) std::memcpy(file.data() + head.size(), bytes.data(), bytes.size());
  return file;
}

Result<std::vector<std::byte>> encode_npy(const Tensor& tensor) {
  if (const auto format = tensor.format()) {
    const FormatKind kind = info(*format).kind;
    if (kind != FormatKind::packed && kind != FormatKind::planar)
      return fail(Errc::unsupported, "tensor format must be packed or planar", "{}",
                  to_string(*format));
  }
  if (!code_of(tensor.dtype()))
    return fail(Errc::unsupported, "tensor dtype cannot be stored in a .npy file", "{}",
                to_string(tensor.dtype()));
  HALYARD_TRY(auto packed, Tensor::create(tensor.dtype(), tensor.shape(), Memory::mem));
  if (tensor.format()) {
    HALYARD_TRY(packed, packed.with_format(*tensor.format()));
  }
  HALYARD_RETURN_IF_ERROR(copy(tensor, packed));
  HALYARD_TRY(const auto map, packed.map(Access::read));
  const std::size_t size = packed.element_count() * size_of(packed.dtype());
  return encode_npy(packed.dtype(), packed.shape(), {map.data(), size});
}

Status save_npy(const Tensor& tensor, const std::string& path) {
  HALYARD_TRY(const auto file, encode_npy(tensor));
  return write_file(path, file);
}

}  // namespace halyard
