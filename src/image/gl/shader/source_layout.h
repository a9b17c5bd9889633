// SPDX-License-Identifier: Apache-2.0
// How the planes of a source are textures, and which of its channels are sampled alike.
#pragma once

#include <cstddef>

#include "image/channels.h"
#include "image/plan.h"

namespace halyard::image {

/// The channels as they are stored: a Bayer mosaic has one.
const ChannelMap& stored_channels(const ImageSpec& src) noexcept;

/// Channels that are sampled alike are a group: group 0 has those at full size, group 1 those that
/// are subsampled.
inline constexpr std::size_t group_count = 2;
constexpr std::size_t sample_group(const ChannelSite& site) noexcept {
  return site.shift_x != 0 || site.shift_y != 0 ? 1 : 0;
}
/// The first channel of a group; null if there is none.
const ChannelSite* first_in_group(const ImageSpec& src, std::size_t group) noexcept;

/// Bytes of one texel of a source plane's texture: 1, 2 or 4, the components R, RG, RGBA. Pixels of
/// three bytes are three texels, because drivers do not import textures of such texels.
std::size_t texel_bytes(const ImageSpec& src, std::size_t plane) noexcept;

}  // namespace halyard::image
