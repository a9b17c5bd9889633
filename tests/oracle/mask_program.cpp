// SPDX-License-Identifier: Apache-2.0
// Masks for the oracle tests: reads .npy files of a folder, calls the library, writes the results
// beside them. Usage: halyard_mask_program COMMAND FOLDER [NUMBER...]
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <string>

#include "halyard/mask.h"
#include "halyard/polygon.h"
#include "halyard/rle.h"
#include "halyard/semantic.h"
#include "oracle/program_job.h"

namespace halyard {
namespace {

using namespace oracle;

std::string shape_of(std::size_t count, Size size) {
  return std::to_string(count) + ", " + std::to_string(size.height) + ", " +
         std::to_string(size.width);
}

// Numbers: rule, input, size (0: unset), content (width 0: unset).
void run_materialize(const Job& job) {
  MaskPrototypes from;
  from.prototypes = job.tensor("prototypes");
  from.order = PrototypeOrder::channels_height_width;
  from.input = {job.whole(1), job.whole(2)};
  const naive::Npy coefficients = job.load("coefficients"), boxes = job.load("boxes");
  const std::size_t count = coefficients.shape[0], channels = coefficients.shape[1];
  from.clear(channels);
  std::vector<Detection> detections(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto* row = reinterpret_cast<const std::byte*>(coefficients.bytes.data());
    good(from.append({row + i * channels * 4, 4, DType::f32, nullptr}));
    std::memcpy(&detections[i].box, boxes.bytes.data() + i * sizeof(Box), sizeof(Box));
  }
  MaskOptions options{static_cast<MaskRule>(job.whole(0)), {}, {}};
  if (job.whole(3) > 0) options.size = {job.whole(3), job.whole(4)};
  if (job.numbers.at(7) > 0)
    options.content = RegionF(job.numbers[5], job.numbers[6], job.numbers[7], job.numbers[8]);
  MaskSet set;
  good(materialize(from, detections, options, set));
  const Size frame = set.frame();
  std::vector<std::uint8_t> out;
  for (std::size_t i = 0; i < set.size(); ++i) {
    Rle rle;
    std::vector<std::uint8_t> whole;
    good(rle_encode(set[i], frame, rle));
    good(rle_decode(rle, whole));
    out.insert(out.end(), whole.begin(), whole.end());
  }
  job.save("masks", shape_of(set.size(), frame), out);
}

// Masks [N, H, W] to a line each: text, area, bounds, IoU and crowd IoU with the first, text of the
// union with it and of the intersection, text again of the outlines filled.
void run_rle(const Job& job) {
  const naive::Npy masks = job.load("masks");
  const Size size{static_cast<int>(masks.shape[2]), static_cast<int>(masks.shape[1])};
  const std::size_t pixels = masks.shape[1] * masks.shape[2];
  std::vector<Rle> all(masks.shape[0]);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(masks.bytes.data()) + i * pixels;
    const MaskView view{{0, 0, size.width, size.height}, bytes, masks.shape[2]};
    good(rle_encode(view, size, all[i]));
    const Region bounds = good(rle_bounds(all[i]));
    const Rle pair[] = {all[i], all[0]};
    std::vector<Polygon> outlines;
    good(mask_polygons(view, outlines));
    std::vector<std::uint8_t> filled;
    good(polygon_fill(outlines, size, filled));
    Rle again;
    good(rle_encode({view.region, filled.data(), masks.shape[2]}, size, again));
    std::printf("%s %llu %d %d %d %d %.17g %.17g %s %s %s\n", good(rle_to_string(all[i])).c_str(),
                static_cast<unsigned long long>(good(rle_area(all[i]))), bounds.x, bounds.y,
                bounds.width, bounds.height, good(rle_iou(all[i], all[0])),
                good(rle_iou(all[i], all[0], true)),
                good(rle_to_string(good(rle_merge(pair)))).c_str(),
                good(rle_to_string(good(rle_merge(pair, true)))).c_str(),
                good(rle_to_string(again)).c_str());
  }
}

// Lines of standard input, text of masks of one size, to [N, H, W].
void run_unrle(const Job& job) {
  const Size size{job.whole(0), job.whole(1)};
  std::vector<std::uint8_t> out, one;
  std::size_t count = 0;
  for (std::string line; std::getline(std::cin, line); ++count) {
    good(rle_decode(good(rle_from_string(line, size)), one));
    out.insert(out.end(), one.begin(), one.end());
  }
  job.save("masks", shape_of(count, size), out);
}

// Numbers: layout, mode, size, input (0: unset), content.
void run_semantic(const Job& job) {
  SemanticOptions options;
  options.layout = static_cast<SemanticLayout>(job.whole(0));
  options.mode = static_cast<SemanticMode>(job.whole(1));
  if (job.whole(4) > 0) {
    options.input = {job.whole(4), job.whole(5)};
    options.content = RegionF(job.numbers[6], job.numbers[7], job.numbers[8], job.numbers[9]);
  }
  const auto height = static_cast<std::size_t>(job.whole(3));
  const auto width = static_cast<std::size_t>(job.whole(2));
  Tensor out = good(Tensor::create(DType::u8, {height, width}, Memory::mem));
  good(semantic_map(job.tensor("scores"), options, out));
  const auto map = good(out.map(Access::read));
  const auto flat = good(map.flat<const std::uint8_t>());
  job.save("map", shape_of(1, {job.whole(2), job.whole(3)}), {flat.begin(), flat.end()});
}

int run(int count, char** arguments) {
  if (count < 3) stop("halyard_mask_program COMMAND FOLDER [NUMBER...]");
  Job job{arguments[2], {}};
  for (int i = 3; i < count; ++i)
    job.numbers.push_back(std::atof(arguments[i]));
  const std::string command = arguments[1];
  if (command == "materialize") {
    run_materialize(job);
  } else if (command == "rle") {
    run_rle(job);
  } else if (command == "unrle") {
    run_unrle(job);
  } else if (command == "semantic") {
    run_semantic(job);
  } else {
    stop("no command " + command);
  }
  return 0;
}

}  // namespace
}  // namespace halyard

int main(int count, char** arguments) {
  return halyard::run(count, arguments);
}
