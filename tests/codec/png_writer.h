// SPDX-License-Identifier: Apache-2.0
// PNG files byte by byte: any filter on any row, data in any chunks, chunks in any order.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "codec/support.h"

namespace halyard::test {

/// Length, type, content and the right checksum.
std::string png_chunk(std::string_view type, std::string_view content);

struct RawPng {
  unsigned width = 8, height = 8;
  int depth = 8;
  int color_type = 2;
  bool is_interlaced = false;
  std::string before_data{};     ///< whole chunks
  std::string data{};            ///< what the IDAT chunks hold together
  std::size_t data_chunk = 100;  ///< bytes in each, but for the last
  std::string after_data{};      ///< whole chunks
};
Bytes png_file(const RawPng& spec);

/// Bytes of a pixel, at least 1.
std::size_t png_pixel_bytes(const RawPng& spec);

/// What `filter` predicts from the left, above and above left byte (section 9).
int plain_predictor(int filter, int left, int above, int corner);

/// Plain sums of PNG's specification, section 9: `filter` undone on one row.
std::vector<std::uint8_t> plain_unfilter(int filter, std::size_t pixel_bytes,
                                         const std::vector<std::uint8_t>& row,
                                         const std::vector<std::uint8_t>& above);

std::string zlib_stream(std::string_view bytes, int level = 6);

}  // namespace halyard::test
