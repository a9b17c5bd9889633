// SPDX-License-Identifier: Apache-2.0
// Decodes BMP pixels: rows straight from the file; run lengths are first unpacked to an image of
// indices.
#include <cstring>

#include "base/text/format_error.h"
#include "codec/cancel.h"
#include "codec/formats/bmp_header.h"
#include "codec/formats/file_format.h"

namespace halyard::codec {
namespace {

Error ends_early(std::size_t bytes) {
  return fail(Errc::corrupt, "the BMP data ends early", "{} bytes", bytes);
}

bool is_packed(const BmpHeader& bmp) {
  return bmp.packing == BmpPacking::rle8 || bmp.packing == BmpPacking::rle4;
}

Result<FormatHeader> parse_bmp(std::span<const std::byte> file, const DecodeLimits& limits) {
  HALYARD_TRY(const BmpHeader bmp, parse_bmp_header(file, limits));
  FormatHeader header;
  ImageFileInfo& info = header.info;
  info.type = ImageFileType::bmp;
  info.width = bmp.width;
  info.height = bmp.height;
  info.palette = bmp.bits <= 8;
  info.bit_depth = bmp.bits <= 8 ? static_cast<int>(bmp.bits) : 8;
  info.native_format = bmp.is_grey()     ? PixelFormat::grey
                       : bmp.has_alpha() ? PixelFormat::rgba
                                         : PixelFormat::rgb;
  info.components = bmp.is_grey() ? 1 : bmp.has_alpha() ? 4 : 3;
  info.colorimetry = srgb_colorimetry(info.native_format);
  if (is_packed(bmp)) {
    header.working_bytes = bmp.width * bmp.height;
  } else if ((file.size() - bmp.data_at) / bmp.height < bmp.row_bytes()) {
    return ends_early(file.size());
  }
  return header;
}

/// One pixel of 16 or 32 bits: a mask selects each channel, which is scaled to 0..255 and rounded.
class Masks {
 public:
  explicit Masks(const std::array<std::uint32_t, 4>& masks) {
    for (std::size_t i = 0; i < 4; ++i) {
      mask_[i] = masks[i];
      shift_[i] = masks[i] == 0 ? 0 : __builtin_ctz(masks[i]);
      max_[i] = masks[i] >> shift_[i];
    }
  }
  std::uint8_t channel(std::uint32_t pixel, std::size_t i) const {
    if (mask_[i] == 0) return i == 3 ? 255 : 0;
    const std::uint64_t value = (pixel & mask_[i]) >> shift_[i];
    return static_cast<std::uint8_t>((value * 255 + max_[i] / 2) / max_[i]);
  }

 private:
  std::array<std::uint32_t, 4> mask_{}, max_{};
  std::array<int, 4> shift_{};
};

/// An index of 1, 4 or 8 bits.
std::size_t index_at(const std::byte* row, std::size_t x, unsigned bits) {
  const std::size_t bit = x * bits;
  const unsigned byte = std::to_integer<unsigned>(row[bit / 8]);
  return byte >> (8 - bits - bit % 8) & ((1U << bits) - 1);
}

/// Converts the file's rows to channels.
class BmpRowReader {
 public:
  explicit BmpRowReader(const BmpHeader& bmp)
      : bmp_(bmp), masks_(bmp.masks), channels_(bmp.bits == 24 || bmp.bits <= 8 ? 3 : 4) {
    if (bmp.is_grey()) channels_ = 1;
    out_.resize(bmp.width * channels_);
  }
  std::size_t channels() const { return channels_; }

  /// Errors: corrupt (an index that is not in the palette).
  Result<const std::byte*> read(const std::byte* row, unsigned index_bits) {
    auto* out = reinterpret_cast<std::uint8_t*>(out_.data());
    for (std::size_t x = 0; x < bmp_.width; ++x, out += channels_) {
      if (bmp_.bits <= 8) {
        const std::size_t index = index_at(row, x, index_bits);
        if (index >= bmp_.palette.size())
          return fail(Errc::corrupt, "BMP uses a colour that its palette does not have", "{} of {}",
                      index, bmp_.palette.size());
        std::memcpy(out, bmp_.palette[index].data(), channels_);
      } else if (bmp_.bits == 24) {
        for (std::size_t c = 0; c < 3; ++c)
          out[c] = std::to_integer<std::uint8_t>(row[3 * x + 2 - c]);
      } else {
        const std::span bytes(row, bmp_.row_bytes());
        const std::uint32_t pixel = bmp_.bits == 16 ? le16(bytes, 2 * x) : le32(bytes, 4 * x);
        for (std::size_t c = 0; c < 4; ++c)
          out[c] = masks_.channel(pixel, c);
      }
    }
    return out_.data();
  }

 private:
  const BmpHeader& bmp_;
  Masks masks_;
  std::size_t channels_;
  std::vector<std::byte> out_;
};

/// Unpacks RLE4 and RLE8 into one byte per pixel. Pixels that the runs skip have index 0.
class RunReader {
 public:
  RunReader(const BmpHeader& bmp, std::span<const std::byte> data)
      : bmp_(bmp), data_(data), indices_(bmp.width * bmp.height) {}

  Status read() {
    while (!is_done_) {
      if (data_.size() - at_ < 2) return ends_early(data_.size());
      const unsigned count = next(), value = next();
      HALYARD_RETURN_IF_ERROR(count != 0 ? add_run(count, value) : escape(value));
    }
    return {};
  }
  const std::byte* row(std::size_t y) const { return indices_.data() + y * bmp_.width; }

 private:
  unsigned next() { return std::to_integer<unsigned>(data_[at_++]); }
  bool is_nibbles() const { return bmp_.packing == BmpPacking::rle4; }

  /// Rows are counted from the bottom, as in the file.
  Status store(unsigned index) {
    if (y_ >= bmp_.height || x_ >= bmp_.width)
      return fail(Errc::corrupt, "the BMP data writes outside the image", "at {}, {}", x_, y_);
    indices_[y_ * bmp_.width + x_++] = static_cast<std::byte>(index);
    return {};
  }
  Status add_run(unsigned count, unsigned value) {
    for (unsigned i = 0; i < count; ++i)
      HALYARD_RETURN_IF_ERROR(store(!is_nibbles() ? value : i % 2 == 0 ? value >> 4 : value & 15U));
    return {};
  }
  Status escape(unsigned code) {
    if (code == 0) {  // the end of the row
      x_ = 0;
      ++y_;
    } else if (code == 1) {  // the end of the image
      is_done_ = true;
    } else if (code == 2) {  // a step to the right and up
      if (data_.size() - at_ < 2) return ends_early(data_.size());
      x_ += next();
      y_ += next();
    } else {
      return add_literals(code);
    }
    return {};
  }
  Status add_literals(unsigned count) {
    const std::size_t bytes = is_nibbles() ? (count + 1) / 2 : count;
    const std::size_t padded = (bytes + 1) / 2 * 2;
    if (data_.size() - at_ < padded) return ends_early(data_.size());
    for (unsigned i = 0; i < count; ++i) {
      const unsigned byte = std::to_integer<unsigned>(data_[at_ + (is_nibbles() ? i / 2 : i)]);
      HALYARD_RETURN_IF_ERROR(store(!is_nibbles() ? byte : i % 2 == 0 ? byte >> 4 : byte & 15U));
    }
    at_ += padded;
    return {};
  }

  const BmpHeader& bmp_;
  std::span<const std::byte> data_;
  std::vector<std::byte> indices_;
  std::size_t at_ = 0, x_ = 0, y_ = 0;
  bool is_done_ = false;
};

Status decode_bmp(std::span<const std::byte> file, const FormatHeader&, RowSink& sink) {
  HALYARD_TRY(const BmpHeader bmp,
              parse_bmp_header(file, DecodeLimits{SIZE_MAX, SIZE_MAX, SIZE_MAX}));
  const std::span<const std::byte> data = file.subspan(bmp.data_at);
  BmpRowReader reader(bmp);
  std::optional<RunReader> runs;
  if (is_packed(bmp)) {
    runs.emplace(bmp, data);
    HALYARD_RETURN_IF_ERROR(runs->read());
  } else if (data.size() / bmp.height < bmp.row_bytes()) {
    return ends_early(file.size());
  }
  for (std::size_t line = 0; line < bmp.height; ++line) {
    if (is_cancelled()) return cancelled_error();
    const std::byte* row = runs ? runs->row(line) : data.data() + line * bmp.row_bytes();
    HALYARD_TRY(const std::byte* const channels, reader.read(row, runs ? 8 : bmp.bits));
    sink.put(bmp.is_top_down ? line : bmp.height - 1 - line, channels, reader.channels(), false);
  }
  return {};
}

}  // namespace

const Format bmp_format{parse_bmp, decode_bmp};

}  // namespace halyard::codec
