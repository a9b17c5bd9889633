// SPDX-License-Identifier: Apache-2.0
// Image: converts any image to any image in one call: crop, flip, rotate, fit, place, colour,
// dtype.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "halyard/export.h"
#include "halyard/fd.h"
#include "halyard/geometry.h"
#include "halyard/gl.h"
#include "halyard/placement.h"
#include "halyard/result.h"
#include "halyard/tensor.h"
#include "halyard/tiling.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {

namespace image {
struct CompiledPlan;
}

/// Resampling kernels by their PyTorch and torchvision names; half-pixel centres, exact weights.
/// Taps outside the crop read the crop's edge samples (as OpenCV does); with antialias they are
/// dropped and the other weights are scaled to a sum of 1 (as Pillow does). Bicubic has a = -0.75,
/// with antialias -0.5. `box` without antialias is `nearest`.
enum class Filter : std::uint8_t { nearest = 0, bilinear = 1, bicubic = 2, lanczos3 = 3, box = 4 };

/// Chroma of subsampled sources at 1:1 scale: replicated (as in libyuv and OpenCV) or interpolated.
enum class Chroma : std::uint8_t { replicate = 0, bilinear = 1 };

/// How colours are computed. `fast`: 16-bit fixed point, within 1 code of the exact value (max
/// measured error 0.618, so a value may round to its neighbour). `exact`: single precision. Without
/// resampling it gives the code nearest to the formula, except for ties. Resampling is still in
/// fixed point (max measured error 0.5475). The colour step takes about 2.5 times as long.
enum class ColorimetryMode : std::uint8_t { fast = 0, exact = 1 };

/// How colours are combined with alpha, if source and destination both have alpha. It does not
/// affect resampling: filters treat colour and alpha alike.
enum class AlphaStep : std::uint8_t {
  keep = 0,           ///< colours and alpha are not changed
  premultiply = 1,    ///< colour * alpha / 255 is stored
  unpremultiply = 2,  ///< colour * 255 / alpha, at most 255; 0 where alpha is 0
};

/// Per-channel map of 8-bit codes to numbers: out = value * scale + bias. Channels are R G B A of
/// the destination (grey: the first; Y U V for YUV), whatever their order in memory.
struct Normalize {
  std::array<float, 4> scale{1.0F / 255, 1.0F / 255, 1.0F / 255, 1.0F / 255};
  std::array<float, 4> bias{0, 0, 0, 0};
  /// ((value / 255) - mean) / std, per colour channel; alpha / 255.
  static Normalize mean_std(std::array<float, 3> mean, std::array<float, 3> std) noexcept;
  friend bool operator==(const Normalize&, const Normalize&) = default;
};

/// A request. The steps run in this order: orientation -> crop -> flip -> rotate -> fit -> place.
struct Convert {
  Tensor src = {};
  /// A plain tensor is interpreted as an image (Tensor::as_image).
  Tensor dst = {};
  /// In pixels of the upright source; sides may lie between pixels, and are at least 2^-16 long.
  /// Unset: the whole source. Filters read only pixels that the crop touches.
  std::optional<RegionF> crop = {};
  /// The orientation that makes the source upright. Unset: the source's own, Tensor::orientation(),
  /// which comes from EXIF data. Orientation{}: pixels as stored. It is applied first: crop, affine
  /// and the Placement refer to the upright image.
  std::optional<Orientation> orientation = {};
  Flip flip = Flip::none;
  Rotation rotation = Rotation::none;
  Fit fit = Fit::stretch;
  LetterboxRule letterbox = LetterboxRule::hal;  ///< for Fit::letterbox
  /// Destination rectangle; unset: the whole destination. The rest is filled with pad.
  std::optional<Region> place = {};
  std::array<std::uint8_t, 4> pad{114, 114, 114, 255};  ///< R, G, B, A
  Filter filter = Filter::bilinear;
  bool antialias = false;  ///< widen the kernel when shrinking
  Chroma chroma = Chroma::replicate;
  AlphaStep alpha = AlphaStep::keep;
  /// Swap the red and blue channels of the destination's format: for networks that read B G R
  /// planes. Normalize and quantization still use the channel order R G B.
  bool bgr = false;
  /// Number of significant (low) bits of 16-bit source samples: 8..16; 0: all 16. 8-bit codes are
  /// value * 255 / (2^bits - 1).
  std::uint8_t source_bits = 0;
  /// For float destinations, and integer ones with quantization; unset: value / 255.
  std::optional<Normalize> normalize = {};
  /// An arbitrary affine map from the upright source to the destination instead of flip, rotation
  /// and fit, which must keep their defaults. Destination pixels of `place` whose centre maps
  /// outside the crop are pad. With antialias the kernel widens by the map's scale along each
  /// source axis. Slower.
  std::optional<Affine> affine = {};
};

/// A request compiled for images of its geometry: sizes, formats, dtypes, orientation, colorimetry
/// and quantization. Addresses and strides may differ from run to run. A value type; copies share
/// the compiled plan. Thread-safe.
class ConvertPlan {
 public:
  const Placement& placement() const noexcept;
  /// "opengl", "g2d" or "cpu": what runs the plan on the request's tensors. Tensors in other memory
  /// may get another backend.
  std::string_view backend() const noexcept;

 private:
  friend class Processor;
  ConvertPlan(std::shared_ptr<const image::CompiledPlan> compiled,
              std::string_view backend) noexcept;
  std::shared_ptr<const image::CompiledPlan> compiled_;
  std::string_view backend_;
};

/// What computes conversions.
enum class ComputeBackend : std::uint8_t {
  automatic = 0,  ///< the first of OpenGL, G2D and CPU that serves a request
  cpu = 1,
  g2d = 2,     ///< and the CPU for what it declines
  opengl = 3,  ///< and the CPU for what it declines; images in any memory, which may cost copies
};

/// Options of Processor::create().
struct ProcessorOptions {
  /// Max threads for one request, including the caller's; 0: all cores. The results do not depend
  /// on it. In a child of fork() whose parent used more than one thread, only the caller's thread
  /// works.
  unsigned threads = 0;
  /// HALYARD_COLORIMETRY=fast or exact overrides it.
  ColorimetryMode colorimetry_mode = ColorimetryMode::fast;
  /// Unless automatic, HALYARD_FORCE_BACKEND and HALYARD_DISABLE_* are ignored.
  ComputeBackend backend = ComputeBackend::automatic;
  /// The display for OpenGL; unset: the first that works. All processors of a process share one:
  /// OpenGL is not available to a processor that wants another kind.
  std::optional<GlDisplayKind> gl_display = {};
};

/// What Processor::convert_with_fence() returns.
struct FencedPlacement {
  Placement placement = {};
  /// A sync file, as poll() (POLLIN), wait_sync_file() and drivers with explicit fences take it.
  /// Empty: the pixels are written, which is always so unless OpenGL has drawn into a DMA-BUF or a
  /// pixel buffer and its driver has such fences.
  Fd done;
};

/// Converts images. Chooses the first backend that supports the request and reaches its tensors, in
/// the order OpenGL, G2D, CPU. HALYARD_FORCE_BACKEND and ProcessorOptions::backend select one;
/// where they select G2D, it also scales and converts YUV, with a rounding of its own. The CPU
/// supports every legal request.
///
/// Sources: u8 in every format, u16 grey and Bayer. Bayer mosaics are demosaiced bilinearly: a
/// missing colour is the mean of its two or four nearest samples, including samples outside the
/// crop. At the edges the image is mirrored so that the pattern continues.
///
/// Destinations: every format but Bayer, u8 and (RGB models and grey) i8, u16, f16, bf16, f32.
/// Before they are stored, values are 8-bit codes v that are not rounded:
/// - u8: rounded, halves up. i8: the same xor 0x80, but alpha without the xor.
/// - f16, bf16, f32: normalize, by default v / 255, rounded to nearest even.
/// - u8, i8, u16 with quantization other than real = code / 255: round(real / scale) + zero_point,
///   clamped, of real = normalize(v), by default v / 255. One scale, or one per channel.
/// - u16 without: round(v * 257).
///
/// Colours: YUV sources by the source's colorimetry, resolved by its height; YUV destinations by
/// the destination's, a subsampled chroma sample being the mean of its block. YUV to RGB: luma
/// below black (Y < 16 in limited range) is set to black before the matrix, and colours outside the
/// RGB gamut are clamped. YUV to YUV of another matrix or range: one combined matrix that clamps
/// only the resulting codes, so that colours outside the RGB gamut are kept. RGB to grey: BT.601
/// luma. YUV to grey: the luma in full range, with luma below black set to black. New alpha is 255;
/// alpha is kept if both images have it.
///
/// One processor serves one thread at a time. It reuses its working memory between calls: a call
/// with a recently used geometry allocates nothing.
class Processor {
 public:
  /// Creates a processor; reads the environment again at each call. Errors: unsupported
  /// (options.backend or HALYARD_FORCE_BACKEND names a backend that is not available),
  /// invalid_argument (HALYARD_COLORIMETRY is neither fast nor exact).
  static Result<Processor> create(ProcessorOptions options = {});
  Processor(Processor&&) noexcept;
  Processor& operator=(Processor&&) noexcept;
  ~Processor();

  /// The memory for images that this processor converts without a copy: pbo where OpenGL serves it
  /// and cannot import DMA-BUFs (or there are none), else automatic, which tries DMA-BUFs first.
  /// automatic too while HALYARD_TENSOR_FORCE_MEM is set.
  Memory image_memory() const noexcept;
  /// Tensor::create_image() in image_memory(), unless options.memory names another kind. Where that
  /// is pbo, it is a DMA-BUF of the GPU's driver if that makes such (EGL_MESA_image_dma_buf_export,
  /// linear) and imports them, so that a machine without a heap has DMA-BUFs. Errors:
  /// those of Tensor::create_image().
  Result<Tensor> create_image(std::size_t width, std::size_t height, PixelFormat format,
                              ImageOptions options = {}) const;

  /// Fills the destination and returns the map between its pixels and the source. Writes the image
  /// and the pad, not the row padding. A failed request does not change the destination. Errors:
  /// invalid_argument (not an image; crop or place empty, outside or not finite; source and
  /// destination share bytes; a destination that has an orientation, because the pixels in it would
  /// be upright; normalize not finite, or set for an integer destination without quantization; an
  /// affine map without inverse, or together with fit, flip or rotation; source_bits out of range;
  /// an alpha step or bgr without such channels; an unknown value of colorimetry; a quantization
  /// axis that is not the channel axis), unsupported (a pair of formats and dtypes that
  /// conversion_declined() rejects; no backend accepts the request: the detail lists the reasons),
  /// no_memory, and those of mapping.
  Result<Placement> convert(const Convert& request);
  /// As above, but reads `src` and writes `dst`; words.src and words.dst are ignored. Avoids two
  /// Tensor copies, which matter for small images.
  Result<Placement> convert(const Convert& words, const Tensor& src, const Tensor& dst);

  /// As convert(), but the GPU may still work when it returns: FencedPlacement::done signals when
  /// the pixels are written. Until then nobody may write the source or access the destination,
  /// except by further requests of any processor of this process on OpenGL. The fence is added to
  /// their DMA-BUFs too, so that on Linux 6.0 and later maps by the CPU, and drivers that heed such
  /// fences, wait by themselves. An error of the GPU after the return is not reported.
  /// `wait_for` (borrowed) is a sync file that the request waits for before it accesses an image,
  /// on the GPU where the driver can (EGL_ANDROID_native_fence_sync), else on the CPU, for at most
  /// 5 seconds; negative: nothing. Errors: those of convert() and wait_sync_file().
  Result<FencedPlacement> convert_with_fence(const Convert& request, int wait_for = -1);

  /// Checks and compiles a request; accesses no pixel. Its tensors give the geometry; run() may get
  /// other tensors. Errors: those of convert() except those of mapping.
  Result<ConvertPlan> plan(const Convert& request);
  /// Runs a plan from `src` to `dst`. Errors: invalid_argument (a tensor's size, format, dtype,
  /// orientation, colorimetry or quantization is not the plan's; the tensors share bytes),
  /// unsupported (no backend of this processor serves these tensors), no_memory, those of mapping.
  Result<Placement> run(const ConvertPlan& plan, const Tensor& src, const Tensor& dst);

  /// Runs all requests together; their strips are distributed over the threads. Requests with the
  /// same source read it together, strip by strip, while it is in cache: one pass gives a network's
  /// input and a preview. No request may read or write bytes that another one writes. All requests
  /// are checked and mapped before a pixel is written. Errors: those of convert(); the detail has
  /// the request's index.
  Result<std::vector<Placement>> convert_all(std::span<const Convert> requests);
  /// Converts source i into batch.batch(i); all other fields are those of `like`, whose tensors are
  /// ignored. Errors: those of convert_all(), and invalid_argument (more sources than batch
  /// elements).
  Result<std::vector<Placement>> convert_batch(std::span<const Tensor> sources, const Tensor& batch,
                                               const Convert& like);
  /// Converts the tiles of one image, tile i into batch.batch(i). Tiles are in pixels of the
  /// upright source, as plan_tiles(src.upright_size()) gives them. like.crop must be unset. Errors:
  /// those of convert_batch(), and invalid_argument (a tile outside the image).
  Result<std::vector<Placement>> convert_tiles(const Tensor& src, std::span<const Tile> tiles,
                                               const Tensor& batch, const Convert& like);

  /// Checks the request and queues it for flush(), which runs all queued requests together, in any
  /// order. Until then the source must not change, and the destination keeps its content. Any
  /// request of this class that reads or writes a queued destination, or writes a queued source,
  /// calls flush() first. Requests that are still queued when the processor is destroyed never run.
  /// Errors: those of convert() and flush().
  Result<Placement> convert_deferred(const Convert& request);
  /// Runs all queued requests. The queue is empty afterwards, even after an error. Errors: the
  /// first error of a queued request.
  Status flush();

  /// mask_to_source() maps a mask of the destination of `placement` (grey u8) to a mask of its
  /// upright source. `out` must have the source's size; parts of the source that the destination
  /// does not show are 0. mask_to_destination() is the inverse; pixels that the image does not
  /// cover are 0. Errors: those of convert().
  Status mask_to_source(const Placement& placement, const Tensor& mask, const Tensor& out,
                        Filter filter = Filter::bilinear);
  Status mask_to_destination(const Placement& placement, const Tensor& mask, const Tensor& out,
                             Filter filter = Filter::bilinear);

  ColorimetryMode colorimetry_mode() const noexcept;
  /// Has no effect while HALYARD_COLORIMETRY is set.
  void set_colorimetry_mode(ColorimetryMode mode) noexcept;

  /// Describes which backend would run the request on its tensors, and why each backend before it
  /// declined. One line per backend.
  Result<std::string> explain(const Convert& request) const;
  /// Requests that were done again by another backend, because the first one failed.
  std::uint64_t fallback_count() const noexcept;

 private:
  struct Impl;
  explicit Processor(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

/// The reason why the CPU, and so every processor, does not support this pair: a string literal;
/// null if the pair is supported. docs/conversion.md has the whole table.
const char* conversion_declined(PixelFormat from, DType from_dtype, PixelFormat to,
                                DType to_dtype) noexcept;

/// Statistics of one channel of an image; channels are in the order of the colour model.
struct ChannelStatistics {
  double mean = 0;                             ///< 8-bit codes
  double standard_deviation = 0;               ///< of the population
  std::array<std::uint64_t, 256> histogram{};  ///< samples of each code
};
struct ImageStatistics {
  std::size_t channels = 0;
  std::array<ChannelStatistics, 4> channel{};
};
/// Measures the stored samples of a u8 image (a subsampled plane has fewer), in every `row_step`-th
/// row of each plane. Errors: invalid_argument (not an image, row_step 0), unsupported (dtype),
/// those of mapping.
Result<ImageStatistics> measure(const Tensor& image, std::size_t row_step = 1);

}  // namespace halyard
HALYARD_EXPORTS_END
