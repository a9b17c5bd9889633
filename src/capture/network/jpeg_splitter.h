// SPDX-License-Identifier: Apache-2.0
// JpegSplitter: finds the end of one JPEG in a sequence. It follows the markers and decodes
// nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace halyard::capture {

/// Call end() with the growing bytes of one image, which begin with its SOI marker. It remembers
/// where it stopped, so each byte is read once. Thumbnails inside segments are skipped.
class JpegSplitter {
 public:
  /// Length of the image once its end is in `bytes`: the end of EOI; before the SOI of the next
  /// image if this one is cut; or the offset of a byte that cannot be there.
  std::optional<std::size_t> end(std::span<const std::byte> bytes) noexcept;

 private:
  std::size_t at_ = 2;  // after SOI
  bool in_scan_ = false;
};

}  // namespace halyard::capture
