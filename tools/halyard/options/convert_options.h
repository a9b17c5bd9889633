// SPDX-License-Identifier: Apache-2.0
// The options of `halyard convert`, and which of them exclude each other.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "halyard/codec.h"
#include "halyard/image.h"
#include "halyard/tiling.h"

namespace halyard::tool {

struct CommandSpec;

struct ConvertOptions {
  std::string in;
  std::string out;
  std::optional<PixelFormat> format;
  std::optional<PixelFormat> input_format;
  std::optional<Size> size;
  std::optional<Size> input_size;
  std::optional<int> input_bits;  ///< set: raw samples are 16-bit
  std::optional<RegionF> crop;
  std::optional<Region> place;
  std::optional<Affine> affine;
  std::optional<TileOptions> tiles;
  std::optional<LetterboxRule> letterbox;
  std::optional<Colorimetry> colorimetry;
  std::optional<Colorimetry> input_colorimetry;
  std::optional<Quantization> quantization;
  std::optional<std::array<float, 3>> mean;
  std::optional<std::array<float, 3>> deviation;
  std::array<std::uint8_t, 4> pad{114, 114, 114, 255};
  Filter filter = Filter::bilinear;
  Fit fit = Fit::stretch;
  AlphaStep alpha = AlphaStep::keep;
  DType dtype = DType::u8;
  std::string flip = "none";
  int rotate = 0;
  int quality = JpegOptions{}.quality;
  bool is_antialiased = false;
  bool smooth_chroma = false;
  bool keeps_orientation = false;
  bool is_bgr = false;
  bool is_exact = false;
  bool is_raw = false;
  bool explains = false;

  /// The requested flip and rotation, without the image's own orientation.
  Orientation turn() const;
  bool writes_raw() const;
};

void add_convert_options(CommandSpec& spec, ConvertOptions& options);

/// Reports options that exclude each other; exit_ok if there are none.
int check(const ConvertOptions& options);

}  // namespace halyard::tool
