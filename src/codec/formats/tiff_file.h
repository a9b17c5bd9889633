// SPDX-License-Identifier: Apache-2.0
// Uses libtiff on bytes in memory. Its messages become errors; nothing is printed.
#pragma once

#if HALYARD_HAVE_TIFF
#include <tiffio.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "halyard/result.h"

namespace halyard::codec {

/// One open file. It cannot be moved, because libtiff keeps its address.
class TiffFile {
 public:
  /// Reads the first directory of `bytes`, which must outlive this. libtiff allocates at most
  /// `max_bytes` at once.
  TiffFile(std::span<const std::byte> bytes, std::size_t max_bytes);
  /// Writes into memory. take() returns the bytes after close().
  TiffFile();
  TiffFile(const TiffFile&) = delete;
  TiffFile& operator=(const TiffFile&) = delete;
  ~TiffFile();

  /// Null if the file could not be opened.
  TIFF* get() const noexcept { return tiff_; }
  /// The first message of libtiff about the file.
  Error error() const;
  void close();
  std::vector<std::byte> take() { return std::move(written_); }

 private:
  struct Client;
  TIFF* open(const char* mode, std::size_t max_bytes);
  std::span<const std::byte> bytes_;
  std::vector<std::byte> written_;
  bool is_writing_ = false;
  std::size_t position_ = 0;
  std::string message_;
  TIFF* tiff_ = nullptr;
};

}  // namespace halyard::codec
#endif
