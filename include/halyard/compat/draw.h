// SPDX-License-Identifier: Apache-2.0
// Drawing for programs that were written for EdgeFirst HAL: masks and outlines of boxes over a
// background, and masks as bytes.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "halyard/compat/decode.h"
#include "halyard/compat/track.h"
#include "halyard/detection.h"
#include "halyard/export.h"
#include "halyard/geometry.h"
#include "halyard/mask_draw.h"
#include "halyard/result.h"
#include "halyard/tensor.h"

HALYARD_EXPORTS_BEGIN
namespace halyard::compat {

/// What a colour stands for. `track`: the track where tracks are known, else the place in the list.
enum class ColorMode : std::uint8_t { label = 0, instance = 1, track = 2 };

/// Left, top, right, bottom of the part of the network's input that shows the image, as fractions
/// of the input. Right and bottom may not lie before left and top.
using Letterbox = std::array<float, 4>;

struct DrawOptions {
  /// An image of the destination's size and format that is drawn over; null: black, alpha 0.
  const Tensor* background = nullptr;
  bool keep = false;  ///< draws over the destination as it is; takes no background
  float opacity = 1;  ///< times the alpha of a mask's colour; clamped to [0, 1]
  std::optional<Letterbox> letterbox = {};
  ColorMode color_mode = ColorMode::label;
  std::size_t batch = only_element;  ///< of calls that decode
};

/// Where masks are wanted. `proto`: at the prototypes' resolution, cut at the box. `scaled`: of a
/// box in an image of width x height; with a letterbox that is the image, without its pad.
struct MaskResolution {
  std::optional<Size> scaled = {};  ///< unset: proto
};

/// Draws. Keeps its memory. Move-only; one thread at a time.
///
/// Boxes are fractions of the network's input, of a decoder of Convention::native and prototypes of
/// one its pixels; the destination is u8 rgb, bgr, rgba or bgra. All of it is rewritten unless it
/// is kept: the background or zeros, then masks, then outlines of 3 px around the boxes, opaque,
/// the best on top. What is decoded has its rotated boxes drawn as such, and points of visibility
/// 0.5 and more as squares of 5 px. Alpha keeps the background's values. A mask is on where its
/// byte, sampled bilinearly, is at least 128; of scores of classes the largest class shows its
/// colour, and the last class is the background.
///
/// Errors of all draw calls, the destination being as it was: invalid_argument (not as many masks
/// as boxes, a letterbox or box that is not finite, a background of another size or format or that
/// shares bytes with the destination, a destination that carries an orientation), unsupported
/// (format, dtype), those of mapping.
class Painter {
 public:
  Painter() noexcept;
  Painter(Painter&&) noexcept;
  Painter& operator=(Painter&&) noexcept;
  ~Painter();

  /// Colour i is the i-th modulo their count; the first 20 are taken. Alpha is a mask's opacity.
  /// Errors: invalid_argument (none).
  Status set_class_colors(std::span<const MaskColor> colors);

  /// Masks as they are: instances (one channel, at most as many as boxes; the box of each says
  /// where it lies), or one of scores of classes.
  Status draw_decoded_masks(Tensor& dst, std::span<const Detection> boxes,
                            std::span<const Segmentation> segmentations,
                            const DrawOptions& options = {});
  /// From prototypes: logits are interpolated, so edges are smoother than those of decoded masks.
  Status draw_proto_masks(Tensor& dst, std::span<const Detection> boxes, const ProtoData& protos,
                          const DrawOptions& options = {});
  /// Decodes and draws in one go; no mask and no copy of the prototypes lies in memory. `found`
  /// has the boxes, and no masks.
  Status draw_masks(const Decoder& decoder, std::span<const Tensor> outputs, Tensor& dst,
                    std::vector<Detection>& found, const DrawOptions& options = {});
  /// The same with a tracker: boxes are those of its tracks, in the order of decode_tracked().
  Status draw_masks_tracked(const Decoder& decoder, ByteTrack& tracker, std::uint64_t timestamp,
                            std::span<const Tensor> outputs, Tensor& dst,
                            std::vector<Detection>& found, std::vector<TrackInfo>& tracks,
                            const DrawOptions& options = {});
  /// The same with a tracker of any kind; its tentative tracks are neither drawn nor given.
  Status draw_masks_tracked(const Decoder& decoder, const AnyTracker& tracker,
                            std::uint64_t timestamp, std::span<const Tensor> outputs, Tensor& dst,
                            std::vector<Detection>& found, std::vector<TrackInfo>& tracks,
                            const DrawOptions& options = {});

  /// Bytes 0 and 255, one mask for each box. Errors: invalid_argument (as many rows as boxes, taken
  /// prototypes, boxes that are no fractions), those of halyard::materialize().
  Status materialize_masks(std::span<const Detection> boxes, const ProtoData& protos,
                           const std::optional<Letterbox>& letterbox,
                           const MaskResolution& resolution, SegmentationList& out);

 private:
  struct Impl;
  Impl& state();
  std::unique_ptr<Impl> impl_;
};

}  // namespace halyard::compat
HALYARD_EXPORTS_END
