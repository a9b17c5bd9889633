// SPDX-License-Identifier: Apache-2.0
// Camera: frames of a V4L2 camera or of a plugin's (libcamera), in its driver's memory or in the
// caller's, without a copy.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "halyard/drm.h"
#include "halyard/export.h"
#include "halyard/format.h"
#include "halyard/result.h"
#include "halyard/tensor.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {

class TensorPool;

/// A frame size that a camera offers in one format, or a range of sizes.
struct CameraSize {
  std::size_t width = 0;  ///< of a range: the largest
  std::size_t height = 0;
  std::size_t min_width = 0;  ///< equal to width where there is no range
  std::size_t min_height = 0;
  std::size_t step_width = 1;
  std::size_t step_height = 1;
  /// Frames per second, highest first; of a range: the highest and the lowest. Empty: the driver
  /// lists none.
  std::vector<double> rates;
  bool is_rate_range = false;

  bool contains(std::size_t wanted_width, std::size_t wanted_height) const noexcept;
  bool has_rate(double rate) const noexcept;  ///< within 1 %; true where no rates are listed
};

/// A format that a camera offers.
struct CameraFormat {
  std::uint32_t fourcc = 0;  ///< V4L2_PIX_FMT_*; fourcc_to_string() gives "NV12"
  std::string description;   ///< by the driver
  /// What the images of its frames are; nullopt: JPEG, or a format that is not read.
  std::optional<PixelLayout> layout;
  bool is_jpeg = false;
  /// Bits of a sample where they are fewer than those of the layout's type: 10, 12 or 14; else 0.
  int sample_bits = 0;
  std::vector<CameraSize> sizes;  ///< empty: the driver lists none

  bool is_readable() const noexcept { return layout.has_value() || is_jpeg; }
};

enum class CameraControlKind : std::uint8_t { integer, boolean, menu, integer_menu, button, other };
std::string_view to_string(CameraControlKind kind) noexcept;

/// A setting of a camera: brightness, exposure, ...
struct CameraControl {
  std::uint32_t id = 0;     ///< V4L2_CID_*
  std::string name;         ///< lower case, words joined by "_": "white_balance_automatic"
  std::string description;  ///< by the driver: "White Balance, Automatic"
  CameraControlKind kind = CameraControlKind::integer;
  std::int64_t minimum = 0;
  std::int64_t maximum = 0;
  std::int64_t step = 1;
  std::int64_t default_value = 0;
  std::int64_t value = 0;     ///< 0 for a button, and for kinds without a number
  bool is_read_only = false;  ///< set_control() is refused
  bool is_inactive = false;   ///< has no effect while another control, often an automatic, is on
  /// Value and text of each entry; of an integer_menu the text is a number.
  std::vector<std::pair<std::int64_t, std::string>> menu;
};

/// A camera of this machine.
struct CameraInfo {
  std::string path;             ///< "/dev/video0"; of a plugin's camera "libcamera:ID"
  std::string name;             ///< "HD Webcam C270"; also where the camera cannot be opened
  std::string driver;           ///< "uvcvideo"
  std::string bus;              ///< where it is connected: "usb-0000:00:14.0-1"
  bool is_multiplanar = false;  ///< its driver has the API with a buffer for each plane
  std::vector<CameraFormat> formats;
  std::vector<CameraControl> controls;
  Status usable;  ///< the error is the reason why this process cannot open it
};

/// The cameras of this machine, by the numbers of their nodes, then those of plugins. Nodes that
/// capture no images (metadata, outputs, decoders) are left out; a node that cannot be opened is in
/// the list, without formats. Opens each node for a moment, also those that are in use. A camera
/// that V4L2 and libcamera both drive is in it twice. Thread-safe.
std::vector<CameraInfo> list_cameras();
/// One camera by its path. Errors: not_found, permission, unsupported (no camera; no such plugin),
/// device.
Result<CameraInfo> camera_info(const std::string& path);

/// A plugin of cameras: a stack such as libcamera as one shared object, see docs/cameras.md.
struct CameraPluginInfo {
  std::string name;     ///< "libcamera"; of a file that is refused its name
  std::string path;     ///< of its file; empty where there is none
  std::string version;  ///< of the stack
  Status usable;        ///< the error is the reason why it is not, and what brings it
};
/// The plugins that were found, and libcamera's in any case. Loads each at the first call.
/// Thread-safe.
std::vector<CameraPluginInfo> list_camera_plugins();

/// How pixels come from the driver into a frame's image.
enum class CameraTransfer : std::uint8_t {
  driver_buffers,  ///< the image is the driver's buffer, a DMA-BUF: no copy
  caller_buffers,  ///< the driver writes into CameraOptions::images or a slot of `pool`: no copy
  copied,          ///< the driver cannot export its buffers, or not write into a pool: one copy
  expanded,        ///< samples of 10 to 14 bits are expanded to 16: each frame is copied
  decoded,         ///< each frame is a JPEG, which is decoded
};
std::string_view to_string(CameraTransfer transfer) noexcept;

struct CameraOptions {
  /// The image's format; unset: the best that the camera offers at the size and rate. The order is
  /// nv12, other YUV formats, RGB formats, JPEG, grey, Bayer.
  std::optional<PixelFormat> format = {};
  DType dtype = DType::u8;  ///< with `format`
  /// The driver's code, instead of `format`: "MJPG", "NM12", "Y12". Empty: any.
  std::string fourcc = {};
  /// Both or none. 0: the largest size up to 1920 x 1080 that has `rate`, or 24 frames per second.
  std::size_t width = 0;
  std::size_t height = 0;
  double rate = 0;  ///< frames per second, up to 1000; 0: the highest up to 30
  /// Buffers of the driver, 2..32. Each frame that the caller keeps holds one of them. The driver
  /// may give more.
  std::uint32_t buffers = 4;
  /// Images for the driver to write into, instead of its own buffers; 2..32, all alike. They lie in
  /// DMA-BUFs (Memory::dma: a heap's or udmabuf's), from the first byte of each. Size and format
  /// are those of the images, and so is the stride, if the driver accepts it. JPEG has none.
  std::vector<Tensor> images = {};
  /// Each frame is a slot of this pool: topics send it without a copy, and other processes attach
  /// it. The driver writes into it (V4L2_MEMORY_USERPTR); where it cannot, or the pixels are
  /// changed (see CameraTransfer), the CPU does. A frame that was returned is the caller's, and the
  /// driver gets another slot: the pool needs `buffers` slots, and one for each frame that somebody
  /// keeps. Not with `images`, nor with cameras of plugins.
  std::shared_ptr<TensorPool> pool = {};
  /// next() returns the newest frame and drops older ones that wait.
  bool latest_only = false;
  /// After the camera was unplugged or failed, next() opens it again: at once, then after waits of
  /// 0.1 s to 5 s.
  bool reopens = false;
  /// Memory of the images that are copied, expanded or decoded, without `pool`.
  Memory memory = Memory::automatic;
};

/// What a camera delivers.
struct CameraMode {
  std::string path;
  std::uint32_t fourcc = 0;
  /// Of the images. For JPEG the format is that of the first frame, and nv12 before that.
  PixelLayout layout{PixelFormat::nv12};
  std::size_t width = 0;
  std::size_t height = 0;
  double rate = 0;  ///< frames per second; 0: the driver does not tell
  std::size_t stride_bytes = 0;
  std::uint32_t buffers = 0;
  CameraTransfer transfer = CameraTransfer::driver_buffers;
  Colorimetry colorimetry;  ///< as the driver reports it
};

/// One frame of a camera.
struct CameraFrame {
  /// Holds a buffer of the camera until the last copy, view and map of the image is destroyed; then
  /// the driver may write into it again. This may happen on any thread, and after the Camera is
  /// destroyed. A Map that Buffer::map() makes does not hold it; Tensor::map() does. Images that
  /// are copied, expanded or decoded hold no buffer.
  Tensor image;
  std::uint64_t sequence = 0;  ///< the driver's number of the frame, from 0 on; grows without end
  std::uint64_t lost = 0;      ///< frames that the driver dropped since the last one
  /// CLOCK_MONOTONIC (std::chrono::steady_clock) at the capture, by the driver; the time of arrival
  /// where the driver has another clock.
  std::chrono::nanoseconds timestamp{0};
};

/// Counts since open().
struct CameraStats {
  std::uint64_t frames = 0;    ///< returned by next()
  std::uint64_t lost = 0;      ///< dropped by the driver: gaps in its sequence
  std::uint64_t corrupt = 0;   ///< marked damaged by the driver, too short, or an undecodable JPEG
  std::uint64_t dropped = 0;   ///< older frames that latest_only dropped
  std::uint64_t copies = 0;    ///< frames that were copied or expanded
  std::uint64_t reopened = 0;  ///< times that `reopens` opened the camera again
  std::uint32_t held = 0;      ///< buffers that frames of the caller hold now
};

/// Captures from one camera. next() serves one thread at a time; cancel(), stats(), the controls
/// and the release of frames are thread-safe. A child of fork() can use frames that it has, but not
/// the camera.
class Camera {
 public:
  /// Opens a camera and starts it. `path`: a node, also a link to one (/dev/v4l/by-id/...), or
  /// "libcamera:" and a camera's number or id, or the same of another plugin. A plugin's camera
  /// takes no CameraOptions::images. Errors: invalid_argument (options; the message names the field
  /// and its limit), not_found, permission, busy (another program captures), unsupported (no
  /// camera; a format, size or rate that it does not offer: the message has those that it offers;
  /// images that the driver does not accept), exhausted (no USB bandwidth), no_memory, device
  /// (unplugged, input or output error), os.
  static Result<Camera> open(const std::string& path, const CameraOptions& options = {});
  /// Opens entry `index` of list_cameras(). Errors: also not_found (there are fewer).
  static Result<Camera> open(std::size_t index, const CameraOptions& options = {});
  Camera(Camera&&) noexcept;
  Camera& operator=(Camera&&) noexcept;
  Camera(const Camera&) = delete;
  Camera& operator=(const Camera&) = delete;
  /// Stops the camera. Frames stay valid.
  ~Camera();

  const CameraMode& mode() const noexcept;

  /// The next frame; waits at most `timeout` (negative: for ever; 0: does not wait). Damaged frames
  /// are counted and skipped. Errors: timeout, cancelled, exhausted (the caller holds all buffers
  /// and returned none in time, or the pool had no free slot), device (unplugged, failed or
  /// stopped: `os_errno` is ENODEV, EIO or EPIPE; with `reopens`, timeout until the camera is
  /// back), unsupported (a child of fork()), those of allocate() and TensorPool::alloc_image() for
  /// images that are copied, expanded or decoded.
  Result<CameraFrame> next(std::chrono::milliseconds timeout = std::chrono::seconds(10));
  /// A descriptor for poll(), select() and WaitSet::add_fd(): readable if next() would return
  /// without a wait, with a frame or an error. It stays the same when the camera is opened again.
  /// Borrowed.
  int fd() const noexcept;
  /// Makes the call of next() that waits, or else the one that comes, fail with cancelled.
  /// Thread-safe; may be called from a signal handler.
  void cancel() noexcept;
  CameraStats stats() const;

  /// All controls with their values now. Errors: device.
  Result<std::vector<CameraControl>> controls() const;
  /// The value of a control. Errors: not_found (the message has all names), unsupported (a control
  /// without a number), device.
  Result<std::int64_t> control(std::string_view name) const;
  /// Sets a control. The driver may round the value to the control's step. Errors: also
  /// invalid_argument (outside the range, no entry of the menu), permission (read-only), busy (not
  /// while the camera runs).
  Status set_control(std::string_view name, std::int64_t value);
  /// Sets a menu to the entry with this text. Errors: also invalid_argument (no such entry: the
  /// message has all).
  Status set_control(std::string_view name, std::string_view entry);

 private:
  struct Impl;
  explicit Camera(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

}  // namespace halyard
HALYARD_EXPORTS_END
