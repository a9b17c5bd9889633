// SPDX-License-Identifier: Apache-2.0
// TFLite behind Engine, with a library that checks how it is used, and a delegate with buffers of
// its own.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "halyard/c/delegate.h"
#include "halyard/image.h"
#include "halyard/model.h"
#include "model/tflite/external_delegate.h"
#include "model_values.h"
#include "support/folder.h"
#include "support/own_process.h"
#include "support/result.h"
#include "test_paths.h"

namespace halyard::test {
namespace {

using namespace std::chrono_literals;
using model::tflite::DmaBufInfo;

static_assert(sizeof(DmaBufInfo) == sizeof(hal_dmabuf_tensor_info));
static_assert(offsetof(DmaBufInfo, offset) == offsetof(hal_dmabuf_tensor_info, offset));
static_assert(offsetof(DmaBufInfo, shape) == offsetof(hal_dmabuf_tensor_info, shape));
static_assert(offsetof(DmaBufInfo, rank) == offsetof(hal_dmabuf_tensor_info, ndim));
static_assert(offsetof(DmaBufInfo, fd) == offsetof(hal_dmabuf_tensor_info, fd));
static_assert(offsetof(DmaBufInfo, dtype) == offsetof(hal_dmabuf_tensor_info, dtype));

constexpr char tflite_variable[] = "HALYARD_TFLITE_LIBRARY";
constexpr char fake_library[] = HALYARD_FAKE_ENGINES "/tflite/libtensorflowlite_c.so";
constexpr char fake_delegate[] = HALYARD_FAKE_ENGINES "/tflite/libfake_delegate.so";

void write_text(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

/// `words`: type, scale, milliseconds, extents.
Result<Engine> with_words(const std::string& words, EngineOptions options = {}) {
  static const Folder folder;
  const std::string path = folder / "model.tflite";
  write_text(path, "\x1c\1\1\1TFL3 " + words);
  options.engine = "tflite";
  return Engine::open(path, options);
}

TEST(Missing_tflite, DISABLED_tells_what_to_install) {
  EXPECT_FAILS(with_words("f32 2 0 1 4"), Errc::unsupported, "libtensorflowlite_c.so");
  for (const EngineInfo& info : engines()) {
    EXPECT_TRUE(info.name != "tflite" || !info.usable);
  }
}
TEST(Missing_tflite, tells_what_to_install) {
  EXPECT_PASSES_APART("Missing_tflite", "tells_what_to_install",
                      {{tflite_variable, "libtensorflowlite_c.so.none"}});
}

TEST(Missing_tflite, DISABLED_names_the_function_that_a_library_lacks) {
  EXPECT_FAILS(with_words("f32 2 0 1 4"), Errc::unsupported, "TfLiteVersion");
}
TEST(Missing_tflite, names_the_function_that_a_library_lacks) {
  EXPECT_PASSES_APART("Missing_tflite", "names_the_function_that_a_library_lacks",
                      {{tflite_variable, fake_delegate}});
}

TEST(Missing_tflite, DISABLED_wants_no_path_in_the_current_folder) {
  EXPECT_FAILS(with_words("f32 2 0 1 4"), Errc::invalid_argument, "absolute path");
}
TEST(Missing_tflite, wants_no_path_in_the_current_folder) {
  EXPECT_PASSES_APART("Missing_tflite", "wants_no_path_in_the_current_folder",
                      {{tflite_variable, "here/lib.so"}});
}

class Tflite : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { ::setenv(tflite_variable, fake_library, 1); }
  static void TearDownTestSuite() { ::unsetenv(tflite_variable); }
  void TearDown() override {
    void* const library = ::dlopen(fake_library, RTLD_NOW | RTLD_NOLOAD);
    if (library == nullptr) return;
    const auto alive = reinterpret_cast<int (*)()>(::dlsym(library, "fake_tflite_alive"));
    EXPECT_EQ(alive(), 0) << "objects of the library are left";
    ::dlclose(library);
  }
};

TEST_F(Tflite, tells_what_the_file_says) {
  ASSERT_VALUE(const auto engine, with_words("i8 2 0 1 5 6 3", {.threads = 2}));
  EXPECT_EQ(engine.name(), "tflite");
  EXPECT_EQ(engine.runtime(), "tflite 2.16.1-fake CPU");
  EXPECT_EQ(engine.inputs()[0].name, "images");
  EXPECT_EQ(engine.inputs()[0].dtype, DType::i8);
  EXPECT_EQ(engine.inputs()[0].format, PixelFormat::rgb);
  EXPECT_EQ(engine.input_size(), (Size{6, 5}));
  ASSERT_TRUE(engine.outputs()[0].quantization);
  EXPECT_EQ(*engine.outputs()[0].quantization, Quantization::per_tensor(0.5F, 10));
}

TEST_F(Tflite, computes_and_keeps_results_that_live) {
  ASSERT_VALUE(auto engine, with_words("f32 3 0 1 4"));
  std::vector<Tensor> kept;
  for (int i = 0; i < 4; ++i) {
    ASSERT_VALUE(const auto outputs, engine.run(tensor_of(engine.inputs()[0], float(i))));
    kept.push_back(outputs[0]);
  }
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(value_in(kept[std::size_t(i)], 3), float(3 * i));
}

TEST_F(Tflite, copies_each_input_once_and_outputs_only_into_callers_memory) {
  ASSERT_VALUE(auto engine, with_words("f32 3 0 1 4"));
  const Tensor input = tensor_of(engine.inputs()[0], 1);
  const auto start = copy_stats().copies;
  ASSERT_OK(engine.run(input));
  EXPECT_EQ(copy_stats().copies - start, 1U);
  ASSERT_VALUE(const auto output, Tensor::create(engine.outputs()[0]));
  ASSERT_OK(engine.run_into({&input, 1}, {&output, 1}));
  EXPECT_EQ(copy_stats().copies - start, 3U);
  EXPECT_EQ(value_in(output), 3.0F);
}

TEST_F(Tflite, has_runs_in_flight_beside_one_another) {
  ASSERT_VALUE(auto engine, with_words("f32 2 20 1 4", {.requests = 4}));
  ASSERT_OK(engine.warm_up());
  std::vector<InferenceRequest> flying;
  for (int i = 0; i < 4; ++i) {
    const Tensor input = tensor_of(engine.inputs()[0], float(i));
    ASSERT_VALUE(auto one, engine.submit({&input, 1}));
    flying.push_back(std::move(one));
  }
  EXPECT_FALSE(flying[0].wait_for(0ns));
  for (int i = 0; i < 4; ++i) {
    ASSERT_VALUE(const auto outputs, flying[std::size_t(i)].wait());
    EXPECT_EQ(value_in(outputs[0]), float(2 * i));
    EXPECT_GE(flying[std::size_t(i)].times().run, 20ms);
  }
}

TEST_F(Tflite, cancels_a_run_that_takes_long) {
  ASSERT_VALUE(auto engine, with_words("f32 2 60000 1 4"));
  const Tensor input = tensor_of(engine.inputs()[0], 1);
  for (int i = 0; i < 3; ++i) {
    ASSERT_VALUE(auto one, engine.submit({&input, 1}));
    while (i > 0 && one.wait_for(5ms * i)) {
    }
    // A cancellation just before the library begins is lost to it: ask until it ends.
    while (!one.is_ready()) {
      one.cancel();
      one.wait_for(1ms);
    }
    EXPECT_FAILS(one.wait(), Errc::cancelled);
  }
}

TEST_F(Tflite, resizes_for_a_batch) {
  ASSERT_VALUE(auto engine, with_words("f32 2 0 1 5 6 3", {.batch = 2}));
  EXPECT_EQ(engine.outputs()[0].shape, (std::vector<std::size_t>{2, 5, 6, 3}));
  ASSERT_VALUE(const auto inputs, engine.make_inputs());
  EXPECT_EQ(inputs[0].item_format(), PixelFormat::rgb);
  put_value(inputs[0], 4);
  ASSERT_VALUE(const auto outputs, engine.run(inputs));
  EXPECT_EQ(value_in(outputs[0], 2 * 5 * 6 * 3 - 1), 8.0F);
  EXPECT_FAILS(with_words("f32 3 0 1 4", {.batch = 2}), Errc::unsupported, "this shape is fixed");
}

TEST_F(Tflite, gives_the_librarys_reasons) {
  EXPECT_FAILS(with_words("f32 13 0 1 4"), Errc::device, "builtin opcode 'THIRTEEN'");
  ASSERT_VALUE(auto engine, with_words("f32 99 0 1 4"));
  EXPECT_FAILS(engine.run(tensor_of(engine.inputs()[0], 1)), Errc::device, "Node number 5 failed");
  EXPECT_FAILS(with_words("f64 1 0"), Errc::malformed, "model.tflite");
  EXPECT_FAILS(with_words("f32 1 0 1 4", {.device = "NPU"}), Errc::device, "'NPU'");
  const Folder folder;
  write_text(folder / "none.tflite", "no identifier here");
  EXPECT_FAILS(Engine::open(folder / "none.tflite", {.engine = "tflite"}), Errc::malformed);
}

TEST_F(Tflite, runs_by_a_delegate_in_its_own_buffers_without_a_copy) {
  const std::string bytes = std::to_string(1 * 5 * 6 * 3 * 4);
  ASSERT_VALUE(auto engine, with_words("f32 2 0 1 5 6 3", {.device = "NPU",
                                                           .delegate = fake_delegate,
                                                           .settings = {{"bytes", bytes}}}));
  EXPECT_EQ(engine.runtime(), "tflite 2.16.1-fake NPU");
  ASSERT_VALUE(const auto inputs, engine.make_inputs());
  EXPECT_GE(inputs[0].buffer()->fd(), 0);
  EXPECT_EQ(inputs[0].name(), "images");
  const auto start = copy_stats().copies;
  for (int i = 1; i < 4; ++i) {
    // As a camera does: the converter writes straight into the delegate's buffer.
    ASSERT_VALUE(auto photo, Tensor::create_image(12, 8, PixelFormat::rgb));
    {
      auto map = photo.map(Access::write);
      std::fill(map->writable(), map->writable() + 12 * 8 * 3, std::byte(51 * i));
    }
    ASSERT_VALUE(auto processor, Processor::create());
    ASSERT_OK(processor.convert({.src = photo, .dst = inputs[0]}));
    ASSERT_VALUE(const auto outputs, engine.run(inputs));
    EXPECT_GE(outputs[0].buffer()->fd(), 0) << "the output is the delegate's too";
    EXPECT_NEAR(value_in(outputs[0], 89), 0.4F * float(i), 0.01F);
  }
  EXPECT_EQ(copy_stats().copies, start);
  // Other memory is copied into the delegate's.
  ASSERT_VALUE(const auto outputs, engine.run(tensor_of(engine.inputs()[0], 5)));
  EXPECT_EQ(value_in(outputs[0]), 10.0F);
  EXPECT_EQ(copy_stats().copies, start + 1);
  EXPECT_FAILS(engine.run(inputs), Errc::exhausted, "one run at a time");
}

TEST_F(Tflite, refuses_delegates_that_do_not_work) {
  const auto with = [](const std::string& path, std::map<std::string, std::string> settings) {
    return with_words("f32 2 0 1 4", {.delegate = path, .settings = std::move(settings)});
  };
  EXPECT_FAILS(with("/nowhere/x.so", {}), Errc::unsupported, "/nowhere/x.so");
  EXPECT_FAILS(with("here/x.so", {}), Errc::invalid_argument, "absolute path");
  EXPECT_FAILS(with(fake_library, {}), Errc::unsupported, "tflite_plugin_create_delegate");
  EXPECT_FAILS(with(fake_delegate, {{"mode", "fail"}}), Errc::device, "the NPU is not there");
  EXPECT_FAILS(with(fake_delegate, {{"bytes", "12"}}), Errc::device, "12 bytes");
  EXPECT_FAILS(Engine::open(HALYARD_SOURCE_DIR "/examples/harbour/harbour.onnx",
                            {.delegate = fake_delegate}),
               Errc::unsupported, "no engine that takes one");
}

TEST_F(Tflite, is_taken_for_a_delegate_without_naming_the_engine) {
  const Folder folder;
  write_text(folder / "model.tflite", "\x1c\1\1\1TFL3 f32 2 0 1 4");
  ASSERT_VALUE(const auto engine,
               Engine::open(folder / "model.tflite",
                            {.delegate = fake_delegate, .settings = {{"mode", "plain"}}}));
  EXPECT_EQ(engine.name(), "tflite");
}

}  // namespace
}  // namespace halyard::test
