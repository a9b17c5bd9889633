// SPDX-License-Identifier: Apache-2.0
// JpegSplitter: where one JPEG of several in a row ends. It follows the markers; it decodes
// nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace halyard::capture {

/// Feed it the growing bytes of one image, which begin with its SOI marker. It remembers where it
/// stopped, so that each byte is looked at once. Thumbnails inside segments are stepped over.
class JpegSplitter {
 public:
  /// Length of the image once its end is in `bytes`: behind EOI, or before the SOI of the next
  /// image when this one was cut; at a byte where no marker can be, that byte's place.
  std::optional<std::size_t> end(std::span<const std::byte> bytes) noexcept;

 private:
  std::size_t at_ = 2;  // behind SOI
  bool in_scan_ = false;
};

}  // namespace halyard::capture
