// SPDX-License-Identifier: Apache-2.0
// The library's own camera on the kernel's test cameras (vivid).
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "halyard/camera.h"
#include "support/result.h"
#include "support/value_of.h"
#include "vm/camera_pixels.h"
#include "vm/devices.h"

namespace halyard::vm {

/// Parameter: the camera that has a buffer for each plane (true), or one for all (false).
class CaptureFixture : public ::testing::TestWithParam<bool> {
 protected:
  // Not those of the tests' own camera.
  using Cam = halyard::Camera;
  using CameraFrame = halyard::CameraFrame;
  using CameraFormat = halyard::CameraFormat;
  static constexpr std::size_t width = 320;
  static constexpr std::size_t height = 180;
  static constexpr std::chrono::milliseconds patience{10'000};

  static std::optional<CameraInfo> find(bool is_multiplanar) {
    for (CameraInfo& info : list_cameras())
      if (info.usable && info.driver == "vivid" && info.is_multiplanar == is_multiplanar)
        return std::move(info);
    return std::nullopt;
  }

  void SetUp() override {
    auto found = find(GetParam());
    HALYARD_NEEDS(found, "a vivid camera of this kind");
    info_ = *std::move(found);
  }

  const std::string& path() const { return info_.path; }
  CameraOptions small(const std::string& fourcc = {}) const {
    CameraOptions options;
    options.fourcc = fourcc;
    options.width = width;
    options.height = height;
    return options;
  }
  static CameraOptions with_images(std::vector<Tensor> images) {
    CameraOptions options;
    options.images = std::move(images);
    return options;
  }

  /// Shows a pattern without the time, so that all frames are equal.
  static void show(Cam& camera, std::string_view pattern) {
    EXPECT_OK(camera.set_control("test_pattern", pattern));
    EXPECT_OK(camera.set_control("osd_text_mode", "None"));
  }
  /// A frame that was begun after the call.
  static CameraFrame fresh(Cam& camera) {
    for (std::uint32_t n = 0; n < camera.mode().buffers; ++n)
      EXPECT_OK(camera.next(patience));
    return test::value_of(camera.next(patience));
  }
  /// All bytes of an image's rows.
  static std::vector<std::byte> bytes_of(const Tensor& image) {
    std::vector<std::byte> all;
    const auto map = test::value_of(image.map(Access::read));
    for (std::size_t p = 0; p < map.plane_count(); ++p) {
      const MappedPlane& plane = map.plane(p);
      for (std::size_t row = 0; row < plane.rows; ++row) {
        const std::byte* const data = plane.data + row * plane.stride_bytes;
        all.insert(all.end(), data, data + plane.row_bytes);
      }
    }
    return all;
  }
  static std::size_t dma_bufs() {
    std::ifstream file("/sys/kernel/debug/dma_buf/bufinfo");
    std::size_t lines = 0;
    for (std::string line; std::getline(file, line);)
      ++lines;
    return lines;
  }

  CameraInfo info_;
};

inline std::string planes_name(const ::testing::TestParamInfo<bool>& each) {
  return each.param ? "buffers_for_each_plane" : "one_buffer_for_all_planes";
}

}  // namespace halyard::vm
