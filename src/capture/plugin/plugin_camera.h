// SPDX-License-Identifier: Apache-2.0
// PluginCamera: an open camera of a plugin; its functions, and checks of what they give.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/local.h"
#include "capture/v4l2/camera_buffers.h"
#include "halyard/c/capture_plugin.h"
#include "halyard/camera.h"

namespace halyard::capture {

/// The mode that a plugin's camera has taken.
struct PluginMode {
  DriverFormat format;     ///< one memory plane, or one for each plane of pixels
  bool is_joined = false;  ///< the planes of pixels follow one another in one memory plane
  double rate = 0;
  std::uint32_t buffers = 0;
};

/// Imported memory of one buffer: a Buffer and an offset for each memory plane.
struct PluginBuffer {
  std::vector<std::shared_ptr<Buffer>> memory;
  std::vector<std::size_t> offset_bytes;
  std::size_t pixel_planes = 1;
  std::size_t last_offset_bytes = 0;  ///< of the last plane of pixels
};

/// Threads: as the functions of the plugin's interface.
class HALYARD_LOCAL PluginCamera {
 public:
  /// Errors: those of the plugin.
  static Result<std::unique_ptr<PluginCamera>> open(const hal_capture_plugin& table,
                                                    const std::string& id);
  PluginCamera(const PluginCamera&) = delete;
  PluginCamera& operator=(const PluginCamera&) = delete;
  ~PluginCamera() { table_.close(camera_); }

  /// "libcamera:ID".
  const std::string& path() const noexcept { return path_; }
  /// Formats in the words of V4L2. `codes`: the plugin's own, one for each.
  std::vector<CameraFormat> formats(std::vector<std::uint32_t>* codes = nullptr) const;
  std::vector<CameraControl> controls() const;
  Status set_control(const CameraControl& control, std::int64_t value) const;

  /// Takes the camera in the mode of choose_mode(). Errors: those of the plugin; unsupported (the
  /// mode is not kept).
  Result<PluginMode> configure(const CameraOptions& options);
  /// Memory of all buffers. The format of `mode` gets one memory plane where in each of them the
  /// planes of pixels follow one another. Errors: those of the plugin and of the import.
  Result<std::vector<PluginBuffer>> buffers(PluginMode& mode) const;
  Status start() const;
  int ready_fd() const noexcept { return table_.ready_fd(camera_); }
  Result<std::optional<hal_capture_frame>> take() const;
  Status give_back(std::uint32_t index) const;

 private:
  PluginCamera(const hal_capture_plugin& table, hal_capture_device* camera, std::string path)
      : table_(table), camera_(camera), path_(std::move(path)) {}
  Result<PluginMode> checked_mode(const hal_capture_mode& answer, std::uint32_t fourcc,
                                  double wanted_rate) const;

  const hal_capture_plugin& table_;
  hal_capture_device* const camera_;
  const std::string path_;
};

/// The cameras of a plugin: id, name and so on, without formats. Errors: those of the plugin.
Result<std::vector<CameraInfo>> cameras_of_plugin(const hal_capture_plugin& table);
/// The id that an address means: an id, or else a number in the list. Errors: not_found (the
/// message has all ids), those of the plugin.
Result<std::string> find_plugin_camera(const hal_capture_plugin& table, const std::string& camera);
/// The same camera with formats and controls.
Result<CameraInfo> describe_plugin_camera(const hal_capture_plugin& table, const std::string& id);

}  // namespace halyard::capture
