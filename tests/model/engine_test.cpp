// SPDX-License-Identifier: Apache-2.0
// Engine on small ONNX files written here: specs, memory, errors. Real networks:
// real_model_test.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <thread>

#include "halyard/model.h"
#include "onnx_writer.h"
#include "support/folder.h"
#include "support/in_child.h"
#include "support/result.h"

namespace halyard::test {
namespace {

using ::testing::HasSubstr;

// Of this process: engines may read their files as long as they live.
const Folder& files() {
  static const Folder folder;
  return folder;
}

std::string write_model(const std::string& name, const OnnxModel& model) {
  const std::string path = files() / name;
  write_bytes(path, onnx_bytes(model));
  return path;
}

#ifdef HALYARD_HAVE_OPENVINO

Engine open_model(const std::string& name, const OnnxModel& model) {
  auto engine = Engine::open(write_model(name, model));
  EXPECT_OK(engine);
  return *std::move(engine);
}

Tensor filled(const Engine& engine, float value) {
  auto tensor = Tensor::create(engine.inputs()[0]);
  EXPECT_TRUE(tensor);
  auto map = tensor->map(Access::write);
  auto* data = reinterpret_cast<float*>(map->writable());
  std::fill(data, data + tensor->element_count(), value);
  return *tensor;
}

float first(const Tensor& tensor) {
  auto map = tensor.map(Access::read);
  return *reinterpret_cast<const float*>(map->data());
}

const std::byte* address(const Tensor& tensor) {
  return tensor.map(Access::read)->data();
}

TEST(Engine, tells_what_the_file_says) {
  const Engine engine = open_model(
      "specs.onnx", {.shape = {-1, 3, 4, 6},
                     .metadata = {{"names", "{0: 'boat', 1: 'gull'}"}, {"task", "detect"}}});
  ASSERT_EQ(engine.inputs().size(), 1U);
  EXPECT_EQ(engine.inputs()[0].name, "images");
  EXPECT_EQ(engine.inputs()[0].dtype, DType::f32);
  EXPECT_EQ(engine.inputs()[0].shape, (std::vector<std::size_t>{1, 3, 4, 6}));
  EXPECT_EQ(engine.inputs()[0].format, PixelFormat::planar_rgb);
  EXPECT_FALSE(engine.inputs()[0].quantization);
  EXPECT_EQ(engine.outputs()[0].name, "output0");
  EXPECT_EQ(engine.outputs()[0].shape, (std::vector<std::size_t>{1, 3, 4, 6}));
  EXPECT_EQ(engine.input_size(), (Size{6, 4}));
  EXPECT_EQ(engine.metadata().at("task"), "detect");
  EXPECT_EQ(engine.labels(), (std::vector<std::string>{"boat", "gull"}));
  EXPECT_EQ(engine.runtime().substr(0, 11), "openvino 20");
}

TEST(Engine, knows_packed_images_and_plain_tensors) {
  EXPECT_EQ(open_model("packed.onnx", {.shape = {1, 5, 7, 3}}).inputs()[0].format,
            PixelFormat::rgb);
  EXPECT_EQ(open_model("grey.onnx", {.shape = {1, 1, 5, 7}}).inputs()[0].format, PixelFormat::grey);
  const Engine plain = open_model("plain.onnx", {.shape = {1, 84, 20}});
  EXPECT_FALSE(plain.inputs()[0].format);
  EXPECT_EQ(plain.input_size(), (Size{0, 0}));
  EXPECT_FALSE(open_model("both.onnx", {.shape = {1, 3, 5, 3}}).inputs()[0].format);
}

TEST(Engine, takes_the_size_of_a_dynamic_image_from_the_metadata) {
  const Engine engine =
      open_model("dynamic.onnx", {.shape = {-1, 3, -1, -1}, .metadata = {{"imgsz", "[8, 16]"}}});
  EXPECT_EQ(engine.input_size(), (Size{16, 8}));
  for (const char* size : {"", "[8]", "[0, 8]", "[99999999999, 8]", "8"}) {
    const auto failed = Engine::open(
        write_model("dynamic_bad.onnx", {.shape = {-1, 3, -1, -1}, .metadata = {{"imgsz", size}}}));
    EXPECT_FAILS(failed, Errc::unsupported) << size;
  }
}

TEST(Engine, runs_on_our_memory_without_a_copy) {
  Engine engine = open_model("relu.onnx", {});
  const Tensor input = filled(engine, 2.5F);
  const CopyStats before = copy_stats();
  ASSERT_VALUE(auto outputs, engine.run(input));
  EXPECT_EQ(copy_stats().copies, before.copies);
  ASSERT_EQ(outputs.size(), 1U);
  EXPECT_EQ(outputs[0].name(), "output0");
  EXPECT_EQ(first(outputs[0]), 2.5F);
  EXPECT_EQ(first(*&engine.run(filled(engine, -1))->front()), 0.0F);
}

TEST(Engine, does_not_overwrite_results_that_live) {
  Engine engine = open_model("alive.onnx", {});
  std::vector<Tensor> kept;
  for (int i = 0; i < 5; ++i)
    kept.push_back(engine.run(filled(engine, static_cast<float>(i)))->front());
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(first(kept[static_cast<std::size_t>(i)]), static_cast<float>(i));
}

TEST(Engine, uses_memory_of_dead_results_again) {
  Engine engine = open_model("reuse.onnx", {});
  const Tensor input = filled(engine, 1);
  const std::byte* once = address(engine.run(input)->front());
  EXPECT_EQ(address(engine.run(input)->front()), once);
}

TEST(Engine, gives_results_that_outlive_it_and_their_input) {
  for (const char* op : {"Relu", "Identity"}) {
    Tensor result;
    {
      Engine engine = open_model("outlive.onnx", {.op = op});
      ASSERT_VALUE(auto outputs, engine.run(filled(engine, 7)));
      result = outputs.front();
      filled(engine, 9);
    }
    EXPECT_EQ(first(result), 7.0F) << op;
  }
}

TEST(Engine, keeps_the_result_of_a_model_that_only_passes_its_input_on) {
  Engine engine = open_model("pass.onnx", {.op = "Identity"});
  Tensor input = filled(engine, 7);
  const Tensor result = engine.run(input)->front();
  {
    auto map = input.map(Access::write);
    *reinterpret_cast<float*>(map->writable()) = 1;
  }
  EXPECT_EQ(first(result), 7.0F);
}

TEST(Engine, runs_from_several_threads) {
  Engine engine = open_model("threads.onnx", {});
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        const auto value = static_cast<float>(100 * t + i);
        auto outputs = engine.run(filled(engine, value));
        if (!outputs || first(outputs->front()) != value) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Engine, tells_a_child_that_its_threads_stayed_in_the_parent) {
  Engine engine = open_model("forked.onnx", {});
  const Tensor input = filled(engine, 2);
  const auto is_refused = [](const auto& result) {
    return !result && result.error().code == Errc::unsupported &&
           result.error().message().find("before fork()") != std::string::npos;
  };
  EXPECT_TRUE(is_true_in_child(
      [&] { return is_refused(engine.run(input)) && is_refused(Engine::open(engine.path())); }));
  EXPECT_TRUE(engine.run(input)) << "the parent goes on";
}

TEST(Engine, takes_an_image_without_the_batch_axis) {
  Engine engine = open_model("unbatched.onnx", {});
  ASSERT_VALUE(auto image,
               Tensor::create_image(6, 4, PixelFormat::planar_rgb, DType::f32, Memory::mem));
  EXPECT_TRUE(engine.run(image));
}

TEST(Engine, names_the_input_that_does_not_fit) {
  Engine engine = open_model("fit.onnx", {});
  const auto shape = Tensor::create(DType::f32, {1, 3, 4, 7});
  const auto dtype = Tensor::create(DType::u8, {1, 3, 4, 6});
  EXPECT_FAILS(engine.run(*shape), Errc::invalid_argument, "[1,3,4,6]");
  EXPECT_FAILS(engine.run(*dtype), Errc::invalid_argument, "takes f32");
  EXPECT_FAILS(engine.run(Tensor()), Errc::invalid_argument, "no bytes");
  EXPECT_FAILS(engine.run(std::span<const Tensor>{}), Errc::invalid_argument, "0 given");
  auto wide = Tensor::create(DType::f32, {1, 3, 4, 12});
  Layout strided = wide->layout();
  strided.shape[3] = 6;
  ASSERT_VALUE(const auto part, Tensor::wrap(wide->buffer(), strided));
  EXPECT_FAILS(engine.run(part), Errc::unsupported, "contiguous");
}

TEST(Engine, refuses_files_that_are_no_models) {
  const std::string whole = onnx_bytes({});
  const auto expect_refusal = [&](const std::string& name, const std::string& bytes,
                                  Errc code = Errc::malformed) {
    write_bytes(files() / name, bytes);
    const auto engine = Engine::open(files() / name);
    ASSERT_FALSE(engine) << name;
    EXPECT_EQ(engine.error().message().find('\n'), std::string::npos) << engine.error().message();
    EXPECT_FAILS(engine, code, name);
  };
  expect_refusal("empty.onnx", "");
  expect_refusal("cut.onnx", whole.substr(0, whole.size() / 2));
  expect_refusal("garbage.onnx", std::string(5000, '\xa7'));
  expect_refusal("garbage.tflite", std::string(5000, '\xa7'));
  expect_refusal("short.tflite", "TFL3");
  expect_refusal("garbage.xml", "<net");
  expect_refusal("unknown_op.onnx", onnx_bytes({.op = "NoSuchOperator"}));
  expect_refusal("model.txt", whole, Errc::unsupported);
}

TEST(Engine, refuses_a_device_that_is_not_there) {
  EXPECT_FAILS(Engine::open(write_model("device.onnx", {}), {.device = "NOSUCH"}), Errc::device,
               "NOSUCH");
}

TEST(Decoder_for, takes_units_and_labels_from_the_engine) {
  OnnxModel model{.shape = {1, 6, 20}, .metadata = {{"names", "['boat', 'buoy']"}}};
  const Engine pixels = open_model("units.onnx", model);
  EXPECT_EQ(box_units(pixels), BoxUnits::pixels);
  model.metadata.emplace_back("box_units", "fraction");
  EXPECT_EQ(box_units(open_model("units_said.onnx", model)), BoxUnits::fraction);
  ASSERT_VALUE(const auto decoder, decoder_for(pixels));
  EXPECT_EQ(decoder.class_count(), 2U);
  EXPECT_EQ(decoder.description().labels, (std::vector<std::string>{"boat", "buoy"}));
}

TEST(Decoder_for, takes_a_document_from_the_metadata_or_from_beside_the_model) {
  const std::string document = R"({"input": {"shape": [1, 64, 64, 3]}, "labels": ["a", "b", "c"],
      "outputs": [{"type": "detection", "shape": [1, 7, 20], "normalized": true}]})";
  OnnxModel model{.shape = {1, 7, 20}, .metadata = {{"edgefirst.json", document}}};
  ASSERT_VALUE(const auto inside, decoder_for(open_model("document.onnx", model)));
  EXPECT_EQ(inside.description().outputs[0].box_units, BoxUnits::fraction);
  EXPECT_THAT(inside.explain(), HasSubstr("outputs: from edgefirst.json in document.onnx"));
  model.metadata = {{"names", "['x', 'y', 'z']"}};
  const std::string sidecar = files() / "beside.json";
  std::ofstream(sidecar) << document;
  const auto beside = decoder_for(open_model("beside.onnx", model));
  std::remove(sidecar.c_str());
  ASSERT_TRUE(beside) << beside.error().message();
  EXPECT_EQ(beside->description().labels[0], "a") << "the document comes first";
  EXPECT_EQ(beside->description().outputs[0].box_units, BoxUnits::fraction);
  model.metadata = {{"names", "['x', 'y', 'z', 'w']"}};
  EXPECT_FAILS(decoder_for(open_model("labels.onnx", model)),
               "4 given (metadata \"names\" of labels.onnx)");
}

TEST(Decoder_for, refuses_outputs_that_no_head_reads) {
  EXPECT_FAILS(decoder_for(open_model("head.onnx", {.shape = {1, 3, 4, 6}})), Errc::unsupported);
}

#else

TEST(Engine, says_what_to_install_in_a_build_without_one) {
  EXPECT_FAILS(Engine::open(write_model("none.onnx", {})), Errc::unsupported,
               "pip install openvino");
}

#endif

TEST(Engine, checks_the_file_before_it_reads_it) {
  EXPECT_FAILS(Engine::open(files() / "missing.onnx"), Errc::not_found);
  EXPECT_FAILS(Engine::open(files().path()), Errc::invalid_argument);
  EXPECT_FAILS(Engine::open(write_model("large.onnx", {}), {.max_file_bytes = 10}),
               Errc::invalid_argument, "at most 10");
}

TEST(Engine, lists_all_engines_in_the_order_of_trying) {
  const auto lines = available_engines();
  const auto infos = engines();
  ASSERT_EQ(lines.size(), infos.size());
  ASSERT_GE(infos.size(), 1U);
  EXPECT_EQ(infos[0].name, "openvino");
  for (std::size_t i = 0; i < infos.size(); ++i) {
    EXPECT_TRUE(lines[i].starts_with(infos[i].name)) << lines[i];
    EXPECT_FALSE(infos[i].extensions.empty()) << infos[i].name;
    EXPECT_EQ(infos[i].version.empty(), !infos[i].usable) << infos[i].name;
    EXPECT_EQ(infos[i].devices.empty(), !infos[i].usable) << infos[i].name;
    EXPECT_TRUE(infos[i].usable || lines[i].find(infos[i].install) != std::string::npos);
  }
}

TEST(Engine, names_the_engines_when_one_is_asked_for_that_does_not_exist) {
  const std::string path = write_model("named.onnx", {});
  EXPECT_FAILS(Engine::open(path, {.engine = "openvno"}), Errc::invalid_argument, "openvino");
  EXPECT_FAILS(Engine::open(path, {.engine = "openvno"}), Errc::invalid_argument, "'openvno'");
}

TEST(Engine, refuses_options_that_an_engine_does_not_take) {
  const std::string path = write_model("options.onnx", {});
  EXPECT_FAILS(Engine::open(path, {.engine = "openvino", .delegate = "/x.so"}), Errc::unsupported,
               "delegate: ");
  EXPECT_FAILS(Engine::open(path, {.batch = 0}), Errc::invalid_argument, "1..65536");
  EXPECT_FAILS(Engine::open(path, {.batch = 65537}), Errc::invalid_argument, "1..65536");
}

}  // namespace
}  // namespace halyard::test
