// SPDX-License-Identifier: Apache-2.0
// Runs in flight: results, order, cancellation, callers' outputs, batches. With OpenVINO.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "halyard/model.h"
#include "model_values.h"
#include "onnx_writer.h"
#include "support/folder.h"
#include "support/in_child.h"
#include "support/result.h"

#ifdef HALYARD_HAVE_OPENVINO
namespace halyard::test {
namespace {

using namespace std::chrono_literals;

const Folder& folder_of_models() {
  static const Folder folder;
  return folder;
}

Engine opened(const std::string& name, const OnnxModel& model = {},
              const EngineOptions& options = {}) {
  const std::string path = folder_of_models() / name;
  write_bytes(path, onnx_bytes(model));
  auto engine = Engine::open(path, options);
  EXPECT_OK(engine);
  return *std::move(engine);
}

TEST(Submit, gives_the_outputs_of_many_runs_in_flight) {
  Engine engine = opened("many.onnx");
  std::vector<InferenceRequest> flying;
  for (int i = 0; i < 8; ++i) {
    const Tensor input = tensor_of(engine.inputs()[0], static_cast<float>(i));
    ASSERT_VALUE(auto one, engine.submit({&input, 1}));
    flying.push_back(std::move(one));
  }
  std::vector<Tensor> kept;
  for (int i = 0; i < 8; ++i) {
    InferenceRequest& one = flying[static_cast<std::size_t>(i)];
    EXPECT_TRUE(one.wait_for(1min));
    EXPECT_TRUE(one.is_ready());
    ASSERT_VALUE(const auto outputs, one.wait());
    EXPECT_EQ(outputs[0].name(), "output0");
    EXPECT_GT(one.times().run, 0ns);
    EXPECT_GE(one.times().queue, 0ns);
    kept.push_back(outputs[0]);
  }
  flying.clear();
  for (int i = 0; i < 8; ++i)
    EXPECT_EQ(value_in(kept[static_cast<std::size_t>(i)]), static_cast<float>(i));
}

TEST(Submit, uses_the_memory_of_finished_runs_again) {
  Engine engine = opened("again.onnx");
  const Tensor input = tensor_of(engine.inputs()[0], 3);
  const auto address = [&] {
    auto one = engine.submit({&input, 1});
    EXPECT_OK(one);
    const auto outputs = one->wait();
    EXPECT_OK(outputs);
    return outputs->front().map(Access::read)->data();
  };
  const auto* const once = address();
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(address(), once);
}

TEST(Submit, writes_into_the_callers_outputs) {
  Engine engine = opened("into.onnx");
  const Tensor input = tensor_of(engine.inputs()[0], 4);
  ASSERT_VALUE(const auto output, Tensor::create(engine.outputs()[0]));
  const auto before = copy_stats().copies;
  ASSERT_OK(engine.run_into({&input, 1}, {&output, 1}));
  EXPECT_EQ(value_in(output), 4.0F);
  const Tensor other = tensor_of(engine.inputs()[0], 5);
  ASSERT_VALUE(auto one, engine.submit({&other, 1}, {&output, 1}));
  ASSERT_VALUE(const auto given, one.wait());
  EXPECT_EQ(copy_stats().copies, before);
  EXPECT_EQ(given[0].buffer(), output.buffer());
  EXPECT_EQ(value_in(output), 5.0F);
  // A run after it uses the engine's memory.
  ASSERT_VALUE(const auto own, engine.run(input));
  EXPECT_NE(own[0].buffer(), output.buffer());
  EXPECT_EQ(value_in(own[0]), 4.0F);
  EXPECT_EQ(value_in(output), 5.0F) << "the caller's memory is not written again";
}

TEST(Submit, refuses_outputs_that_do_not_fit) {
  Engine engine = opened("unfit.onnx");
  const Tensor input = tensor_of(engine.inputs()[0], 1);
  const auto shape = Tensor::create(DType::f32, {1, 3, 4, 7});
  const auto dtype = Tensor::create(DType::u8, {1, 3, 4, 6});
  EXPECT_FAILS(engine.run_into({&input, 1}, {&*shape, 1}), Errc::invalid_argument, "output 0");
  EXPECT_FAILS(engine.run_into({&input, 1}, {&*dtype, 1}), Errc::invalid_argument, "f32");
  EXPECT_FAILS(engine.run_into({&input, 1}, {}), Errc::invalid_argument, "1 outputs");
  EXPECT_FAILS(engine.run_into({&input, 1}, {&input, 1}), Errc::invalid_argument, "shares bytes");
  EXPECT_FAILS(engine.submit({&input, 1}, {&input, 1}), Errc::invalid_argument, "shares bytes");
  EXPECT_FAILS(engine.submit({}), Errc::invalid_argument, "0 given");
  std::vector<float> numbers(72);
  ASSERT_VALUE(auto fixed, wrap_memory(std::span<const float>(numbers)));
  ASSERT_VALUE(const auto layout, Layout::contiguous(DType::f32, engine.outputs()[0].shape));
  ASSERT_VALUE(const auto output, Tensor::wrap(fixed, layout));
  EXPECT_FAILS(engine.run_into({&input, 1}, {&output, 1}), Errc::permission, "");
}

TEST(Submit, limits_the_runs_in_flight_and_their_living_results) {
  Engine engine = opened("limit.onnx", {}, {.requests = 2});
  const Tensor input = tensor_of(engine.inputs()[0], 1);
  ASSERT_VALUE(auto one, engine.submit({&input, 1}));
  ASSERT_VALUE(auto two, engine.submit({&input, 1}));
  EXPECT_FAILS(engine.submit({&input, 1}), Errc::exhausted, "at most 2");
  EXPECT_FAILS(engine.run(input), Errc::exhausted, "at most 2");
  {
    ASSERT_VALUE(const auto outputs, one.wait());
    one = {};
    EXPECT_FAILS(engine.run(input), Errc::exhausted) << "a result lives";
  }
  EXPECT_TRUE(engine.run(input));
  EXPECT_TRUE(two.wait());
}

TEST(Submit, waits_once) {
  Engine engine = opened("once.onnx");
  const Tensor input = tensor_of(engine.inputs()[0], 1);
  ASSERT_VALUE(auto one, engine.submit({&input, 1}));
  EXPECT_TRUE(one.wait());
  EXPECT_FAILS(one.wait(), Errc::invalid_argument, "outputs were taken");
  EXPECT_FAILS(InferenceRequest().wait(), Errc::invalid_argument, "there is none");
  EXPECT_TRUE(InferenceRequest().is_ready());
  InferenceRequest().cancel();
  InferenceRequest moved = std::move(one);
  EXPECT_FAILS(moved.wait(), Errc::invalid_argument, "outputs were taken");
  EXPECT_FAILS(one.wait(), Errc::invalid_argument, "there is none");  // NOLINT: moved from
}

TEST(Submit, ends_runs_that_nobody_waits_for) {
  for (int i = 0; i < 20; ++i) {
    Engine engine = opened("nobody.onnx");
    const Tensor input = tensor_of(engine.inputs()[0], 1);
    ASSERT_VALUE(auto one, engine.submit({&input, 1}));
    if (i % 2 == 0) one.cancel();
  }
}

TEST(Submit, may_be_cancelled_from_another_thread) {
  Engine engine = opened("cancel.onnx", {.shape = {1, 64, 256, 256}});
  expect_cancellable(engine);
}

TEST(Submit, outlives_its_engine) {
  InferenceRequest one;
  {
    Engine engine = opened("gone.onnx");
    const Tensor input = tensor_of(engine.inputs()[0], 6);
    ASSERT_VALUE(one, engine.submit({&input, 1}));
  }
  ASSERT_VALUE(const auto outputs, one.wait());
  EXPECT_EQ(value_in(outputs[0]), 6.0F);
}

TEST(Submit, works_from_several_threads) {
  Engine engine = opened("threads.onnx");
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        const auto value = static_cast<float>(100 * t + i);
        const Tensor input = tensor_of(engine.inputs()[0], value);
        auto one = engine.submit({&input, 1});
        const auto outputs = one ? one->wait() : Result<std::vector<Tensor>>(one.error());
        if (!outputs || value_in(outputs->front()) != value) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Submit, tells_a_child_that_the_run_stayed_in_the_parent) {
  Engine engine = opened("child.onnx");
  const Tensor input = tensor_of(engine.inputs()[0], 1);
  ASSERT_VALUE(auto one, engine.submit({&input, 1}));
  EXPECT_TRUE(is_true_in_child([&] {
    const auto again = engine.submit({&input, 1});
    const auto outputs = one.wait();
    one = {};  // must not wait
    return !again && again.error().code == Errc::unsupported && !outputs &&
           outputs.error().code == Errc::unsupported;
  }));
  EXPECT_TRUE(one.wait());
}

TEST(Batch, runs_several_images_at_once) {
  Engine engine = opened("batch.onnx", {.shape = {-1, 3, 16, 16}}, {.batch = 3});
  EXPECT_EQ(engine.inputs()[0].shape, (std::vector<std::size_t>{3, 3, 16, 16}));
  EXPECT_EQ(engine.outputs()[0].shape, (std::vector<std::size_t>{3, 3, 16, 16}));
  EXPECT_FALSE(engine.inputs()[0].format);
  EXPECT_EQ(engine.input_size(), (Size{16, 16}));
  ASSERT_VALUE(auto inputs, engine.make_inputs());
  EXPECT_EQ(inputs[0].item_format(), PixelFormat::planar_rgb);
  for (std::size_t n = 0; n < 3; ++n) {
    ASSERT_VALUE(auto image, inputs[0].batch(n));
    EXPECT_EQ(image.format(), PixelFormat::planar_rgb);
    put_value(image, static_cast<float>(n + 1));
  }
  ASSERT_VALUE(const auto outputs, engine.run(inputs));
  for (std::size_t n = 0; n < 3; ++n)
    EXPECT_EQ(value_in(outputs[0], n * 3 * 16 * 16), static_cast<float>(n + 1));
}

TEST(Batch, is_refused_where_the_model_fixes_it) {
  const std::string path = folder_of_models() / "fixed.onnx";
  write_bytes(path, onnx_bytes({}));
  EXPECT_FAILS(Engine::open(path, {.batch = 2}), Errc::unsupported, "batch: ");
}

TEST(Warm_up, makes_the_requests_once) {
  Engine engine = opened("warm.onnx", {}, {.requests = 3});
  ASSERT_OK(engine.warm_up(2));
  ASSERT_VALUE(const auto inputs, engine.make_inputs());
  std::vector<std::vector<Tensor>> kept;
  for (int i = 0; i < 3; ++i) {
    auto outputs = engine.run(inputs);
    ASSERT_OK(outputs);
    kept.push_back(*std::move(outputs));
  }
  EXPECT_FAILS(engine.run(inputs), Errc::exhausted, "at most 3");
}

TEST(Settings, reach_the_engine) {
  const std::string path = folder_of_models() / "settings.onnx";
  write_bytes(path, onnx_bytes({}));
  EXPECT_TRUE(Engine::open(path, {.settings = {{"INFERENCE_PRECISION_HINT", "f32"}}}));
  EXPECT_FAILS(Engine::open(path, {.engine = "openvino", .settings = {{"NO_SUCH_KEY", "1"}}}),
               Errc::device, "NO_SUCH_KEY");
}

}  // namespace
}  // namespace halyard::test
#endif
