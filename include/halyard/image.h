// SPDX-License-Identifier: Apache-2.0
// Image: one call from any image to any image: crop, flip, rotate, fit, place, colour, dtype.
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
#include "halyard/geometry.h"
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
/// Where a kernel reaches beyond the crop, the crop's edge samples repeat (OpenCV); with antialias
/// that part of it is left out and the rest weighs 1 in sum (Pillow). Bicubic has a = -0.75, with
/// antialias -0.5. `box` without antialias is `nearest`.
enum class Filter : std::uint8_t { nearest = 0, bilinear = 1, bicubic = 2, lanczos3 = 3, box = 4 };

/// Chroma of subsampled sources at 1:1 scale: replicated (libyuv, OpenCV) or interpolated.
enum class Chroma : std::uint8_t { replicate = 0, bilinear = 1 };

/// How colours are computed. `fast`: 16-bit fixed point, within 1 code of the exact value (0.618 is
/// the most seen, so a value may round to its neighbour). `exact`: single precision, and the code
/// nearest to the formula but for ties where nothing is resampled; resampled samples are fixed
/// point all the same, and 0.5475 is the most seen. Colours take about 2.5 times as long.
enum class ColorimetryMode : std::uint8_t { fast = 0, exact = 1 };

/// What happens to colours beside their alpha, on sources and destinations that both have alpha.
/// Images are taken as they are: filters treat colour and alpha alike.
enum class AlphaStep : std::uint8_t {
  keep = 0,           ///< colours and alpha as they are
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

/// A request. Steps in this order: orientation -> crop -> flip -> rotate -> fit -> place.
struct Convert {
  Tensor src = {};
  /// A plain tensor is read as an image (Tensor::as_image).
  Tensor dst = {};
  /// In pixels of the upright source; sides may lie between pixels, and are at least 2^-16 long.
  /// Unset: all. Filters read no pixel that the crop does not touch.
  std::optional<RegionF> crop = {};
  /// What shows the source upright. Unset: the source's own, Tensor::orientation(), as its EXIF
  /// data says. Orientation{}: pixels as they are stored. Applied first: crop, affine and the
  /// Placement speak of the upright image.
  std::optional<Orientation> orientation = {};
  Flip flip = Flip::none;
  Rotation rotation = Rotation::none;
  Fit fit = Fit::stretch;
  LetterboxRule letterbox = LetterboxRule::hal;  ///< for Fit::letterbox
  /// Destination rectangle; unset: all of it. The rest is filled with pad.
  std::optional<Region> place = {};
  std::array<std::uint8_t, 4> pad{114, 114, 114, 255};  ///< R, G, B, A
  Filter filter = Filter::bilinear;
  bool antialias = false;  ///< widen the kernel when shrinking
  Chroma chroma = Chroma::replicate;
  AlphaStep alpha = AlphaStep::keep;
  /// Store blue where the destination's format says red, and red where it says blue: for networks
  /// that read B G R planes. Normalize and quantization still count channels as R G B.
  bool bgr = false;
  /// Significant bits of 16-bit source samples, in the low bits: 8..16; 0: all 16. Codes are value
  /// * 255 / (2^bits - 1).
  std::uint8_t source_bits = 0;
  /// Float destinations, and integer ones with quantization; unset: value / 255.
  std::optional<Normalize> normalize = {};
  /// A free map from the upright source to the destination instead of flip, rotation and fit, which
  /// must be unset. Destination pixels of `place` whose centre falls outside the crop are pad. With
  /// antialias the kernel widens by the map's scale along each source axis. Slower.
  std::optional<Affine> affine = {};
};

/// A request compiled for images of its geometry: sizes, formats, dtypes, orientation,
/// colorimetry and quantization; bytes and strides may differ from run to run. A value; copies
/// share. Thread-safe.
class ConvertPlan {
 public:
  const Placement& placement() const noexcept;
  /// "opengl", "g2d" or "cpu".
  std::string_view backend() const noexcept;

 private:
  friend class Processor;
  explicit ConvertPlan(std::shared_ptr<const image::CompiledPlan> compiled) noexcept;
  std::shared_ptr<const image::CompiledPlan> compiled_;
};

/// Converts images. Chooses the first backend that supports the request, in the order OpenGL,
/// G2D, CPU (HALYARD_FORCE_BACKEND pins one). The CPU serves every legal request.
///
/// Sources: u8 in every format, u16 grey and Bayer. Bayer mosaics are demosaiced bilinearly: a
/// missing colour is the mean of its two or four nearest samples, also of those outside the crop,
/// edges of the image mirrored so that the pattern goes on.
///
/// Destinations: every format but Bayer, u8 and (RGB models and grey) i8, u16, f16, bf16, f32.
/// Values are 8-bit codes v before they are stored, not rounded:
/// - u8: rounded, halves up. i8: the same xor 0x80, alpha without the xor.
/// - f16, bf16, f32: normalize, by default v / 255, rounded to nearest even.
/// - u8, i8, u16 with quantization other than real = code / 255: round(real / scale) + zero_point,
///   clamped, of real = normalize(v), by default v / 255. One scale, or one a channel.
/// - u16 without: round(v * 257).
///
/// Colours: YUV sources by the source's colorimetry, resolved by its height; YUV destinations by
/// the destination's, a subsampled chroma sample being the mean of its block. To RGB, luma below
/// black (Y < 16 of limited range) counts as black before the matrix, and colours outside the RGB
/// gamut are clamped. To YUV of another matrix or range: one combined matrix, without any clamp
/// but that of the codes, so that what RGB cannot hold stays. RGB to grey: BT.601 luma. YUV to
/// grey: the luma, in full range, below black as black. New alpha is 255; alpha is kept when both
/// have it.
///
/// One processor serves one thread at a time; it reuses its working memory between calls: a call
/// of a geometry that it served lately allocates nothing.
class Processor {
 public:
  struct Options {
    /// Most threads for one request, the caller's among them; 0: all cores. The results do not
    /// depend on it. A child of fork() works on the caller's alone where its parent used more.
    unsigned threads = 0;
    /// HALYARD_COLORIMETRY=fast or exact overrules it.
    ColorimetryMode colorimetry_mode = ColorimetryMode::fast;
  };
  /// Reads the environment anew. Errors: unsupported (HALYARD_FORCE_BACKEND names none that is
  /// there), invalid_argument (HALYARD_COLORIMETRY is neither fast nor exact).
  static Result<Processor> create(Options options);
  static Result<Processor> create() { return create(Options{}); }
  Processor(Processor&&) noexcept;
  Processor& operator=(Processor&&) noexcept;
  ~Processor();

  /// Fills the destination and says where its pixels came from. Pad and image are written, the
  /// row padding is not. A request that fails leaves the destination as it was. Errors:
  /// invalid_argument (not an image; crop or place empty, outside or not finite; source and
  /// destination share bytes; a destination that carries an orientation, which the upright pixels
  /// in it would belie; normalize not finite, or for an integer destination without
  /// quantization; an affine map without inverse, or beside fit, flip or rotation;
  /// source_bits; alpha steps or bgr without such channels; colorimetry of no known value; the
  /// quantization's axis is not that of the channels), unsupported (a pair of
  /// formats and dtypes that conversion_support() declines; no backend takes the request, the
  /// detail lists why), no_memory, and those of mapping.
  Result<Placement> convert(const Convert& request);
  /// The same from `src` to `dst`; the tensors of `words` are not looked at. For small images,
  /// where copies of tensors show.
  Result<Placement> convert(const Convert& words, const Tensor& src, const Tensor& dst);

  /// Checks and compiles a request; touches no pixel. Its tensors give the geometry and need not be
  /// those that run() gets. Errors: those of convert() but for the mapping.
  Result<ConvertPlan> plan(const Convert& request);
  /// Errors: invalid_argument (a tensor's size, format, dtype, orientation, colorimetry or
  /// quantization is not the plan's; they share bytes), no_memory, those of mapping.
  Result<Placement> run(const ConvertPlan& plan, const Tensor& src, const Tensor& dst);

  /// All requests in one go, strips of all of them over the threads. Requests that name one source
  /// read it together, strip by strip, while it is in cache: a network's input and a preview from
  /// one pass. No request may read or write what another one writes. All are checked, and mapped,
  /// before a pixel is written. Errors: those of convert(); the detail names the request's index.
  Result<std::vector<Placement>> convert_all(std::span<const Convert> requests);
  /// Source i into batch.batch(i), all else as in `like`, whose tensors are not looked at. Errors:
  /// those of convert_all, and invalid_argument (more sources than the batch has places).
  Result<std::vector<Placement>> convert_batch(std::span<const Tensor> sources, const Tensor& batch,
                                               const Convert& like);
  /// The tiles of one image, tile i into batch.batch(i); they lie in the upright source, as
  /// plan_tiles(src.upright_size()) has them. like.crop must be unset. Errors: those
  /// of convert_batch, and invalid_argument (a tile outside the image).
  Result<std::vector<Placement>> convert_tiles(const Tensor& src, std::span<const Tile> tiles,
                                               const Tensor& batch, const Convert& like);

  /// Checks the request and keeps it for flush(), which runs all that was kept in one go, in any
  /// order. Until then the source must not change and the destination holds what it held. A
  /// request, of any of these calls, that reads or writes a kept destination or writes a kept
  /// source flushes first. What is kept when the processor dies never runs. Errors: those of
  /// convert() and flush().
  Result<Placement> convert_deferred(const Convert& request);
  /// Nothing is kept afterwards, also when it fails. Errors: the first one of running.
  Status flush();

  /// A mask over the destination of `placement` (grey u8) as a mask over its upright source, whose
  /// size `out` must have; 0 where the source was not shown. And the way back; what the image
  /// does not cover is 0. Errors: those of convert().
  Status mask_to_source(const Placement& placement, const Tensor& mask, const Tensor& out,
                        Filter filter = Filter::bilinear);
  Status mask_to_destination(const Placement& placement, const Tensor& mask, const Tensor& out,
                             Filter filter = Filter::bilinear);

  ColorimetryMode colorimetry_mode() const noexcept;
  /// Without effect while HALYARD_COLORIMETRY is set.
  void set_colorimetry_mode(ColorimetryMode mode) noexcept;

  /// Which backend would run the request, and why each one before it declined. One line each.
  Result<std::string> explain(const Convert& request) const;

 private:
  struct Impl;
  explicit Processor(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

/// Why the CPU, and so every processor, does not serve this pair, a literal; null: it does.
/// docs/conversion.md shows the whole table.
const char* conversion_declined(PixelFormat from, DType from_dtype, PixelFormat to,
                                DType to_dtype) noexcept;

/// What an image's samples look like, channel by channel in the order of its colour model.
struct ChannelStatistics {
  double mean = 0;                             ///< 8-bit codes
  double standard_deviation = 0;               ///< of the population
  std::array<std::uint64_t, 256> histogram{};  ///< samples of each code
};
struct ImageStatistics {
  std::size_t channels = 0;
  std::array<ChannelStatistics, 4> channel{};
};
/// Counts the samples of a u8 image as they are stored (a subsampled plane has fewer); every
/// `row_step`-th row of each plane. Errors: invalid_argument (not an image, row_step 0),
/// unsupported (dtype), those of mapping.
Result<ImageStatistics> measure(const Tensor& image, std::size_t row_step = 1);

}  // namespace halyard
HALYARD_EXPORTS_END
