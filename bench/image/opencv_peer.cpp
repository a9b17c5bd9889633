// SPDX-License-Identifier: Apache-2.0
// OpenCV as its users use it: cvtColor, resize, copyMakeBorder, convertTo, split; rotate.
#include "work.h"
#ifdef HALYARD_HAVE_OPENCV
#include <array>
#include <opencv2/imgproc.hpp>
#include <optional>
#endif

namespace halyard::bench {

#ifdef HALYARD_HAVE_OPENCV
namespace {

struct Images {
  cv::Mat color, small, boxed, scaled;
  std::array<cv::Mat, 3> planes, halves;
};

// cv::Mat has no const data; nothing here writes to a source.
cv::Mat view(const Source& source, const Work& work) {
  auto* const data = const_cast<std::uint8_t*>(source.plane(0));
  const auto step = static_cast<std::size_t>(source.stride(0));
  const int width = work.source.width;
  const int height = work.source.height;
  switch (work.from) {
    case PixelFormat::nv12:
      return {height * 3 / 2, width, CV_8UC1, data, step};
    case PixelFormat::yuyv:
      return {height, width, CV_8UC2, data, step};
    case PixelFormat::rgba:
      return {height, width, CV_8UC4, data, step};
    default:
      return {height, width, CV_8UC3, data, step};
  }
}

std::optional<int> color_code(const Work& work) {
  const bool alpha = work.to == PixelFormat::rgba;
  if (work.from == PixelFormat::nv12)
    return alpha ? cv::COLOR_YUV2RGBA_NV12 : cv::COLOR_YUV2RGB_NV12;
  if (work.from == PixelFormat::yuyv)
    return alpha ? cv::COLOR_YUV2RGBA_YUY2 : cv::COLOR_YUV2RGB_YUY2;
  return std::nullopt;
}

// blobFromImage's two steps: scale to the element type, then one plane for each channel.
void to_planes(const Work& work, Images& p) {
  const cv::Mat& from = p.boxed;
  if (work.dtype == DType::i8) {
    from.convertTo(p.scaled, CV_8SC3, 1, -128);
  } else {
    from.convertTo(p.scaled, CV_32FC3, 1 / 255.0);
  }
  cv::split(p.scaled, p.planes.data());
  if (work.dtype != DType::f16) return;
  for (std::size_t c = 0; c < 3; ++c)
    p.planes[c].convertTo(p.halves[c], CV_16F);
}

void convert(const Work& work, const cv::Mat& source, int filter, Images& p) {
  const std::optional<int> code = color_code(work);
  cv::Mat* const color = work.source == work.target ? &p.boxed : &p.color;
  if (code) cv::cvtColor(source, *color, *code);
  if (work.source == work.target) return;
  const Region content = content_of(work);
  const bool pads = content != Region{0, 0, work.target.width, work.target.height};
  cv::resize(code ? p.color : source, pads ? p.small : p.boxed, {content.width, content.height}, 0,
             0, filter);
  if (pads) {
    const int below = work.target.height - content.y - content.height;
    const int right = work.target.width - content.x - content.width;
    cv::copyMakeBorder(p.small, p.boxed, content.y, below, content.x, right, cv::BORDER_CONSTANT,
                       {114, 114, 114, 255});
  }
  if (work.to == PixelFormat::planar_rgb) to_planes(work, p);
}

Contender contender(const char* name, const Work& work, const SharedSource& source, int filter,
                    unsigned threads) {
  return {name, [work, source, filter, threads, images = std::make_shared<Images>()] {
            cv::setNumThreads(static_cast<int>(threads));
            const cv::Mat from = view(*source, work);
            if (work.rotation == Rotation::cw90) {
              cv::rotate(from, images->boxed, cv::ROTATE_90_CLOCKWISE);
            } else {
              convert(work, from, filter, *images);
            }
            benchmark::ClobberMemory();
          }};
}

}  // namespace

std::vector<Contender> opencv(const Work& work, const SharedSource& source, unsigned threads) {
  if (work.scale > 0) return {};  // its users quantize by hand
  if (work.antialias) {           // no triangle filter: the mean of whole and partial pixels
    return {contender("opencv_area", work, source, cv::INTER_AREA, threads)};
  }
  const bool nearest = work.filter == Filter::nearest;
  return {
      contender("opencv", work, source, nearest ? cv::INTER_NEAREST : cv::INTER_LINEAR, threads)};
}

#else

std::vector<Contender> opencv(const Work&, const SharedSource&, unsigned) {
  return {};
}

#endif  // HALYARD_HAVE_OPENCV

}  // namespace halyard::bench
