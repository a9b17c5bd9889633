// SPDX-License-Identifier: Apache-2.0
#include "image/gl/shader/source_layout.h"

#include <algorithm>

namespace halyard::image {

const ChannelMap& stored_channels(const ImageSpec& src) noexcept {
  static constexpr ChannelMap mosaic{1, {{{0, 0, 1, 0, 0}}}};
  return src.channels == nullptr ? mosaic : *src.channels;
}

const ChannelSite* first_in_group(const ImageSpec& src, std::size_t group) noexcept {
  const ChannelMap& map = stored_channels(src);
  for (std::size_t c = 0; c < map.count; ++c)
    if (sample_group(map.sites[c]) == group) return &map.sites[c];
  return nullptr;
}

std::size_t texel_bytes(const ImageSpec& src, std::size_t plane) noexcept {
  const ChannelMap& map = stored_channels(src);
  std::size_t bytes = 1;
  for (std::size_t c = 0; c < map.count; ++c) {
    const ChannelSite& site = map.sites[c];
    if (site.plane == plane) bytes = std::max(bytes, site.step * size_of(src.dtype));
  }
  return bytes == 3 ? 1 : bytes;
}

}  // namespace halyard::image
