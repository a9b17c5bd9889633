// SPDX-License-Identifier: Apache-2.0
// Calls of the C interface when memory runs out: each allocation fails once, alone and with all
// that follow. The call fails with ENOMEM, or does without; nothing is lost, and the process lives.
#include <cerrno>
#include <functional>
#include <string>
#include <thread>

#include "capi/results/decoding.h"
#include "heap.h"
#include "ipc/peer.h"
#include "support/allocation_limit.h"
#include "test_paths.h"

namespace {

using namespace halyard::test;
using halyard::test::AllocationLimit;
using halyard::test::Shortage;

constexpr std::size_t max_allocations = 20000;

/// `call` gives whether it succeeded, and frees what it made.
void run_short(const std::function<bool()>& call, Shortage shortage) {
  for (int i = 0; i < 3; ++i)
    ASSERT_TRUE(call()) << hal_last_error();
  const std::size_t before = heap_bytes();
  std::size_t first = 0;
  for (; first < max_allocations; ++first) {
    std::size_t failures = 0;
    bool succeeded = false;
    int code = 0;
    {
      const AllocationLimit limit(first, shortage);
      errno = 0;
      succeeded = call();
      code = errno;
      failures = limit.failures();
    }
    if (failures == 0) break;
    if (!succeeded) {
      EXPECT_EQ(code, ENOMEM) << "allocation " << first << ": " << hal_last_error();
    }
  }
  EXPECT_GT(first, 0U) << "the call allocates nothing";
  EXPECT_LT(first, max_allocations);
  EXPECT_TRUE(call()) << hal_last_error();
  EXPECT_LT(heap_bytes(), before + 16384) << first << " calls that ran short";
}

void run_short(const std::function<bool()>& call) {
  for (const Shortage shortage : {Shortage::once, Shortage::from_there})
    run_short(call, shortage);
}

constexpr char json[] = R"({"schema_version": 2, "input": {"shape": [1, 64, 64, 3]},
  "labels": ["boat", "buoy", "gull, which is a long label of a class that needs the heap"],
  "outputs": [{"type": "detection", "shape": [1, 7, 20], "normalized": true,
               "dshape": [["batch", 1], ["num_features", 7], ["num_boxes", 20]],
               "quantization": [0.5, 3]}]})";

constexpr char yaml[] = R"(schema_version: 2
input: {shape: [1, 64, 64, 3]}
labels: [boat, buoy, "gull, which is a long label of a class that needs the heap"]
outputs:
  - type: detection
    shape: [1, 7, 20]
    normalized: true
    quantization: [0.5, 3]
)";

bool makes_decoder(int (*set)(hal_decoder_params*, const char*, size_t), const char* text) {
  const Owned<hal_decoder_params> params(hal_decoder_params_new());
  if (params == nullptr || set(params, text, 0) != 0) return false;
  return Owned<hal_decoder>(hal_decoder_new(params)) != nullptr;
}

TEST(OutOfMemory, making_a_decoder_from_json_is_enomem) {
  run_short([] { return makes_decoder(hal_decoder_params_set_config_json, json); });
}

TEST(OutOfMemory, making_a_decoder_from_yaml_is_enomem) {
  run_short([] { return makes_decoder(hal_decoder_params_set_config_yaml, yaml); });
}

TEST(OutOfMemory, making_tensors_and_maps_is_enomem) {
  run_short([] {
    const std::size_t shape[3] = {4, 5, 6};
    const Tensor tensor(
        hal_tensor_new(HAL_DTYPE_F32, shape, 3, HAL_TENSOR_MEMORY_MEM, "a name of some length"));
    if (!tensor) return false;
    return Map(hal_tensor_map_create(tensor)) != nullptr;
  });
  run_short([] { return make_image(64, 48, HAL_PIXEL_FORMAT_NV12) != nullptr; });
}

TEST(OutOfMemory, making_a_processor_is_enomem) {
  run_short([] { return Processor(hal_image_processor_new()) != nullptr; });
}

TEST(OutOfMemory, converting_is_enomem) {
  const Tensor from = make_image(64, 48, HAL_PIXEL_FORMAT_NV12);
  const Tensor to = make_image(32, 32, HAL_PIXEL_FORMAT_RGB);
  run_short([&] {
    const Processor processor(hal_image_processor_new());
    if (processor == nullptr) return false;
    return convert(processor, from, to) == 0;
  });
}

TEST(OutOfMemory, making_tiles_is_enomem) {
  run_short([] {
    return Owned<hal_tile_spec_list>(hal_tile_grid(1080, 1920, 320, 320, 0.2F)) != nullptr;
  });
}

TEST(OutOfMemory, reading_an_image_is_enomem) {
  const std::string path =
      std::string(HALYARD_SOURCE_DIR) + "/examples/harbour/clip/frame_0000.jpg";
  run_short(
      [&] { return Tensor(hal_tensor_load_file(path.c_str(), HAL_PIXEL_FORMAT_RGB)) != nullptr; });
}

TEST_F(c_decoder, decoding_and_tracking_without_memory_is_enomem) {
  run_short([&] {
    const Owned<hal_bytetrack> tracker(hal_bytetrack_new_default());
    if (tracker == nullptr) return false;
    Boxes boxes;
    Masks masks;
    Tracks tracks;
    return hal_decoder_decode_tracked(decoder, tracker, 1000, outputs.data(), 2, boxes.out(),
                                      masks.out(), tracks.out()) == 0;
  });
}

/// `use` gives whether it succeeded; `start` makes what it uses anew, so that it meets a first
/// call.
void fail_then_succeed(const std::function<void()>& start, const std::function<bool()>& use) {
  for (std::size_t first = 0; first < max_allocations; ++first) {
    start();
    std::size_t failures = 0;
    {
      const AllocationLimit limit(first, Shortage::once);
      errno = 0;
      if (!use()) {
        EXPECT_EQ(errno, ENOMEM) << "allocation " << first << ": " << hal_last_error();
      }
      failures = limit.failures();
    }
    ASSERT_TRUE(use()) << "after a failure of allocation " << first << ": " << hal_last_error();
    if (failures == 0) return;
  }
  FAIL() << "more than " << max_allocations << " allocations";
}

TEST_F(c_decoder, a_processor_makes_masks_after_it_ran_out_of_memory) {
  Boxes found;
  const auto data = decode_proto(found);
  const auto start = [&] { processor.reset(hal_image_processor_new()); };
  fail_then_succeed(start, [&] {
    const Masks masks(
        hal_image_processor_materialize_masks_scaled(processor, found, data, nullptr, 64, 48));
    return masks != nullptr;
  });
  fail_then_succeed(start, [&] {
    return hal_image_processor_draw_masks(processor, decoder, outputs.data(), 2, image, nullptr, 1,
                                          nullptr, HAL_COLOR_MODE_CLASS, nullptr) == 0;
  });
}

TEST(OutOfMemory, the_first_image_of_a_thread_is_enomem) {
  const std::string path =
      std::string(HALYARD_SOURCE_DIR) + "/examples/harbour/clip/frame_0000.jpg";
  // What the process makes once is there; what a thread makes is not.
  ASSERT_NE(Tensor(hal_tensor_load_file(path.c_str(), HAL_PIXEL_FORMAT_RGB)), nullptr);
  std::size_t failures = 1;
  for (std::size_t first = 0; failures != 0 && first < max_allocations; ++first) {
    std::thread([&] {
      const AllocationLimit limit(first, Shortage::once);
      errno = 0;
      const Tensor made(hal_tensor_load_file(path.c_str(), HAL_PIXEL_FORMAT_RGB));
      failures = limit.failures();
      if (made == nullptr) {
        EXPECT_EQ(errno, ENOMEM) << "allocation " << first << ": " << hal_last_error();
      }
    }).join();
  }
  EXPECT_EQ(failures, 0U);
}

TEST(OutOfMemory, allocating_from_a_pool_is_enomem) {
  const Pool pool(hal_pool_create(41, nullptr));
  const std::size_t shape[1] = {64};
  run_short([&] {
    const Tensor tensor(hal_pool_alloc(pool, HAL_DTYPE_U8, shape, 1));
    if (!tensor) return false;
    hal_tensor_descriptor descriptor;
    EXPECT_DONE(hal_tensor_descriptor_of(tensor, &descriptor));
    return Tensor(hal_pool_attach(pool, &descriptor)) != nullptr;
  });
  run_short([] { return Pool(hal_pool_default()) != nullptr; });
}

// Nothing of those that failed stays in the topic, which has room for 64. Leaving it takes some
// memory too.
TEST(OutOfMemory, joining_a_topic_is_enomem) {
  const Topic other(hal_topic_create("memory/join", HAL_MESSAGE_TENSOR, nullptr));
  Topic topic;
  fail_then_succeed([&] { topic.reset(); },
                    [&] {
                      topic.reset(hal_topic_create("memory/join", HAL_MESSAGE_TENSOR, nullptr));
                      return topic != nullptr;
                    });
}

// What cannot be told without memory others learn later: nothing ends this process.
TEST(OutOfMemory, leaving_a_topic_and_a_pool_ends_well) {
  for (std::size_t allocations = 0; allocations < 40; ++allocations) {
    const std::string name = "memory/leave" + std::to_string(allocations);
    const auto make = [&] { return hal_topic_create(name.c_str(), HAL_MESSAGE_TENSOR, nullptr); };
    const Topic other(make());
    Topic topic(make());
    ASSERT_TRUE(topic) << hal_last_error();
    Pool pool(hal_topic_pool(topic));
    const std::size_t shape[1] = {64};
    const Tensor tensor(hal_topic_alloc_tensor(topic, HAL_DTYPE_U8, shape, 1));
    ASSERT_DONE(hal_topic_send_tensor(topic, tensor));
    {
      const AllocationLimit limit(allocations, Shortage::from_there);
      topic.reset();
      pool.reset();
    }
    const Topic later(make());
    EXPECT_TRUE(later) << allocations << ": " << hal_last_error();
  }
}

TEST(OutOfMemory, sending_and_receiving_is_enomem) {
  const Topic from(hal_topic_create("memory/images", HAL_MESSAGE_IMAGE, nullptr));
  const Topic to(hal_topic_create("memory/images", HAL_MESSAGE_IMAGE, nullptr));
  const Pool pool(hal_topic_pool(from));
  const Tensor frame(hal_pool_alloc_image(pool, 32, 16, HAL_PIXEL_FORMAT_RGB, HAL_DTYPE_U8, 0));
  run_short([&] {
    if (hal_topic_send_image(from, frame, nullptr, -1) != 0) return false;
    Message out;
    const int got = hal_topic_recv(to, 0, out.out(), nullptr);
    return got >= 0;
  });
}

}  // namespace
