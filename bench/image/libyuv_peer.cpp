// SPDX-License-Identifier: Apache-2.0
// libyuv: scales the planes, then converts the small image. It has no letterbox: the pads are
// filled here. Its filters' fractions are coarser than ours, and its box filter is a box where our
// antialiased bilinear is a triangle.
#include "work.h"
#ifdef HALYARD_HAVE_LIBYUV
#include <libyuv.h>
#include <libyuv/scale_rgb.h>

#include <cstring>
#endif

namespace halyard::bench {

#ifdef HALYARD_HAVE_LIBYUV
namespace {

using Bytes = std::vector<std::uint8_t>;
constexpr int strip = 16;  // rows of an intermediate image that stays in L2

struct Scratch {
  explicit Scratch(const Work& work)
      : content(content_of(work)),
        channels(work.to == PixelFormat::rgba ? 4 : 3),
        out(static_cast<std::size_t>(work.target.width * work.target.height * channels)),
        y(static_cast<std::size_t>(content.width * content.height)),
        uv(y.size()),
        full_y(static_cast<std::size_t>(work.source.width * work.source.height)),
        full_uv(full_y.size()),
        argb(4 * full_y.size()),
        small(4 * y.size()) {}
  std::uint8_t* image(const Work& work) {
    return out.data() + (content.y * work.target.width + content.x) * channels;
  }
  Region content;
  int channels;
  Bytes out, y, uv, full_y, full_uv, argb, small;
};

void fill_pads(const Work& work, Scratch& s) {
  const int row = work.target.width * s.channels;
  const int below = s.content.y + s.content.height;
  std::memset(s.out.data(), 114, static_cast<std::size_t>(s.content.y * row));
  std::memset(s.out.data() + below * row, 114,
              static_cast<std::size_t>((work.target.height - below) * row));
}

void nv12_to_image(const Work& work, const std::uint8_t* y, int y_stride, const std::uint8_t* uv,
                   int uv_stride, Scratch& s) {
  auto* const to_rgb = s.channels == 4 ? libyuv::NV12ToABGR : libyuv::NV12ToRAW;
  to_rgb(y, y_stride, uv, uv_stride, s.image(work), work.target.width * s.channels, s.content.width,
         s.content.height);
}

void scale_nv12(const Work& work, const std::uint8_t* y, int y_stride, const std::uint8_t* uv,
                int uv_stride, libyuv::FilterMode filter, Scratch& s) {
  libyuv::NV12Scale(y, y_stride, uv, uv_stride, work.source.width, work.source.height, s.y.data(),
                    s.content.width, s.uv.data(), s.content.width, s.content.width,
                    s.content.height, filter);
  fill_pads(work, s);
  nv12_to_image(work, s.y.data(), s.content.width, s.uv.data(), s.content.width, s);
}

// Averages chroma of two rows while it converts: less work than the others do.
void scale_yuyv_as_nv12(const Work& work, const Source& source, libyuv::FilterMode filter,
                        Scratch& s) {
  const int width = work.source.width;
  libyuv::YUY2ToNV12(source.plane(0), source.stride(0), s.full_y.data(), width, s.full_uv.data(),
                     width, width, work.source.height);
  scale_nv12(work, s.full_y.data(), width, s.full_uv.data(), width, filter, s);
}

void scale_yuyv_as_argb(const Work& work, const Source& source, libyuv::FilterMode filter,
                        Scratch& s) {
  const int width = work.source.width;
  libyuv::YUY2ToARGB(source.plane(0), source.stride(0), s.argb.data(), 4 * width, width,
                     work.source.height);
  libyuv::ARGBScale(s.argb.data(), 4 * width, width, work.source.height, s.small.data(),
                    4 * s.content.width, s.content.width, s.content.height, filter);
  fill_pads(work, s);
  auto* const store = s.channels == 4 ? libyuv::ARGBToABGR : libyuv::ARGBToRAW;
  store(s.small.data(), 4 * s.content.width, s.image(work), work.target.width * s.channels,
        s.content.width, s.content.height);
}

// libyuv has no YUY2ToRAW: through ARGB, a few rows at a time.
void yuyv_to_rgb(const Work& work, const Source& source, Scratch& s) {
  const int width = work.source.width;
  for (int y = 0; y < work.source.height; y += strip) {
    const int rows = std::min(strip, work.source.height - y);
    libyuv::YUY2ToARGB(source.plane(0) + y * source.stride(0), source.stride(0), s.argb.data(),
                       4 * width, width, rows);
    libyuv::ARGBToRAW(s.argb.data(), 4 * width, s.out.data() + y * width * 3, 3 * width, width,
                      rows);
  }
}

void scale_rgb(const Work& work, const Source& source, libyuv::FilterMode filter, Scratch& s) {
  libyuv::RGBScale(source.plane(0), source.stride(0), work.source.width, work.source.height,
                   s.image(work), 3 * work.target.width, s.content.width, s.content.height, filter);
  if (work.fit == Fit::letterbox) fill_pads(work, s);
}

template <class Body>
Contender contender(const char* name, const Work& work, const SharedSource& source, Body body) {
  return {name, [work, source, body, scratch = std::make_shared<Scratch>(work)] {
            body(work, *source, *scratch);
            benchmark::ClobberMemory();
          }};
}

std::vector<Contender> scaled(const Work& work, const SharedSource& source,
                              libyuv::FilterMode filter) {
  if (work.from == PixelFormat::nv12) {
    return {
        contender("libyuv", work, source, [filter](const Work& w, const Source& in, Scratch& s) {
          scale_nv12(w, in.plane(0), in.stride(0), in.plane(1), in.stride(1), filter, s);
        })};
  }
  if (work.from == PixelFormat::rgb) {
    return {contender(
        "libyuv", work, source,
        [filter](const Work& w, const Source& in, Scratch& s) { scale_rgb(w, in, filter, s); })};
  }
  return {
      contender("libyuv_nv12", work, source,
                [filter](const Work& w, const Source& in, Scratch& s) {
                  scale_yuyv_as_nv12(w, in, filter, s);
                }),
      contender("libyuv_argb", work, source, [filter](const Work& w, const Source& in, Scratch& s) {
        scale_yuyv_as_argb(w, in, filter, s);
      })};
}

}  // namespace

std::vector<Contender> libyuv_peer(const Work& work, const SharedSource& source) {
  if (work.to == PixelFormat::planar_rgb) return {};
  if (work.rotation == Rotation::cw90) {
    return {contender("libyuv", work, source, [](const Work& w, const Source& in, Scratch& s) {
      libyuv::ARGBRotate(in.plane(0), in.stride(0), s.out.data(), 4 * w.target.width,
                         w.source.width, w.source.height, libyuv::kRotate90);
    })};
  }
  if (work.source == work.target) {
    if (work.from == PixelFormat::yuyv) return {contender("libyuv", work, source, yuyv_to_rgb)};
    return {contender("libyuv", work, source, [](const Work& w, const Source& in, Scratch& s) {
      nv12_to_image(w, in.plane(0), in.stride(0), in.plane(1), in.stride(1), s);
    })};
  }
  if (work.filter == Filter::nearest) return scaled(work, source, libyuv::kFilterNone);
  return scaled(work, source, work.antialias ? libyuv::kFilterBox : libyuv::kFilterBilinear);
}

#else

std::vector<Contender> libyuv_peer(const Work&, const SharedSource&) {
  return {};
}

#endif  // HALYARD_HAVE_LIBYUV

}  // namespace halyard::bench
