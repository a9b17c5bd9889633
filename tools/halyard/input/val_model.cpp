// SPDX-License-Identifier: Apache-2.0
// Images are processed one after the other: the engine uses all cores for each.
#include "input/val_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <utility>

#include "halyard/capture.h"
#include "halyard/rle.h"
#include "input/inside_folder.h"
#include "interrupt.h"
#include "options/nearest.h"
#include "options/paths.h"
#include "output/coco_writer.h"
#include "progress.h"
#include "report.h"

namespace halyard::tool {
namespace {

Result<Frame> load(const std::string& path) {
  HALYARD_TRY(auto source, FrameSource::open(path));
  HALYARD_TRY(auto frame, source.next());
  if (!frame) return make_error(Errc::malformed, "has no image");
  return *std::move(frame);
}

Status check_size(const CocoImage& image, const Frame& frame) {
  const Size size = frame.image.upright_size();
  if (image.size == Size{} || image.size == size) return {};
  return make_error(Errc::invalid_argument, "is not the image of the ground truth",
                    fmt::format("{}x{}, must be {}x{}", size.width, size.height, image.size.width,
                                image.size.height));
}

using CategoryPlaces = std::vector<std::optional<std::size_t>>;

/// The head's other data of a detection, in pixels of the upright image.
void add_shapes(const ModelResult& found, std::size_t i, CocoObject& object) {
  const std::size_t each = found.decoded.keypoints_each;
  const auto first = found.decoded.keypoints.begin() + static_cast<std::ptrdiff_t>(i * each);
  for (const Keypoint& point : found.placement.to_source(
           std::vector<Keypoint>(first, first + static_cast<std::ptrdiff_t>(each))))
    object.keypoints.push_back({{point.at.x, point.at.y}, point.score});
  if (found.decoded.rotated.empty()) return;
  const auto at = corners(found.decoded.rotated[i]);
  for (std::size_t k = 0; k < at.size(); ++k) {
    const Point corner = found.placement.to_source(at[k]);
    object.corners[k] = {corner.x, corner.y};
  }
}

void add_classes(const ModelResult& found, std::size_t image, const CategoryPlaces& places,
                 CocoResults& results) {
  for (const ClassScore& seen : found.decoded.classes) {
    const auto label = static_cast<std::size_t>(seen.label);
    CocoObject& object = results.objects.emplace_back();
    object.image = image;
    object.score = static_cast<double>(seen.score);
    object.category =
        label < places.size() ? places[label].value_or(object.no_category) : object.no_category;
  }
}

Status add_found(const ModelResult& found, std::size_t image, const CategoryPlaces& places,
                 CocoResults& results) {
  add_classes(found, image, places, results);
  for (std::size_t i = 0; i < found.detections.size(); ++i) {
    const Detection& d = found.detections[i];
    const auto label = static_cast<std::size_t>(d.label);
    if (label >= places.size() || !places[label]) {
      ++results.left_out;
      continue;
    }
    CocoObject& object = results.objects.emplace_back();
    object.image = image;
    object.category = *places[label];
    object.score = static_cast<double>(d.score);
    object.box = coco_box(d.box);
    add_shapes(found, i, object);
    if (!found.masks.empty())
      HALYARD_RETURN_IF_ERROR(rle_encode(found.masks[i], found.masks.frame(), object.mask));
  }
  return {};
}

/// The images of a ground truth through a model; the first error ends it.
class ModelVal {
 public:
  ModelVal(const ModelRun& run, const CocoTruth& truth, const CategoryPlaces& places)
      : run_(run), truth_(truth), places_(places), progress_(truth.images.size(), !run.is_quiet) {}
  std::optional<CocoResults> execute(const PipelineModel& model);

 private:
  Result<std::optional<Frame>> read();
  Status deliver(const PipelineFrame& frame);
  std::string path_of(std::size_t image) const {
    return (std::filesystem::path(run_.images) / truth_.images[image].file).string();
  }
  void fail(const std::string& what, const Error& error) {
    if (!has_failed_.exchange(true)) report(what, error);
  }

  const ModelRun& run_;
  const CocoTruth& truth_;
  const CategoryPlaces& places_;
  CocoResults results_;
  Progress progress_;
  std::size_t next_ = 0;
  std::atomic<bool> has_failed_{false};
};

// After an error there is no further image; those on their way are seen.
Result<std::optional<Frame>> ModelVal::read() {
  const std::size_t image = next_++;
  if (image == truth_.images.size() || InterruptGuard::is_requested())
    return std::optional<Frame>();
  const auto inside = file_inside(run_.images, truth_.images[image].file);
  if (!inside) return fail("--images " + run_.images, inside.error()), std::optional<Frame>();
  auto frame = load(*inside);
  if (frame) {
    if (const Status fits = check_size(truth_.images[image], *frame); !fits) frame = fits.error();
  }
  if (!frame) return fail(path_of(image), frame.error()), std::optional<Frame>();
  frame->index = image;
  return std::optional<Frame>(*std::move(frame));
}

Status ModelVal::deliver(const PipelineFrame& frame) {
  const std::size_t image = frame.frame.index;
  Status done = frame.error ? Status(*frame.error) : Status();
  if (done) done = add_found(frame.models[0], image, places_, results_);
  if (!done) fail(path_of(image), done.error());
  progress_.update(image + 1);
  return done;
}

std::optional<CocoResults> ModelVal::execute(const PipelineModel& model) {
  PipelineOptions options;
  options.models.push_back(model);
  options.in_flight = 1;
  options.sources.emplace_back().next = [this] { return read(); };
  PipelineStage& last = options.stages.emplace_back();
  last.name = "results";
  last.run = [this](PipelineFrame& frame) { return deliver(frame); };
  last.sees_failed = true;
  last.stops_run = true;
  const InterruptGuard guard;
  auto pipeline = Pipeline::create(std::move(options));
  if (!pipeline) return report("--model " + model.name, pipeline.error()), std::nullopt;
  if (auto started = pipeline->start(); !started)
    return report("val", started.error()), std::nullopt;
  static_cast<void>(pipeline->wait());  // deliver() has reported its error
  if (InterruptGuard::is_requested()) return report("val", "interrupted"), std::nullopt;
  if (has_failed_) return std::nullopt;
  return std::move(results_);
}

/// A hint for the first label that resembles a category: "; label boat: did you mean boats?".
std::string meant_category(const std::vector<std::string>& labels,
                           const std::vector<CocoCategory>& categories) {
  std::vector<std::string> names;
  for (const CocoCategory& category : categories)
    if (!category.name.empty()) names.push_back(category.name);
  for (const std::string& label : labels)
    if (const auto name = nearest(label, names))
      return "; label " + label + ": did you mean " + *name + "?";
  return {};
}

}  // namespace

Result<std::vector<std::optional<std::size_t>>> match_labels(
    const std::vector<std::string>& labels, const std::vector<CocoCategory>& categories) {
  auto places = match_categories(labels, categories);
  if (places) return places;
  const Error& error = places.error();
  return make_error(error.code, error.what, *error.detail + meant_category(labels, categories));
}

std::optional<PipelineModel> open_preset_model(const ModelRun& run) {
  DetectorOptions options = run.detector;
  apply(run.preset, options);
  return open_model(options);
}

std::optional<CocoResults> find_objects(const ModelRun& run, const PipelineModel& model,
                                        const CocoTruth& truth) {
  std::vector<std::string> labels = model.labels;
  labels.resize(std::max(labels.size(), model.decoder->class_count()));
  const auto places = match_labels(labels, truth.categories);
  if (!places) return report("--model " + run.detector.model, places.error()), std::nullopt;
  return ModelVal(run, truth, *places).execute(model);
}

Status write_results(const std::string& path, const CocoTruth& truth, const CocoResults& results,
                     CocoKind kind) {
  HALYARD_TRY(auto file, open_output(path));
  const char* before = "[\n";
  for (const CocoObject& o : results.objects) {
    if (o.category == CocoObject::no_category) continue;
    CocoResult result{truth.images[o.image].id, truth.categories[o.category].id, {}, o.score};
    if (kind != CocoKind::classes) result.box = o.box;
    result.keypoints = o.keypoints;
    if (kind == CocoKind::rotated_boxes) result.corners.assign(o.corners.begin(), o.corners.end());
    if (!o.mask.counts.empty()) {
      HALYARD_TRY(result.mask, rle_to_string(o.mask));
      result.size = o.mask.size;
    }
    HALYARD_RETURN_IF_ERROR(file.write(std::exchange(before, ",\n") + to_json(result)));
  }
  HALYARD_RETURN_IF_ERROR(file.write(before[0] == '[' ? "[]\n" : "\n]\n"));
  return file.commit();
}

}  // namespace halyard::tool
