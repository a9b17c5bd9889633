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

/// Left, top, right, bottom of the part of the network's input that shows the image, as fractions
/// of the input. Right and bottom may not lie before left and top.
using Letterbox = std::array<float, 4>;

struct DrawOptions {
  /// An image of the destination's size and format that is drawn over; null: black with alpha 0.
  const Tensor* background = nullptr;
  bool keep = false;  ///< draws over the destination's pixels; then background must be null
  float opacity = 1;  ///< multiplied by the alpha of a mask's colour; clamped to [0, 1]
  std::optional<Letterbox> letterbox = {};
  ColorBy color_mode = ColorBy::label;  ///< track: the index in the list where no track is known
  std::size_t batch = only_element;     ///< for calls that decode
};

/// The resolution of masks. `proto`: the prototypes' resolution, clipped to the box. `scaled`: the
/// mask of a box in an image of width x height; with a letterbox that is the image without its pad.
struct MaskResolution {
  std::optional<Size> scaled = {};  ///< unset: proto
};

/// Draws masks and boxes. Keeps its memory. Move-only; one thread at a time.
///
/// Boxes are fractions of the network's input; for a decoder of Convention::native and its
/// prototypes they are in pixels of the input. The destination has a format of MaskPainter. Unless
/// `keep` is set, all of it is written: the background or zeros, then masks, then opaque outlines
/// of 3 px around the boxes, the best on top. Calls that decode draw rotated boxes as rotated, and
/// keypoints with a visibility of 0.5 or more as squares of 5 px. Alpha keeps the background's
/// values. A mask is set where its byte, sampled bilinearly, is at least 128. For class scores each
/// pixel shows the colour of the class with the largest score, and the last class is the
/// background.
///
/// Errors of all draw calls, after which the destination has not changed: invalid_argument (not as
/// many masks as boxes, a letterbox or box that is not finite, a background of another size or
/// format or that shares bytes with the destination, a destination with an orientation),
/// unsupported (format, dtype; OpenGL is named and not available), those of mapping. Also device,
/// as of Overlay, after which a part may be drawn.
class Painter {
 public:
  Painter() noexcept;
  /// What draws, as OverlayOptions::backend. Decoded masks of instances are drawn by the CPU.
  explicit Painter(ComputeBackend backend) noexcept;
  Painter(Painter&&) noexcept;
  Painter& operator=(Painter&&) noexcept;
  ~Painter();

  /// Colour i is the i-th modulo their number; only the first 20 are used. Alpha is a mask's
  /// opacity. Errors: invalid_argument (no colours).
  Status set_class_colors(std::span<const Color> colors);

  /// Draws masks that are already made: instances (one channel, at most as many as boxes; the box
  /// of each is its place), or one mask of class scores.
  Status draw_decoded_masks(Tensor& dst, std::span<const Detection> boxes,
                            std::span<const Segmentation> segmentations,
                            const DrawOptions& options = {});
  /// Draws from prototypes: logits are interpolated, so edges are smoother than those of decoded
  /// masks.
  Status draw_proto_masks(Tensor& dst, std::span<const Detection> boxes, const ProtoData& protos,
                          const DrawOptions& options = {});
  /// Decodes and draws in one call, without storing masks or a copy of the prototypes. `found`
  /// receives the boxes, without masks.
  Status draw_masks(const Decoder& decoder, std::span<const Tensor> outputs, Tensor& dst,
                    std::vector<Detection>& found, const DrawOptions& options = {});
  /// As above with a tracker: boxes are those of its tracks, in the order of decode_tracked();
  /// tentative tracks are neither drawn nor returned.
  Status draw_masks_tracked(const Decoder& decoder, const AnyTracker& tracker,
                            std::uint64_t timestamp, std::span<const Tensor> outputs, Tensor& dst,
                            std::vector<Detection>& found, std::vector<TrackInfo>& tracks,
                            const DrawOptions& options = {});

  /// Makes masks of bytes 0 and 255, one for each box. Errors: invalid_argument (the number of
  /// boxes differs from the number of rows, taken prototypes, boxes that are not fractions), those
  /// of halyard::materialize().
  Status materialize_masks(std::span<const Detection> boxes, const ProtoData& protos,
                           const std::optional<Letterbox>& letterbox,
                           const MaskResolution& resolution, SegmentationList& out);

 private:
  struct Impl;
  Impl& state();
  ComputeBackend backend_ = ComputeBackend::automatic;
  std::unique_ptr<Impl> impl_;
};

}  // namespace halyard::compat
HALYARD_EXPORTS_END
