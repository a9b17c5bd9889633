// SPDX-License-Identifier: Apache-2.0
// What the codec's tests share: files made with libjpeg and libspng themselves, plain reference
// decoding, and images with guarded padding.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "halyard/codec.h"

namespace halyard::test {

using Bytes = std::vector<std::byte>;

/// Content of photos/`name` in the real test data; empty where HALYARD_TESTDATA_DIR is unset.
Bytes photo(const std::string& name);

/// Skips the test where the real test data is not there.
#define HALYARD_PHOTO(variable, name)                                   \
  const ::halyard::test::Bytes variable = ::halyard::test::photo(name); \
  if (variable.empty()) GTEST_SKIP() << "HALYARD_TESTDATA_DIR has no photos/" << (name)

/// What this build does with a kind of file.
inline const ImageFileKind& kind_of(ImageFileType type) {
  return image_file_kinds()[static_cast<std::size_t>(type)];
}

/// Appends a number of `bytes` bytes, the lowest first.
inline void put(Bytes& out, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i)
    out.push_back(static_cast<std::byte>(value >> (8 * i)));
}

inline Result<Tensor> load(std::span<const std::byte> file, const LoadOptions& options = {}) {
  return load_image(file, options);
}

/// `file` as an image of its own size.
inline Result<Tensor> load_as(std::span<const std::byte> file, PixelFormat format, DType dtype) {
  HALYARD_TRY(const auto header, peek(file));
  HALYARD_TRY(auto image, Tensor::create_image(header.width, header.height, format, dtype));
  HALYARD_RETURN_IF_ERROR(load_into(image, file, {.format = format}));
  return image;
}

/// The first plane's elements.
template <class T>
std::vector<T> elements(const Tensor& image);

/// `file` with `extra` put in at `at`.
Bytes with_inserted(const Bytes& file, std::size_t at, std::span<const std::byte> extra);

enum class Stored { ycbcr, rgb, grey, cmyk };

/// A JPEG of smooth colours and some texture.
struct JpegSpec {
  unsigned width = 50, height = 37;
  Stored stored = Stored::ycbcr;
  std::array<std::array<int, 2>, 3> sampling = {{{2, 2}, {1, 1}, {1, 1}}};
  bool progressive = false;
  bool interleaved = true;
  unsigned restart_interval = 0;
  int quality = 90;
  bool optimized = false;      ///< Huffman codes made for this image
  bool longest_first = false;  ///< the standard codes, the shortest for the rarest symbols
  unsigned noise = 0;          ///< added to the samples: 0 .. noise
  std::string exif{};          ///< APP1 payload
};
Bytes make_jpeg(const JpegSpec& spec);

/// Every pixel by libjpeg's scanline interface. YCbCr comes without smooth upsampling: each chroma
/// sample is repeated over its block.
std::vector<std::uint8_t> plain_jpeg(std::span<const std::byte> file, int color_space, bool smooth);

/// A PNG of the given samples (host order, 8 or 16 bit; packed for fewer bits).
struct PngSpec {
  unsigned width = 0, height = 0;
  int depth = 8;
  int color_type = 2;
  bool interlaced = false;
  std::vector<std::array<std::uint8_t, 3>> palette{};
  std::vector<std::uint8_t> palette_alpha{};
  std::optional<std::array<std::uint16_t, 3>> transparent_color{};
  std::string exif{};  ///< TIFF payload
};
Bytes make_png(const PngSpec& spec, std::span<const std::byte> samples);

/// A TIFF directory with the orientation tag alone.
std::string tiff_orientation(int value, bool big_endian);

/// An image whose rows lie `extra` bytes further apart than they must, every byte of it 0xA5.
struct Guarded {
  Tensor tensor;
  std::vector<std::uint8_t> memory;
};
std::unique_ptr<Guarded> make_guarded(std::size_t width, std::size_t height, PixelFormat format,
                                      std::size_t extra, DType dtype = DType::u8);
/// Bytes of the image's plane rows, and whether all others still are 0xA5.
bool padding_is_intact(const Guarded& image);

/// Rows of plane `index` without padding. `row_bytes` 0: the plane's own.
std::vector<std::uint8_t> plane_bytes(const Tensor& image, std::size_t index,
                                      std::size_t row_bytes = 0);

template <class T>
std::vector<T> elements(const Tensor& image) {
  const auto raw = plane_bytes(image, 0);
  std::vector<T> out(raw.size() / sizeof(T));
  std::memcpy(out.data(), raw.data(), raw.size());
  return out;
}

}  // namespace halyard::test
