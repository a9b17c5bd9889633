// SPDX-License-Identifier: Apache-2.0
// ONNX Runtime behind Engine: without its library, with wrong ones, and with the one of its Python
// package, where that is in .venv.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "halyard/log.h"
#include "halyard/model.h"
#include "model_values.h"
#include "onnx_writer.h"
#include "support/folder.h"
#include "support/own_process.h"
#include "support/result.h"
#include "test_paths.h"

namespace halyard::test {
namespace {

using namespace std::chrono_literals;

constexpr char ort_variable[] = "HALYARD_ONNXRUNTIME_DIR";

std::string written(const Folder& folder, const OnnxModel& model = {}) {
  std::string path = folder / "model.onnx";
  write_bytes(path, onnx_bytes(model));
  return path;
}

Result<Engine> opened(const OnnxModel& model = {}, EngineOptions options = {}) {
  static const Folder folder;
  options.engine = "onnxruntime";
  return Engine::open(written(folder, model), options);
}

TEST(Missing_onnxruntime, DISABLED_names_the_folder_that_lacks_it) {
  EXPECT_FAILS(opened(), Errc::unsupported, "no libonnxruntime.so*");
  for (const EngineInfo& info : engines()) {
    if (info.name != "onnxruntime") continue;
    EXPECT_FAILS(info.usable, Errc::unsupported, "HALYARD_ONNXRUNTIME_DIR");
    EXPECT_EQ(info.install, "pip install onnxruntime");
    EXPECT_TRUE(info.version.empty());
  }
}
TEST(Missing_onnxruntime, names_the_folder_that_lacks_it) {
  const Folder empty;
  EXPECT_PASSES_APART("Missing_onnxruntime", "names_the_folder_that_lacks_it",
                      {{ort_variable, empty.path()}});
}

TEST(Missing_onnxruntime, DISABLED_wants_an_absolute_folder) {
  EXPECT_FAILS(opened(), Errc::invalid_argument, "must be an absolute path: 'here'");
}
TEST(Missing_onnxruntime, wants_an_absolute_folder) {
  EXPECT_PASSES_APART("Missing_onnxruntime", "wants_an_absolute_folder", {{ort_variable, "here"}});
}

TEST(Missing_onnxruntime, DISABLED_gives_the_loaders_reason) {
  EXPECT_FAILS(opened(), Errc::unsupported, "libonnxruntime.so.9");
}
TEST(Missing_onnxruntime, gives_the_loaders_reason) {
  const Folder folder;
  write_bytes(folder / "libonnxruntime.so.9", "not a library");
  EXPECT_PASSES_APART("Missing_onnxruntime", "gives_the_loaders_reason",
                      {{ort_variable, folder.path()}});
}

TEST(Missing_onnxruntime, DISABLED_tells_that_a_library_is_too_old) {
  EXPECT_FAILS(opened(), Errc::version, "1.12 or newer: it is 1.11.0");
}
TEST(Missing_onnxruntime, tells_that_a_library_is_too_old) {
  EXPECT_PASSES_APART("Missing_onnxruntime", "tells_that_a_library_is_too_old",
                      {{ort_variable, HALYARD_FAKE_ENGINES "/old_ort"}});
}

#ifdef HALYARD_TEST_ONNXRUNTIME

class Onnxruntime : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { ::setenv(ort_variable, HALYARD_TEST_ONNXRUNTIME, 1); }
  static void TearDownTestSuite() { ::unsetenv(ort_variable); }
};

TEST_F(Onnxruntime, is_listed_with_its_version_and_devices) {
  const auto all = engines();
  const auto info = std::find_if(all.begin(), all.end(),
                                 [](const EngineInfo& one) { return one.name == "onnxruntime"; });
  ASSERT_NE(info, all.end());
  ASSERT_OK(info->usable);
  EXPECT_TRUE(info->version.starts_with("1.")) << info->version;
  EXPECT_THAT(info->devices, ::testing::Contains("CPU"));
}

TEST_F(Onnxruntime, tells_what_the_file_says) {
  ASSERT_VALUE(const auto engine,
               opened({.shape = {-1, 3, 4, 6}, .metadata = {{"task", "detect"}}}));
  EXPECT_EQ(engine.name(), "onnxruntime");
  EXPECT_TRUE(engine.runtime().starts_with("onnxruntime 1.")) << engine.runtime();
  EXPECT_TRUE(engine.runtime().ends_with(" CPU")) << engine.runtime();
  EXPECT_EQ(engine.inputs()[0].name, "images");
  EXPECT_EQ(engine.inputs()[0].shape, (std::vector<std::size_t>{1, 3, 4, 6}));
  EXPECT_EQ(engine.inputs()[0].format, PixelFormat::planar_rgb);
  EXPECT_EQ(engine.outputs()[0].shape, (std::vector<std::size_t>{1, 3, 4, 6}));
  EXPECT_EQ(engine.metadata().at("task"), "detect");
}

TEST_F(Onnxruntime, fixes_open_shapes) {
  const OnnxModel model{.shape = {-1, 3, -1, -1}, .metadata = {{"imgsz", "[8, 16]"}}};
  ASSERT_VALUE(auto engine, opened(model, {.batch = 2}));
  EXPECT_EQ(engine.outputs()[0].shape, (std::vector<std::size_t>{2, 3, 8, 16}));
  EXPECT_EQ(engine.input_size(), (Size{16, 8}));
  ASSERT_VALUE(const auto inputs, engine.make_inputs());
  EXPECT_TRUE(engine.run(inputs));
  EXPECT_FAILS(opened({.shape = {-1, 3, -1, -1}}), Errc::unsupported, "[1,3,-1,-1]");
  EXPECT_FAILS(opened({}, {.batch = 2}), Errc::unsupported, "batch: ");
}

TEST_F(Onnxruntime, runs_on_our_memory_without_a_copy) {
  ASSERT_VALUE(auto engine, opened());
  const Tensor input = tensor_of(engine.inputs()[0], 2.5F);
  const auto before = copy_stats().copies;
  std::vector<Tensor> kept;
  for (int i = 0; i < 3; ++i) {
    ASSERT_VALUE(const auto outputs, engine.run(tensor_of(engine.inputs()[0], float(i))));
    kept.push_back(outputs[0]);
  }
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(value_in(kept[std::size_t(i)]), float(i)) << "living results are not overwritten";
  ASSERT_VALUE(const auto output, Tensor::create(engine.outputs()[0]));
  ASSERT_OK(engine.run_into({&input, 1}, {&output, 1}));
  EXPECT_EQ(value_in(output), 2.5F);
  EXPECT_EQ(copy_stats().copies, before);
  ASSERT_VALUE(const auto again, engine.run(tensor_of(engine.inputs()[0], 7)));
  EXPECT_EQ(value_in(output), 2.5F) << "the caller's memory is not written again";
  EXPECT_EQ(value_in(again[0]), 7.0F);
}

TEST_F(Onnxruntime, keeps_the_result_of_a_model_that_only_passes_its_input_on) {
  ASSERT_VALUE(auto engine, opened({.op = "Identity"}));
  const Tensor input = tensor_of(engine.inputs()[0], 7);
  ASSERT_VALUE(const auto outputs, engine.run(input));
  put_value(input, 1);
  EXPECT_EQ(value_in(outputs[0]), 7.0F);
}

TEST_F(Onnxruntime, has_several_runs_in_flight) {
  ASSERT_VALUE(auto engine, opened({}, {.threads = 1, .requests = 8}));
  ASSERT_OK(engine.warm_up());
  std::vector<InferenceRequest> flying;
  for (int i = 0; i < 8; ++i) {
    const Tensor input = tensor_of(engine.inputs()[0], float(i));
    ASSERT_VALUE(auto one, engine.submit({&input, 1}));
    flying.push_back(std::move(one));
  }
  for (int i = 0; i < 8; ++i) {
    ASSERT_VALUE(const auto outputs, flying[std::size_t(i)].wait());
    EXPECT_EQ(value_in(outputs[0]), float(i));
    EXPECT_GT(flying[std::size_t(i)].times().run, 0ns);
  }
}

TEST_F(Onnxruntime, is_cancelled_while_it_runs_and_before) {
  ASSERT_VALUE(auto engine, opened({.shape = {1, 64, 256, 256}}));
  expect_cancellable(engine);
}

TEST_F(Onnxruntime, names_the_devices_if_one_is_not_there) {
  EXPECT_FAILS(opened({}, {.device = "CUDA"}), Errc::device, "'CUDA'; it has ");
  EXPECT_TRUE(opened({}, {.device = "cpu"}));
  EXPECT_TRUE(opened({}, {.settings = {{"session.intra_op.allow_spinning", "0"}}}));
}

TEST_F(Onnxruntime, refuses_files_that_are_no_models) {
  static const Folder folder;
  const std::string path = folder / "bad.onnx";
  const std::string whole = onnx_bytes({});
  for (const std::string& bytes : {whole.substr(0, whole.size() / 2), std::string(5000, '\xa7'),
                                   onnx_bytes({.op = "NoSuchOperator"})}) {
    write_bytes(path, bytes);
    EXPECT_FAILS(Engine::open(path, {.engine = "onnxruntime"}), Errc::malformed, "bad.onnx");
  }
  EXPECT_FAILS(Engine::open(HALYARD_SOURCE_DIR "/docs/engines.md", {.engine = "onnxruntime"}),
               Errc::unsupported, "onnxruntime reads .onnx");
}

#ifdef HALYARD_HAVE_OPENVINO

// An operator of ONNX Runtime that OpenVINO does not have.
TEST_F(Onnxruntime, opens_what_the_first_engine_refuses_and_tells_so) {
  static const Folder folder;
  std::vector<std::string> lines;
  const LogSink before = set_log_sink(
      [&](LogLevel, std::string_view, std::string_view text) { lines.emplace_back(text); });
  const std::string path = folder / "own.onnx";
  write_bytes(path,
              onnx_bytes({.op = "Inverse", .shape = {1, 3, 4, 4}, .domain = "com.microsoft"}));
  const auto engine = Engine::open(path);
  set_log_sink(before);
  ASSERT_OK(engine);
  EXPECT_EQ(engine->name(), "onnxruntime");
  EXPECT_THAT(lines, ::testing::Contains(::testing::HasSubstr("openvino does not open it")));
  EXPECT_FAILS(Engine::open(path, {.engine = "openvino"}), Errc::malformed);
}

TEST_F(Onnxruntime, tells_the_reasons_of_both_engines) {
  static const Folder folder;
  const std::string path = folder / "none.onnx";
  write_bytes(path, onnx_bytes({.op = "NoSuchOperator"}));
  const auto engine = Engine::open(path);
  EXPECT_FAILS(engine, Errc::malformed, "; onnxruntime: ");
}

#endif
#endif

}  // namespace
}  // namespace halyard::test
