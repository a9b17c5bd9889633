// SPDX-License-Identifier: Apache-2.0
// Images are processed one after the other: the engine uses all cores for each.
#include "input/val_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "halyard/capture.h"
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

Status add_found(const Job& job, std::size_t image, const CategoryPlaces& places,
                 CocoResults& results) {
  for (std::size_t i = 0; i < job.found.size(); ++i) {
    const Detection& d = job.found[i];
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
    if (!job.masks.empty())
      HALYARD_RETURN_IF_ERROR(rle_encode(job.masks[i], job.masks.frame(), object.mask));
  }
  return {};
}

Status find_in(const std::string& path, const CocoImage& image, Detector& detector, Job& job) {
  HALYARD_TRY(job.frame, load(path));
  HALYARD_RETURN_IF_ERROR(check_size(image, job.frame));
  job.record = {};
  return detector.detect(job);
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

std::optional<Detector> open_detector(const ModelRun& run) {
  DetectorOptions options = run.detector;
  apply(run.preset, options);
  return Detector::create(options);
}

std::optional<CocoResults> find_objects(const ModelRun& run, Detector& detector,
                                        const CocoTruth& truth) {
  std::vector<std::string> labels = detector.labels();
  labels.resize(std::max(labels.size(), detector.class_count()));
  const auto places = match_labels(labels, truth.categories);
  if (!places) return report("--model " + run.detector.model, places.error()), std::nullopt;
  auto processor = Processor::create();
  if (!processor) return report("processor", processor.error()), std::nullopt;
  Job job(*std::move(processor));
  auto input = detector.make_input();
  if (!input) return report("--model " + run.detector.model, input.error()), std::nullopt;
  job.input = *std::move(input);

  CocoResults results;
  Progress progress(truth.images.size(), !run.is_quiet);
  const InterruptGuard guard;
  for (std::size_t i = 0; i < truth.images.size(); ++i) {
    const auto inside = file_inside(run.images, truth.images[i].file);
    if (!inside) return report("--images " + run.images, inside.error()), std::nullopt;
    const std::string path = (std::filesystem::path(run.images) / truth.images[i].file).string();
    if (auto done = find_in(*inside, truth.images[i], detector, job); !done)
      return report(path, done.error()), std::nullopt;
    if (auto added = add_found(job, i, *places, results); !added)
      return report(path, added.error()), std::nullopt;
    progress.update(i + 1);
    if (InterruptGuard::is_requested()) return report("val", "interrupted"), std::nullopt;
  }
  return results;
}

Status write_results(const std::string& path, const CocoTruth& truth, const CocoResults& results) {
  HALYARD_TRY(auto file, open_output(path));
  const char* before = "[\n";
  for (const CocoObject& o : results.objects) {
    CocoResult result{truth.images[o.image].id, truth.categories[o.category].id, o.box, o.score};
    if (!o.mask.counts.empty()) {
      HALYARD_TRY(result.mask, rle_to_string(o.mask));
      result.size = o.mask.size;
    }
    HALYARD_RETURN_IF_ERROR(file.write(std::exchange(before, ",\n") + to_json(result)));
  }
  HALYARD_RETURN_IF_ERROR(file.write(results.objects.empty() ? "[]\n" : "\n]\n"));
  return file.commit();
}

}  // namespace halyard::tool
