// SPDX-License-Identifier: Apache-2.0
// Painter: draws the base, then the given kind of masks, then outlines.
#include <algorithm>
#include <cmath>
#include <optional>

#include "base/local.h"
#include "base/text/format_error.h"
#include "compat/decoder_state.h"
#include "compat/painter_boxes.h"
#include "draw/mask/mask_painter.h"
#include "draw/mask/scaled_mask.h"
#include "halyard/semantic.h"
#include "halyard/trace.h"

namespace halyard::compat {
namespace {

constexpr std::size_t max_colors = 20;
constexpr std::uint8_t mask_alpha = 179;  // 70 %

Status check_letterbox(const std::optional<Letterbox>& letterbox) {
  if (!letterbox) return {};
  const auto& [x1, y1, x2, y2] = *letterbox;
  const bool is_finite =
      std::isfinite(x1) && std::isfinite(y1) && std::isfinite(x2) && std::isfinite(y2);
  if (is_finite && x2 > x1 && y2 > y1) return {};
  return fail(Errc::invalid_argument,
              "letterbox: must be finite, with left < right and top < bottom", "({}, {}, {}, {})",
              x1, y1, x2, y2);
}

// Converts to the units of boxes: pixels of `input`, which is 1 x 1 if boxes are fractions.
std::optional<RegionF> content_of(const std::optional<Letterbox>& letterbox, Size input) {
  if (!letterbox) return std::nullopt;
  const auto& l = *letterbox;
  return RegionF(static_cast<double>(l[0]) * input.width, static_cast<double>(l[1]) * input.height,
                 (static_cast<double>(l[2]) - l[0]) * input.width,
                 (static_cast<double>(l[3]) - l[1]) * input.height);
}

}  // namespace

struct HALYARD_LOCAL Painter::Impl {
  explicit Impl(ComputeBackend wanted);
  ComputeBackend backend;
  std::vector<Color> colors;  ///< of classes
  MaskPainter masks;
  std::optional<draw::DrawEngine> engine;  ///< made by the first call
  draw::DrawList list;
  draw::ScaledMask scaled;
  SemanticMapper semantic;
  Tensor class_map;
  MaskSet set;
  SegmentationList scores;

  /// Checks everything that does not depend on masks.
  Result<PaintCall> begin(Tensor& dst, const DrawOptions& options);
  /// Draws the base alone.
  Status base(const PaintCall& call) { return masks.draw(call.dst, MaskSet(), {}, plain(call)); }
  static MaskDrawOptions plain(const PaintCall& call);
  Status boxes_alone(const PaintCall& call, std::span<const Detection> boxes);
  Status prototypes(const PaintCall& call, std::span<const Detection> masked,
                    const MaskPrototypes& protos);
  Status instances(const PaintCall& call, std::span<const Detection> boxes,
                   std::span<const Segmentation> segmentations);
  Status classes(const PaintCall& call, const Segmentation& scores);
  /// Painter::draw_masks(), and draw_masks_tracked() if `asked` has a tracker.
  Status decode_and_draw(const Decoder::Impl& decoder, const Decoder::Impl::Request& asked,
                         Tensor& dst, const DrawOptions& options, std::vector<Detection>& found,
                         std::vector<TrackInfo>& tracks);
};

Painter::Impl::Impl(ComputeBackend wanted) : backend(wanted), colors(max_colors), masks(wanted) {
  for (std::size_t i = 0; i < max_colors; ++i) {
    colors[i] = palette_color(i);
    colors[i].a = mask_alpha;
  }
}

Painter::Painter() noexcept = default;
Painter::Painter(ComputeBackend backend) noexcept : backend_(backend) {}
Painter::Painter(Painter&&) noexcept = default;
Painter& Painter::operator=(Painter&&) noexcept = default;
Painter::~Painter() = default;

Painter::Impl& Painter::state() {
  if (impl_ == nullptr) impl_ = std::make_unique<Impl>(backend_);
  return *impl_;
}

Status Painter::set_class_colors(std::span<const Color> colors) {
  if (colors.empty()) return make_error(Errc::invalid_argument, "colors: must have at least one");
  const auto used = colors.first(std::min(colors.size(), max_colors));
  state().colors.assign(used.begin(), used.end());
  return {};
}

Result<PaintCall> Painter::Impl::begin(Tensor& dst, const DrawOptions& options) {
  if (!dst.is_image()) return make_error(Errc::invalid_argument, "dst: must be an image");
  const Status drawable = draw::Canvas::check(dst);
  if (!drawable)
    return fail(drawable.error().code, "dst: cannot be drawn on", "{}", drawable.error().message());
  HALYARD_RETURN_IF_ERROR(check_letterbox(options.letterbox));
  if (!engine) {
    HALYARD_TRY(engine, draw::DrawEngine::create(backend));
  }
  PaintCall call{dst, options, *engine, list, {}, {1, 1}};
  call.masks.opacity = std::clamp(options.opacity, 0.0F, 1.0F);
  call.masks.palette = colors;
  call.masks.color_by = options.color_mode == ColorBy::label ? ColorBy::label : ColorBy::instance;
  call.masks.background = options.background;
  call.masks.clear = options.background == nullptr && !options.keep;
  if (options.keep && options.background != nullptr)
    return make_error(Errc::invalid_argument,
                      "background: must not be given if the destination is kept");
  HALYARD_RETURN_IF_ERROR(draw::check_options(dst, call.masks));
  return call;
}

MaskDrawOptions Painter::Impl::plain(const PaintCall& call) {
  MaskDrawOptions out = call.masks;
  out.color_by = ColorBy::label;
  out.track_ids = {};
  return out;
}

Status Painter::Impl::boxes_alone(const PaintCall& call, std::span<const Detection> boxes) {
  HALYARD_TRY(const bool uses_gl, engine->uses_gl(call.dst));
  if (!uses_gl) return draw_boxes_alone(call, boxes);
  HALYARD_RETURN_IF_ERROR(base(call));
  return draw_outlines(call, boxes);
}

Status Painter::Impl::prototypes(const PaintCall& call, std::span<const Detection> masked,
                                 const MaskPrototypes& protos) {
  if (masked.empty()) return base(call);
  MaskDrawOptions made = call.masks;
  made.track_ids = made.track_ids.first(std::min(made.track_ids.size(), masked.size()));
  made.content = content_of(call.options.letterbox, call.input);
  return masks.draw(call.dst, protos, masked, made);
}

Status Painter::Impl::instances(const PaintCall& call, std::span<const Detection> boxes,
                                std::span<const Segmentation> segmentations) {
  HALYARD_RETURN_IF_ERROR(draw::lay_base(call.dst, call.masks));
  HALYARD_TRY(const TensorMap map, call.dst.map(Access::read_write));
  const draw::Canvas canvas(call.dst, map);
  for (std::size_t i = segmentations.size(); i-- > 0;) {
    const Segmentation& mask = segmentations[i];
    const Color& color = color_for(call, boxes[i], i);
    const auto alpha = static_cast<unsigned>(std::lround(call.masks.opacity * color.a));
    scaled.blend({mask.data, mask.width, mask.height}, on_image(mask.box, call), canvas,
                 canvas.ink(color, alpha));
  }
  return {};
}

Status Painter::Impl::classes(const PaintCall& call, const Segmentation& seg) {
  const Size size = call.dst.size();
  const std::array<std::size_t, 2> extent{static_cast<std::size_t>(size.height),
                                          static_cast<std::size_t>(size.width)};
  if (!std::equal(extent.begin(), extent.end(), class_map.shape().begin(),
                  class_map.shape().end())) {
    HALYARD_TRY(class_map, Tensor::create(DType::u8, extent, Memory::mem));
  }
  const std::array<std::size_t, 3> shape{seg.height, seg.width, seg.channels};
  HALYARD_TRY(const Layout layout, Layout::contiguous(DType::u8, shape));
  HALYARD_TRY(auto buffer,
              wrap_memory(static_cast<const void*>(seg.data), layout.size_bytes(), [] {}));
  HALYARD_TRY(const Tensor bytes, Tensor::wrap(std::move(buffer), layout));
  SemanticOptions options;
  options.layout = SemanticLayout::classes_last;
  options.input = Size{1, 1};
  options.content = content_of(call.options.letterbox, *options.input);
  HALYARD_RETURN_IF_ERROR(semantic.map(bytes, options, class_map));
  MaskDrawOptions made = plain(call);
  made.ignored_label = static_cast<std::int32_t>(seg.channels) - 1;  // the background
  return masks.draw(call.dst, class_map, made);
}

Status Painter::draw_decoded_masks(Tensor& dst, std::span<const Detection> boxes,
                                   std::span<const Segmentation> segmentations,
                                   const DrawOptions& options) {
  trace::Span span("compat.draw_decoded_masks");
  Impl& impl = state();
  HALYARD_TRY(const auto call, impl.begin(dst, options));
  for (const Segmentation& each : segmentations)
    if (each.height * each.width != 0 && (each.data == nullptr || each.channels == 0))
      return make_error(Errc::invalid_argument, "segmentations: a mask has no bytes");
  if (segmentations.empty()) return impl.boxes_alone(call, boxes);
  const bool is_semantic = segmentations[0].channels > 1;
  if (is_semantic) {
    if (segmentations.size() != 1)
      return fail(Errc::invalid_argument, "segmentations: class scores must be the only element",
                  "{}", segmentations.size());
    HALYARD_RETURN_IF_ERROR(impl.classes(call, segmentations[0]));
  } else {
    const bool are_instances = std::ranges::all_of(
        segmentations, [](const Segmentation& each) { return each.channels == 1; });
    if (segmentations.size() > boxes.size() || !are_instances)
      return fail(Errc::invalid_argument,
                  "segmentations: must be masks of one channel, at most as many as boxes",
                  "{}, {} boxes", segmentations.size(), boxes.size());
    HALYARD_RETURN_IF_ERROR(impl.instances(call, boxes, segmentations));
  }
  return draw_outlines(call, boxes);
}

Status Painter::draw_proto_masks(Tensor& dst, std::span<const Detection> boxes,
                                 const ProtoData& protos, const DrawOptions& options) {
  trace::Span span("compat.draw_proto_masks");
  Impl& impl = state();
  HALYARD_TRY(auto call, impl.begin(dst, options));
  if (!boxes.empty() && (!protos.has_protos() || !protos.has_coefficients()))
    return make_error(Errc::invalid_argument, "protos: prototypes or coefficients were taken");
  call.input = protos.prototypes().input;
  HALYARD_RETURN_IF_ERROR(impl.prototypes(call, boxes, protos.prototypes()));
  return draw_outlines(call, boxes);
}

Status Painter::Impl::decode_and_draw(const Decoder::Impl& decoder,
                                      const Decoder::Impl::Request& asked, Tensor& dst,
                                      const DrawOptions& options, std::vector<Detection>& found,
                                      std::vector<TrackInfo>& tracks) {
  found.clear();
  tracks.clear();
  HALYARD_TRY(auto call, begin(dst, options));
  const DecodeLease work(decoder.pool);
  HALYARD_TRY(const auto ran, decoder.run(asked, *work, tracks));
  const std::vector<Detection>& boxes = work->decoded.detections;
  const CompletedModel& model = decoder.model;
  if (asked.tracked) {
    call.masks.track_ids = work->ids;
    if (options.color_mode == ColorBy::track && !work->ids.empty())
      call.masks.color_by = ColorBy::track;
  }
  if (decoder.options.convention == Convention::native) {
    if (!model.input && !boxes.empty())
      return make_error(Errc::invalid_argument,
                        "input_dims: drawing needs the size of the network's input");
    call.input = model.input.value_or(Size{1, 1});
  }
  if (model.prototypes) {
    HALYARD_RETURN_IF_ERROR(
        prototypes(call, std::span(boxes).first(ran.live), work->decoded.masks));
  } else if (model.segmentation) {
    HALYARD_RETURN_IF_ERROR(decoder.class_scores(ran.tensors, ran.batch, scores));
    HALYARD_RETURN_IF_ERROR(classes(call, scores[0]));
  } else {
    HALYARD_RETURN_IF_ERROR(base(call));
  }
  HALYARD_RETURN_IF_ERROR(draw_marks(call, work->decoded));
  found = boxes;
  return {};
}

Status Painter::draw_masks(const Decoder& decoder, std::span<const Tensor> outputs, Tensor& dst,
                           std::vector<Detection>& found, const DrawOptions& options) {
  trace::Span span("compat.draw_masks");
  std::vector<TrackInfo> none;
  return state().decode_and_draw(*decoder.impl_, {outputs, SIZE_MAX, options.batch}, dst, options,
                                 found, none);
}

Status Painter::draw_masks_tracked(const Decoder& decoder, const AnyTracker& tracker,
                                   std::uint64_t timestamp, std::span<const Tensor> outputs,
                                   Tensor& dst, std::vector<Detection>& found,
                                   std::vector<TrackInfo>& tracks, const DrawOptions& options) {
  trace::Span span("compat.draw_masks_tracked");
  return state().decode_and_draw(*decoder.impl_,
                                 {outputs, SIZE_MAX, options.batch, {{tracker, timestamp}}}, dst,
                                 options, found, tracks);
}

Status Painter::materialize_masks(std::span<const Detection> boxes, const ProtoData& protos,
                                  const std::optional<Letterbox>& letterbox,
                                  const MaskResolution& resolution, SegmentationList& out) {
  trace::Span span("compat.materialize_masks");
  out.clear();
  HALYARD_RETURN_IF_ERROR(check_letterbox(letterbox));
  if (boxes.empty()) return {};
  if (!protos.has_protos() || !protos.has_coefficients())
    return make_error(Errc::invalid_argument, "protos: prototypes or coefficients were taken");
  MaskOptions made{resolution.scaled ? MaskRule::logits : MaskRule::prototype, resolution.scaled};
  if (resolution.scaled) made.content = content_of(letterbox, protos.prototypes().input);
  HALYARD_RETURN_IF_ERROR(materialize(protos.prototypes(), boxes, made, state().set));
  out.assign(state().set);
  return {};
}

}  // namespace halyard::compat
