// SPDX-License-Identifier: Apache-2.0
// An image and a network's outputs through the library as trainers handle them, for the oracle
// tests: FOLDER/image.png or .jpg, output0.npy ... in; input.npy, found.npy, masks.npy,
// keypoints.npy out. Usage: halyard_parity_program FOLDER FAMILY PRESET RULE NUMBER...
// NUMBER: classes, the input's width and height, keypoints, scale and zero point of integers
// (0 0: none), 1 where boxes are fractions.
#include <filesystem>
#include <optional>

#include "halyard/codec.h"
#include "halyard/decode.h"
#include "halyard/describe.h"
#include "halyard/image.h"
#include "oracle/program_job.h"

namespace halyard {
namespace {

using namespace oracle;

struct Parity : Job {
  std::string family, preset, rule;

  bool validates() const { return preset == "ultralytics-val"; }
  Size input() const { return {whole(1), whole(2)}; }
};

MaskRule rule_of(const std::string& name) {
  if (name == "ultralytics") return MaskRule::ultralytics;
  if (name == "ultralytics_quick") return MaskRule::ultralytics_quick;
  if (name != "logits") stop("no rule " + name);
  return MaskRule::logits;
}

// As `halyard val` does it: RGB first, chroma interpolated, then the letterbox.
Placement place(const Parity& job) {
  const std::string path = job.folder + "/image.";
  const Tensor file =
      good(load_image(path + (std::filesystem::exists(path + "png") ? "png" : "jpg")));
  const Size size = file.size();
  Processor processor = good(Processor::create());
  Convert colour;
  colour.src = file;
  colour.dst = good(Tensor::create_image(size.width, size.height, PixelFormat::rgb));
  colour.chroma = Chroma::bilinear;
  good(processor.convert(colour));
  Convert request;
  request.src = colour.dst;
  request.dst = good(Tensor::create_image(job.input().width, job.input().height,
                                          PixelFormat::planar_rgb, DType::f32));
  request.fit = Fit::letterbox;
  request.letterbox = job.validates() ? LetterboxRule::ultralytics_val : LetterboxRule::ultralytics;
  const Placement placed = good(processor.convert(request));
  const auto map = good(request.dst.map(Access::read));
  const auto values = good(map.flat<const float>());
  job.save_floats("input",
                  "3, " + std::to_string(job.whole(2)) + ", " + std::to_string(job.whole(1)),
                  std::vector<float>(values.begin(), values.end()));
  return placed;
}

std::vector<Tensor> outputs_of(const Parity& job) {
  std::vector<Tensor> out;
  for (const char* name : {"output0", "output1"}) {
    if (!std::filesystem::exists(job.folder + "/" + name + ".npy")) break;
    out.push_back(job.tensor(name));
    if (is_integer(out.back().dtype()))
      good(out.back().set_quantization(
          Quantization::per_tensor(static_cast<float>(job.numbers.at(4)), job.whole(5))));
  }
  return out;
}

Decoder decoder_of(const Parity& job) {
  PresetOptions options;
  options.input = job.input();
  options.classes = static_cast<std::size_t>(job.whole(0));
  options.keypoints = KeypointShape{static_cast<std::uint32_t>(job.whole(3)), 3};
  if (job.whole(3) == 0) options.keypoints.reset();
  if (job.whole(6) != 0) options.box_units = BoxUnits::fraction;
  return good(Decoder::create(
      good(describe_model(job.family, options)),
      job.validates() ? DecodeOptions::ultralytics_val() : DecodeOptions::ultralytics()));
}

// Rows: label, anchor, score, the box in the input's pixels, the box in the image's.
void save_found(const Parity& job, const Decoded& decoded, const Placement& placed) {
  std::vector<float> rows;
  const auto back = placed.to_source(decoded.detections);
  for (std::size_t i = 0; i < back.size(); ++i) {
    const Detection& d = decoded.detections[i];
    const Box& b = back[i].box;
    rows.insert(rows.end(), {static_cast<float>(d.label), static_cast<float>(d.anchor), d.score,
                             d.box.x1, d.box.y1, d.box.x2, d.box.y2, b.x1, b.y1, b.x2, b.y2});
  }
  job.save_floats("found", std::to_string(back.size()) + ", 11", rows);
}

void save_masks(const Parity& job, const Decoded& decoded, const Placement& placed) {
  MaskSet set;
  const MaskOptions options{rule_of(job.rule), placed.source(), placed.content()};
  good(materialize(decoded.masks, decoded.detections, options, set));
  const Size size = set.frame();
  const auto width = static_cast<std::size_t>(size.width);
  const std::size_t pixels = width * static_cast<std::size_t>(size.height);
  std::vector<std::uint8_t> out(set.size() * pixels);
  for (std::size_t i = 0; i < set.size(); ++i) {
    const MaskView mask = set[i];
    for (std::int32_t y = 0; y < mask.region.height; ++y) {
      const std::size_t row = static_cast<std::size_t>(mask.region.y + y) * width;
      std::copy_n(mask.row(y), mask.region.width,
                  out.data() + i * pixels + row + static_cast<std::size_t>(mask.region.x));
    }
  }
  job.save("masks",
           std::to_string(set.size()) + ", " + std::to_string(size.height) + ", " +
               std::to_string(size.width),
           out);
}

void save_keypoints(const Parity& job, const Decoded& decoded, const Placement& placed) {
  std::vector<float> rows;
  for (const Keypoint& point : placed.to_source(decoded.keypoints))
    rows.insert(rows.end(), {point.at.x, point.at.y, point.score});
  job.save_floats("keypoints", std::to_string(decoded.keypoints.size()) + ", 3", rows);
}

int run(int count, char** arguments) {
  if (count < 12) stop("halyard_parity_program FOLDER FAMILY PRESET RULE NUMBER...");
  Parity job{{arguments[1], {}}, arguments[2], arguments[3], arguments[4]};
  for (int i = 5; i < count; ++i)
    job.numbers.push_back(std::atof(arguments[i]));
  const Placement placed = place(job);
  const std::vector<Tensor> outputs = outputs_of(job);
  if (outputs.empty()) return 0;
  Decoded decoded;
  good(decoder_of(job).decode_into(outputs, decoded));
  save_found(job, decoded, placed);
  if (outputs.size() > 1) save_masks(job, decoded, placed);
  if (decoded.keypoints_each != 0) save_keypoints(job, decoded, placed);
  return 0;
}

}  // namespace
}  // namespace halyard

int main(int count, char** arguments) {
  return halyard::run(count, arguments);
}
