// SPDX-License-Identifier: Apache-2.0
// VIDIOC_ENUM_FMT, VIDIOC_ENUM_FRAMESIZES and VIDIOC_ENUM_FRAMEINTERVALS.
#include "capture/v4l2/camera_formats.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "capture/v4l2/pixel_codes.h"

namespace halyard {

bool CameraSize::contains(std::size_t wanted_width, std::size_t wanted_height) const noexcept {
  const auto fits = [](std::size_t value, std::size_t low, std::size_t high, std::size_t step) {
    return value >= low && value <= high && (step <= 1 || (value - low) % step == 0);
  };
  return fits(wanted_width, min_width, width, step_width) &&
         fits(wanted_height, min_height, height, step_height);
}

bool CameraSize::has_rate(double rate) const noexcept {
  constexpr double tolerance = 0.01;
  if (rates.empty()) return true;
  if (is_rate_range)
    return rate <= rates.front() * (1 + tolerance) && rate >= rates.back() * (1 - tolerance);
  return std::any_of(rates.begin(), rates.end(), [rate](double offered) {
    return std::abs(offered - rate) <= tolerance * rate;
  });
}

namespace capture {
namespace {

// More than any camera has; ends the loop for a driver that never ends its list.
constexpr std::uint32_t max_entries = 1000;

double rate_of(const v4l2_fract& period) noexcept {
  return period.numerator == 0 ? 0.0 : static_cast<double>(period.denominator) / period.numerator;
}

void list_rates(const CameraDevice& device, std::uint32_t fourcc, CameraSize& size) {
  v4l2_frmivalenum entry{};
  entry.pixel_format = fourcc;
  entry.width = static_cast<std::uint32_t>(size.width);
  entry.height = static_cast<std::uint32_t>(size.height);
  for (; entry.index < max_entries && device.call(VIDIOC_ENUM_FRAMEINTERVALS, &entry) == 0;
       ++entry.index) {
    if (entry.type != V4L2_FRMIVAL_TYPE_DISCRETE) {
      size.is_rate_range = true;
      size.rates = {rate_of(entry.stepwise.min), rate_of(entry.stepwise.max)};
      return;
    }
    size.rates.push_back(rate_of(entry.discrete));
  }
  std::sort(size.rates.begin(), size.rates.end(), std::greater<>());
}

CameraSize size_of_entry(const v4l2_frmsizeenum& entry) {
  CameraSize size;
  if (entry.type == V4L2_FRMSIZE_TYPE_DISCRETE) {
    size.width = size.min_width = entry.discrete.width;
    size.height = size.min_height = entry.discrete.height;
    return size;
  }
  const v4l2_frmsize_stepwise& range = entry.stepwise;
  size.width = range.max_width;
  size.height = range.max_height;
  size.min_width = range.min_width;
  size.min_height = range.min_height;
  size.step_width = range.step_width;
  size.step_height = range.step_height;
  return size;
}

void list_sizes(const CameraDevice& device, CameraFormat& format) {
  v4l2_frmsizeenum entry{};
  entry.pixel_format = format.fourcc;
  for (; entry.index < max_entries && device.call(VIDIOC_ENUM_FRAMESIZES, &entry) == 0;
       ++entry.index) {
    format.sizes.push_back(size_of_entry(entry));
    list_rates(device, format.fourcc, format.sizes.back());
    if (entry.type != V4L2_FRMSIZE_TYPE_DISCRETE) return;
  }
}

}  // namespace

std::vector<CameraFormat> list_formats(const CameraDevice& device) {
  std::vector<CameraFormat> formats;
  v4l2_fmtdesc entry{};
  entry.type = device.type();
  for (; entry.index < max_entries && device.call(VIDIOC_ENUM_FMT, &entry) == 0; ++entry.index) {
    CameraFormat format;
    format.fourcc = entry.pixelformat;
    const auto* const text = reinterpret_cast<const char*>(entry.description);
    format.description.assign(text, std::find(text, text + sizeof(entry.description), '\0'));
    if (const auto code = pixel_code(entry.pixelformat)) {
      format.layout = code->layout;
      format.is_jpeg = code->is_jpeg;
      format.sample_bits = code->sample_bits;
    }
    list_sizes(device, format);
    formats.push_back(std::move(format));
  }
  return formats;
}

std::string text_of_formats(std::span<const CameraFormat> formats) {
  std::string text;
  for (const CameraFormat& format : formats)
    text.append(text.empty() ? "" : ", ").append(fourcc_to_string(format.fourcc));
  return text.empty() ? "none" : text;
}

std::string text_of_sizes(const CameraFormat& format) {
  std::string text;
  for (const CameraSize& size : format.sizes) {
    text += text.empty() ? "" : ", ";
    if (size.min_width != size.width || size.min_height != size.height)
      text += fmt::format("{}x{} to ", size.min_width, size.min_height);
    text += fmt::format("{}x{}", size.width, size.height);
    if (size.step_width > 1 || size.step_height > 1)
      text += fmt::format(" in steps of {}x{}", size.step_width, size.step_height);
  }
  return text.empty() ? "none" : text;
}

std::string text_of_rates(const CameraSize& size) {
  if (size.is_rate_range) return fmt::format("{:.4g} to {:.4g}", size.rates.back(), size.rates[0]);
  std::string text;
  for (const double rate : size.rates)
    text += fmt::format("{}{:.4g}", text.empty() ? "" : ", ", rate);
  return text.empty() ? "none listed" : text;
}

}  // namespace capture
}  // namespace halyard
