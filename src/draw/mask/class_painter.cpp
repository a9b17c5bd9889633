// SPDX-License-Identifier: Apache-2.0
// Draws class maps: runs of one class along rows, then the chroma of each 2 x 2 block.
#include <algorithm>
#include <utility>

#include "base/text/format_error.h"
#include "draw/mask/mask_jobs.h"
#include "draw/mask/mask_painter.h"
#include "draw/mask/paint_workspace.h"
#include "halyard/trace.h"

namespace halyard {
namespace {

using draw::Canvas;
using draw::Ink;

Status check_map(const Tensor& image, const Tensor& map, const MaskDrawOptions& options) {
  if (options.content)
    return fail(Errc::invalid_argument, "content: must be empty for a class map");
  if (map.dtype() != DType::u8 && map.dtype() != DType::u16) {
    return fail(Errc::unsupported, "class_map: dtype must be u8 or u16", "{}",
                to_string(map.dtype()));
  }
  const auto shape = map.shape();
  const bool fits = (shape.size() == 2 || (shape.size() == 3 && shape[2] == 1)) &&
                    shape[0] == image.height() && shape[1] == image.width();
  if (!fits)
    return fail(Errc::invalid_argument, "class_map: must have the image's rows and columns",
                "rank {}, image {}x{}", shape.size(), image.width(), image.height());
  if (map.layout().stride_bytes[1] != static_cast<std::ptrdiff_t>(size_of(map.dtype())))
    return fail(Errc::unsupported, "class_map: pixels of a row must follow one another");
  if (!aliases(map, image)) return {};
  return fail(Errc::invalid_argument, "class_map: must not share bytes with the image");
}

// Inks by class id, made when a class first occurs.
class Inks {
 public:
  Inks(draw::PaintWorkspace& own, const Canvas& canvas, const MaskDrawOptions& options)
      : own_(own), canvas_(canvas), options_(options) {
    ++own_.frame;
  }
  const Ink& of(std::size_t id) {
    if (own_.class_inks.size() <= id) own_.class_inks.resize(id + 1);
    draw::ClassInk& entry = own_.class_inks[id];
    if (entry.frame == own_.frame) return entry.ink;
    entry.frame = own_.frame;
    entry.ink = ink_for(canvas_, options_, id);
    if (options_.ignored_label == static_cast<std::int32_t>(id)) entry.ink.alpha = 0;
    return entry.ink;
  }

 private:
  draw::PaintWorkspace& own_;
  const Canvas& canvas_;
  const MaskDrawOptions& options_;
};

template <class Id>
void draw_row(const Canvas& canvas, const Id* ids, std::size_t y, Inks& inks) {
  const auto width = static_cast<std::size_t>(canvas.width());
  for (std::size_t x = 0, end = 0; x < width; x = end) {
    end = x + 1;
    while (end < width && ids[end] == ids[x])
      ++end;
    const Ink& ink = inks.of(ids[x]);
    if (ink.alpha != 0) canvas.blend_run(x, y, end - x, ink);
  }
}

// Blends four weighted colours; the old value has the remaining weight of 4 x 255.
std::uint8_t blended_chroma(unsigned old, const Ink* const (&inks)[4], std::size_t channel) {
  unsigned sum = 510, weight = 0;
  for (const Ink* ink : inks) {
    sum += unsigned{ink->bytes[channel]} * ink->alpha;
    weight += ink->alpha;
  }
  return static_cast<std::uint8_t>((sum + old * (1020 - weight)) / 1020);
}

template <class Id>
void draw_blocks(const Canvas& canvas, const Id* upper, const Id* lower, std::size_t y,
                 Inks& inks) {
  const auto last = static_cast<std::size_t>(canvas.width() - 1);
  for (std::size_t x = 0; x <= last; x += 2) {
    const std::size_t next = std::min(x + 1, last);
    const Id ids[4] = {upper[x], upper[next], lower[x], lower[next]};
    for (const Id id : ids)  // all before taking pointers: of() may move the table
      inks.of(id);
    const Ink* const four[4] = {&inks.of(ids[0]), &inks.of(ids[1]), &inks.of(ids[2]),
                                &inks.of(ids[3])};
    std::uint8_t* const uv = canvas.chroma(x / 2, y / 2);
    for (std::size_t c = 0; c < 2; ++c)
      uv[c] = blended_chroma(uv[c], four, 1 + c);
  }
}

template <class Id>
void draw_map(const Canvas& canvas, const TensorMap& map, Inks& inks) {
  const auto row = [&](std::size_t y) {
    return reinterpret_cast<const Id*>(map.data() + static_cast<std::ptrdiff_t>(y) *
                                                        map.layout().stride_bytes[0]);
  };
  const auto height = static_cast<std::size_t>(canvas.height());
  for (std::size_t y = 0; y < height; ++y) {
    draw_row(canvas, row(y), y, inks);
    if (canvas.is_nv12() && y % 2 == 0)
      draw_blocks(canvas, row(y), row(std::min(y + 1, height - 1)), y, inks);
  }
}

// Largest id of the map.
template <class Id>
std::size_t largest_id(const TensorMap& map) noexcept {
  const std::size_t width = map.layout().shape[1];
  Id out = 0;
  for (std::size_t y = 0; y < map.layout().shape[0]; ++y) {
    const auto* const row = reinterpret_cast<const Id*>(
        map.data() + static_cast<std::ptrdiff_t>(y) * map.layout().stride_bytes[0]);
    for (std::size_t x = 0; x < width; ++x)
      out = std::max(out, row[x]);
  }
  return out;
}

// The inks of all ids up to `last`.
void fill_table(draw::PaintWorkspace& own, std::size_t last, Inks& inks) {
  own.class_table.clear();
  for (std::size_t id = 0; id <= last; ++id) {
    const Ink& ink = inks.of(id);
    own.class_table.push_back({ink.bytes[0], ink.bytes[1], ink.bytes[2], ink.alpha});
  }
}

}  // namespace

Status MaskPainter::draw(Tensor& image, const Tensor& class_map, const MaskDrawOptions& options) {
  const trace::Span span("draw.class_map");
  HALYARD_RETURN_IF_ERROR(draw::check_options(image, options));
  HALYARD_RETURN_IF_ERROR(check_map(image, class_map, options));
  HALYARD_RETURN_IF_ERROR(prepare());
  HALYARD_TRY(const TensorMap from, class_map.map(Access::read));
  const bool is_wide = class_map.dtype() == DType::u16;
  const Canvas colors = draw::ink_canvas(image);
  Inks inks(*workspace_, colors, options);
  HALYARD_TRY(const bool uses_gl, workspace_->engine.uses_gl(image));
  if (uses_gl) {
    draw::PaintJob job = draw::class_map_job(from);
    fill_table(*workspace_, is_wide ? largest_id<std::uint16_t>(from) : 255, inks);
    job.class_inks = workspace_->class_table;
    Status status;
    if (paint_by_gl(*workspace_, image, options, job, status)) return status;
  }
  HALYARD_RETURN_IF_ERROR(draw::lay_base(image, options));
  HALYARD_TRY(const TensorMap map, image.map(Access::read_write));
  const Canvas canvas(image, map);
  if (is_wide) {
    draw_map<std::uint16_t>(canvas, from, inks);
  } else {
    draw_map<std::uint8_t>(canvas, from, inks);
  }
  return {};
}

}  // namespace halyard
