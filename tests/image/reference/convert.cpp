// SPDX-License-Identifier: Apache-2.0
// A complete request, pixel by pixel.
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "image/reference/reference.h"

namespace halyard::reference {
namespace {

struct Reach {
  int lowest, highest;
};

// Samples of a plane that [begin, begin + length) of the image touches.
Reach touched(double begin, double length, int shift, int held) {
  const double per_sample = 1 << shift;
  const int lowest = static_cast<int>(std::floor(begin / per_sample));
  const int highest = static_cast<int>(std::ceil((begin + length) / per_sample));
  return {std::clamp(lowest, 0, held - 1), std::clamp(highest, 1, held)};
}

struct SourcePixel {
  Pixel codes{};
  bool pure = true;  ///< each channel is one sample
  bool open = false;
};

/// Pixels of the destination that show the source.
class Sampling {
 public:
  explicit Sampling(const Convert& request)
      : request_(request),
        geometry_(resolve_geometry(request)),
        planes_(read_samples(request.src, request.source_bits)) {
    if (!request.affine) make_axes();
  }
  const Geometry& geometry() const { return geometry_; }

  std::optional<SourcePixel> at(int x, int y) const {
    const Region& r = geometry_.content;
    if (x < r.x || y < r.y || x >= r.x + r.width || y >= r.y + r.height) return std::nullopt;
    return request_.affine ? mapped(x, y) : rotated(x - r.x, y - r.y);
  }

 private:
  Filter filter_of(const Plane& plane) const {
    const bool subsampled = plane.shift_x != 0 || plane.shift_y != 0;
    const bool replicates = !geometry_.resampled && request_.chroma == Chroma::replicate;
    return subsampled && replicates ? Filter::nearest : request_.filter;
  }

  void make_axes() {
    const RegionF& crop = geometry_.crop;
    for (std::size_t c = 0; c < planes_.size(); ++c) {
      const Plane& plane = planes_[c];
      const bool swaps = geometry_.swaps;
      const int horizontal = swaps ? geometry_.content.height : geometry_.content.width;
      const int vertical = swaps ? geometry_.content.width : geometry_.content.height;
      columns_[c] = make_axis(plane, crop.x, crop.width, plane.shift_x, plane.columns, horizontal,
                              geometry_.mirror_x);
      rows_[c] = make_axis(plane, crop.y, crop.height, plane.shift_y, plane.rows, vertical,
                           geometry_.mirror_y);
    }
  }

  /// The taps of each output along an axis, and whether they depend on rounding.
  struct Output {
    Taps taps;
    bool open;
  };
  using Axis = std::vector<Output>;

  Axis make_axis(const Plane& plane, double begin, double length, int shift, int held, int outputs,
                 bool mirrored) const {
    const double per_sample = 1 << shift;
    const Reach reach = touched(begin, length, shift, held);
    const Filter filter = filter_of(plane);
    Axis axis;
    for (int i = 0; i < outputs; ++i) {
      const double way = (2.0 * i + 1) * length / (2.0 * outputs);
      Spot spot{.centre = (mirrored ? begin + length - way : begin + way) / per_sample,
                .scale = length / outputs / per_sample,
                .lowest = reach.lowest,
                .highest = reach.highest,
                .mirrored = mirrored};
      axis.push_back({taps_at(spot, filter, request_.antialias),
                      rests_on_rounding(spot, filter, request_.antialias)});
    }
    return axis;
  }

  static double blended(const Plane& plane, const Taps& horizontal, const Taps& vertical) {
    double sum = 0;
    for (const Tap& row : vertical) {
      for (const Tap& column : horizontal)
        sum += row.weight * column.weight * plane.at(column.sample, row.sample);
    }
    return sum;
  }

  SourcePixel rotated(int x, int y) const {
    SourcePixel out;
    out.codes[3] = 255;
    for (std::size_t c = 0; c < planes_.size(); ++c) {
      const Output& horizontal = columns_[c][static_cast<std::size_t>(geometry_.swaps ? y : x)];
      const Output& vertical = rows_[c][static_cast<std::size_t>(geometry_.swaps ? x : y)];
      out.codes[c] = blended(planes_[c], horizontal.taps, vertical.taps);
      out.pure = out.pure && horizontal.taps.size() == 1 && vertical.taps.size() == 1;
      out.open = out.open || horizontal.open || vertical.open;
    }
    return out;
  }

  // An affine map: solves for the source position that maps to the pixel's centre.
  std::optional<SourcePixel> mapped(int x, int y) const {
    const auto& m = request_.affine->m;
    const double determinant = m[0] * m[4] - m[1] * m[3];
    const double dx = x + 0.5 - m[2];
    const double dy = y + 0.5 - m[5];
    const RegionF place = stored_part(request_, {(m[4] * dx - m[1] * dy) / determinant,
                                                 (m[0] * dy - m[3] * dx) / determinant, 0, 0});
    const double px = place.x;
    const double py = place.y;
    double horizontal_per_pixel = std::hypot(m[4], m[1]) / std::abs(determinant);
    double vertical_per_pixel = std::hypot(m[3], m[0]) / std::abs(determinant);
    if (swaps_axes(own_of(request_).rotation)) std::swap(horizontal_per_pixel, vertical_per_pixel);
    const RegionF& crop = geometry_.crop;
    const double inside =
        std::min({px - crop.x, py - crop.y, crop.x + crop.width - px, crop.y + crop.height - py});
    constexpr double border = 1e-6;
    if (inside < -border) return std::nullopt;
    SourcePixel out;
    out.open = inside < border;
    out.codes[3] = 255;
    for (std::size_t c = 0; c < planes_.size(); ++c) {
      const Plane& plane = planes_[c];
      const double wide = 1 << plane.shift_x;
      const double high = 1 << plane.shift_y;
      const Reach columns = touched(crop.x, crop.width, plane.shift_x, plane.columns);
      const Reach rows = touched(crop.y, crop.height, plane.shift_y, plane.rows);
      const Spot horizontal{px / wide, horizontal_per_pixel / wide, columns.lowest, columns.highest,
                            false};
      const Spot vertical{py / high, vertical_per_pixel / high, rows.lowest, rows.highest, false};
      const Taps i = taps_at(horizontal, filter_of(plane), request_.antialias);
      const Taps j = taps_at(vertical, filter_of(plane), request_.antialias);
      out.codes[c] = blended(plane, i, j);
      out.pure = out.pure && i.size() == 1 && j.size() == 1;
      out.open = out.open || rests_on_rounding(horizontal, filter_of(plane), request_.antialias) ||
                 rests_on_rounding(vertical, filter_of(plane), request_.antialias);
    }
    return out;
  }

  const Convert& request_;
  Geometry geometry_;
  std::vector<Plane> planes_;
  std::array<Axis, 4> columns_;  ///< of each channel; outputs along the source's rows
  std::array<Axis, 4> rows_;
};

/// A pixel of the destination in its own colours.
struct Painted {
  Pixel codes{};
  double slack = 0;
  bool exact = false;
  bool open = false;
};

ColourChange change_of(const Convert& request, const Tensor& dst) {
  const FormatInfo& from = info(*request.src.format());
  const FormatInfo& to = info(*dst.format());
  return {from.model == ColorModel::bayer ? ColorModel::rgb : from.model,
          to.model,
          from.has_alpha,
          to.has_alpha,
          request.src.colorimetry(),
          dst.colorimetry(),
          request.src.height(),
          dst.height(),
          request.alpha};
}

bool is_exact(const ColourChange& change) {
  const bool repeats_grey = change.from == ColorModel::grey && change.to == ColorModel::rgb;
  return change.alpha == AlphaStep::keep && (change.keeps_codes() || repeats_grey);
}

// The pad is R G B A.
Painted pad_of(const Convert& request, const ColourChange& change) {
  ColourChange from_rgb = change;
  from_rgb.from = ColorModel::rgb;
  from_rgb.from_alpha = true;
  from_rgb.alpha = AlphaStep::keep;
  Pixel rgba{};
  for (std::size_t c = 0; c < 4; ++c)
    rgba[c] = request.pad[c];
  return {from_rgb.apply(rgba), 0, is_exact(from_rgb), false};
}

std::vector<Painted> paint(const Convert& request, const Tensor& dst, Image& image) {
  const Sampling sampling(request);
  const ColourChange change = change_of(request, dst);
  const Painted pad = pad_of(request, change);
  image.crop = sampling.geometry().shown;
  image.content = sampling.geometry().content;
  const bool is_mosaic = info(*request.src.format()).model == ColorModel::bayer;
  const bool exact = is_exact(change) && !is_mosaic && request.src.dtype() == DType::u8;
  std::vector<Painted> pixels;
  for (int y = 0; y < static_cast<int>(dst.height()); ++y) {
    for (int x = 0; x < static_cast<int>(dst.width()); ++x) {
      const auto source = sampling.at(x, y);
      if (!source) {
        pixels.push_back(pad);
        continue;
      }
      pixels.push_back({change.apply(source->codes), change.slack(source->codes),
                        exact && source->pure, source->open});
    }
  }
  return pixels;
}

// A stored sample is the mean of the pixels of its block that exist.
ExpectedChannel stored_channel(const std::vector<Painted>& pixels, const Tensor& dst,
                               const Convert& request, std::size_t c) {
  const Site site = site_of(*dst.format(), c);
  const int width = static_cast<int>(dst.width());
  const int height = static_cast<int>(dst.height());
  const int wide = 1 << site.shift_x;
  const int high = 1 << site.shift_y;
  ExpectedChannel out{.columns = (width + wide - 1) / wide, .rows = (height + high - 1) / high};
  for (int j = 0; j < out.rows; ++j) {
    for (int i = 0; i < out.columns; ++i) {
      double sum = 0;
      double slack = 0;
      bool exact = true;
      bool open = false;
      int count = 0;
      for (int y = j * high; y < std::min((j + 1) * high, height); ++y) {
        for (int x = i * wide; x < std::min((i + 1) * wide, width); ++x) {
          const Painted& pixel = pixels[static_cast<std::size_t>(y * width + x)];
          sum += pixel.codes[c];
          slack = std::max(slack, c == 3 ? 0.0 : pixel.slack);
          exact = exact && pixel.exact;
          open = open || pixel.open;
          ++count;
        }
      }
      Expected expected = store(sum / count, c, request);
      expected.slack = slack;
      expected.exact = exact;
      expected.open = open;
      out.samples.push_back(expected);
    }
  }
  return out;
}

}  // namespace

Image reference_convert(const Convert& request) {
  const Tensor dst = request.dst.as_image().value();
  Image image;
  const std::vector<Painted> pixels = paint(request, dst, image);
  image.channels = channel_count(*dst.format());
  for (std::size_t c = 0; c < image.channels; ++c)
    image.channel[c] = stored_channel(pixels, dst, request, c);
  return image;
}

}  // namespace halyard::reference
