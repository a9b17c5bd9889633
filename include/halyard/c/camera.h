// SPDX-License-Identifier: Apache-2.0
// Cameras in C: frames of V4L2 cameras in their driver's memory or in yours, without a copy. All of
// it is ours. docs/cameras.md describes what halyard/camera.h and these functions do.
//
// hal_camera_next() serves one thread at a time; hal_camera_cancel(), the counts and the controls
// may be called on other threads meanwhile. A child of fork() can use frames that it has, but not
// the camera.
#pragma once

#include "halyard/c/base.h"
#include "halyard/c/pool.h"
#include "halyard/c/tensor.h"

HAL_BEGIN

typedef struct hal_camera hal_camera;

// How pixels come into a frame's image.
enum hal_camera_transfer HAL_ENUM_INT {
  HAL_CAMERA_TRANSFER_DRIVER_BUFFERS = 0,  // the image is the driver's buffer: no copy
  HAL_CAMERA_TRANSFER_CALLER_BUFFERS = 1,  // the driver writes into the caller's images or pool
  HAL_CAMERA_TRANSFER_COPIED = 2,  // the driver cannot export its buffers, or not write into a pool
  HAL_CAMERA_TRANSFER_EXPANDED = 3,  // samples of 10 to 14 bits are expanded to 16
  HAL_CAMERA_TRANSFER_DECODED = 4,   // each frame is a JPEG
};
typedef enum hal_camera_transfer hal_camera_transfer;

enum hal_camera_control_kind HAL_ENUM_INT {
  HAL_CAMERA_CONTROL_KIND_INTEGER = 0,
  HAL_CAMERA_CONTROL_KIND_BOOLEAN = 1,
  HAL_CAMERA_CONTROL_KIND_MENU = 2,
  HAL_CAMERA_CONTROL_KIND_INTEGER_MENU = 3,
  HAL_CAMERA_CONTROL_KIND_BUTTON = 4,
  HAL_CAMERA_CONTROL_KIND_OTHER = 5,
};
typedef enum hal_camera_control_kind hal_camera_control_kind;

// A camera of this machine. Texts that are too long are cut.
struct hal_camera_info {
  char path[64];
  char name[64];
  char driver[32];
  char bus[64];
  bool is_multiplanar;
  bool is_usable;
  char reason[160];  ///< why this process cannot open it; "": it can
};
typedef struct hal_camera_info hal_camera_info;

// For a format: of hal_camera_options, any that the camera offers; of hal_camera_size, none.
#define HAL_CAMERA_ANY_FORMAT -1

// A frame size of one format, or a range of sizes.
struct hal_camera_size {
  uint32_t fourcc;   ///< V4L2_PIX_FMT_*
  int format;        ///< hal_pixel_format; HAL_CAMERA_ANY_FORMAT: JPEG, or not read
  bool is_readable;  ///< whether hal_camera_open() takes it
  size_t width;      ///< of a range: the largest
  size_t height;
  size_t min_width;  ///< equal to width where there is no range
  size_t min_height;
  double max_rate;  ///< frames per second; 0: the driver lists none
  double min_rate;
};
typedef struct hal_camera_size hal_camera_size;

// What to open; fill it with hal_camera_options_default() first.
struct hal_camera_options {
  int format;          ///< hal_pixel_format of the images, or HAL_CAMERA_ANY_FORMAT
  int dtype;           ///< hal_dtype of the images, with format
  const char* fourcc;  ///< the driver's code instead of format: "MJPG"; NULL: any
  size_t width;        ///< both or none; 0: chosen
  size_t height;
  double rate;       ///< frames per second; 0: the highest up to 30
  uint32_t buffers;  ///< of the driver, 2..32
  bool latest_only;  ///< hal_camera_next() drops older frames that wait
  bool reopens;      ///< after unplugging, hal_camera_next() opens the camera again
  /// Images in DMA-BUFs for the driver to write into; NULL: its own buffers. Borrowed.
  const hal_tensor* const* images;
  size_t image_count;
  /// Each frame is a slot of it, for topics and other processes; NULL: none. Borrowed. Needs
  /// `buffers` slots, and one for each frame that somebody keeps. Not with images.
  const hal_pool* pool;
};
typedef struct hal_camera_options hal_camera_options;

// What a camera delivers.
struct hal_camera_mode {
  uint32_t fourcc;
  int format;  ///< hal_pixel_format of the images
  int dtype;   ///< hal_dtype
  size_t width;
  size_t height;
  double rate;  ///< frames per second; 0: the driver does not tell
  size_t stride_bytes;
  uint32_t buffers;
  int transfer;  ///< hal_camera_transfer
};
typedef struct hal_camera_mode hal_camera_mode;

struct hal_camera_frame {
  /// Holds a buffer of the camera until it and all that shares its bytes are released; release it
  /// with hal_tensor_free().
  hal_tensor* image;
  uint64_t sequence;     ///< from 0 on
  uint64_t lost;         ///< frames that the driver dropped since the last one
  int64_t timestamp_ns;  ///< CLOCK_MONOTONIC
};
typedef struct hal_camera_frame hal_camera_frame;

// Counts since the camera was opened.
struct hal_camera_stats {
  uint64_t frames;
  uint64_t lost;
  uint64_t corrupt;
  uint64_t dropped;
  uint64_t copies;
  uint64_t reopened;
  uint32_t held;  ///< buffers that frames hold now
};
typedef struct hal_camera_stats hal_camera_stats;

struct hal_camera_control {
  uint32_t id;    ///< V4L2_CID_*
  char name[64];  ///< "white_balance_automatic"
  int kind;       ///< hal_camera_control_kind
  int64_t minimum;
  int64_t maximum;
  int64_t step;
  int64_t default_value;
  int64_t value;
  bool is_read_only;
  bool is_inactive;
};
typedef struct hal_camera_control hal_camera_control;

/// Writes up to `capacity` cameras and returns how many there are. `out` may be NULL if capacity is
/// 0. errno: EINVAL.
int hal_camera_list(hal_camera_info* out, size_t capacity);

/// Writes up to `capacity` sizes that a camera offers, those of each format together, and returns
/// how many there are. `out` may be NULL if capacity is 0. errno: those of hal_camera_open().
int hal_camera_sizes(const char* path, hal_camera_size* out, size_t capacity);

hal_camera_options hal_camera_options_default(void);
/// Opens and starts a camera. `options` NULL: the default. errno: EINVAL (an option), ENOENT,
/// EACCES, EBUSY (another program captures), ENOTSUP (no camera; not offered: hal_last_error() has
/// what is), ENOSPC (no USB bandwidth), ENOMEM, and what system calls report.
hal_camera* hal_camera_open(const char* path, const hal_camera_options* options);
/// Stops the camera. Frames stay valid.
void hal_camera_free(hal_camera* camera);

/// errno: EINVAL (NULL).
int hal_camera_get_mode(const hal_camera* camera, hal_camera_mode* out);
/// The next frame. A negative timeout waits for ever, 0 does not wait. errno: EINVAL (NULL),
/// ETIMEDOUT, ECANCELED, ENOSPC (the caller holds all buffers), ENODEV, EIO or EPIPE (unplugged,
/// failed, ended), ENOTSUP (a child of fork()), ENOMEM.
int hal_camera_next(hal_camera* camera, int64_t timeout_ns, hal_camera_frame* out);
/// A borrowed descriptor for poll(): readable if hal_camera_next() would not wait. -1 and EINVAL
/// for NULL.
int hal_camera_fd(const hal_camera* camera);
/// Makes the hal_camera_next() that waits, or else the one that comes, fail with ECANCELED. May be
/// called while another thread is in it. errno: EINVAL (NULL).
int hal_camera_cancel(const hal_camera* camera);
/// errno: EINVAL (NULL).
int hal_camera_get_stats(const hal_camera* camera, hal_camera_stats* out);

/// Writes up to `capacity` controls and returns how many there are. `out` may be NULL if capacity
/// is 0. errno: EINVAL, ENODEV.
int hal_camera_controls(const hal_camera* camera, hal_camera_control* out, size_t capacity);
/// errno: EINVAL (NULL), ENOENT (no such control), ENOTSUP (it has no number), ENODEV.
int hal_camera_get_control(const hal_camera* camera, const char* name, int64_t* out);
/// errno: EINVAL (NULL; outside the range), ENOENT, EACCES (read-only), EBUSY, ENODEV.
int hal_camera_set_control(const hal_camera* camera, const char* name, int64_t value);
/// Sets a menu to the entry with this text. errno: as above.
int hal_camera_set_control_entry(const hal_camera* camera, const char* name, const char* entry);

HAL_END
