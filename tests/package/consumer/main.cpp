// SPDX-License-Identifier: Apache-2.0
// Uses each layer of an installed Halyard once, and says which version it ran with.
#include <cstdio>
#include <string_view>

#include "halyard/halyard.h"

int main() {
  using namespace halyard;
  auto image = Tensor::create_image(64, 48, PixelFormat::rgb);
  auto input = Tensor::create(DType::u8, {1, 32, 32, 3});
  auto processor = Processor::create();
  if (!image || !input || !processor) return 1;
  auto placed = processor->convert({.src = *image, .dst = *input, .fit = Fit::letterbox});
  if (!placed || placed->content() != Region{0, 4, 32, 24}) return 2;
  auto jpeg = encode_jpeg(*image);
  if (!jpeg || peek(*jpeg)->width != 64) return 3;
  auto tracker = ByteTrack::create();
  const Detection boat{.box = {1, 1, 9, 9}, .score = 0.9F, .label = 0, .anchor = 0};
  if (!tracker || tracker->update({&boat, 1}, std::chrono::nanoseconds{0})->size() != 1) return 4;
  if (Engine::open("no-such-file.onnx").has_value()) return 5;
  if (std::string_view(version()) != HALYARD_VERSION_STRING) return 6;
  std::printf("halyard %s\n", version());
  return 0;
}
