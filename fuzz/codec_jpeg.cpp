// SPDX-License-Identifier: Apache-2.0
// JPEG bytes: header, native planes and packed pixels; compares our decoder of Huffman codes with
// libjpeg's.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>

#include "codec/jpeg/jpeg_decode.h"
#include "halyard/codec.h"
#include "source.h"

namespace {

// The promises of a loaded image and of a refusal.
void check(const halyard::ImageFileInfo& header, const halyard::Result<halyard::Tensor>& image) {
  if (image && (image->width() != header.width || image->height() != header.height)) {
    std::abort();
  }
  if (!image && image.error().message().empty()) std::abort();
}

using halyard::codec::JpegEntropyChoice;
using halyard::codec::JpegHeader;
using halyard::fuzz::expect;

halyard::Status decode(std::span<const std::byte> file, const JpegHeader& header,
                       const halyard::DecodeLimits& limits, JpegEntropyChoice choice,
                       const halyard::Tensor& into) {
  const auto map = into.map(halyard::Access::write);
  expect(map.has_value());
  return halyard::codec::decode_jpeg(file, header, header.info.native_format, *map, limits, choice);
}

void expect_same_pixels(const halyard::Tensor& a, const halyard::Tensor& b) {
  const auto map_a = a.map(halyard::Access::read);
  const auto map_b = b.map(halyard::Access::read);
  expect(map_a && map_b);
  for (std::size_t p = 0; p < map_a->plane_count(); ++p) {
    const auto& [data, writable, stride, row_bytes, rows] = map_a->plane(p);
    for (std::size_t y = 0; y < rows; ++y) {
      const auto& other = map_b->plane(p);
      expect(std::memcmp(data + y * stride, other.data + y * other.stride_bytes, row_bytes) == 0);
    }
  }
}

// The result and the pixels are the same with both decoders of Huffman codes. A file that ours
// decodes alone is valid.
void compare_decoders(std::span<const std::byte> file, const halyard::DecodeLimits& limits) {
  const auto header = halyard::codec::parse_jpeg_header(file, limits);
  if (!header) return;
  const auto make = [&] {
    return halyard::Tensor::create_image(header->info.width, header->info.height,
                                         header->info.native_format, halyard::DType::u8,
                                         halyard::Memory::mem);
  };
  const auto expected = make(), found = make();
  if (!expected || !found) return;
  const auto peer = decode(file, *header, limits, JpegEntropyChoice::libjpeg, *expected);
  const auto alone = decode(file, *header, limits, JpegEntropyChoice::own, *found);
  expect(peer || !alone);
  if (alone) expect_same_pixels(*expected, *found);
  const auto either = decode(file, *header, limits, JpegEntropyChoice::automatic, *found);
  expect(peer.has_value() == either.has_value());
  if (!peer) expect(peer.error().message() == either.error().message());
  if (peer) expect_same_pixels(*expected, *found);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto file = std::as_bytes(std::span(data, size));
  halyard::LoadOptions options{.memory = halyard::Memory::mem,
                               .limits = {.max_pixels = std::size_t{1} << 18}};
  const auto header = halyard::peek(file, options.limits);
  if (!header) {
    if (header.error().message().empty()) std::abort();
    return 0;
  }
  if (header->width * header->height > options.limits.max_pixels) std::abort();
  check(*header, halyard::load_image(file, options));
  options.format = halyard::PixelFormat::rgb;
  check(*header, halyard::load_image(file, options));
  compare_decoders(file, options.limits);
  return 0;
}
