// SPDX-License-Identifier: Apache-2.0
// Choosing among what a camera offers.
#include "capture/v4l2/camera_choice.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <tuple>

#include "base/text/format_error.h"
#include "capture/v4l2/camera_formats.h"
#include "capture/v4l2/pixel_codes.h"

namespace halyard::capture {
namespace {

constexpr std::size_t usual_width = 1920, usual_height = 1080;
constexpr double usual_rate = 30, slowest_usual_rate = 24;
constexpr std::uint32_t max_buffers = 32;  // VIDEO_MAX_FRAME
constexpr double highest_rate = 1000;

using FormatRefs = std::vector<const CameraFormat*>;

// The layout that the images must have; none: any.
std::optional<PixelLayout> wanted_layout(const CameraOptions& options) {
  if (!options.images.empty())
    return PixelLayout{*options.images[0].format(), options.images[0].dtype()};
  if (options.format) return PixelLayout{*options.format, options.dtype};
  return std::nullopt;
}

bool fits(const CameraFormat& format, const CameraOptions& options) {
  if (!format.is_readable()) return false;
  if (!options.fourcc.empty() && format.fourcc != fourcc_from_string(options.fourcc)) return false;
  if (!options.images.empty()) {
    // The driver itself writes the images, into one buffer for each of its planes.
    if (format.layout != wanted_layout(options) || format.sample_bits != 0) return false;
    const std::size_t planes = info(format.layout->format).planes;
    const bool is_split = planes > 1 && v4l2_pixel_format(*format.layout, planes) == format.fourcc;
    return is_split != options.images[0].is_in_one_buffer();
  }
  const auto layout = wanted_layout(options);
  return !layout || format.layout == layout;
}

Size wanted_size(const CameraOptions& options) {
  if (!options.images.empty()) return options.images[0].size();
  return {static_cast<std::int32_t>(options.width), static_cast<std::int32_t>(options.height)};
}

Error no_format(std::span<const CameraFormat> formats, const CameraOptions& options) {
  std::string wanted = options.fourcc;
  if (const auto layout = wanted_layout(options))
    wanted += std::string(wanted.empty() ? "" : " ") + std::string(to_string(layout->format)) +
              " of " + std::string(to_string(layout->dtype));
  if (wanted.empty())
    return fail(Errc::unsupported, "format: the camera offers none that is read", "it offers {}",
                text_of_formats(formats));
  return fail(Errc::unsupported, "format: the camera does not offer it", "{}; it offers {}", wanted,
              text_of_formats(formats));
}

// The entry that has a size; null: none. A format without a list has every size.
const CameraSize* entry_of(const CameraFormat& format, std::size_t width, std::size_t height) {
  const auto found = std::find_if(format.sizes.begin(), format.sizes.end(),
                                  [&](const auto& size) { return size.contains(width, height); });
  return found == format.sizes.end() ? nullptr : &*found;
}

double chosen_rate(const CameraSize* size, double wanted) {
  if (wanted > 0 || size == nullptr || size->rates.empty()) return wanted > 0 ? wanted : usual_rate;
  if (size->is_rate_range) return std::clamp(usual_rate, size->rates.back(), size->rates.front());
  for (const double rate : size->rates)
    if (rate <= usual_rate * 1.01) return rate;
  return size->rates.back();
}

Result<CameraChoice> choose_at(const FormatRefs& formats, const CameraOptions& options) {
  const Size size = wanted_size(options);
  const auto width = static_cast<std::size_t>(size.width);
  const auto height = static_cast<std::size_t>(size.height);
  const CameraSize* seen = nullptr;
  for (const CameraFormat* format : formats) {
    const CameraSize* entry = entry_of(*format, width, height);
    if (entry == nullptr && !format->sizes.empty()) continue;
    seen = entry;
    if (entry != nullptr && options.rate > 0 && !entry->has_rate(options.rate)) continue;
    return CameraChoice{format->fourcc, width, height, chosen_rate(entry, options.rate)};
  }
  if (seen != nullptr)
    return fail(Errc::unsupported, "rate: the camera does not offer it at this size",
                "{:.4g} at {}x{}; it offers {}", options.rate, width, height, text_of_rates(*seen));
  return fail(Errc::unsupported, "width, height: the camera does not offer the size",
              "{}x{} {}; it offers {}", width, height, fourcc_to_string(formats[0]->fourcc),
              text_of_sizes(*formats[0]));
}

// The largest size of an entry that is at most the usual one, or else its smallest.
std::pair<std::size_t, std::size_t> usual_size(const CameraSize& size) {
  const auto largest = [](std::size_t low, std::size_t high, std::size_t step, std::size_t limit) {
    if (low >= limit) return low;
    const std::size_t room = std::min(high, limit) - low;
    return low + (step <= 1 ? room : room / step * step);
  };
  return {largest(size.min_width, size.width, size.step_width, usual_width),
          largest(size.min_height, size.height, size.step_height, usual_height)};
}

// Colours before grey before a mosaic, whatever the sizes.
int family_of(const CameraFormat& format) {
  if (format.is_jpeg) return 0;
  const ColorModel model = info(format.layout->format).model;
  return model == ColorModel::grey ? 1 : (model == ColorModel::bayer ? 2 : 0);
}

Result<CameraChoice> choose_freely(const FormatRefs& formats, const CameraOptions& options) {
  const double needed = options.rate > 0 ? options.rate : slowest_usual_rate;
  // Compared by element; the lowest is the best.
  using Score = std::tuple<int, bool, bool, std::size_t, int>;
  std::optional<std::pair<Score, CameraChoice>> best;
  for (const CameraFormat* format : formats) {
    for (const CameraSize& size : format->sizes) {
      const auto [width, height] = usual_size(size);
      const bool is_slow = options.rate > 0 ? !size.has_rate(options.rate)
                                            : !size.rates.empty() && size.rates[0] < needed;
      if (is_slow && options.rate > 0) continue;
      const bool is_large = width > usual_width || height > usual_height;
      const std::size_t area = width * height;
      const Score score{family_of(*format), is_slow, is_large, is_large ? area : SIZE_MAX - area,
                        preference_of(format->fourcc)};
      if (best && best->first <= score) continue;
      best = {score, {format->fourcc, width, height, chosen_rate(&size, options.rate)}};
    }
  }
  if (best) return best->second;
  const bool is_listed = std::any_of(formats.begin(), formats.end(),
                                     [](const auto* format) { return !format->sizes.empty(); });
  if (!is_listed) return CameraChoice{formats[0]->fourcc, 0, 0, chosen_rate(nullptr, options.rate)};
  const auto& sizes = formats[0]->sizes;
  return fail(Errc::unsupported, "rate: the camera offers it at no size", "{:.4g}; it offers {}",
              options.rate, sizes.empty() ? "others" : text_of_rates(sizes[0]));
}

Status check_images(const std::vector<Tensor>& images) {
  if (images.size() < 2 || images.size() > max_buffers)
    return fail(Errc::invalid_argument, "images: there must be 2 to 32", "{}", images.size());
  const Tensor& first = images[0];
  for (const Tensor& image : images) {
    if (!image.is_image() || !is_linear(image.modifier()))
      return fail(Errc::invalid_argument, "images: each must be an image in rows");
    const bool is_alike = image.format() == first.format() && image.dtype() == first.dtype() &&
                          image.size() == first.size() &&
                          image.row_stride_bytes() == first.row_stride_bytes() &&
                          image.is_in_one_buffer() == first.is_in_one_buffer();
    if (!is_alike)
      return fail(Errc::invalid_argument,
                  "images: all must have one size, format, stride and arrangement");
  }
  for (std::size_t i = 0; i < images.size(); ++i)
    for (std::size_t k = 0; k < i; ++k)
      if (aliases(images[i], images[k]))
        return fail(Errc::invalid_argument, "images: two of them share bytes", "{} and {}", k, i);
  return {};
}

}  // namespace

Status check_camera_options(const CameraOptions& options) {
  if ((options.width == 0) != (options.height == 0))
    return fail(Errc::invalid_argument, "width, height: give both or none", "{}x{}", options.width,
                options.height);
  if (options.width > 65535 || options.height > 65535)
    return fail(Errc::invalid_argument, "width, height: at most 65535", "{}x{}", options.width,
                options.height);
  if (!(options.rate >= 0 && options.rate <= highest_rate))
    return fail(Errc::invalid_argument, "rate: must be 0 to 1000 frames per second", "{}",
                options.rate);
  if (options.buffers < 2 || options.buffers > max_buffers)
    return fail(Errc::invalid_argument, "buffers: must be 2 to 32", "{}", options.buffers);
  if (!options.fourcc.empty() && !fourcc_from_string(options.fourcc))
    return fail(Errc::invalid_argument, "fourcc: has at most 4 characters", "{}", options.fourcc);
  if (options.images.empty()) return {};
  if (options.pool != nullptr)
    return fail(Errc::invalid_argument, "images, pool: give one, not both");
  return check_images(options.images);
}

Result<CameraChoice> choose_mode(std::span<const CameraFormat> formats,
                                 const CameraOptions& options) {
  FormatRefs fitting;
  for (const CameraFormat& format : formats)
    if (fits(format, options)) fitting.push_back(&format);
  if (fitting.empty()) return no_format(formats, options);
  std::stable_sort(fitting.begin(), fitting.end(), [](const auto* a, const auto* b) {
    return preference_of(a->fourcc) < preference_of(b->fourcc);
  });
  const Size size = wanted_size(options);
  return size.width > 0 ? choose_at(fitting, options) : choose_freely(fitting, options);
}

}  // namespace halyard::capture
