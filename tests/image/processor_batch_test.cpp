// SPDX-License-Identifier: Apache-2.0
// Several requests in one call: lists, batches, and requests that wait for flush().
#include <gtest/gtest.h>

#include <thread>

#include "halyard/image.h"
#include "images.h"
#include "support/result.h"

namespace halyard::test {
namespace {

class ManyTest : public ::testing::Test {
 protected:
  // The destination of a request that runs alone.
  std::vector<std::byte> alone(Convert request) {
    request.dst = clone(request.dst);
    Processor other = Processor::create({.threads = 1}).value();
    EXPECT_TRUE(other.convert(request));
    return bytes_of(request.dst);
  }
  Tensor image(int width, int height, PixelFormat format, DType dtype = DType::u8) {
    return random_image(random_, width, height, format, dtype);
  }
  Random random_{13};
  Processor processor_ = Processor::create({.threads = 2}).value();
};

TEST_F(ManyTest, one_pass_gives_what_requests_alone_give) {
  const Tensor camera = image(640, 480, PixelFormat::nv12);
  const Tensor other = image(200, 300, PixelFormat::rgb);
  std::vector<Convert> requests(5);
  requests[0].src = camera;
  requests[0].dst = image(320, 320, PixelFormat::planar_rgb, DType::f32);
  requests[0].fit = Fit::letterbox;
  requests[1].src = other;
  requests[1].dst = image(150, 100, PixelFormat::nv12);
  requests[1].rotation = Rotation::cw90;
  requests[2].src = camera;
  requests[2].dst = image(64, 48, PixelFormat::rgb);
  requests[2].antialias = true;
  requests[3].src = other;
  requests[3].dst = image(3, 2, PixelFormat::grey);
  requests[4].src = camera;
  requests[4].dst = image(640, 480, PixelFormat::nv12);
  std::vector<std::vector<std::byte>> wanted;
  for (const Convert& request : requests)
    wanted.push_back(alone(request));
  for (const unsigned threads : {1U, 2U}) {
    Processor processor = Processor::create({.threads = threads}).value();
    for (int round = 0; round < 2; ++round) {
      const auto placed = processor.convert_all(requests);
      ASSERT_TRUE(placed) << placed.error().message();
      ASSERT_EQ(placed->size(), requests.size());
      for (std::size_t i = 0; i < requests.size(); ++i) {
        EXPECT_EQ(bytes_of(requests[i].dst), wanted[i]) << "request " << i;
        EXPECT_EQ((*placed)[i].destination(), requests[i].dst.size());
      }
      EXPECT_EQ((*placed)[0].content(), (Region{0, 40, 320, 240}));
    }
  }
}

TEST_F(ManyTest, an_empty_list_is_done_at_once) {
  const auto placed = processor_.convert_all({});
  ASSERT_TRUE(placed);
  EXPECT_TRUE(placed->empty());
}

// Requests of which number 1 is wrong: nothing is written, and the error names its index.
TEST_F(ManyTest, one_wrong_request_leaves_all_destinations_as_they_were) {
  static const std::array<std::uint8_t, 16 * 16> fixed{};
  const Tensor source = image(32, 24, PixelFormat::grey);
  const auto refusal = [&](auto spoil) {
    std::vector<Convert> requests(3);
    for (Convert& request : requests) {
      request.src = source;
      request.dst = image(16, 16, PixelFormat::grey);
    }
    const std::array<Tensor, 3> dsts{requests[0].dst, requests[1].dst, requests[2].dst};
    spoil(requests);
    std::array<std::vector<std::byte>, 3> before;
    for (std::size_t i = 0; i < 3; ++i)
      before[i] = bytes_of(dsts[i]);
    const auto result = processor_.convert_all(requests);
    for (std::size_t i = 0; i < 3; ++i)
      EXPECT_EQ(bytes_of(dsts[i]), before[i]);
    return result ? std::string("none") : result.error().message();
  };
  const auto named = [](const std::string& message, const char* field, const char* index) {
    return message.find(field) == 0 && message.find(index) != std::string::npos;
  };
  std::string message = refusal([](auto& r) { r[1].crop = Region{0, 0, 0, 1}; });
  EXPECT_TRUE(named(message, "crop:", "request 1")) << message;
  message = refusal([](auto& r) { r[1].flip = static_cast<Flip>(7); });
  EXPECT_TRUE(named(message, "flip:", "request 1")) << message;
  message = refusal([](auto& r) {
    const Tensor::PlaneSource whole{
        wrap_memory(static_cast<const void*>(fixed.data()), fixed.size(), {}).value(), 0, 0};
    r[1].dst = Tensor::wrap_image({&whole, 1}, 16, 16, PixelFormat::grey).value();
  });
  EXPECT_TRUE(named(message, "access:", "request 1")) << message;
  message = refusal([](auto& r) { r[1].dst = r[1].src; });
  EXPECT_TRUE(named(message, "dst:", "request 1")) << message;
}

TEST_F(ManyTest, requests_of_one_call_must_not_touch_what_another_writes) {
  const Tensor whole = image(32, 32, PixelFormat::rgb);
  std::vector<Convert> requests(2);
  requests[0].src = requests[1].src = image(16, 16, PixelFormat::rgb);
  requests[0].dst = whole.slice({0, 0, 16, 32}).value();
  requests[1].dst = whole.slice({16, 0, 16, 32}).value();
  EXPECT_TRUE(processor_.convert_all(requests));
  const auto before = bytes_of(whole);
  requests[1].dst = whole.slice({15, 0, 16, 32}).value();
  auto result = processor_.convert_all(requests);
  EXPECT_FAILS(result, Errc::invalid_argument);
  EXPECT_EQ(result.error().message().find("dst: "), 0U);
  EXPECT_FAILS(result, "0 and 1");
  requests[1].dst = image(8, 8, PixelFormat::rgb);
  requests[1].src = whole.slice({0, 0, 4, 4}).value();
  result = processor_.convert_all(requests);
  EXPECT_FAILS(result, Errc::invalid_argument, "request 0, the source is that of request 1");
  EXPECT_EQ(bytes_of(whole), before);
}

TEST_F(ManyTest, a_batch_takes_sources_of_several_sizes) {
  const std::vector<Tensor> sources = {image(64, 48, PixelFormat::nv12),
                                       image(30, 50, PixelFormat::rgba),
                                       image(33, 17, PixelFormat::yuyv)};
  Convert like;
  like.fit = Fit::letterbox;
  const Tensor batch = Tensor::create(DType::f32, {4, 3, 24, 24}).value();
  const auto placed = processor_.convert_batch(sources, batch, like);
  ASSERT_TRUE(placed) << placed.error().message();
  ASSERT_EQ(placed->size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    Convert one = like;
    one.src = sources[i];
    one.dst = Tensor::create(DType::f32, {3, 24, 24}).value();
    ASSERT_TRUE(processor_.convert(one));
    EXPECT_EQ(
        greatest_difference(batch.batch(i).value().as_image().value(), one.dst.as_image().value()),
        0);
    EXPECT_EQ((*placed)[i].source(), sources[i].size());
  }
}

TEST_F(ManyTest, a_batch_refuses_more_sources_than_places) {
  const std::vector<Tensor> sources(3, image(8, 8, PixelFormat::rgb));
  const auto refusal = [&](const Tensor& batch) {
    const auto result = processor_.convert_batch(sources, batch, {});
    return result ? Error{} : result.error();
  };
  EXPECT_EQ(refusal(Tensor::create(DType::u8, {3, 8, 8, 3}).value()).code, Errc::ok);
  const Error more = refusal(Tensor::create(DType::u8, {2, 8, 8, 3}).value());
  EXPECT_EQ(more.code, Errc::invalid_argument);
  EXPECT_EQ(more.message().find("sources: "), 0U);
  EXPECT_EQ(refusal(image(8, 8, PixelFormat::rgb)).message().find("batch: "), 0U);
  EXPECT_EQ(refusal(Tensor()).message().find("batch: "), 0U);
}

class DeferredTest : public ManyTest {
 protected:
  void defer(const Convert& request) {
    const auto placed = processor_.convert_deferred(request);
    ASSERT_TRUE(placed) << placed.error().message();
  }
  Convert request(const Tensor& src, const Tensor& dst) {
    Convert c;
    c.src = src;
    c.dst = dst;
    return c;
  }
  Tensor a_ = image(16, 16, PixelFormat::rgb);
  Tensor b_ = image(16, 16, PixelFormat::rgb);
  Tensor c_ = image(16, 16, PixelFormat::rgb);
};

TEST_F(DeferredTest, pixels_come_with_flush) {
  const auto before = bytes_of(b_);
  defer(request(a_, b_));
  defer(request(a_, c_));
  EXPECT_EQ(bytes_of(b_), before);
  ASSERT_TRUE(processor_.flush());
  EXPECT_EQ(greatest_difference(a_, b_), 0);
  EXPECT_EQ(greatest_difference(a_, c_), 0);
  // No request is kept: what the caller writes now stays.
  set_code(b_, 0, 1, 1, 3);
  const auto after = bytes_of(b_);
  ASSERT_TRUE(processor_.flush());
  EXPECT_EQ(bytes_of(b_), after);
}

TEST_F(DeferredTest, the_placement_is_known_at_once) {
  Convert c = request(a_, image(32, 16, PixelFormat::rgb));
  c.fit = Fit::letterbox;
  EXPECT_EQ(processor_.convert_deferred(c)->content(), (Region{8, 0, 16, 16}));
}

TEST_F(DeferredTest, who_reads_a_kept_destination_flushes_first) {
  defer(request(a_, b_));
  defer(request(b_, c_));
  EXPECT_EQ(greatest_difference(a_, b_), 0);
  ASSERT_TRUE(processor_.flush());
  EXPECT_EQ(greatest_difference(a_, c_), 0);
}

TEST_F(DeferredTest, who_writes_a_kept_destination_flushes_first) {
  const Tensor second = image(16, 16, PixelFormat::rgb);
  defer(request(a_, b_));
  defer(request(second, b_));
  EXPECT_EQ(greatest_difference(a_, b_), 0);
  ASSERT_TRUE(processor_.flush());
  EXPECT_EQ(greatest_difference(second, b_), 0);
}

TEST_F(DeferredTest, who_writes_a_kept_source_flushes_first) {
  const Tensor first = clone(a_);
  defer(request(a_, b_));
  defer(request(c_, a_));
  ASSERT_TRUE(processor_.flush());
  EXPECT_EQ(greatest_difference(first, b_), 0);
  EXPECT_EQ(greatest_difference(c_, a_), 0);
}

TEST_F(DeferredTest, other_calls_see_kept_destinations_filled) {
  defer(request(a_, b_));
  ASSERT_TRUE(processor_.convert(request(b_, c_)));
  EXPECT_EQ(greatest_difference(a_, c_), 0);
  const Tensor later = image(16, 16, PixelFormat::rgb);
  defer(request(later, b_));
  const Convert read = request(b_, c_);
  ASSERT_TRUE(processor_.convert_all({&read, 1}));
  EXPECT_EQ(greatest_difference(later, c_), 0);
  defer(request(a_, b_));
  const ConvertPlan plan = processor_.plan(read).value();
  ASSERT_TRUE(processor_.run(plan, b_, c_));
  EXPECT_EQ(greatest_difference(a_, c_), 0);
}

TEST_F(DeferredTest, parts_of_one_image_wait_together) {
  const Tensor whole = image(32, 16, PixelFormat::rgb);
  const auto before = bytes_of(whole);
  const Tensor left = whole.slice({0, 0, 16, 16}).value();
  const Tensor right = whole.slice({16, 0, 16, 16}).value();
  defer(request(a_, left));
  defer(request(b_, right));
  EXPECT_EQ(bytes_of(whole), before);
  ASSERT_TRUE(processor_.flush());
  EXPECT_EQ(greatest_difference(a_, left), 0);
  EXPECT_EQ(greatest_difference(b_, right), 0);
}

TEST_F(DeferredTest, a_wrong_request_is_refused_and_the_others_stay) {
  defer(request(a_, b_));
  Convert bad = request(a_, c_);
  bad.crop = Region{0, 0, 99, 99};
  EXPECT_FAILS(processor_.convert_deferred(bad), Errc::invalid_argument);
  EXPECT_FAILS(processor_.convert_deferred(request(a_, a_)), Errc::invalid_argument);
  ASSERT_TRUE(processor_.flush());
  EXPECT_EQ(greatest_difference(a_, b_), 0);
}

TEST_F(DeferredTest, read_only_destinations_are_refused_before_they_are_kept) {
  static const std::array<std::uint8_t, 16 * 16 * 3> fixed{};
  const Tensor::PlaneSource whole{
      wrap_memory(static_cast<const void*>(fixed.data()), fixed.size(), {}).value(), 0, 0};
  const Tensor dst = Tensor::wrap_image({&whole, 1}, 16, 16, PixelFormat::rgb).value();
  EXPECT_FAILS(processor_.convert_deferred(request(a_, dst)), Errc::permission);
}

TEST_F(DeferredTest, nothing_is_kept_after_a_failure) {
  Tensor tiled = b_;
  defer(request(a_, tiled));
  const auto held = b_.map(Access::write).value();
  // Another thread would write the same bytes: mapping them fails.
  Status status;
  std::thread([&] { status = processor_.flush(); }).join();
  EXPECT_FAILS(status, Errc::busy);
  std::thread([&] { status = processor_.flush(); }).join();
  EXPECT_TRUE(status);
}

}  // namespace
}  // namespace halyard::test
