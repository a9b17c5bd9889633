// SPDX-License-Identifier: Apache-2.0
// LiteRT behind Engine: which libraries are refused, and the one of its package, where that is in
// .venv.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "halyard/model.h"
#include "model_values.h"
#include "support/folder.h"
#include "support/own_process.h"
#include "support/result.h"
#include "test_paths.h"

namespace halyard::test {
namespace {

using namespace std::chrono_literals;

constexpr char litert_variable[] = "HALYARD_LITERT_DIR";

Status usable_litert() {
  for (const EngineInfo& info : engines())
    if (info.name == "litert") return info.usable;
  return make_error(Errc::not_found, "no litert");
}

TEST(Missing_litert, DISABLED_names_the_variable) {
  EXPECT_FAILS(usable_litert(), Errc::unsupported, "HALYARD_LITERT_DIR");
}
TEST(Missing_litert, names_the_variable) {
  EXPECT_PASSES_APART("Missing_litert", "names_the_variable", {{litert_variable, ""}});
}

TEST(Missing_litert, DISABLED_refuses_another_version) {
  EXPECT_FAILS(usable_litert(), Errc::version, "is 2.3.0");
}
TEST(Missing_litert, refuses_another_version) {
  const Folder packages;
  std::filesystem::create_directory(packages / "ai_edge_litert");
  std::filesystem::create_directory(packages / "ai_edge_litert-2.3.0.dist-info");
  EXPECT_PASSES_APART("Missing_litert", "refuses_another_version",
                      {{litert_variable, packages / "ai_edge_litert"}});
}

TEST(Missing_litert, DISABLED_refuses_a_folder_without_a_version) {
  EXPECT_FAILS(usable_litert(), Errc::unsupported, "Python package");
}
TEST(Missing_litert, refuses_a_folder_without_a_version) {
  const Folder packages;
  EXPECT_PASSES_APART("Missing_litert", "refuses_a_folder_without_a_version",
                      {{litert_variable, packages / "ai_edge_litert/"}});
}

#ifdef HALYARD_TEST_LITERT

class Litert : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* const data = std::getenv("HALYARD_TESTDATA_DIR");
    if (data == nullptr) GTEST_SKIP() << "HALYARD_TESTDATA_DIR is not set";
    ::setenv(litert_variable, HALYARD_TEST_LITERT, 1);
    model_ = std::string(data) + "/models/yolov8n_full_integer_quant.tflite";
  }
  void TearDown() override { ::unsetenv(litert_variable); }
  std::string model_;
};

TEST_F(Litert, tells_what_the_file_says) {
  ASSERT_VALUE(const auto engine, Engine::open(model_, {.engine = "litert"}));
  EXPECT_EQ(engine.runtime(), "litert 2.1.4 CPU");
  EXPECT_EQ(engine.inputs()[0].dtype, DType::i8);
  EXPECT_EQ(engine.inputs()[0].format, PixelFormat::rgb);
  EXPECT_EQ(engine.labels().size(), 80U);
  EXPECT_EQ(*engine.inputs()[0].quantization,
            Quantization::per_tensor(0.003921568859368563F, -128));
  EXPECT_EQ(engine.outputs()[0].shape, (std::vector<std::size_t>{1, 84, 8400}));
}

TEST_F(Litert, runs_into_memory_of_either_side_and_cancels) {
  ASSERT_VALUE(auto engine, Engine::open(model_, {.engine = "litert", .requests = 2}));
  ASSERT_VALUE(const auto inputs, engine.make_inputs());
  ASSERT_VALUE(const auto own, engine.run(inputs));
  ASSERT_VALUE(const auto output, Tensor::create(engine.outputs()[0]));
  const auto before = copy_stats().copies;
  ASSERT_OK(engine.run_into(inputs, {&output, 1}));
  EXPECT_EQ(copy_stats().copies, before + 1) << "the input alone";
  const auto one = own[0].map(Access::read);
  const auto other = output.map(Access::read);
  EXPECT_EQ(std::memcmp(one->data(), other->data(), output.size_bytes()), 0);
  ASSERT_VALUE(auto request, engine.submit(inputs));
  std::this_thread::sleep_for(2ms);
  request.cancel();
  const auto outputs = request.wait();
  EXPECT_TRUE(outputs || outputs.error().code == Errc::cancelled);
}

TEST_F(Litert, refuses_what_it_does_not_take) {
  EXPECT_FAILS(Engine::open(model_, {.device = "NPU", .engine = "litert"}), Errc::device, "'NPU'");
  EXPECT_FAILS(Engine::open(model_, {.threads = 2, .engine = "litert"}), Errc::unsupported,
               "threads");
  EXPECT_FAILS(Engine::open(model_, {.engine = "litert", .batch = 2}), Errc::unsupported,
               "batch: ");
  const Folder folder;
  std::ofstream(folder / "bad.tflite") << "no identifier here";
  EXPECT_FAILS(Engine::open(folder / "bad.tflite", {.engine = "litert"}), Errc::malformed);
}

#endif

}  // namespace
}  // namespace halyard::test
