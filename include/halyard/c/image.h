// SPDX-License-Identifier: Apache-2.0
// Images in C: image tensors, JPEG and PNG, memory of cameras, conversion.
//
// Functions that differ between generations are declared twice; the names of the 0.27 forms end in
// _27. See halyard/c/base.h.
#pragma once

#include "halyard/c/base.h"
#include "halyard/c/tensor.h"

HAL_BEGIN

// ---- Image tensors

/// A zero-filled image of width and height 1..65535. Rows begin at multiples of 64 bytes in DMA
/// memory and for semi-planar formats; else they are tight. `access` is what the CPU will do with
/// the pixels; in 0.24 it is reading and writing. errno: EINVAL (a size, values that are not
/// enumerators), ENOMEM, ENOTSUP, EACCES.
hal_tensor* hal_tensor_new_image(size_t width, size_t height, hal_pixel_format format,
                                 hal_dtype dtype, hal_tensor_memory memory);
hal_tensor* hal_tensor_new_image_27(size_t width, size_t height, hal_pixel_format format,
                                    hal_dtype dtype, hal_tensor_memory memory, HalCpuAccess access);

typedef struct HalImageDesc HalImageDesc;

/// A request for an image. Defaults: automatic memory, CPU access to read and write, no
/// compression. Values are checked when the image is made. errno: EINVAL (a size of 0, values that
/// are not enumerators), ENOMEM.
HalImageDesc* hal_image_desc_new(size_t width, size_t height, hal_pixel_format format,
                                 hal_dtype dtype);
void hal_image_desc_set_memory(HalImageDesc* desc, hal_tensor_memory memory);
void hal_image_desc_set_access(HalImageDesc* desc, HalCpuAccess access);
/// A scheme other than NONE needs CPU access NONE.
void hal_image_desc_set_compression(HalImageDesc* desc, HalCompression compression);
void hal_image_desc_free(HalImageDesc* desc);
/// errno: EINVAL (NULL, values that are not enumerators, compression with CPU access), ENOMEM,
/// ENOTSUP (memory, a compression scheme that is named), EACCES.
hal_tensor* hal_tensor_new_image_desc(const HalImageDesc* desc);

size_t hal_tensor_width(const hal_tensor* tensor);                   ///< not an image: 0
size_t hal_tensor_height(const hal_tensor* tensor);                  ///< not an image: 0
hal_pixel_format hal_tensor_pixel_format(const hal_tensor* tensor);  ///< not an image: RGB
/// Gives a tensor an image format over the same bytes. errno: EINVAL (NULL, not an enumerator, a
/// shape or strides that the format cannot have).
int hal_tensor_set_format(hal_tensor* tensor, hal_pixel_format format);
/// Whether the format is planar or semi-planar; not an image: false.
bool hal_tensor_is_planar(const hal_tensor* tensor);
/// Extent of the channel axis, 1 for semi-planar formats; not an image: 0.
size_t hal_tensor_channels(const hal_tensor* tensor);
/// As hal_tensor_effective_row_stride().
size_t hal_tensor_row_stride(const hal_tensor* tensor);

/// Whether memory here can be compressed for such images: false, except on Android.
bool hal_platform_compression_support(hal_pixel_format format, hal_dtype dtype);
/// The multiple that GPUs require for row pitches of DMA-BUFs: 64.
size_t hal_gpu_dma_buf_pitch_alignment_bytes(void);
/// The smallest width, at least `width`, whose rows of `bpp` bytes per pixel have such a pitch.
/// Returns `width` if either is 0 or if the result would overflow.
size_t hal_align_width_for_gpu_pitch(size_t width, size_t bpp);
/// As above for a format (semi-planar: its luma); returns `width` for values that are not
/// enumerators.
size_t hal_align_width_for_pixel_format(size_t width, hal_pixel_format format, hal_dtype dtype);

// ---- JPEG and PNG. Each thread has its own decoder state: threads do not wait for each other.

/// Ours: limits of decoding, for every call below, and for C++ and Python where no limits are
/// given. A file beyond a limit gives EBADMSG before its pixels are decoded; hal_last_error() names
/// the limit.
enum hal_decode_limit HAL_ENUM_INT {
  HAL_DECODE_LIMIT_WIDTH = 0,      ///< 65500 pixels
  HAL_DECODE_LIMIT_HEIGHT = 1,     ///< 65500 pixels
  HAL_DECODE_LIMIT_PIXELS = 2,     ///< 2^28
  HAL_DECODE_LIMIT_BYTES = 3,      ///< 2^32: pixels, and the memory that decoding needs beside them
  HAL_DECODE_LIMIT_EXPANSION = 4,  ///< 1000 decoded bytes per byte of the file
  HAL_DECODE_LIMIT_EXPANSION_FLOOR = 5,  ///< 2^28 decoded bytes; EXPANSION applies above
  HAL_DECODE_LIMIT_SCANS = 6,            ///< 1000 scans of a JPEG
  HAL_DECODE_LIMIT_SCAN_PASSES = 7,      ///< 24 visits of each block of a JPEG on average
};
typedef enum hal_decode_limit hal_decode_limit;

/// The process's limit; not an enumerator: 0.
size_t hal_decode_limit_get(hal_decode_limit limit);
/// Sets the limit for calls that begin afterwards, on all threads; intended for the start of a
/// program. errno: EINVAL (not an enumerator).
int hal_decode_limit_set(hal_decode_limit limit, size_t value);

/// Decodes into the tensor's memory and gives it the image's size and format. If the memory is too
/// small, nothing changes. Pixels are as stored: orientation is not applied. `format` is RGB, RGBA
/// or GREY, or -1 for the file's own: JPEG 4:2:0 NV12, 4:2:2 NV16, 4:4:4 NV24, grey GREY; PNG RGB,
/// RGBA or GREY. Sizes may be NULL. errno: EINVAL (NULL, len 0, format), EBADMSG (not such a file,
/// damaged, beyond a limit, or of a kind that is not supported, also for this tensor's dtype),
/// ENOSPC (the memory is too small).
int hal_tensor_decode_image(hal_tensor* tensor, const uint8_t* data, size_t len, int format,
                            size_t* out_width, size_t* out_height);
/// As above, from a file. errno: also EINVAL (path not UTF-8, an empty file), ENOENT, EACCES, and
/// what system calls report.
int hal_tensor_decode_image_file(hal_tensor* tensor, const char* path, int format,
                                 size_t* out_width, size_t* out_height);
/// As above, in the file's own format, and returns its orientation: first mirror left and right,
/// then rotate clockwise by the degrees; then the image is upright. Each of the four may be NULL.
int hal_tensor_decode_image_27(hal_tensor* tensor, const uint8_t* data, size_t len,
                               size_t* out_width, size_t* out_height,
                               uint16_t* out_rotation_degrees, bool* out_flip_horizontal);
int hal_tensor_decode_image_file_27(hal_tensor* tensor, const char* path, size_t* out_width,
                                    size_t* out_height, uint16_t* out_rotation_degrees,
                                    bool* out_flip_horizontal);
/// Loads a file as a new image, upright, in the requested format. errno: those of
/// hal_tensor_decode_image_file(), ENOMEM, ENOTSUP (a format that images are not converted to).
hal_tensor* hal_tensor_load_file(const char* path, hal_pixel_format format);
/// Writes a JPEG from the image at its own row pitch: u8 RGB, RGBA, BGR, BGRA, GREY, NV12, NV16,
/// NV24 or I420. A quality outside 1..100 means 80. errno: EINVAL (NULL, path not UTF-8, not an
/// image, a side above 65500), ENOTSUP (format, dtype), ENOENT, EACCES, ENOSPC, and what system
/// calls report.
int hal_tensor_save_jpeg(const hal_tensor* tensor, const char* path, int quality);

// ---- Rectangles and crops

struct hal_rect {
  size_t left;
  size_t top;
  size_t width;
  size_t height;
};
typedef struct hal_rect hal_rect;

hal_rect hal_rect_new(size_t left, size_t top, size_t width, size_t height);

/// The part of the source that is shown, and the part of the destination that shows it. Unset: the
/// whole image. Pixels outside dst_rect become dst_color if that is set; else they do not change.
struct hal_crop {
  hal_rect src_rect;
  hal_rect dst_rect;
  uint8_t dst_color[4];  ///< R, G, B, A
  bool has_src_rect;
  bool has_dst_rect;
  bool has_dst_color;
  bool letterbox;  ///< Ours: keeps the aspect ratio, the rest is dst_color.
};
typedef struct hal_crop hal_crop;

/// The crop of 0.27: a part of the source, fit HAL_FIT_*, and the colour of the pad.
struct hal_crop_27 {
  hal_region source;
  bool has_source;
  int32_t fit;
  uint8_t pad[4];  ///< R, G, B, A
};
typedef struct hal_crop_27 hal_crop_27;

/// Nothing set; 0.27: stretch, pad black and opaque.
hal_crop hal_crop_new(void);
hal_crop_27 hal_crop_new_27(void);
/// A NULL rectangle clears the value. A NULL crop is ignored, here and below.
void hal_crop_set_src_rect(hal_crop* crop, const hal_rect* rect);
void hal_crop_set_dst_rect(hal_crop* crop, const hal_rect* rect);
void hal_crop_set_dst_color(hal_crop* crop, uint8_t r, uint8_t g, uint8_t b, uint8_t a);
/// Sets the part of the source, in both generations.
void hal_crop_set_source(hal_crop* crop, const hal_region* region);
void hal_crop_set_source_27(hal_crop_27* crop, const hal_region* region);
/// Keeps the aspect ratio, centres the image and fills the rest with this colour.
void hal_crop_set_letterbox(hal_crop* crop, uint8_t r, uint8_t g, uint8_t b, uint8_t a);
void hal_crop_set_letterbox_27(hal_crop_27* crop, uint8_t r, uint8_t g, uint8_t b, uint8_t a);

// ---- Conversion. A processor serves one thread at a time.

enum hal_compute_backend HAL_ENUM_INT {
  HAL_COMPUTE_BACKEND_AUTO = 0,
  HAL_COMPUTE_BACKEND_CPU = 1,
  HAL_COMPUTE_BACKEND_G2D = 2,
  HAL_COMPUTE_BACKEND_OPENGL = 3,
};
typedef enum hal_compute_backend hal_compute_backend;

/// errno: ENOMEM, ENOTSUP (HALYARD_FORCE_BACKEND names a backend that is not available), EINVAL
/// (HALYARD_COLORIMETRY).
hal_image_processor* hal_image_processor_new(void);
/// G2D and OPENGL leave to the CPU what they decline; HALYARD_FORCE_BACKEND and HALYARD_DISABLE_*
/// are ignored unless the backend is AUTO. errno: also EINVAL (not an enumerator), ENOTSUP (a
/// backend that is not available; hal_last_error() has the reason).
hal_image_processor* hal_image_processor_new_with_backend(hal_compute_backend backend);
/// Deferred conversions that were not flushed are dropped.
void hal_image_processor_free(hal_image_processor* processor);

/// Fills `dst` from `src`: crop, flip, rotate clockwise, scale (bilinear), place, colours, dtype.
/// From YUV to RGB and grey, luma below black counts as black. YUV of one colorimetry becomes YUV
/// of another by one matrix, without RGB in between. `crop` may be NULL. If the request fails, dst
/// does not change. errno: EINVAL (NULL, not an enumerator; not an image; a rectangle empty or
/// outside; src and dst share bytes), ENOTSUP (a pair of formats and dtypes that is not supported),
/// ENOMEM, and those of hal_tensor_map_create().
int hal_image_processor_convert(hal_image_processor* processor, const hal_tensor* src,
                                hal_tensor* dst, hal_rotation rotation, hal_flip flip,
                                const hal_crop* crop);
int hal_image_processor_convert_27(hal_image_processor* processor, const hal_tensor* src,
                                   hal_tensor* dst, hal_rotation rotation, hal_flip flip,
                                   const hal_crop_27* crop);
/// As above, but the GPU may still work when it returns. `fence_fd` receives a sync file, a
/// descriptor that poll() (POLLIN) waits for and the caller closes, or -1 if the pixels are
/// complete: always, unless OpenGL has drawn into a DMA-BUF or a pixel buffer and its driver has
/// EGL_ANDROID_native_fence_sync. Until it signals, nobody may write src or access dst. errno: also
/// EINVAL (fence_fd NULL).
int hal_image_processor_convert_fence(hal_image_processor* processor, const hal_tensor* src,
                                      hal_tensor* dst, hal_rotation rotation, hal_flip flip,
                                      const hal_crop* crop, int* fence_fd);
int hal_image_processor_convert_fence_27(hal_image_processor* processor, const hal_tensor* src,
                                         hal_tensor* dst, hal_rotation rotation, hal_flip flip,
                                         const hal_crop_27* crop, int* fence_fd);
/// As above. `wait_fd`, which is borrowed, is a sync file that the conversion waits for before it
/// accesses an image: on the GPU where the driver can, else on the CPU, for at most 5 seconds;
/// negative: nothing. errno: also ETIMEDOUT, EINVAL (wait_fd is not an open descriptor).
int hal_image_processor_convert_after(hal_image_processor* processor, int wait_fd,
                                      const hal_tensor* src, hal_tensor* dst, hal_rotation rotation,
                                      hal_flip flip, const hal_crop_27* crop, int* fence_fd);
/// Checks the request and keeps it for hal_image_processor_flush(), which runs all kept requests
/// together. Until then the source must not change; the handles may be freed. A request that uses a
/// kept destination, or writes a kept source, flushes first. errno: those of convert.
int hal_image_processor_convert_deferred(hal_image_processor* processor, const hal_tensor* src,
                                         hal_tensor* dst, hal_rotation rotation, hal_flip flip,
                                         const hal_crop* crop);
int hal_image_processor_convert_deferred_27(hal_image_processor* processor, const hal_tensor* src,
                                            hal_tensor* dst, hal_rotation rotation, hal_flip flip,
                                            const hal_crop_27* crop);
/// Runs the kept requests. None is kept afterwards, also after a failure. errno: that of the first
/// failure.
int hal_image_processor_flush(hal_image_processor* processor);
/// Ours: names the backend that would take the request, and for each one before it the reason why
/// it declines, one line each; release it with free(). errno: those of convert.
char* hal_processor_explain(hal_image_processor* processor, const hal_tensor* src,
                            const hal_tensor* dst, hal_rotation rotation, hal_flip flip,
                            const hal_crop* crop);
char* hal_processor_explain_27(hal_image_processor* processor, const hal_tensor* src,
                               const hal_tensor* dst, hal_rotation rotation, hal_flip flip,
                               const hal_crop_27* crop);

/// A zero-filled image in the memory that is best for this processor. errno: EINVAL (NULL, a size,
/// not an enumerator), ENOMEM, ENOTSUP, EACCES.
hal_tensor* hal_image_processor_create_image(hal_image_processor* processor, size_t width,
                                             size_t height, hal_pixel_format format,
                                             hal_dtype dtype);
hal_tensor* hal_image_processor_create_image_27(hal_image_processor* processor, size_t width,
                                                size_t height, hal_pixel_format format,
                                                hal_dtype dtype, HalCpuAccess access);
/// As above for a descriptor, which the caller keeps. errno: also those of
/// hal_tensor_new_image_desc().
hal_tensor* hal_image_processor_create_image_desc(hal_image_processor* processor,
                                                  const HalImageDesc* desc);

// ---- Memory of cameras and other devices

typedef struct hal_plane_descriptor hal_plane_descriptor;

/// One plane in foreign memory. `fd` is duplicated; the caller keeps its own. By default rows are
/// tight and begin at byte 0. errno: EINVAL (negative), EBADF (closed), ENOMEM, EMFILE.
hal_plane_descriptor* hal_plane_descriptor_new(int fd);
/// Only for descriptors that were not passed to hal_import_image().
void hal_plane_descriptor_free(hal_plane_descriptor* plane);
/// Bytes between rows. Camera drivers pad rows: pass the stride that they report. errno: EINVAL
/// (NULL, 0).
int hal_plane_descriptor_set_stride(hal_plane_descriptor* plane, size_t stride);
/// Bytes before the plane. errno: EINVAL (NULL).
int hal_plane_descriptor_set_offset(hal_plane_descriptor* plane, size_t offset);
/// If `required`, hal_import_image() refuses (EACCES) memory that its owner can shrink, unless it
/// can be sealed: to read memory that its owner has removed ends this process (SIGBUS). Setting one
/// plane of an image is enough for both. Not in EdgeFirst HAL. errno: EINVAL (NULL).
int hal_plane_descriptor_set_require_sealed(hal_plane_descriptor* plane, bool required);

/// An image over DMA-BUFs or shared memory, without a copy. `chroma` is the second plane of a
/// semi-planar format, NULL if it follows in the memory of the first. Both descriptors are always
/// consumed; if the same one is given twice, it is freed once and the call fails. A kernel object
/// is imported once, through whichever descriptor. `colorimetry` may be NULL: unknown, as in 0.24.
/// errno: EINVAL (NULL, a size, not an enumerator; a stride below the row; a plane that ends behind
/// its memory; planes that overlap; chroma for a format without it), ENOTSUP (memory of another
/// kind), ENOMEM, and what system calls report.
hal_tensor* hal_import_image(hal_image_processor* processor, hal_plane_descriptor* image,
                             hal_plane_descriptor* chroma, size_t width, size_t height,
                             hal_pixel_format format, hal_dtype dtype);
hal_tensor* hal_import_image_27(hal_image_processor* processor, hal_plane_descriptor* image,
                                hal_plane_descriptor* chroma, size_t width, size_t height,
                                hal_pixel_format format, hal_dtype dtype,
                                const hal_colorimetry* colorimetry);

HAL_END

#if HAL_API_VERSION == 27
#define hal_tensor_new_image hal_tensor_new_image_27
#define hal_tensor_decode_image hal_tensor_decode_image_27
#define hal_tensor_decode_image_file hal_tensor_decode_image_file_27
#define hal_crop hal_crop_27
#define hal_crop_new hal_crop_new_27
#define hal_crop_set_source hal_crop_set_source_27
#define hal_crop_set_letterbox hal_crop_set_letterbox_27
#define hal_image_processor_convert hal_image_processor_convert_27
#define hal_image_processor_convert_fence hal_image_processor_convert_fence_27
#define hal_image_processor_convert_deferred hal_image_processor_convert_deferred_27
#define hal_processor_explain hal_processor_explain_27
#define hal_image_processor_create_image hal_image_processor_create_image_27
#define hal_import_image hal_import_image_27
#endif
