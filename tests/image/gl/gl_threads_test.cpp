// SPDX-License-Identifier: Apache-2.0
// Several threads, each with a processor on OpenGL: all share one context, and none sees another's
// pixels.
#ifdef HALYARD_HAVE_GL
#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <thread>

#include "gl/dma_memory.h"
#include "gl/memory/dma_image.h"
#include "gl/worker.h"
#include "image/differential.h"
#include "image/images.h"
#include "support/result.h"

namespace halyard::test {
namespace {

using F = PixelFormat;

class GlThreads : public testing::Test {
 protected:
  void SetUp() override {
    ::setenv("HALYARD_ALLOW_SOFTWARE_GL", "1", 1);
    ::setenv("HALYARD_FORCE_BACKEND", "opengl", 1);
    worker_ = any_worker();
    if (worker_ == nullptr) GTEST_SKIP() << "no OpenGL ES on this machine";
  }
  void TearDown() override {
    ::unsetenv("HALYARD_FORCE_BACKEND");
    ::unsetenv("HALYARD_ALLOW_SOFTWARE_GL");
  }
  static Tensor dma_image(Random& random, int width, int height, F format) {
    Tensor out =
        make_dma_image(static_cast<std::size_t>(width), static_cast<std::size_t>(height), format);
    fill_random(random, *out.buffer(), DType::u8);
    return out;
  }
  static void clear(const Tensor& image) {
    const Map map = image.buffer()->map(Access::write).value();
    std::ranges::fill(map.writable_bytes(), std::byte{0});
  }
  /// Two threads convert their own requests again and again; each result is that of the first time,
  /// which the reference has judged.
  static void convert_at_once(const std::vector<Convert>& of_one,
                              const std::vector<Convert>& of_two) {
    std::array<std::string, 2> mistakes;
    const auto work = [&](const std::vector<Convert>& requests, std::string& mistake) {
      Judge judge;
      std::vector<std::vector<std::byte>> expected;
      for (const Convert& c : requests) {
        mistake += judge.mistake_of(c);
        expected.push_back(bytes_of(c.dst));
      }
      for (int round = 0; round < 100 / slowness && mistake.empty(); ++round) {
        for (std::size_t i = 0; i < requests.size(); ++i) {
          clear(requests[i].dst);
          const auto done = judge.processor().convert(requests[i]);
          if (!done) mistake += done.error().message();
          const std::vector<std::byte> got = bytes_of(requests[i].dst);
          if (got != expected[i]) mistake += "other pixels in round " + std::to_string(round);
        }
      }
    };
    {
      const std::jthread one([&] { work(of_one, mistakes[0]); });
      const std::jthread two([&] { work(of_two, mistakes[1]); });
    }
    EXPECT_EQ(mistakes[0], "");
    EXPECT_EQ(mistakes[1], "");
  }

  std::shared_ptr<gl::Worker> worker_;
  Random random_{9};
};

TEST_F(GlThreads, two_processors_convert_imported_buffers_at_once) {
  if (!worker_->capabilities().dma_buf_import) GTEST_SKIP() << "this driver imports no DMA-BUFs";
  {
    const Tensor shared = dma_image(random_, 64, 48, F::nv12);
    const auto requests = [&] {
      // Destinations start at zero, as clear() leaves them.
      std::vector<Convert> out{{.src = shared, .dst = make_dma_image(32, 32, F::rgb)},
                               {.src = dma_image(random_, 96, 32, F::rgba),
                                .dst = make_dma_image(48, 20, F::planar_rgb)}};
      return out;
    };
    const std::uint64_t before = gl::dma_image_imports();
    convert_at_once(requests(), requests());
    // Luma and chroma of the shared source once; a source and two targets of each thread, of which
    // the planar one is one import.
    EXPECT_EQ(gl::dma_image_imports() - before, 2U + 2 * 3);
  }
  EXPECT_OK(worker_->run([]() -> Status { return {}; }));  // the queue is empty
  EXPECT_EQ(gl::live_dma_images(), 0U);
}

TEST_F(GlThreads, two_processors_convert_pixel_buffers_and_heap_images_at_once) {
  const auto requests = [&] {
    std::vector<Convert> out{
        {.src = random_image(random_, 38, 26, F::nv12), .dst = zero_image(22, 30, F::rgb)},
        {.src = random_image(random_, 50, 34, F::rgb), .dst = zero_image(64, 20, F::nv12)}};
    out.push_back({.src = random_image(random_, 20, 20, F::grey),
                   .dst = Tensor::create_image(24, 24, F::rgba, DType::u8, Memory::pbo).value()});
    return out;
  };
  convert_at_once(requests(), requests());
}

TEST_F(GlThreads, what_a_thread_queued_before_it_ended_is_done_by_another) {
  Judge judge;
  const Convert c{.src = random_image(random_, 38, 26, F::nv12), .dst = zero_image(22, 30, F::rgb)};
  std::optional<Processor> processor;
  std::thread([&] {
    processor.emplace(Processor::create().value());
    EXPECT_OK(processor->convert_deferred(c));
  }).join();
  EXPECT_OK(processor->flush());
  const std::vector<std::byte> late = bytes_of(c.dst);
  EXPECT_TRUE(judge.compare(c));
  EXPECT_EQ(bytes_of(c.dst), late);
}

TEST_F(GlThreads, a_thread_that_ends_with_its_processor_leaves_the_others_alone) {
  Judge judge;
  for (int i = 0; i < 5; ++i) {
    std::thread([&] {
      Processor own = Processor::create().value();
      const Convert c{.src = random_image(random_, 38, 26, F::nv12),
                      .dst = zero_image(22, 30, F::rgb)};
      EXPECT_OK(own.convert_deferred(c));
    }).join();
    EXPECT_TRUE(judge.compare(
        {.src = random_image(random_, 38, 26, F::nv12), .dst = zero_image(22, 30, F::rgb)}));
  }
  EXPECT_FALSE(worker_->is_lost());
}

}  // namespace
}  // namespace halyard::test
#endif
