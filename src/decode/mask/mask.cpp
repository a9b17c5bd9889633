// SPDX-License-Identifier: Apache-2.0
// materialize(): plans every mask, then computes and samples masks in groups that fit the cache.
#include "halyard/mask.h"

#include <algorithm>
#include <utility>

#include "decode/mask/mask_checks.h"
#include "decode/mask/mask_plan.h"
#include "decode/mask/mask_sample.h"
#include "halyard/trace.h"

namespace halyard {
namespace {

using namespace decode;

PixelRange moved(PixelRange span, double by) noexcept {
  const auto whole = static_cast<std::int32_t>(by);
  return {span.begin - whole, span.end - whole};
}

Region region_of(const MaskPlan& plan, const MaskTarget& t, const MaskWorkspace& work) noexcept {
  PixelRange columns = plan.columns, rows = plan.rows;
  if (t.rule == MaskRule::ultralytics && !t.is_input) {
    columns = inner_span(work.second_x, moved(columns, t.content.x));
    rows = inner_span(work.second_y, moved(rows, t.content.y));
  }
  if (columns.is_empty() || rows.is_empty()) return {};
  return {columns.begin, rows.begin, columns.length(), rows.length()};
}

// The masks of one group: computes the logits of all, then their bytes.
class Group {
 public:
  Group(const MaskTarget& target, MaskWorkspace& work) : target_(target), work_(work) {}

  // Places the logits of a mask after those of the group. Returns false if the group is full.
  bool add(std::size_t index);
  template <class Out>
  void run(std::size_t first, std::size_t end, const Out& out);

 private:
  void write(const MaskPlan& plan, const Region& region, std::uint8_t* out);
  void write_grid(const MaskPlan& plan, std::uint8_t* out);
  void write_sampled(const MaskPlan& plan, ByteRows out);
  void write_twice(const MaskPlan& plan, const Region& region, std::uint8_t* out);

  const MaskTarget& target_;
  MaskWorkspace& work_;
  std::size_t used_ = 0;
};

bool Group::add(std::size_t index) {
  MaskPlan& plan = work_.plans[index];
  const std::size_t floats = place_logits(plan, used_);
  if (used_ != 0 && used_ + floats > group_floats) return false;
  used_ += floats;
  return true;
}

template <class Out>
void Group::run(std::size_t first, std::size_t end, const Out& out) {
  compute_logits(work_, first, end, used_);
  for (std::size_t i = first; i < end; ++i) {
    const auto [region, bytes] = out(i);
    if (region.width > 0) write(work_.plans[i], region, bytes);
  }
  used_ = 0;
}

void Group::write(const MaskPlan& plan, const Region& region, std::uint8_t* out) {
  if (target_.rule == MaskRule::prototype || target_.rule == MaskRule::probability) {
    write_grid(plan, out);
  } else if (target_.rule == MaskRule::ultralytics && !target_.is_input) {
    write_twice(plan, region, out);
  } else {
    write_sampled(plan, {out, static_cast<std::size_t>(region.width)});
  }
}

void Group::write_grid(const MaskPlan& plan, std::uint8_t* out) {
  const auto width = static_cast<std::size_t>(plan.columns.length());
  const float* row = work_.logits.data() + plan.grid + plan.grid_stride + 1;
  for (std::int32_t y = 0; y < plan.rows.length(); ++y, row += plan.grid_stride, out += width) {
    if (target_.rule == MaskRule::prototype) {
      threshold_row(row, width, out);
    } else {
      probability_row(row, work_.engine.scale(), width, out);
    }
  }
}

void Group::write_sampled(const MaskPlan& plan, ByteRows out) {
  sample_rows(work_, plan, plan.rows, out);
}

// Writes the bytes at the network's input, then those of the image: a pixel is set if all samples
// with a weight above 0 are.
void Group::write_twice(const MaskPlan& plan, const Region& region, std::uint8_t* out) {
  const auto width = static_cast<std::size_t>(plan.columns.length());
  const std::size_t bytes = width * static_cast<std::size_t>(plan.rows.length()) + byte_padding;
  if (work_.first_bytes.size() < bytes) work_.first_bytes.resize(bytes);
  write_sampled(plan, {work_.first_bytes.data(), width});
  const PixelRange rows = moved(plan.rows, target_.content.y);
  const std::int32_t left = moved(plan.columns, target_.content.x).begin;
  for (std::int32_t y = 0; y < region.height; ++y) {
    const auto ty = static_cast<std::size_t>(region.y + y);
    const std::uint8_t* a = work_.first_bytes.data() +
                            static_cast<std::size_t>(work_.second_y.low[ty] - rows.begin) * width;
    const std::uint8_t* b = work_.second_y.high_weight[ty] > 0 ? a + width : a;
    for (std::int32_t x = 0; x < region.width; ++x) {
      const auto tx = static_cast<std::size_t>(region.x + x);
      const auto at = static_cast<std::size_t>(work_.second_x.low[tx] - left);
      const std::size_t next = work_.second_x.high_weight[tx] > 0 ? at + 1 : at;
      *out++ = a[at] & a[next] & b[at] & b[next];
    }
  }
}

// `place` returns the region and the bytes of mask i.
template <class Place>
void run_groups(const MaskTarget& target, MaskWorkspace& work, const Place& place) {
  Group group(target, work);
  std::size_t first = 0;
  for (std::size_t i = 0; i < work.plans.size(); ++i) {
    if (group.add(i)) continue;
    group.run(first, i, place);
    first = i;
    group.add(i);
  }
  group.run(first, work.plans.size(), place);
}

RegionF content_in_frame(const MaskTarget& t) noexcept {
  if (t.rule != MaskRule::prototype && t.rule != MaskRule::probability)
    return Region{0, 0, t.size.width, t.size.height};
  const double x = static_cast<double>(t.grid.width) / t.input.width;
  const double y = static_cast<double>(t.grid.height) / t.input.height;
  return {t.content.x * x, t.content.y * y, t.content.width * x, t.content.height * y};
}

}  // namespace

MaskSet::MaskSet() noexcept = default;
MaskSet::MaskSet(MaskSet&& other) noexcept
    : regions_(std::move(other.regions_)),
      offsets_(std::move(other.offsets_)),
      bytes_(std::move(other.bytes_)),
      frame_(other.frame_),
      content_(other.content_),
      workspace_(std::move(other.workspace_)) {
  other.clear();
}

MaskSet& MaskSet::operator=(MaskSet&& other) noexcept {
  if (this == &other) return *this;
  regions_ = std::move(other.regions_);
  offsets_ = std::move(other.offsets_);
  bytes_ = std::move(other.bytes_);
  frame_ = other.frame_;
  content_ = other.content_;
  workspace_ = std::move(other.workspace_);
  other.clear();
  return *this;
}

MaskSet::~MaskSet() = default;

void MaskSet::clear() noexcept {
  regions_.clear();
  offsets_.clear();
  frame_ = {};
  content_ = {};
}

RegionF MaskSet::fraction(std::size_t i) const noexcept {
  const Region& r = regions_[i];
  const auto part = [](double v, double from, double size) {
    return std::clamp((v - from) / size, 0.0, 1.0);
  };
  const double x1 = part(r.x, content_.x, content_.width);
  const double y1 = part(r.y, content_.y, content_.height);
  return {x1, y1, part(r.x + r.width, content_.x, content_.width) - x1,
          part(r.y + r.height, content_.y, content_.height) - y1};
}

Status materialize(const MaskPrototypes& prototypes, std::span<const Detection> detections,
                   const MaskOptions& options, MaskSet& out) {
  trace::Span span("decode.materialize");
  out.clear();
  // On failure, clears the set: regions whose bytes were not allocated must not remain.
  struct Emptier {
    MaskSet* set;
    ~Emptier() {
      if (set != nullptr) set->clear();
    }
  } emptier{&out};
  HALYARD_TRY(PrototypeGrid grid, grid_of(prototypes));
  HALYARD_RETURN_IF_ERROR(check_masks(prototypes, grid, detections));
  HALYARD_TRY(const MaskTarget target, target_of(prototypes, grid, options));
  HALYARD_TRY(const TensorMap map, prototypes.prototypes.map(Access::read));
  grid.data = map.data();
  if (prototypes.prototypes.rank() == 4)
    grid.data += static_cast<std::ptrdiff_t>(prototypes.batch) * map.layout().stride_bytes[0];
  if (!out.workspace_) out.workspace_ = std::make_unique<MaskWorkspace>();
  MaskWorkspace& work = *out.workspace_;
  prepare_samples(target, work);
  work.engine.begin(grid, prototypes);
  work.plans.clear();
  std::size_t bytes = 0;
  for (const Detection& detection : detections) {
    work.plans.push_back(plan_of(detection.box, target, work));
    const Region region = region_of(work.plans.back(), target, work);
    out.regions_.push_back(region);
    out.offsets_.push_back(bytes);
    bytes += static_cast<std::size_t>(region.width) * static_cast<std::size_t>(region.height);
  }
  if (out.bytes_.size() < bytes + byte_padding) out.bytes_.resize(bytes + byte_padding);
  out.frame_ = target.size;
  out.content_ = content_in_frame(target);
  run_groups(target, work, [&](std::size_t i) {
    return std::pair(out.regions_[i], out.bytes_.data() + out.offsets_[i]);
  });
  emptier.set = nullptr;
  span.arg("masks", detections.size());
  return {};
}

}  // namespace halyard
