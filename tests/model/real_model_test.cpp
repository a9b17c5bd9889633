// SPDX-License-Identifier: Apache-2.0
// Real networks on a real photograph, against outputs recorded with another runtime.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "halyard/codec.h"
#include "halyard/image.h"
#include "halyard/model.h"
#include "support/folder.h"
#include "support/result.h"

#ifdef HALYARD_HAVE_OPENVINO
namespace halyard {
namespace {

class RealModel : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const char* dir = std::getenv("HALYARD_TESTDATA_DIR");
    if (dir == nullptr) GTEST_SKIP() << "HALYARD_TESTDATA_DIR is not set";
    data_ = std::string(dir) + "/";
  }
  std::string data_;
};

struct Seen {
  std::vector<Detection> found;
  std::vector<Tensor> outputs;
};

Seen see(Engine& engine, const Decoder& decoder, const std::string& photo) {
  auto image = load_image(photo);
  auto input = Tensor::create(engine.inputs()[0]);
  auto processor = Processor::create();
  Convert request;
  request.src = *image;
  request.dst = *input;
  request.fit = Fit::letterbox;
  auto placed = processor->convert(request);
  EXPECT_TRUE(placed) << placed.error().message();
  auto outputs = engine.run(*input);
  EXPECT_TRUE(outputs) << outputs.error().message();
  auto found = decoder.decode(*outputs);
  EXPECT_TRUE(found) << found.error().message();
  return {placed->to_source(*found), *outputs};
}

/// The recorded output as a tensor like `like`; the data is the end of the .npy file.
Tensor recorded(const std::string& path, const Tensor& like) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const auto bytes = static_cast<std::streamoff>(like.size_bytes());
  auto tensor = Tensor::create(like.dtype(), like.shape());
  file.seekg(std::streamoff(file.tellg()) - bytes);
  auto map = tensor->map(Access::write);
  file.read(reinterpret_cast<char*>(map->writable()), bytes);
  EXPECT_TRUE(file) << path;
  EXPECT_TRUE(tensor->set_quantization(like.quantization()));
  return *tensor;
}

TEST_P(RealModel, finds_the_bus_and_four_people_as_the_recording_does) {
  const std::string name = GetParam();
  ASSERT_VALUE(auto engine, Engine::open(data_ + "models/" + name + ".tflite"));
  EXPECT_EQ(engine.labels().size(), 80U);
  EXPECT_EQ(engine.input_size(), (Size{640, 640}));
  ASSERT_VALUE(auto decoder, decoder_for(engine));
  const Seen seen = see(engine, decoder, data_ + "photos/bus.jpg");
  int buses = 0;
  int people = 0;
  for (const Detection& detection : seen.found) {
    buses += detection.label == 5 ? 1 : 0;
    people += detection.label == 0 ? 1 : 0;
  }
  EXPECT_EQ(buses, 1);
  EXPECT_EQ(people, 4);

  const Tensor output = recorded(data_ + "model_outputs/" + name + "__bus.npy", seen.outputs[0]);
  ASSERT_VALUE(const auto expected, decoder.decode({&output, 1}));
  const Placement placed({810, 1080}, Region{0, 0, 810, 1080}, Orientation{}, {640, 640},
                         letterbox_region({810, 1080}, {640, 640}));
  for (const Detection& want : placed.to_source(expected)) {
    // Weak boxes come and go with the runtime's kernels.
    if (want.score < 0.4F) continue;
    float best = 0;
    for (const Detection& have : seen.found)
      if (have.label == want.label) best = std::max(best, iou(have.box, want.box));
    EXPECT_GE(best, 0.8F) << name << " class " << want.label << " score " << want.score;
  }
}

INSTANTIATE_TEST_SUITE_P(Tflite, RealModel,
                         testing::Values("yolov8n_full_integer_quant", "yolo11n_full_integer_quant",
                                         "yolov8n_int8"),
                         [](const auto& info) { return std::string(info.param); });

using RealModelSpecs = RealModel;

TEST_F(RealModelSpecs, integer_models_keep_their_dtype_and_quantization) {
  ASSERT_VALUE(const auto engine, Engine::open(data_ + "models/yolov8n_full_integer_quant.tflite"));
  const TensorSpec& input = engine.inputs()[0];
  EXPECT_EQ(input.dtype, DType::i8);
  EXPECT_EQ(input.format, PixelFormat::rgb);
  ASSERT_TRUE(input.quantization);
  EXPECT_EQ(*input.quantization, Quantization::per_tensor(0.003921568859368563F, -128));
  const TensorSpec& output = engine.outputs()[0];
  EXPECT_EQ(output.dtype, DType::i8);
  EXPECT_EQ(output.shape, (std::vector<std::size_t>{1, 84, 8400}));
  ASSERT_TRUE(output.quantization);
  EXPECT_EQ(*output.quantization, Quantization::per_tensor(0.003906319383531809F, -128));
}

TEST_F(RealModelSpecs, float_models_of_tflite_files_have_fractions_too) {
  ASSERT_VALUE(const auto engine, Engine::open(data_ + "models/yolov8n_int8.tflite"));
  EXPECT_EQ(engine.outputs()[0].dtype, DType::f32);
  EXPECT_FALSE(engine.outputs()[0].quantization);
  EXPECT_EQ(box_units(engine), BoxUnits::fraction);
}

TEST_F(RealModelSpecs, a_cut_file_is_refused) {
  std::ifstream whole(data_ + "models/yolov8n_full_integer_quant.tflite", std::ios::binary);
  std::string bytes(200000, '\0');
  whole.read(bytes.data(), std::streamsize(bytes.size()));
  const test::Folder folder;
  const std::string path = folder / "cut.tflite";
  std::ofstream(path, std::ios::binary) << bytes;
  EXPECT_FAILS(Engine::open(path), Errc::malformed);
}

}  // namespace
}  // namespace halyard
#endif
