// SPDX-License-Identifier: Apache-2.0
// Copies elements row by row, in runs of channels that belong to one block in both tensors.
#include "reconcile/buffer/axis_copy.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "base/text/format_error.h"

namespace halyard {
namespace {

/// A run of pixels in one row, with channels of one block in both tensors.
struct Run {
  std::size_t pixels = 0, channels = 0;
  std::ptrdiff_t from_pixel = 0, from_channel = 0;
  std::ptrdiff_t to_pixel = 0, to_channel = 0;
};

template <std::size_t Element>
void copy_scattered(const Run& run, const std::byte* from, std::byte* to) {
  for (std::size_t c = 0; c < run.channels; ++c) {
    const std::byte* source = from + static_cast<std::ptrdiff_t>(c) * run.from_channel;
    std::byte* destination = to + static_cast<std::ptrdiff_t>(c) * run.to_channel;
    for (std::size_t p = 0; p < run.pixels; ++p) {
      std::memcpy(destination, source, Element);
      source += run.from_pixel;
      destination += run.to_pixel;
    }
  }
}

void copy_run(const Run& run, const std::byte* from, std::byte* to, std::size_t element) {
  const auto e = static_cast<std::ptrdiff_t>(element);
  const bool has_pixels_whole = run.channels == 1 || (run.from_channel == e && run.to_channel == e);
  const std::size_t pixel = run.channels * element;
  if (has_pixels_whole && run.from_pixel == static_cast<std::ptrdiff_t>(pixel) &&
      run.to_pixel == run.from_pixel) {
    std::memcpy(to, from, pixel * run.pixels);
    return;
  }
  switch (element) {
    case 1:
      return copy_scattered<1>(run, from, to);
    case 2:
      return copy_scattered<2>(run, from, to);
    case 4:
      return copy_scattered<4>(run, from, to);
    default:
      return copy_scattered<8>(run, from, to);
  }
}

std::ptrdiff_t offset_of(const AxisView& view, std::size_t n, std::size_t c, std::size_t h) {
  return static_cast<std::ptrdiff_t>(n) * view.stride_n +
         static_cast<std::ptrdiff_t>(c / view.x) * view.stride_block +
         static_cast<std::ptrdiff_t>(c % view.x) * view.stride_c +
         static_cast<std::ptrdiff_t>(h) * view.stride_h;
}

void copy_row(const std::byte* from, const AxisView& source, std::byte* to,
              const AxisView& destination, std::size_t element, std::size_t n, std::size_t h) {
  for (std::size_t c = 0; c < source.c;) {
    const std::size_t together =
        std::min({source.x - c % source.x, destination.x - c % destination.x, source.c - c});
    const Run run{source.w,
                  together,
                  source.stride_w,
                  source.stride_c,
                  destination.stride_w,
                  destination.stride_c};
    copy_run(run, from + offset_of(source, n, c, h), to + offset_of(destination, n, c, h), element);
    c += together;
  }
}

std::string extents_of(const Layout& layout) {
  std::string text;
  for (const std::size_t extent : layout.dims())
    text += (text.empty() ? "" : ", ") + std::to_string(extent);
  return text;
}

std::string wanted_extents(AxisOrder order, const AxisView& v) {
  switch (order) {
    case AxisOrder::nchw:
      return fmt::format("{}, {}, {}, {}", v.n, v.c, v.h, v.w);
    case AxisOrder::nhwc:
      return fmt::format("{}, {}, {}, {}", v.n, v.h, v.w, v.c);
    case AxisOrder::nc_hwx:
      return fmt::format("{}, {} / x, {}, {}, x", v.n, v.c, v.h, v.w);
  }
  return {};
}

}  // namespace

AxisView axis_view(const TensorDraft& t) {
  const auto signed_of = [](std::uint64_t stride) { return static_cast<std::ptrdiff_t>(stride); };
  AxisView view;
  view.n = t.n;
  view.c = t.c;
  view.h = t.h;
  view.w = t.w;
  view.stride_n = signed_of(t.stride_n);
  view.stride_h = signed_of(t.stride_h);
  view.stride_w = signed_of(t.stride_w);
  view.stride_c = signed_of(t.element);
  switch (t.order) {
    case AxisOrder::nchw:
      view.stride_block = signed_of(t.stride_c);
      view.channels = t.c;
      break;
    case AxisOrder::nhwc:
      view.x = view.channels = std::max(t.channels, t.c);
      break;
    case AxisOrder::nc_hwx:
      view.stride_block = signed_of(t.stride_c);
      view.x = t.x;
      view.channels = t.blocks * t.x;
      break;
  }
  return view;
}

Result<AxisView> axis_view(const Layout& layout, AxisOrder order, const AxisView& other) {
  const auto& s = layout.shape;
  const auto& stride = layout.stride_bytes;
  const bool is_blocked = order == AxisOrder::nc_hwx;
  const Error wrong =
      fail(Errc::invalid_argument, "tensor: must have the extents that were agreed on",
           "[{}], wanted [{}]", extents_of(layout), wanted_extents(order, other));
  if (layout.rank != (is_blocked ? 5U : 4U)) return wrong;
  AxisView view;
  view.n = s[0];
  view.stride_n = stride[0];
  const std::size_t rows = order == AxisOrder::nhwc ? 1 : 2;
  view.h = s[rows];
  view.w = s[rows + 1];
  view.stride_h = stride[rows];
  view.stride_w = stride[rows + 1];
  if (order == AxisOrder::nchw) {
    view.c = view.channels = s[1];
    view.stride_block = stride[1];
  } else if (order == AxisOrder::nhwc) {
    view.c = view.x = view.channels = s[3];
    view.stride_c = stride[3];
  } else {
    view.x = s[4];
    view.channels = s[1] * s[4];
    // The last block may be partly filled.
    view.c = (other.c + s[4] - 1) / s[4] == s[1] ? other.c : 0;
    view.stride_block = stride[1];
    view.stride_c = stride[4];
  }
  const bool fits =
      view.n == other.n && view.c == other.c && view.h == other.h && view.w == other.w;
  if (!fits) return wrong;
  return view;
}

void copy_elements(const std::byte* from, const AxisView& source, std::byte* to,
                   const AxisView& destination, std::size_t element) {
  for (std::size_t n = 0; n < source.n; ++n)
    for (std::size_t h = 0; h < source.h; ++h)
      copy_row(from, source, to, destination, element, n, h);
}

void fill_padding_channels(std::byte* to, const AxisView& destination, std::size_t element,
                           std::byte value) {
  for (std::size_t n = 0; n < destination.n; ++n)
    for (std::size_t c = destination.c; c < destination.channels; ++c)
      for (std::size_t h = 0; h < destination.h; ++h) {
        std::byte* at = to + offset_of(destination, n, c, h);
        for (std::size_t w = 0; w < destination.w; ++w, at += destination.stride_w)
          std::fill_n(at, element, value);
      }
}

}  // namespace halyard
