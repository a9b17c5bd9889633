// SPDX-License-Identifier: Apache-2.0
// Plugins of engines: the example's, one that is asynchronous and takes descriptors, and those that
// are refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "halyard/c/base.h"
#include "halyard/c/engine_plugin.h"
#include "halyard/image.h"
#include "halyard/log.h"
#include "halyard/model.h"
#include "model_values.h"
#include "support/folder.h"
#include "support/result.h"
#include "test_paths.h"

namespace halyard::test {
namespace {

using namespace std::chrono_literals;

static_assert(int(DType::f32) == 9 && int(DType::boolean) == 12);

constexpr char plugin_variable[] = "HALYARD_ENGINE_PLUGINS";
const std::string plugins = HALYARD_FAKE_ENGINES "/plugins/";

class Plugin : public ::testing::Test {
 protected:
  void SetUp() override { name(plugins + "twice.so"); }
  void TearDown() override { ::unsetenv(plugin_variable); }
  static void name(const std::string& value) { ::setenv(plugin_variable, value.c_str(), 1); }

  Result<Engine> opened(const EngineOptions& options = {}) {
    const std::string path = folder_ / "model.twice";
    std::ofstream(path) << "anything";
    return Engine::open(path, options);
  }
  static EngineInfo info_of(const std::string& name) {
    for (EngineInfo& info : engines())
      if (info.name == name) return info;
    ADD_FAILURE() << "no engine " << name;
    return {};
  }
  Folder folder_;
};

Tensor in_memory(const TensorSpec& spec, Memory memory, float value) {
  auto tensor = Tensor::create(spec, memory);
  EXPECT_OK(tensor);
  put_value(*tensor, value);
  return *std::move(tensor);
}

TEST_F(Plugin, is_listed_behind_the_others) {
  const EngineInfo info = info_of("twice");
  ASSERT_OK(info.usable);
  EXPECT_EQ(info.version, "7.1");
  EXPECT_EQ(info.devices, (std::vector<std::string>{"NPU0", "CPU"}));
  EXPECT_EQ(info.extensions, (std::vector<std::string>{".twice"}));
  EXPECT_EQ(engines().back().name, "twice");
}

TEST_F(Plugin, opens_its_files_and_computes) {
  ASSERT_VALUE(auto engine, opened({.device = "NPU0"}));
  EXPECT_EQ(engine.name(), "twice");
  EXPECT_EQ(engine.runtime(), "twice 7.1 NPU0");
  EXPECT_EQ(engine.inputs()[0].name, "values");
  EXPECT_EQ(engine.inputs()[0].shape, (std::vector<std::size_t>{1, 8}));
  ASSERT_VALUE(const auto outputs, engine.run(in_memory(engine.inputs()[0], Memory::mem, 4)));
  EXPECT_EQ(value_in(outputs[0], 7), 8.0F);
}

TEST_F(Plugin, reads_shared_memory_by_its_descriptor) {
  ASSERT_VALUE(auto engine, opened());
  const Tensor input = in_memory(engine.inputs()[0], Memory::shm, 3);
  const auto before = copy_stats().copies;
  ASSERT_VALUE(const auto output, Tensor::create(engine.outputs()[0]));
  ASSERT_OK(engine.run_into({&input, 1}, {&output, 1}));
  EXPECT_EQ(value_in(output, 7), 6.0F);
  EXPECT_EQ(copy_stats().copies, before);
}

TEST_F(Plugin, has_runs_in_flight_and_cancels_them) {
  ASSERT_VALUE(auto engine, opened());
  std::vector<InferenceRequest> flying;
  for (int i = 0; i < 4; ++i) {
    const Tensor input = in_memory(engine.inputs()[0], Memory::mem, float(i));
    ASSERT_VALUE(auto one, engine.submit({&input, 1}));
    flying.push_back(std::move(one));
  }
  const Tensor more = in_memory(engine.inputs()[0], Memory::mem, 1);
  EXPECT_FAILS(engine.submit({&more, 1}), Errc::exhausted, "four cores");
  for (int i = 0; i < 4; ++i) {
    ASSERT_VALUE(const auto outputs, flying[std::size_t(i)].wait());
    EXPECT_EQ(value_in(outputs[0]), float(2 * i));
  }
  flying.clear();
  const Tensor slow = in_memory(engine.inputs()[0], Memory::mem, 600000);
  ASSERT_VALUE(auto one, engine.submit({&slow, 1}));
  EXPECT_FALSE(one.wait_for(2ms));
  one.cancel();
  EXPECT_FAILS(one.wait(), Errc::cancelled);
  one.cancel();  // too late, and no harm
}

TEST_F(Plugin, gives_its_reasons) {
  EXPECT_FAILS(opened({.settings = {{"refuse", "no licence"}}}), Errc::unsupported, "no licence");
  name(plugins + "fault6.so");
  ASSERT_VALUE(auto engine, opened());
  EXPECT_FAILS(engine.run(in_memory(engine.inputs()[0], Memory::mem, 1)), Errc::device,
               "the cores are hot");
}

TEST_F(Plugin, of_a_folder_are_taken_by_name) {
  name(plugins);
  // fault4 calls itself openvino and is left out; the last fault fails only when it runs.
  std::vector<std::string> names;
  for (const EngineInfo& info : engines())
    names.push_back(info.name);
  EXPECT_THAT(names, ::testing::IsSupersetOf({"fault1.so", "fault2.so", "fault3.so", "twice"}));
  EXPECT_EQ(std::count(names.begin(), names.end(), "openvino"), 1);
  EXPECT_EQ(std::count(names.begin(), names.end(), "twice"), 1);
}

TEST_F(Plugin, tells_why_one_is_refused) {
  name(plugins + "fault1.so:" + plugins + "fault2.so:" + plugins + "fault3.so:here.so:" +
       folder_ / "none.so" + ":" + HALYARD_FAKE_ENGINES "/tflite/libfake_delegate.so");
  EXPECT_FAILS(info_of("fault1.so").usable, Errc::version, "another version");
  EXPECT_FAILS(info_of("fault2.so").usable, Errc::malformed, "name");
  EXPECT_FAILS(info_of("fault3.so").usable, Errc::malformed, "start and wait");
  EXPECT_FAILS(info_of("here.so").usable, Errc::invalid_argument, "absolute");
  EXPECT_FAILS(info_of("none.so").usable, Errc::unsupported, "none.so");
  EXPECT_FAILS(info_of("libfake_delegate.so").usable, Errc::unsupported, "hal_engine_plugin_get");
  name(plugins + "fault5.so");
  EXPECT_FAILS(opened(), Errc::device, "rank 9");
}

TEST_F(Plugin, of_no_name_leaves_unknown_files_refused) {
  ::unsetenv(plugin_variable);
  EXPECT_FAILS(opened(), Errc::unsupported, ".onnx, .tflite or .xml");
}

#ifdef HALYARD_EXAMPLE_PLUGIN
TEST_F(Plugin, of_the_example_finds_what_is_bright) {
  name(HALYARD_EXAMPLE_PLUGIN);
  const std::string path = folder_ / "bright.blob";
  std::ofstream(path) << "64 32 200";
  ASSERT_VALUE(auto engine, Engine::open(path));
  EXPECT_EQ(engine.input_size(), (Size{64, 32}));
  EXPECT_EQ(engine.labels(), (std::vector<std::string>{"bright"}));
  ASSERT_VALUE(const auto decoder, decoder_for(engine));
  ASSERT_VALUE(const auto inputs, engine.make_inputs());
  {
    auto map = inputs[0].map(Access::write);
    for (int y = 10; y < 20; ++y)
      std::fill_n(map->writable() + 3 * (64 * y + 16), 3 * 24, std::byte(255));
  }
  ASSERT_VALUE(const auto outputs, engine.run(inputs));
  ASSERT_VALUE(const auto found, decoder.decode(outputs));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].box.x1, 16);
  EXPECT_EQ(found[0].box.y1, 10);
  EXPECT_EQ(found[0].box.x2, 40);
  EXPECT_EQ(found[0].box.y2, 20);
  EXPECT_FAILS(Engine::open(path, {.device = "NPU"}), Errc::unsupported, "not on NPU");
  std::ofstream(path) << "63 32 200";
  EXPECT_FAILS(Engine::open(path), Errc::malformed, "multiples of 32");
}
#endif

}  // namespace
}  // namespace halyard::test
