// SPDX-License-Identifier: Apache-2.0
// Frames of the kernel's test camera in the driver's own buffers, imported as images.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <utility>
#include <vector>

#include "halyard/import.h"
#include "halyard/tensor.h"
#include "vm/camera.h"

namespace halyard::vm {

/// A part of test fixtures. Open `camera_` first.
class CameraFrames {
 public:
  static constexpr std::size_t width = 320;
  static constexpr std::size_t height = 180;
  static constexpr unsigned buffers = 3;

 protected:
  // Sets the format and takes buffers of the driver, all exported and handed to it.
  void prepare(std::uint32_t fourcc, std::size_t stride = 0,
               const V4l2Colorimetry& codes = {V4L2_COLORSPACE_SRGB}) {
    const auto answer = camera_->set_format(fourcc, width, height, stride, codes);
    ASSERT_TRUE(answer) << last_error();
    ASSERT_EQ(answer->fourcc, fourcc);
    ASSERT_EQ(std::pair(answer->width, answer->height), std::pair(width, height));
    format_ = *answer;
    layout_ = *layout_from_v4l2(fourcc);
    ASSERT_TRUE(camera_->request(V4L2_MEMORY_MMAP, buffers)) << last_error();
    exported_.clear();
    exported_.resize(buffers);
    for (unsigned i = 0; i < buffers; ++i) {
      for (unsigned p = 0; p < format_.planes.size(); ++p) {
        exported_[i].push_back(camera_->export_plane(i, p));
        ASSERT_TRUE(exported_[i].back()) << last_error();
      }
      ASSERT_TRUE(camera_->queue(i)) << last_error();
    }
  }

  Result<Tensor> import(const CameraFrame& frame) {
    std::vector<PlaneDescriptor> planes;
    for (std::size_t p = 0; p < format_.planes.size(); ++p) {
      planes.push_back(
          {exported_[frame.index][p].get(), format_.planes[p].stride_bytes, frame.offset_bytes[p]});
    }
    auto image = importer_.import_image(planes, width, height, layout_.format, layout_.dtype);
    if (image) image->set_colorimetry(colorimetry_from_v4l2(format_.codes));
    return image;
  }

  std::optional<Camera> camera_;
  CameraFormat format_;
  PixelLayout layout_{};
  std::vector<std::vector<Fd>> exported_;  ///< by buffer, then by plane
  Importer importer_;
};

}  // namespace halyard::vm
