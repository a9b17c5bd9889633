// SPDX-License-Identifier: Apache-2.0
// Draws instance masks in bands: all masks that cross a few rows, while these rows are in the
// cache.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/text/format_error.h"
#include "decode/mask/mask_plan.h"
#include "draw/mask/mask_jobs.h"
#include "draw/mask/mask_painter.h"
#include "draw/mask/paint_workspace.h"
#include "halyard/trace.h"

namespace halyard {
namespace {

using draw::Canvas;
using draw::MaskBits;

Status check_tracks(std::span<const Detection> detections, const MaskDrawOptions& options) {
  if (options.color_by != ColorBy::track || options.track_ids.size() == detections.size())
    return {};
  return fail(Errc::invalid_argument, "track_ids: must be one per detection",
              "{} ids, {} detections", options.track_ids.size(), detections.size());
}

// Makes the inks of all detections; the ink of an ignored detection has alpha 0.
void make_inks(const Canvas& canvas, std::span<const Detection> detections,
               const MaskDrawOptions& options, std::vector<draw::Ink>& inks) {
  inks.clear();
  for (std::size_t i = 0; i < detections.size(); ++i) {
    std::uint64_t index = static_cast<std::uint32_t>(detections[i].label);
    if (options.color_by == ColorBy::instance) index = i;
    if (options.color_by == ColorBy::track) index = options.track_ids[i];
    inks.push_back(ink_for(canvas, options, index));
    if (options.ignored_label == detections[i].label) inks.back().alpha = 0;
  }
}

// Calls draw(i, rows) for the masks end-1..first and their rows, band by band from the top.
// `rows_of(i)` returns the rows of mask i.
template <class RowsOf, class Draw>
void each_band(std::size_t first, std::size_t end, std::int32_t height, const RowsOf& rows_of,
               const Draw& draw) {
  constexpr auto step = static_cast<std::int32_t>(draw::band_rows);
  for (std::int32_t y = 0; y < height; y += step) {
    for (std::size_t i = end; i-- > first;) {
      const decode::PixelRange rows = rows_of(i);
      const decode::PixelRange part{std::max(rows.begin, y), std::min(rows.end, y + step)};
      if (!part.is_empty()) draw(i, part);
    }
  }
}

// Places as many masks before `end` as fit into a group. Returns the index of the first one.
std::size_t place_group(decode::MaskWorkspace& work, std::size_t end, std::size_t& floats) {
  floats = 0;
  std::size_t first = end;
  while (first > 0) {
    const std::size_t more = decode::place_logits(work.plans[first - 1], floats);
    if (floats != 0 && floats + more > decode::group_floats) break;
    floats += more;
    --first;
  }
  return first;
}

void draw_group(draw::PaintWorkspace& own, const Canvas& canvas, std::size_t first,
                std::size_t end) {
  decode::MaskWorkspace& work = own.masks;
  const auto rows_of = [&](std::size_t i) {
    return own.inks[i].alpha == 0 ? decode::PixelRange{} : work.plans[i].rows;
  };
  each_band(first, end, canvas.height(), rows_of, [&](std::size_t i, decode::PixelRange rows) {
    const decode::MaskPlan& plan = work.plans[i];
    MaskBits bits = own.band.rows(static_cast<std::size_t>(plan.columns.length()),
                                  static_cast<std::size_t>(rows.length()));
    bits.x = static_cast<std::size_t>(plan.columns.begin);
    bits.y = static_cast<std::size_t>(rows.begin);
    sample_rows(work, plan, rows, {bits.data, bits.stride});
    canvas.blend_mask(bits, own.inks[i]);
  });
}

void draw_groups(draw::PaintWorkspace& own, const Canvas& canvas) {
  decode::MaskWorkspace& work = own.masks;
  for (std::size_t end = work.plans.size(), floats = 0; end > 0;) {
    const std::size_t first = place_group(work, end, floats);
    compute_logits(work, first, end, floats);
    draw_group(own, canvas, first, end);
    end = first;
  }
}

void draw_set(draw::PaintWorkspace& own, const Canvas& canvas, const MaskSet& masks) {
  const auto rows_of = [&](std::size_t i) {
    const Region& r = masks[i].region;
    return r.width == 0 || own.inks[i].alpha == 0 ? decode::PixelRange{}
                                                  : decode::PixelRange{r.y, r.y + r.height};
  };
  each_band(0, masks.size(), canvas.height(), rows_of, [&](std::size_t i, decode::PixelRange rows) {
    const MaskView mask = masks[i];
    MaskBits bits = own.band.rows(static_cast<std::size_t>(mask.region.width),
                                  static_cast<std::size_t>(rows.length()));
    bits.x = static_cast<std::size_t>(mask.region.x);
    bits.y = static_cast<std::size_t>(rows.begin);
    for (std::size_t y = 0; y < bits.height; ++y) {
      const std::int32_t row = rows.begin - mask.region.y + static_cast<std::int32_t>(y);
      std::memcpy(bits.data + y * bits.stride, mask.row(row), bits.width);
    }
    canvas.blend_mask(bits, own.inks[i]);
  });
}

}  // namespace

namespace draw {

Status check_options(const Tensor& image, const MaskDrawOptions& options) {
  HALYARD_RETURN_IF_ERROR(Canvas::check(image));
  if (!(options.opacity >= 0 && options.opacity <= 1))
    return fail(Errc::invalid_argument, "opacity: must be 0..1", "{}", options.opacity);
  if (options.background == nullptr) return {};
  const Tensor& background = *options.background;
  if (options.clear)
    return fail(Errc::invalid_argument, "background: must be null if the image is cleared");
  const bool is_alike = background.format() == image.format() &&
                        background.dtype() == image.dtype() && background.size() == image.size();
  if (!is_alike) {
    return fail(Errc::invalid_argument, "background: size and format must be the image's",
                "{}x{}, image {}x{}", background.width(), background.height(), image.width(),
                image.height());
  }
  if (!aliases(background, image)) return {};
  return fail(Errc::invalid_argument, "background: must not share bytes with the image");
}

bool paint_by_gl(PaintWorkspace& own, const Tensor& image, const MaskDrawOptions& options,
                 PaintJob& job, Status& status) {
  if (options.background != nullptr) {
    Tensor target = image;
    status = copy(*options.background, target);
    if (!status) return true;
  }
  job.clears = options.clear;
  job.black = ink_canvas(image).ink({0, 0, 0, 0});
  if (*image.format() != PixelFormat::nv12) job.black = {};
  return own.engine.draw(image, job, status);
}

Canvas ink_canvas(const Tensor& image) noexcept {
  return {*image.format(), image.size(), resolve(image.colorimetry(), image.height()), {}};
}

Status lay_base(Tensor& image, const MaskDrawOptions& options) {
  if (options.background != nullptr) return copy(*options.background, image);
  if (!options.clear) return {};
  HALYARD_TRY(const TensorMap map, image.map(Access::write));
  const Canvas canvas(image, map);
  canvas.start_rows(nullptr, 0, canvas.height());
  return {};
}

Ink ink_for(const Canvas& canvas, const MaskDrawOptions& options, std::uint64_t index) noexcept {
  const Color color = options.palette.empty() ? palette_color(index)
                                              : options.palette[index % options.palette.size()];
  const double alpha = static_cast<double>(options.opacity) * color.a;
  return canvas.ink(color, static_cast<unsigned>(std::lround(alpha)));
}

}  // namespace draw

MaskPainter::MaskPainter() noexcept = default;
MaskPainter::MaskPainter(ComputeBackend backend) noexcept : backend_(backend) {}
MaskPainter::MaskPainter(MaskPainter&&) noexcept = default;
MaskPainter& MaskPainter::operator=(MaskPainter&&) noexcept = default;
MaskPainter::~MaskPainter() = default;

Status MaskPainter::prepare() {
  if (workspace_) return {};
  HALYARD_TRY(draw::DrawEngine engine, draw::DrawEngine::create(backend_));
  workspace_ = std::make_unique<draw::PaintWorkspace>(std::move(engine));
  return {};
}

Result<std::string> MaskPainter::explain(const Tensor& image) {
  HALYARD_RETURN_IF_ERROR(Canvas::check(image));
  HALYARD_RETURN_IF_ERROR(prepare());
  return workspace_->engine.explain(image);
}

std::uint64_t MaskPainter::fallback_count() const noexcept {
  return workspace_ ? workspace_->engine.fallback_count() : 0;
}

Status MaskPainter::draw(Tensor& image, const MaskPrototypes& prototypes,
                         std::span<const Detection> detections, const MaskDrawOptions& options) {
  trace::Span span("draw.masks");
  span.arg("masks", detections.size());
  HALYARD_RETURN_IF_ERROR(draw::check_options(image, options));
  HALYARD_RETURN_IF_ERROR(check_tracks(detections, options));
  HALYARD_TRY(decode::PrototypeGrid grid, decode::grid_of(prototypes));
  HALYARD_RETURN_IF_ERROR(check_masks(prototypes, grid, detections));
  const MaskOptions wanted{MaskRule::logits, image.size(), options.content};
  HALYARD_TRY(const decode::MaskTarget target, decode::target_of(prototypes, grid, wanted));
  HALYARD_RETURN_IF_ERROR(prepare());
  HALYARD_TRY(const TensorMap from, prototypes.prototypes.map(Access::read));
  grid.data = from.data();
  if (prototypes.prototypes.rank() == 4)
    grid.data += static_cast<std::ptrdiff_t>(prototypes.batch) * from.layout().stride_bytes[0];
  decode::MaskWorkspace& work = workspace_->masks;
  make_inks(draw::ink_canvas(image), detections, options, workspace_->inks);
  prepare_samples(target, work);
  work.plans.clear();
  for (const Detection& detection : detections)
    work.plans.push_back(plan_of(detection.box, target, work));
  HALYARD_TRY(const bool uses_gl, workspace_->engine.uses_gl(image));
  if (uses_gl) {
    draw::PaintJob job = prototype_job(*workspace_, prototypes, grid);
    Status status;
    if (paint_by_gl(*workspace_, image, options, job, status)) return status;
  }
  HALYARD_RETURN_IF_ERROR(draw::lay_base(image, options));
  HALYARD_TRY(const TensorMap map, image.map(Access::read_write));
  work.engine.begin(grid, prototypes);
  draw_groups(*workspace_, Canvas(image, map));
  return {};
}

Status MaskPainter::draw(Tensor& image, const MaskSet& masks, std::span<const Detection> detections,
                         const MaskDrawOptions& options) {
  trace::Span span("draw.mask_set");
  span.arg("masks", masks.size());
  HALYARD_RETURN_IF_ERROR(draw::check_options(image, options));
  HALYARD_RETURN_IF_ERROR(check_tracks(detections, options));
  if (options.content) return fail(Errc::invalid_argument, "content: must be empty for a mask set");
  if (masks.size() != detections.size()) {
    return fail(Errc::invalid_argument, "masks: must be one per detection",
                "{} masks, {} detections", masks.size(), detections.size());
  }
  if (!masks.empty() && masks.frame() != image.size()) {
    return fail(Errc::invalid_argument, "masks: their frame must have the image's size",
                "{}x{}, image {}x{}", masks.frame().width, masks.frame().height, image.width(),
                image.height());
  }
  HALYARD_RETURN_IF_ERROR(prepare());
  make_inks(draw::ink_canvas(image), detections, options, workspace_->inks);
  HALYARD_TRY(const bool uses_gl, workspace_->engine.uses_gl(image));
  if (uses_gl) {
    draw::PaintJob job = mask_set_job(*workspace_, masks);
    Status status;
    if (paint_by_gl(*workspace_, image, options, job, status)) return status;
  }
  HALYARD_RETURN_IF_ERROR(draw::lay_base(image, options));
  HALYARD_TRY(const TensorMap map, image.map(Access::read_write));
  draw_set(*workspace_, Canvas(image, map), masks);
  return {};
}

}  // namespace halyard
