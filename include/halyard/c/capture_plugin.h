// SPDX-License-Identifier: Apache-2.0
// Camera plugins: a stack of cameras (libcamera, a vendor's) as one shared object, which Halyard
// finds in a folder. The object exports one function, hal_capture_plugin_get(); nothing of Halyard
// is needed to build it but this header. C99 and later, and C++.
//
// Halyard looks in the files and folders of HALYARD_CAMERA_PLUGINS, then in halyard/cameras beside
// its library, loads each *.so once, and never unloads it. A plugin's cameras have the addresses
// "NAME:ID" and "NAME:INDEX". docs/cameras.md tells more.
//
// Threads: functions without a camera are called by any thread. For one camera one thread at a time
// calls, but give_back(), control() and set_control() may be called by any other, between open()
// and close(). A child of fork() calls nothing for a camera of its parent. No function may throw a
// C++ exception, and none but configure(), start(), stop() and close() may wait for the hardware.
//
// Results: HAL_CAPTURE_OK or another hal_capture_result. `text` points to HAL_CAPTURE_TEXT_BYTES
// bytes for a reason, ended by NUL, which a function that fails may write; it is never NULL.
// Structs may get new members at their end: `size` is what the writer of a struct knows; where the
// plugin fills a struct, the caller has set `size` and zeroed the rest.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HAL_CAPTURE_PLUGIN_VERSION 1
#define HAL_CAPTURE_MAX_PLANES 4
#define HAL_CAPTURE_TEXT_BYTES 256

enum hal_capture_result {
  HAL_CAPTURE_OK = 0,
  HAL_CAPTURE_END = 1,          // of a list: there is no such index; of take(): no frame yet
  HAL_CAPTURE_FAILED = 2,       // the camera or its driver failed
  HAL_CAPTURE_GONE = 3,         // it was unplugged
  HAL_CAPTURE_NOT_FOUND = 4,    // there is no such camera
  HAL_CAPTURE_BUSY = 5,         // another program uses it
  HAL_CAPTURE_DENIED = 6,       // this user may not use it
  HAL_CAPTURE_UNSUPPORTED = 7,  // a format, size or value that the camera does not take
  HAL_CAPTURE_NO_MEMORY = 8,    // for the buffers
};

/// The plugin's own object.
typedef struct hal_capture_device hal_capture_device;

struct hal_capture_info {
  size_t size;                          // bytes of this struct
  char id[HAL_CAPTURE_TEXT_BYTES];      // the same after a restart and at the same connection
  char name[HAL_CAPTURE_TEXT_BYTES];    // for people: the model
  char driver[HAL_CAPTURE_TEXT_BYTES];  // empty: not known
  char bus[HAL_CAPTURE_TEXT_BYTES];     // where it is connected; empty: not known
};
typedef struct hal_capture_info hal_capture_info;

struct hal_capture_format {
  size_t size;
  uint32_t fourcc;  // DRM_FORMAT_*, linear; of Bayer V4L2_PIX_FMT_S*; of JPEG "MJPG"
  char description[HAL_CAPTURE_TEXT_BYTES];
};
typedef struct hal_capture_format hal_capture_format;

/// A frame size, or a range of sizes.
struct hal_capture_size {
  size_t size;
  uint32_t min_width;
  uint32_t min_height;
  uint32_t max_width;
  uint32_t max_height;
  uint32_t step_width;   // 1 or more in a range
  uint32_t step_height;  // 1 or more in a range
  double min_rate;       // frames per second; 0: not known
  double max_rate;
};
typedef struct hal_capture_size hal_capture_size;

enum hal_capture_control_kind { HAL_CAPTURE_INTEGER = 0, HAL_CAPTURE_BOOLEAN = 1 };
#define HAL_CAPTURE_CONTROL_READ_ONLY 1u

struct hal_capture_control {
  size_t size;
  uint32_t id;
  char name[HAL_CAPTURE_TEXT_BYTES];  // a-z, 0-9 and _: "exposure_time"
  char description[HAL_CAPTURE_TEXT_BYTES];
  int32_t kind;    // hal_capture_control_kind
  uint32_t flags;  // HAL_CAPTURE_CONTROL_READ_ONLY or 0
  int64_t minimum;
  int64_t maximum;
  int64_t step;
  int64_t default_value;
  int64_t value;  // now
};
typedef struct hal_capture_control hal_capture_control;

/// What configure() is asked for.
struct hal_capture_wish {
  size_t size;
  uint32_t fourcc;  // one of format()
  uint32_t width;   // 0: the camera's choice
  uint32_t height;
  double rate;       // frames per second; 0: the camera's choice
  uint32_t buffers;  // 2..32; the camera may have more or fewer, but two
};
typedef struct hal_capture_wish hal_capture_wish;

/// What the camera then delivers. A wish that it does not keep is HAL_CAPTURE_UNSUPPORTED, except
/// for the rate: there the answer counts, and 0: nobody can set it.
struct hal_capture_mode {
  size_t size;
  uint32_t width;
  uint32_t height;
  double rate;
  uint32_t buffers;
  uint32_t planes;                          // of pixels: 2 for NV12; 1: they follow one another
  uint32_t stride[HAL_CAPTURE_MAX_PLANES];  // bytes; 0: follows from that of the first plane
  uint32_t colorspace;                      // enum v4l2_colorspace and so on; 0: not known
  uint32_t xfer_func;
  uint32_t ycbcr_enc;
  uint32_t quantization;
};
typedef struct hal_capture_mode hal_capture_mode;

/// Memory of one plane.
struct hal_capture_plane {
  int fd;         // a DMA-BUF or memfd of the plugin, valid until close(); Halyard duplicates it
  size_t offset;  // of the first byte in it
  size_t length;  // bytes
};
typedef struct hal_capture_plane hal_capture_plane;

struct hal_capture_buffer {
  size_t size;
  hal_capture_plane planes[HAL_CAPTURE_MAX_PLANES];
};
typedef struct hal_capture_buffer hal_capture_buffer;

#define HAL_CAPTURE_FRAME_DAMAGED 1u

struct hal_capture_frame {
  size_t size;
  uint32_t index;                       // of the buffer, which belongs to the caller now
  uint32_t flags;                       // HAL_CAPTURE_FRAME_DAMAGED or 0
  uint32_t sequence;                    // of the sensor: gaps are lost frames
  int64_t timestamp_ns;                 // CLOCK_MONOTONIC at the capture; 0: not known
  size_t used[HAL_CAPTURE_MAX_PLANES];  // bytes of each plane; 0: not told
};
typedef struct hal_capture_frame hal_capture_frame;

/// The table of a plugin. All of it lives as long as the process. Functions may be NULL only where
/// that is written.
struct hal_capture_plugin {
  uint32_t version;             // HAL_CAPTURE_PLUGIN_VERSION
  size_t size;                  // bytes of this struct
  const char* name;             // a-z, 0-9 and _, at most 32; neither "camera" nor "topic"
  const char* library_version;  // of the stack that the plugin uses

  /// The cameras that are there, from index 0 on.
  int (*camera)(size_t index, hal_capture_info* info, char* text);
  /// Opens a camera to look at it; other programs may use it still.
  int (*open)(const char* id, hal_capture_device** camera, char* text);
  /// Stops and closes. Descriptors that Halyard duplicated stay valid.
  void (*close)(hal_capture_device* camera);

  int (*format)(hal_capture_device* camera, size_t index, hal_capture_format* format);
  /// The sizes of a format. None: not known.
  int (*frame_size)(hal_capture_device* camera, size_t format, size_t index,
                    hal_capture_size* size);
  /// Both or neither may be NULL. A control that is set applies to frames that come later.
  int (*control)(hal_capture_device* camera, size_t index, hal_capture_control* control);
  int (*set_control)(hal_capture_device* camera, uint32_t id, int64_t value, char* text);

  /// Takes the camera for this program and makes its buffers. Called once after open().
  int (*configure)(hal_capture_device* camera, const hal_capture_wish* wish, hal_capture_mode* mode,
                   char* text);
  int (*buffer)(hal_capture_device* camera, uint32_t index, hal_capture_buffer* buffer);
  /// Hands all buffers to the camera and starts it. Called once after configure().
  int (*start)(hal_capture_device* camera, char* text);
  /// A descriptor of the plugin that is readable while take() has a frame or an error; -1: none.
  int (*ready_fd)(hal_capture_device* camera);
  /// The oldest frame that waits. Never blocks.
  int (*take)(hal_capture_device* camera, hal_capture_frame* frame, char* text);
  /// Hands a buffer that take() gave to the camera again.
  int (*give_back)(hal_capture_device* camera, uint32_t index);
};
typedef struct hal_capture_plugin hal_capture_plugin;

/// What the plugin exports. `version`: HAL_CAPTURE_PLUGIN_VERSION of the caller. NULL: the plugin
/// is for another version.
typedef const hal_capture_plugin* (*hal_capture_plugin_get_fn)(uint32_t version);

#ifdef HAL_CAPTURE_PLUGIN_IMPLEMENTATION
#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
const hal_capture_plugin*
hal_capture_plugin_get(uint32_t version);
#endif

#ifdef __cplusplus
}
#endif
