// SPDX-License-Identifier: Apache-2.0
// Image: one call from any picture to any picture: crop, flip, rotate, fit, place, colour, dtype.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "halyard/export.h"
#include "halyard/geometry.h"
#include "halyard/placement.h"
#include "halyard/result.h"
#include "halyard/tensor.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {

/// Resampling kernels by their PyTorch and torchvision names; half-pixel centres, exact weights,
/// edge samples of the crop repeat. Bicubic has a = -0.75, with antialias -0.5. `box` without
/// antialias is `nearest`.
enum class Filter : std::uint8_t { nearest = 0, bilinear = 1, bicubic = 2, lanczos3 = 3, box = 4 };

/// Chroma of subsampled sources at 1:1 scale: replicated (libyuv, OpenCV) or interpolated.
enum class Chroma : std::uint8_t { replicate = 0, bilinear = 1 };

/// Per-channel map of the 8-bit result to float: out = value * scale + bias.
struct Normalize {
  std::array<float, 4> scale{1.0F / 255, 1.0F / 255, 1.0F / 255, 1.0F / 255};
  std::array<float, 4> bias{0, 0, 0, 0};
  /// ((value / 255) - mean) / std, per colour channel.
  static Normalize mean_std(std::array<float, 3> mean, std::array<float, 3> std) noexcept;
};

/// A request. Steps in this order: crop -> flip -> rotate -> fit -> place.
/// A destination that is a plain tensor is read as a picture (Tensor::as_image).
struct Convert {
  Tensor src;
  Tensor dst;
  std::optional<Region> crop = {};  ///< in source pixels; unset: all
  Flip flip = Flip::none;
  Rotation rotation = Rotation::none;
  Fit fit = Fit::stretch;
  /// Destination rectangle; unset: all of it. The rest is filled with pad.
  std::optional<Region> place = {};
  std::array<std::uint8_t, 4> pad{114, 114, 114, 255};  ///< R, G, B, A
  Filter filter = Filter::bilinear;
  bool antialias = false;  ///< widen the kernel when shrinking
  Chroma chroma = Chroma::replicate;
  /// Float destinations, and integer ones with quantization; unset: value / 255.
  std::optional<Normalize> normalize = {};
};

/// Converts pictures. Chooses the first backend that supports the request, in the order OpenGL,
/// G2D, CPU (HALYARD_FORCE_BACKEND pins one). The CPU serves every legal request.
///
/// Destination dtypes: u8; i8 (u8 xor 0x80 on colour channels, alpha unbiased); f32. An integer
/// destination with quantization other than real = code / 255 gets round(value / 255 / scale) +
/// zero_point. Each dtype is a function of the 8-bit result, so all backends agree on it.
///
/// Colours: YUV sources by the source's colorimetry, resolved by its height; YUV destinations by
/// the destination's, a subsampled chroma sample being the mean of its block. RGB to grey: BT.601
/// luma. New alpha is 255; alpha is kept when both have it.
///
/// One processor serves one thread at a time; it reuses its working memory between calls.
class Processor {
 public:
  struct Options {
    unsigned threads = 0;  ///< most worker threads for one request; 0: all cores
  };
  /// Errors: unsupported (HALYARD_FORCE_BACKEND names a backend that is not there, or one that does
  /// not exist).
  static Result<Processor> create(Options options);
  static Result<Processor> create() { return create(Options{}); }
  Processor(Processor&&) noexcept;
  Processor& operator=(Processor&&) noexcept;
  ~Processor();

  /// Fills the destination and says where its pixels came from. Pad and picture are written, the
  /// row padding is not. Errors: invalid_argument (not a picture; crop or place empty or outside;
  /// source and destination share bytes; normalize not finite, or for an integer destination
  /// without quantization), unsupported (source not u8, destination not u8, i8 or f32, a Bayer
  /// format; no backend takes the request, the detail lists why), no_memory, and those of mapping.
  Result<Placement> convert(const Convert& request);

  /// Which backend would run the request, and why each one before it declined. One line each.
  Result<std::string> explain(const Convert& request) const;

 private:
  struct Impl;
  explicit Processor(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

}  // namespace halyard
HALYARD_EXPORTS_END
