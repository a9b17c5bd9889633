// SPDX-License-Identifier: Apache-2.0
// Replaces libjpeg's Huffman decoder with Halyard's.
#pragma once

#include <array>
#include <cstddef>
#include <cstdio>
// jpeglib.h needs the two headers above.
#include <jpeglib.h>

#include "codec/jpeg/huffman_scan.h"

namespace halyard::codec {

/// The Huffman decoder of one file after another; it owns its tables. Tables that consecutive files
/// share are filled once.
class JpegEntropy {
 public:
  /// Replaces libjpeg's decoder until `codec` is finished or aborted, if it supports the file:
  /// sequential, 8 bits, Huffman codes with two tables each, all components in one scan, the file
  /// in memory in one piece. A short scan whose tables are not filled yet is left to libjpeg's
  /// decoder, which is faster there, unless `always`. Call it after jpeg_start_decompress(). A scan
  /// that is not flawless leaves the guarded body through leave_with(), and gave_up() is true then:
  /// decode the file again from its start with libjpeg's decoder. After a flawless scan libjpeg
  /// continues as if it had decoded the scan itself.
  void install(jpeg_decompress_struct& codec, bool always) noexcept;
  /// Call it before the next file.
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

/// Whether this build and the libjpeg at run time allow to replace libjpeg's decoder.
bool can_replace_entropy(const jpeg_decompress_struct& codec) noexcept;

}  // namespace halyard::codec
