// SPDX-License-Identifier: Apache-2.0
// Finds the channels of two mapped images.
#include "image/cpu/cpu_program.h"

namespace halyard::image {
namespace {

// A channel of a mapped plain tensor whose last axes are those of the image.
TargetChannel plain_channel(const TensorMap& map, const ImageSpec& image,
                            const ChannelSite& site) noexcept {
  const Layout& layout = map.layout();
  const FormatInfo& format = info(image.format);
  const bool planar = format.kind == FormatKind::planar;
  const bool channels_last = !planar && layout.shape[layout.rank - 1U] == format.channels;
  const std::size_t row_axis = layout.rank - (channels_last ? 3U : 2U);
  std::byte* begin = map.writable();
  if (planar) begin += site.plane * layout.stride_bytes[row_axis - 1];
  return channel_view(begin, static_cast<std::size_t>(layout.stride_bytes[row_axis]), site,
                      image.size, size_of(image.dtype));
}

}  // namespace

MappedImages map_frame(const Plan& plan, const TensorMap& src, const TensorMap& dst) noexcept {
  constexpr ChannelMap mosaic{1, {{{0, 0, 1, 0, 0}}}};
  MappedImages frame;
  const ChannelMap& from = plan.src.channels == nullptr ? mosaic : *plan.src.channels;
  const std::size_t from_bytes = size_of(plan.src.dtype);
  for (std::size_t c = 0; c < frame.source.size(); ++c) {
    frame.source[c] = c < from.count ? source_channel(src, from.sites[c], plan.src.size, from_bytes)
                                     : SourceChannel{};
  }
  const ChannelMap& to = *plan.dst.channels;
  const std::size_t to_bytes = size_of(plan.dst.dtype);
  const bool plain = dst.plane_count() == 0;
  for (std::size_t c = 0; c < frame.target.size(); ++c) {
    if (c >= to.count) {
      frame.target[c] = {};
    } else if (plain) {
      frame.target[c] = plain_channel(dst, plan.dst, to.sites[c]);
    } else {
      frame.target[c] = target_channel(dst, to.sites[c], plan.dst.size, to_bytes);
    }
  }
  if (plan.bgr) std::swap(frame.target[0], frame.target[2]);
  return frame;
}

}  // namespace halyard::image
