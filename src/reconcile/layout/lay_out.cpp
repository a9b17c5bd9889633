// SPDX-License-Identifier: Apache-2.0
// Extents and strides. The formulas are documented in docs/negotiation.md.
#include <algorithm>
#include <bit>

#include "reconcile/attributes/amount.h"
#include "reconcile/layout/lay_out.h"
#include "reconcile/layout/plane_match.h"
#include "reconcile/merge/draft.h"

namespace halyard {

namespace {

constexpr std::uint64_t unlimited = ~std::uint64_t{0};

/// The constraints of a row stride, and the slots that reports name.
struct RowRule {
  Amount used;
  std::uint64_t align = 1;
  std::uint64_t min = 0;
  std::uint64_t max = unlimited;
  std::uint64_t exact = 0;  ///< 0: none
  std::uint16_t exact_slot = 0;
  std::uint16_t max_slot = 0;
};

std::uint16_t slot16(Key key, std::size_t index = 0) {
  return static_cast<std::uint16_t>(slot_of(key, index));
}

/// The least legal stride that is at least `stride` and holds `needed` bytes; 0: none.
std::uint64_t legal_above(const RowRule& rule, std::uint64_t stride, std::uint64_t needed) {
  const Amount found = round_up(std::max(stride, needed), rule.align);
  return found.overflows() || found.value() > rule.max ? 0 : found.value();
}

/// The largest legal stride that is at most `stride` and holds `needed` bytes; 0: none.
std::uint64_t legal_below(const RowRule& rule, std::uint64_t stride, std::uint64_t needed) {
  const std::uint64_t top = std::min(stride, rule.max);
  const std::uint64_t found = top - top % rule.align;
  return found < needed ? 0 : found;
}

class LayOut {
 public:
  LayOut(const Merged& merged, const Candidate& candidate, Draft& draft,
         std::vector<Failure>& failures)
      : merged_(merged),
        candidate_(candidate),
        draft_(draft),
        failures_(failures),
        format_(info(candidate.image.format)) {}
  void run();

 private:
  void extents();
  void tensor();
  void image();
  void pyramid();
  void joined();
  void check_axes();
  RowRule tensor_rule() const;
  RowRule image_rule(std::size_t plane) const;
  RowRule plane_rule(std::size_t plane, std::uint64_t pixels, std::uint64_t pixel_bytes);
  void derive_chroma(std::size_t plane, RowRule& rule);
  void obey_tensor(std::size_t plane, RowRule& rule);
  std::uint64_t row(const RowRule& rule);
  std::uint64_t stored_rows(std::uint64_t rows, unsigned shift);
  void tensor_strides(Amount row);
  void plane(std::size_t index, std::uint64_t width, std::uint64_t height);
  void place(std::size_t index, Amount size);
  bool is_chroma(std::size_t plane) const { return plane > 0 && !is_pyramid_; }
  std::uint64_t chroma_align(std::size_t plane) const;
  std::uint64_t multiple(std::uint64_t a, std::uint64_t b, Key key);
  void add_size(Amount size);
  void fail(Check check, std::uint16_t slot, std::uint64_t value, std::uint64_t limit,
            std::uint64_t needed = 0, std::uint64_t below = 0) {
    failures_.push_back({check, slot, value, limit, needed, below});
  }

  const Merged& merged_;
  const Candidate& candidate_;
  Draft& draft_;
  std::vector<Failure>& failures_;
  const FormatInfo& format_;  ///< of the image
  bool is_pyramid_ = false;
  std::uint64_t component_ = 1;  ///< bytes of one sample of the image
};

std::uint64_t LayOut::multiple(std::uint64_t a, std::uint64_t b, Key key) {
  const std::uint64_t found = common_multiple(a, b);
  if (found == 0) fail(Check::overflow, slot16(key), a, b);
  return std::max<std::uint64_t>(found, 1);
}

void LayOut::extents() {
  TensorDraft& t = draft_.tensor;
  const MergedValue& dtype = merged_[Key::dtype];
  t.element = dtype.is_set ? size_of(static_cast<DType>(dtype.value.low)) : 1;
  const auto axis = [&](std::size_t k) { return merged_.number(Key::shape, k, 1); };
  t.w = axis(0);
  t.h = axis(1);
  t.c = axis(2);
  Amount n = axis(3);
  for (std::size_t k = 4; k < max_axes; ++k)
    n = n * axis(k);
  t.n = n.value();
  t.order = candidate_.tensor.order;
  t.x = candidate_.tensor.x;
  t.channels = t.c;
  if (t.order == AxisOrder::nhwc) t.channels = round_up(t.c, merged_.number(Key::cpad, 1)).value();
  t.blocks = (t.c - 1) / t.x + 1;
}

void LayOut::check_axes() {
  for (std::size_t k = 0; k < max_axes; ++k) {
    const std::uint64_t extent = merged_.number(Key::shape, k, 1);
    const std::uint64_t limit = merged_.number(Key::max_axis, k, unlimited);
    if (extent > limit) fail(Check::max_axis, slot16(Key::shape, k), extent, limit);
  }
}

RowRule LayOut::tensor_rule() const {
  const TensorDraft& t = draft_.tensor;
  const std::uint64_t pixel = t.element * (t.order == AxisOrder::nhwc ? t.channels : t.x);
  RowRule rule;
  rule.used = Amount(t.w) * Amount(pixel);
  rule.align =
      std::max<std::uint64_t>(common_multiple(merged_.number(Key::row_align, 1), t.element), 1);
  if (merged_.flag(Key::px_integral))
    rule.align = std::max<std::uint64_t>(common_multiple(rule.align, pixel), rule.align);
  rule.min = merged_.number(Key::row_min, 0);
  rule.max = merged_.number(Key::row_max, unlimited);
  rule.exact = merged_.number(Key::row_exact, 0);
  rule.exact_slot = slot16(Key::row_exact);
  rule.max_slot = slot16(Key::row_max);
  return rule;
}

/// The constraints of one plane. All levels of a pyramid obey those of the first plane.
RowRule LayOut::image_rule(std::size_t plane) const {
  const std::size_t p = is_pyramid_ ? 0 : plane;
  RowRule rule;
  rule.align = common_multiple(merged_.number(Key::pitch_align, p, 1), component_);
  rule.align = std::max<std::uint64_t>(rule.align, 1);
  rule.max = merged_.number(Key::pitch_max, p, unlimited);
  if (!is_pyramid_ || plane == 0) rule.exact = merged_.number(Key::pitch_exact, p, 0);
  rule.exact_slot = slot16(Key::pitch_exact, p);
  rule.max_slot = slot16(Key::pitch_max, p);
  return rule;
}

std::uint64_t LayOut::row(const RowRule& rule) {
  const std::uint64_t needed = std::max(rule.used.value(), rule.min);
  const Amount minimum = round_up(needed, rule.align);
  if (rule.used.overflows() || minimum.overflows()) return unlimited;
  const std::uint64_t stride = rule.exact != 0 ? rule.exact : minimum.value();
  if (stride % rule.align != 0)
    fail(Check::row_exact, rule.exact_slot, stride, rule.align, legal_above(rule, stride, needed),
         legal_below(rule, stride, needed));
  if (stride < needed) fail(Check::row_min, rule.exact_slot, stride, needed, minimum.value());
  if (stride > rule.max) fail(Check::row_max, rule.max_slot, stride, rule.max, rule.align);
  return stride;
}

void LayOut::add_size(Amount size) {
  if (size.overflows() || size.value() > max_size)
    fail(Check::overflow, slot16(Key::size_max), size.value(), max_size);
  draft_.size = std::max(draft_.size, std::min(size.value(), max_size));
}

void LayOut::tensor_strides(Amount row) {
  TensorDraft& t = draft_.tensor;
  const auto align = [&](Key key) { return multiple(merged_.number(key, 1), t.element, key); };
  const Amount stored_rows = round_up(t.h, merged_.number(Key::rows_mult, 1));
  const bool is_nhwc = t.order == AxisOrder::nhwc;
  t.stride_h = row.value();
  t.stride_w = t.element * (is_nhwc ? t.channels : t.x);
  const Amount surface = stored_rows * row;
  Amount whole = surface;
  if (is_nhwc) {
    t.stride_c = t.element;
  } else {
    const Amount channel = round_up(surface, align(Key::surf_align));
    t.stride_c = channel.value();
    whole = Amount(t.blocks) * channel;
  }
  whole = round_up(whole, align(Key::batch_align));
  t.stride_n = whole.value();
  const Amount size = Amount(t.n) * whole;
  t.size = size.value();
  add_size(t.n == unlimited ? Amount(unlimited) * 2 : size);
}

void LayOut::tensor() {
  check_axes();
  tensor_strides(row(tensor_rule()));
}

/// The alignment that plane 0 needs, so that the chroma stride derived from it is aligned.
std::uint64_t LayOut::chroma_align(std::size_t plane) const {
  const std::uint64_t align = image_rule(plane).align;
  if (format_.kind == FormatKind::tri_planar) return align << format_.chroma_shift_x;
  const std::uint64_t times = 2U >> format_.chroma_shift_x;
  return align % times == 0 ? align / times : align;
}

void LayOut::derive_chroma(std::size_t plane, RowRule& rule) {
  if (!merged_.flag(Key::chroma_derived) || is_pyramid_) return;
  if (plane == 0) {
    for (std::size_t p = 1; p < draft_.plane_count; ++p)
      rule.align = multiple(rule.align, chroma_align(p), Key::pitch_align);
  } else if (rule.exact == 0) {
    const std::uint64_t first = draft_.planes[0].pitch;
    rule.exact = format_.kind == FormatKind::tri_planar ? first >> format_.chroma_shift_x
                                                        : first * (2U >> format_.chroma_shift_x);
  }
}

/// The rows of an image that is read as a tensor must also obey the tensor's constraints.
void LayOut::obey_tensor(std::size_t plane, RowRule& rule) {
  rule.align = multiple(rule.align, merged_.number(Key::row_align, 1), Key::row_align);
  const std::uint64_t max = merged_.number(Key::row_max, unlimited);
  if (max < rule.max) {
    rule.max = max;
    rule.max_slot = slot16(Key::row_max);
  }
  if (plane > 0) return;
  rule.min = std::max(rule.min, merged_.number(Key::row_min, 0));
  if (rule.exact == 0 && merged_[Key::row_exact].is_set) {
    rule.exact = merged_.number(Key::row_exact, 0);
    rule.exact_slot = slot16(Key::row_exact);
  }
}

RowRule LayOut::plane_rule(std::size_t plane, std::uint64_t pixels, std::uint64_t pixel_bytes) {
  RowRule rule = image_rule(plane);
  rule.used = Amount(pixels) * Amount(pixel_bytes);
  if (merged_.flag(Key::px_integral))
    rule.align = multiple(rule.align, pixel_bytes, Key::pitch_align);
  derive_chroma(plane, rule);
  obey_tensor(plane, rule);
  return rule;
}

std::uint64_t LayOut::stored_rows(std::uint64_t rows, unsigned shift) {
  const std::uint64_t align = multiple(merged_.number(Key::height_mult, 1),
                                       merged_.number(Key::rows_mult, 1), Key::height_mult);
  return round_up(rows, std::max<std::uint64_t>(align >> shift, 1)).value();
}

/// Places a plane after the one before it, at an offset where the tensor may begin if there is one.
void LayOut::place(std::size_t index, Amount size) {
  std::uint64_t align = multiple(merged_.number(Key::plane_align, is_pyramid_ ? 0 : index, 1),
                                 component_, Key::plane_align);
  if (draft_.has_tensor)
    align = multiple(align, merged_.number(Key::offset_align, 1), Key::offset_align);
  Amount offset;
  if (index > 0) {
    const PlaneDraft& before = draft_.planes[index - 1];
    offset = round_up(Amount(before.offset) + Amount(before.size), align);
  }
  draft_.planes[index].offset = offset.value();
  draft_.planes[index].size = size.value();
  add_size(offset + size);
}

void LayOut::plane(std::size_t index, std::uint64_t width, std::uint64_t height) {
  PlaneDraft& out = draft_.planes[index];
  const unsigned shift_x = is_chroma(index) ? format_.chroma_shift_x : 0;
  const unsigned shift_y = is_chroma(index) ? format_.chroma_shift_y : 0;
  std::uint64_t samples = 1;
  if (format_.kind == FormatKind::packed) samples = format_.channels;
  if (format_.kind == FormatKind::semi_planar && is_chroma(index)) samples = 2;
  const std::uint64_t stored = round_up(width, merged_.number(Key::width_mult, 1)).value();
  const RowRule rule = plane_rule(index, halved(stored, shift_x), samples * component_);
  out.used_bytes = rule.used.value();
  out.pitch = row(rule);
  const std::uint64_t fields = merged_.number(Key::scan, 0) == 1 ? 2 : 1;
  out.rows = stored_rows((halved(height, shift_y) + fields - 1) / fields, shift_y);
  Amount size = Amount(out.pitch) * Amount(out.rows) * Amount(fields);
  if (format_.kind == FormatKind::planar) {
    size =
        round_up(size, multiple(component_, merged_.number(Key::surf_align, 1), Key::surf_align));
    out.layer_stride = size.value();
    size = size * Amount(format_.channels);
  }
  place(index, size);
}

void LayOut::image() {
  draft_.plane_count = format_.kind == FormatKind::planar ? 1 : format_.planes;
  for (std::size_t p = 0; p < draft_.plane_count; ++p)
    plane(p, merged_.number(Key::width, 1), merged_.number(Key::height, 1));
}

/// Levels one after the other, each scaled from the one before.
void LayOut::pyramid() {
  const MergedValue& scale = merged_[Key::pyramid_scale];
  const double factor = scale.is_set ? std::bit_cast<double>(scale.value.low) : 0.5;
  const auto smaller = [&](std::uint64_t extent) {
    return std::max<std::uint64_t>(static_cast<std::uint64_t>(static_cast<double>(extent) * factor),
                                   1);
  };
  std::uint64_t width = merged_.number(Key::width, 1), height = merged_.number(Key::height, 1);
  draft_.plane_count = std::min<std::uint64_t>(merged_.number(Key::pyramid_levels, 1), max_levels);
  for (std::size_t p = 0; p < draft_.plane_count; ++p) {
    plane(p, width, height);
    width = smaller(width);
    height = smaller(height);
  }
  const PlaneDraft& last = draft_.planes[draft_.plane_count - 1];
  add_size(
      round_up(Amount(last.offset) + Amount(last.size), merged_.number(Key::plane_align, 0, 1)));
}

/// Image and tensor in one buffer: the tensor is a plane of the image and has its strides.
void LayOut::joined() {
  TensorDraft& t = draft_.tensor;
  const bool is_planar = format_.kind == FormatKind::planar;
  const AxisOrder order = is_planar ? AxisOrder::nchw : AxisOrder::nhwc;
  const bool is_said = merged_[Key::layout].is_set && merged_[Key::format].is_set;
  if (is_said && t.order != order && (t.c > 1 || t.order == AxisOrder::nc_hwx))
    fail(Check::image_tensor, slot16(Key::layout), static_cast<std::uint64_t>(t.order),
         static_cast<std::uint64_t>(order));
  const PlaneMatch match = best_plane(merged_, draft_, format_, is_pyramid_);
  if (match.wrong_count > 0)
    fail(Check::image_shape, slot16(Key::shape, match.axis), match.value, match.wanted);
  take_unsaid_extents(merged_, match.extents, t);
  check_axes();
  const PlaneDraft& rows = draft_.planes[match.plane];
  t.offset = rows.offset;
  t.stride_h = rows.pitch;
  t.stride_w = is_planar ? t.element : t.element * t.c;
  t.stride_c = is_planar ? rows.layer_stride : t.element;
  t.stride_n = rows.size;
  t.size = rows.size;
}

void LayOut::run() {
  const auto holds = [&](BufferKind kind) {
    return (draft_.kinds & static_cast<std::uint64_t>(kind)) != 0;
  };
  draft_.kinds = kinds_of(merged_);
  draft_.has_image = candidate_.image.family == LayoutTag::Family::image;
  draft_.has_tensor = candidate_.tensor.family == LayoutTag::Family::tensor;
  is_pyramid_ = holds(BufferKind::pyramid);
  extents();
  component_ = draft_.tensor.element;
  if (draft_.has_image && is_pyramid_) pyramid();
  if (draft_.has_image && !is_pyramid_) image();
  if (draft_.has_tensor && !draft_.has_image) tensor();
  if (draft_.has_tensor && draft_.has_image) joined();
  if (holds(BufferKind::array))
    add_size(Amount(merged_.number(Key::array_stride, 1)) *
             Amount(merged_.number(Key::array_capacity, 1)));
  const MergedValue& raw = merged_[Key::raw_size];
  if (raw.is_set && raw.value.low < draft_.size)
    fail(Check::size_max, slot16(Key::raw_size), draft_.size, raw.value.low);
  draft_.size = std::max(draft_.size, merged_.number(Key::raw_size, 0));
  draft_.size = std::max(draft_.size, merged_.number(Key::size_min, 1));
}

}  // namespace

std::uint64_t kinds_of(const Merged& merged) noexcept {
  std::uint64_t kinds = merged.number(Key::kind, 0);
  const auto add = [&](Key key, BufferKind kind) {
    if (merged[key].is_set) kinds |= static_cast<std::uint64_t>(kind);
  };
  add(Key::shape, BufferKind::tensor);
  add(Key::shape_required, BufferKind::tensor);
  add(Key::width, BufferKind::image);
  add(Key::height, BufferKind::image);
  add(Key::width_required, BufferKind::image);
  add(Key::height_required, BufferKind::image);
  add(Key::raw_size, BufferKind::raw);
  add(Key::array_stride, BufferKind::array);
  add(Key::array_capacity, BufferKind::array);
  add(Key::pyramid_levels, BufferKind::pyramid);
  return kinds;
}

void lay_out(const Merged& merged, const Candidate& candidate, Draft& draft,
             std::vector<Failure>& failures) {
  LayOut(merged, candidate, draft, failures).run();
}

}  // namespace halyard
