// SPDX-License-Identifier: Apache-2.0
// All engines find the same boxes, within 1 pixel, on the models of the repository and of the
// data.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <string>

#include "halyard/codec.h"
#include "halyard/image.h"
#include "halyard/model.h"
#include "support/result.h"
#include "support/variable.h"
#include "test_paths.h"

#if defined(HALYARD_HAVE_OPENVINO)
namespace halyard::test {
namespace {

/// Whose pixels boxes are compared in.
enum class Pixels { of_the_photo, of_the_input };

/// The objects of a photo, strongest first.
std::vector<Detection> objects_by(const std::string& engine_name, const std::string& model,
                                  const std::string& photo, float score, Pixels pixels) {
  auto engine = Engine::open(model, {.engine = engine_name});
  EXPECT_OK(engine);
  if (!engine) return {};
  DecodeOptions options;
  options.score_threshold = score;
  auto decoder = decoder_for(*engine, options);
  EXPECT_OK(decoder);
  auto image = load_image(photo);
  EXPECT_OK(image);
  auto inputs = engine->make_inputs();
  EXPECT_OK(inputs);
  auto processor = Processor::create();
  const auto placed =
      processor->convert({.src = *image, .dst = inputs->front(), .fit = Fit::letterbox});
  EXPECT_OK(placed);
  auto request = engine->submit(*inputs);
  EXPECT_OK(request);
  const auto outputs = request->wait();
  EXPECT_OK(outputs);
  const auto found = decoder->decode(*outputs);
  EXPECT_OK(found);
  return pixels == Pixels::of_the_photo ? placed->to_source(*found) : *found;
}

float distance(const Detection& one, const Detection& other) {
  return std::max({std::abs(one.box.x1 - other.box.x1), std::abs(one.box.y1 - other.box.y1),
                   std::abs(one.box.x2 - other.box.x2), std::abs(one.box.y2 - other.box.y2)});
}

/// Each object of one list is in the other, with its class, and its box within some pixels.
void expect_all_in(const std::vector<Detection>& some, const std::vector<Detection>& all,
                   float limit) {
  for (const Detection& wanted : some) {
    float nearest = 1e9F;
    for (const Detection& seen : all)
      if (seen.label == wanted.label) nearest = std::min(nearest, distance(seen, wanted));
    EXPECT_LE(nearest, limit) << "class " << wanted.label << " score " << wanted.score;
  }
}

void expect_agreement(const std::string& other, const std::string& model, const std::string& photo,
                      Pixels pixels, float limit = 1) {
  // Objects near the threshold may be on either side of it.
  const auto by = [&](const std::string& engine, float score) {
    return objects_by(engine, model, photo, score, pixels);
  };
  const auto strong = by("openvino", 0.35F);
  ASSERT_FALSE(strong.empty());
  expect_all_in(strong, by(other, 0.25F), limit);
  expect_all_in(by(other, 0.35F), by("openvino", 0.25F), limit);
}

#ifdef HALYARD_TEST_ONNXRUNTIME
TEST(Engines_agree, on_the_harbour) {
  const std::string harbour = HALYARD_SOURCE_DIR "/examples/harbour/";
  const Variable library("HALYARD_ONNXRUNTIME_DIR", HALYARD_TEST_ONNXRUNTIME);
  for (const char* photo : {"photo.jpg", "clip/frame_0000.jpg", "clip/frame_0010.jpg"})
    expect_agreement("onnxruntime", harbour + "harbour.onnx", harbour + photo,
                     Pixels::of_the_photo);
}
#endif

#ifdef HALYARD_TEST_LITERT
// Of a photo of 1080 rows, the largest difference is 1.1 pixels.
TEST(Engines_agree, on_yolov8n_of_8_bits) {
  const char* const data = std::getenv("HALYARD_TESTDATA_DIR");
  if (data == nullptr) GTEST_SKIP() << "HALYARD_TESTDATA_DIR is not set";
  const Variable library("HALYARD_LITERT_DIR", HALYARD_TEST_LITERT);
  for (const char* photo : {"bus.jpg", "zidane.jpg"})
    expect_agreement("litert", std::string(data) + "/models/yolov8n_int8.tflite",
                     std::string(data) + "/photos/" + photo, Pixels::of_the_input);
}

// Engines compute 8-bit networks in ways of their own, which differ by processor. On one that has
// AVX2 and nothing newer, OpenVINO and LiteRT place strong boxes up to 4.4 of 320 pixels apart
// without Halyard, and two kernels of LiteRT up to 1.5; here it is 4.7.
float limit_of_8_bits() {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx512vnni")) return 1;
#endif
  return 6;
}

TEST(Engines_agree, on_the_harbour_of_8_bits) {
  const std::string harbour = HALYARD_SOURCE_DIR "/examples/harbour/";
  const Variable library("HALYARD_LITERT_DIR", HALYARD_TEST_LITERT);
  for (const char* model : {"harbour", "harbour_seg", "harbour_pose", "harbour_obb"}) {
    SCOPED_TRACE(model);
    expect_agreement("litert", harbour + model + "_int8.tflite", harbour + "photo.jpg",
                     Pixels::of_the_input, limit_of_8_bits());
  }
}
#endif

}  // namespace
}  // namespace halyard::test
#endif
