// SPDX-License-Identifier: Apache-2.0
#include "bench/opencv_comparison.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "bench/opencv_loop.h"

namespace halyard::tool {
namespace {

constexpr std::size_t turns = 9;
constexpr std::size_t max_images = 100;
constexpr const char* stage_names[] = {"load", "convert", "model", "decode"};

double overlap(const Box& a, const Box& b) {
  const double width = std::min(a.x2, b.x2) - std::max(a.x1, b.x1);
  const double height = std::min(a.y2, b.y2) - std::max(a.y1, b.y1);
  if (width <= 0 || height <= 0) return 0;
  const auto area = [](const Box& box) {
    return static_cast<double>(box.x2 - box.x1) * static_cast<double>(box.y2 - box.y1);
  };
  return width * height / (area(a) + area(b) - width * height);
}

double difference(const Box& a, const Box& b) {
  const double left = std::abs(a.x1 - b.x1), top = std::abs(a.y1 - b.y1);
  const double right = std::abs(a.x2 - b.x2), bottom = std::abs(a.y2 - b.y2);
  return std::max({left, top, right, bottom});
}

/// Null for real numbers.
Result<Json> integers_of(const TensorSpec& spec) {
  if (spec.dtype == DType::f32) return Json(nullptr);
  const bool is_byte = spec.dtype == DType::u8 || spec.dtype == DType::i8;
  if (!is_byte || !spec.quantization || !spec.quantization->is_per_tensor())
    return make_error(Errc::unsupported, "the loop has no such input or output",
                      std::string(to_string(spec.dtype)));
  return Json{{"dtype", spec.dtype == DType::u8 ? "uint8" : "int8"},
              {"scale", spec.quantization->scale_at(0)},
              {"zero_point", spec.quantization->zero_point_at(0)}};
}

/// The loop reads the head of YOLOv8 alone: boxes as centre and size, then a score for each class.
Status check_head(const PipelineModel& model) {
  const ModelDescription& description = model.decoder->description();
  const auto outputs = model.engine->outputs();
  const auto arrangement = arrangement_of(description);
  const bool is_known = arrangement && *arrangement == Arrangement::yolo_det &&
                        outputs.size() == 1 && outputs[0].shape.size() == 3 &&
                        outputs[0].shape[1] == model.decoder->class_count() + 4;
  if (is_known) return {};
  return make_error(Errc::unsupported, "the loop reads outputs of boxes as YOLOv8 has them, alone");
}

Result<Json> task_of(const PipelineModel& model, const ComparisonSettings& settings,
                     const std::vector<std::string>& images) {
  HALYARD_RETURN_IF_ERROR(check_head(model));
  const TensorSpec& input = model.engine->inputs()[0];
  HALYARD_TRY(const auto input_numbers, integers_of(input));
  HALYARD_TRY(const auto output_numbers, integers_of(model.engine->outputs()[0]));
  const DecodeOptions& decoding = model.decoder->options();
  const auto units = model.decoder->description().outputs[0].box_units;
  const Size size = model.engine->input_size();
  return Json{{"model", model.engine->path()},
              {"engine", model.engine->name()},
              {"device", settings.device},
              {"threads", settings.threads},
              {"width", size.width},
              {"height", size.height},
              {"planar", input.format == PixelFormat::planar_rgb},
              {"input", input_numbers},
              {"output", output_numbers},
              {"fraction", units == BoxUnits::fraction},
              {"score", decoding.score_threshold},
              {"iou", decoding.iou_threshold},
              {"class_aware", decoding.nms != Nms::class_agnostic},
              {"max_objects", decoding.max_detections},
              {"images", images}};
}

std::vector<Detection> detections_of(const Json& rows) {
  std::vector<Detection> out;
  for (const Json& row : rows) {
    Detection& found = out.emplace_back();
    found.box = {row.at(0), row.at(1), row.at(2), row.at(3)};
    found.score = row.at(4);
    found.label = row.at(5);
  }
  return out;
}

/// Both programs, and what they have done so far.
class Turns {
 public:
  Turns(BenchFrames& frames, const PipelineModel& model, OpencvLoop& loop)
      : frames_(frames), model_(model), loop_(loop), theirs_(std::size(stage_names) + 1) {}
  /// Chooses how many frames fit in a turn.
  Status rehearse(double seconds);
  Status run(std::size_t number);
  void finish(OpencvComparison& out);
  const FoundByFile& found() const noexcept { return found_; }

 private:
  Status run_ours();
  Status run_theirs();
  BenchFrames& frames_;
  const PipelineModel& model_;
  OpencvLoop& loop_;
  std::size_t count_ = 0;
  FoundByFile found_;
  std::vector<double> our_ms_, their_ms_, ratios_;
  std::vector<std::vector<double>> theirs_;  ///< by stage, then the total
};

Status Turns::rehearse(double seconds) {
  BenchSettings once{.in_flight = 1, .warm_up = 3};
  once.frames = std::max(frames_.paths().size(), std::size_t{10});
  HALYARD_TRY(const auto run, bench_run(frames_, model_, once, &found_));
  const double wanted = seconds / static_cast<double>(turns) * run.frames_per_s;
  count_ = static_cast<std::size_t>(std::clamp(wanted, 10.0, 100'000.0));
  return {};
}

Status Turns::run_ours() {
  const BenchSettings settings{.in_flight = 1, .warm_up = 3, .frames = count_};
  HALYARD_TRY(const auto run, bench_run(frames_, model_, settings));
  our_ms_.push_back(find_stage(run.stages, "total")->p50);
  return {};
}

Status Turns::run_theirs() {
  HALYARD_TRY(const Json times, loop_.ask(count_));
  std::vector<double> totals(count_);
  for (std::size_t i = 0; i < std::size(stage_names); ++i) {
    const auto values = times.at(stage_names[i]).get<std::vector<double>>();
    if (values.size() != count_)
      return make_error(Errc::malformed, "the Python program has left out frames");
    theirs_[i].insert(theirs_[i].end(), values.begin(), values.end());
    std::transform(totals.begin(), totals.end(), values.begin(), totals.begin(), std::plus());
  }
  theirs_.back().insert(theirs_.back().end(), totals.begin(), totals.end());
  their_ms_.push_back(median(totals));
  return {};
}

Status Turns::run(std::size_t number) {
  if (number % 2 == 0) {
    HALYARD_RETURN_IF_ERROR(run_ours());
    HALYARD_RETURN_IF_ERROR(run_theirs());
  } else {
    HALYARD_RETURN_IF_ERROR(run_theirs());
    HALYARD_RETURN_IF_ERROR(run_ours());
  }
  ratios_.push_back(their_ms_.back() / our_ms_.back());
  return {};
}

void Turns::finish(OpencvComparison& out) {
  out.turns = turns;
  out.frames = count_;
  out.our_ms = median(our_ms_);
  out.their_ms = median(their_ms_);
  out.ratio = median(ratios_);
  out.min_ratio = *std::min_element(ratios_.begin(), ratios_.end());
  out.max_ratio = *std::max_element(ratios_.begin(), ratios_.end());
  for (std::size_t i = 0; i < theirs_.size(); ++i)
    out.stages.push_back(
        bench_times(i < std::size(stage_names) ? stage_names[i] : "total", theirs_[i]));
}

Result<OpencvComparison> compare(const BenchFrames& frames, const PipelineModel& model,
                                 const ComparisonSettings& settings) {
  HALYARD_TRY(auto chosen, frames.image_files(max_images));
  const std::vector<std::string> images = chosen.paths();
  HALYARD_TRY(const auto task, task_of(model, settings, images));
  HALYARD_TRY(auto loop, OpencvLoop::start(settings.python));
  HALYARD_TRY(const Json answer, loop.ask(task));
  OpencvComparison out;
  out.python = answer.at("python");
  out.opencv = answer.at("opencv");
  out.engine = answer.at("engine");
  Turns run(chosen, model, loop);
  out.images = images.size();
  HALYARD_RETURN_IF_ERROR(run.rehearse(settings.seconds));
  for (std::size_t i = 0; i < images.size(); ++i) {
    const auto ours = run.found().find(images[i]);
    if (ours != run.found().end())
      compare_boxes(ours->second, detections_of(answer.at("boxes").at(i)), out.boxes);
  }
  for (std::size_t i = 0; i < turns; ++i)
    HALYARD_RETURN_IF_ERROR(run.run(i));
  run.finish(out);
  return out;
}

}  // namespace

void compare_boxes(std::span<const Detection> ours, std::span<const Detection> theirs,
                   BoxAgreement& agreement) {
  agreement.ours += ours.size();
  agreement.theirs += theirs.size();
  std::vector<bool> is_taken(theirs.size());
  for (const Detection& mine : ours) {
    std::size_t best = theirs.size();
    double best_overlap = 0.8;
    for (std::size_t i = 0; i < theirs.size(); ++i) {
      if (is_taken[i] || theirs[i].label != mine.label) continue;
      const double value = overlap(mine.box, theirs[i].box);
      if (value >= best_overlap) best = i, best_overlap = value;
    }
    if (best == theirs.size()) continue;
    is_taken[best] = true;
    ++agreement.same;
    agreement.largest_difference =
        std::max(agreement.largest_difference, difference(mine.box, theirs[best].box));
  }
}

Result<OpencvComparison> compare_with_opencv(const BenchFrames& frames, const PipelineModel& model,
                                             const ComparisonSettings& settings) {
  try {
    return compare(frames, model, settings);
  } catch (const Json::exception&) {
    return make_error(Errc::malformed, "the Python program gave an answer of another form");
  }
}

}  // namespace halyard::tool
