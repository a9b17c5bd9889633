// SPDX-License-Identifier: Apache-2.0
// Our own decoder of Huffman codes in the place of libjpeg's.
#pragma once

#include <array>
#include <cstddef>
#include <cstdio>
// jpeglib.h needs the two above.
#include <jpeglib.h>

#include "codec/jpeg/huffman_scan.h"

namespace halyard::codec {

/// What decodes the Huffman codes of one file after the other, in memory of its own. Tables that
/// two files share are made once.
class JpegEntropy {
 public:
  /// Puts this in the place of libjpeg's decoder until `codec` is finished or aborted, where it
  /// serves the file: sequential, 8 bits, Huffman codes in two tables each, all components in one
  /// scan, the file in memory as one. A short scan whose tables would have to be made is faster in
  /// libjpeg's decoder and left to it, unless `always`. To be called after jpeg_start_decompress().
  /// A scan that is not flawless leaves the guarded body by leave_with(), and gave_up() is true
  /// then: the file is to be decoded again from its start by libjpeg's decoder. Where the scan is
  /// flawless libjpeg goes on behind it as if it had decoded it.
  void install(jpeg_decompress_struct& codec, bool always) noexcept;
  /// Before the next file.
  void reset() noexcept { is_installed_ = gave_up_ = false; }
  bool is_installed() const noexcept { return is_installed_; }
  bool gave_up() const noexcept { return gave_up_; }

 private:
  struct Table;
  static bool prepare_table(const JHUFF_TBL& code, HuffmanKind kind, bool may_make,
                            Table& table) noexcept;
  static boolean decode(jpeg_decompress_struct* codec, JBLOCKROW* blocks);
  bool prepare(const jpeg_decompress_struct& codec, bool always) noexcept;
  bool prepare_tables(const jpeg_decompress_struct& codec, const jpeg_component_info& component,
                      bool may_make) noexcept;

  HuffmanScan scan_{};
  bool is_installed_ = false;
  bool gave_up_ = false;
  struct Table {
    bool is_made = false;
    HuffmanTable table;
  };
  Table dc_[2], ac_[2];
};

/// Whether this build can replace libjpeg's decoder, and the libjpeg that runs lets it.
bool can_replace_entropy(const jpeg_decompress_struct& codec) noexcept;

}  // namespace halyard::codec
