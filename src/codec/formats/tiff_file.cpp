// SPDX-License-Identifier: Apache-2.0
// The callbacks of TIFFClientOpenExt for bytes in memory.
#include "codec/formats/tiff_file.h"

#if HALYARD_HAVE_TIFF
#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "base/text/format_error.h"

namespace halyard::codec {

struct TiffFile::Client {
  static TiffFile& self(thandle_t handle) { return *static_cast<TiffFile*>(handle); }
  static std::size_t size_of(const TiffFile& file) {
    return file.is_writing_ ? file.written_.size() : file.bytes_.size();
  }

  static tmsize_t read(thandle_t handle, void* to, tmsize_t count) {
    TiffFile& file = self(handle);
    const std::size_t size = size_of(file);
    const std::byte* from = file.is_writing_ ? file.written_.data() : file.bytes_.data();
    const std::size_t left = size - std::min(size, file.position_);
    const std::size_t got = std::min(left, static_cast<std::size_t>(count));
    if (got != 0) std::memcpy(to, from + file.position_, got);
    file.position_ += got;
    return static_cast<tmsize_t>(got);
  }
  static tmsize_t write(thandle_t handle, void* from, tmsize_t count) {
    TiffFile& file = self(handle);
    if (!file.is_writing_) return -1;
    const std::size_t end = file.position_ + static_cast<std::size_t>(count);
    if (end > file.written_.size()) file.written_.resize(end);
    std::memcpy(file.written_.data() + file.position_, from, static_cast<std::size_t>(count));
    file.position_ = end;
    return count;
  }
  static toff_t seek(thandle_t handle, toff_t offset, int whence) {
    TiffFile& file = self(handle);
    const toff_t base = whence == SEEK_CUR   ? file.position_
                        : whence == SEEK_END ? size_of(file)
                                             : 0;
    file.position_ = static_cast<std::size_t>(base + offset);
    return file.position_;
  }
  static int close(thandle_t) { return 0; }
  static toff_t size(thandle_t handle) { return size_of(self(handle)); }
  static int map(thandle_t handle, void** base, toff_t* size) {
    TiffFile& file = self(handle);
    if (file.is_writing_) return 0;
    // libtiff only reads a mapped file; its interface has no const.
    *base = const_cast<std::byte*>(file.bytes_.data());
    *size = file.bytes_.size();
    return 1;
  }
  static void unmap(thandle_t, void*, toff_t) {}

  static int fail(TIFF*, void* user, const char*, const char* format, va_list arguments)
      __attribute__((format(printf, 4, 0))) {
    TiffFile& file = self(user);
    if (!file.message_.empty()) return 1;
    std::array<char, 240> text{};
    std::vsnprintf(text.data(), text.size(), format, arguments);
    file.message_ = text.data();
    return 1;
  }
  static int warn(TIFF*, void*, const char*, const char*, va_list) { return 1; }
};

TIFF* TiffFile::open(const char* mode, std::size_t max_bytes) {
  TIFFOpenOptions* options = TIFFOpenOptionsAlloc();
  if (options == nullptr) return nullptr;
  const std::size_t maximum = std::min(max_bytes, static_cast<std::size_t>(PTRDIFF_MAX));
  TIFFOpenOptionsSetMaxSingleMemAlloc(options, static_cast<tmsize_t>(maximum));
  TIFFOpenOptionsSetErrorHandlerExtR(options, Client::fail, this);
  TIFFOpenOptionsSetWarningHandlerExtR(options, Client::warn, this);
  TIFF* tiff = TIFFClientOpenExt("TIFF", mode, this, Client::read, Client::write, Client::seek,
                                 Client::close, Client::size, Client::map, Client::unmap, options);
  TIFFOpenOptionsFree(options);
  return tiff;
}

TiffFile::TiffFile(std::span<const std::byte> bytes, std::size_t max_bytes) : bytes_(bytes) {
  tiff_ = open("r", max_bytes);
}

TiffFile::TiffFile() : is_writing_(true) {
  tiff_ = open("w", PTRDIFF_MAX);
}

TiffFile::~TiffFile() {
  close();
}

void TiffFile::close() {
  if (tiff_ != nullptr) TIFFClose(tiff_);
  tiff_ = nullptr;
}

Error TiffFile::error() const {
  return fail(Errc::corrupt, "the TIFF data is damaged or ends early", "{}",
              message_.empty() ? "no directory" : message_);
}

}  // namespace halyard::codec
#endif
