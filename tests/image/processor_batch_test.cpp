// SPDX-License-Identifier: Apache-2.0
// Several requests in one call: lists, batches, and requests that wait for flush().
#include <gtest/gtest.h>

#include <thread>

#include "halyard/image.h"
#include "images.h"
#include "support/result.h"

namespace halyard::test {
namespace {

using F = PixelFormat;

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
  const Tensor camera = image(640, 480, F::nv12);
  const Tensor other = image(200, 300, F::rgb);
  const std::vector<Convert> requests = {
      {.src = camera, .dst = image(320, 320, F::planar_rgb, DType::f32), .fit = Fit::letterbox},
      {.src = other, .dst = image(150, 100, F::nv12), .rotation = Rotation::cw90},
      {.src = camera, .dst = image(64, 48, F::rgb), .antialias = true},
      {other, image(3, 2, F::grey)},
      {camera, image(640, 480, F::nv12)}};
  std::vector<std::vector<std::byte>> wanted;
  for (const Convert& request : requests)
    wanted.push_back(alone(request));
  for (const unsigned threads : {1U, 2U}) {
    Processor processor = Processor::create({.threads = threads}).value();
    for (int round = 0; round < 2; ++round) {
      ASSERT_VALUE(const auto placed, processor.convert_all(requests));
      ASSERT_EQ(placed.size(), requests.size());
      for (std::size_t i = 0; i < requests.size(); ++i) {
        EXPECT_EQ(bytes_of(requests[i].dst), wanted[i]) << "request " << i;
        EXPECT_EQ(placed[i].destination(), requests[i].dst.size());
      }
      EXPECT_EQ(placed[0].content(), (Region{0, 40, 320, 240}));
    }
  }
}

TEST_F(ManyTest, an_empty_list_is_done_at_once) {
  ASSERT_VALUE(const auto placed, processor_.convert_all({}));
  EXPECT_TRUE(placed.empty());
}

// Requests of which number 1 is wrong: nothing is written, and the error names its index.
TEST_F(ManyTest, one_wrong_request_leaves_all_destinations_as_they_were) {
  const Tensor source = image(32, 24, F::grey);
  const std::pair<const char*, void (*)(Convert&)> faults[] = {
      {"crop:", [](Convert& c) { c.crop = RegionF(0, 0, 0, 1); }},
      {"flip:", [](Convert& c) { c.flip = static_cast<Flip>(7); }},
      {"access:", [](Convert& c) { c.dst = read_only_image(16, 16, F::grey); }},
      {"dst:", [](Convert& c) { c.dst = c.src; }}};
  for (const auto& [field, spoil] : faults) {
    std::vector<Convert> requests;
    std::vector<std::vector<std::byte>> before;
    for (int i = 0; i < 3; ++i) {
      requests.push_back({source, image(16, 16, F::grey)});
      before.push_back(bytes_of(requests.back().dst));
    }
    const std::vector<Convert> good = requests;
    spoil(requests[1]);
    const auto result = processor_.convert_all(requests);
    EXPECT_FAILS(result, "request 1");
    EXPECT_EQ(result.error().message().find(field), 0U) << result.error().message();
    for (std::size_t i = 0; i < 3; ++i)
      EXPECT_EQ(bytes_of(good[i].dst), before[i]) << field;
  }
}

TEST_F(ManyTest, requests_of_one_call_must_not_touch_what_another_writes) {
  const Tensor whole = image(32, 32, F::rgb);
  std::vector<Convert> requests(2);
  requests[0].src = requests[1].src = image(16, 16, F::rgb);
  requests[0].dst = whole.slice({0, 0, 16, 32}).value();
  requests[1].dst = whole.slice({16, 0, 16, 32}).value();
  EXPECT_TRUE(processor_.convert_all(requests));
  const auto before = bytes_of(whole);
  requests[1].dst = whole.slice({15, 0, 16, 32}).value();
  auto result = processor_.convert_all(requests);
  EXPECT_FAILS(result, Errc::invalid_argument);
  EXPECT_EQ(result.error().message().find("dst: "), 0U);
  EXPECT_FAILS(result, "0 and 1");
  requests[1].dst = image(8, 8, F::rgb);
  requests[1].src = whole.slice({0, 0, 4, 4}).value();
  result = processor_.convert_all(requests);
  EXPECT_FAILS(result, Errc::invalid_argument, "request 0, the source is that of request 1");
  EXPECT_EQ(bytes_of(whole), before);
}

TEST_F(ManyTest, a_batch_takes_sources_of_several_sizes) {
  const std::vector<Tensor> sources = {image(64, 48, F::nv12), image(30, 50, F::rgba),
                                       image(33, 17, F::yuyv)};
  Convert like{.fit = Fit::letterbox};
  const Tensor batch = Tensor::create(DType::f32, {4, 3, 24, 24}).value();
  ASSERT_VALUE(const auto placed, processor_.convert_batch(sources, batch, like));
  ASSERT_EQ(placed.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    Convert one = like;
    one.src = sources[i];
    one.dst = Tensor::create(DType::f32, {3, 24, 24}).value();
    ASSERT_TRUE(processor_.convert(one));
    EXPECT_EQ(
        greatest_difference(batch.batch(i).value().as_image().value(), one.dst.as_image().value()),
        0);
    EXPECT_EQ(placed[i].source(), sources[i].size());
  }
}

TEST_F(ManyTest, a_batch_refuses_more_sources_than_places) {
  const std::vector<Tensor> sources(3, image(8, 8, F::rgb));
  const auto refusal = [&](const Tensor& batch) {
    const auto result = processor_.convert_batch(sources, batch, {});
    return result ? Error{} : result.error();
  };
  EXPECT_EQ(refusal(Tensor::create(DType::u8, {3, 8, 8, 3}).value()).code, Errc::ok);
  const Error more = refusal(Tensor::create(DType::u8, {2, 8, 8, 3}).value());
  EXPECT_EQ(more.code, Errc::invalid_argument);
  EXPECT_EQ(more.message().find("sources: "), 0U);
  EXPECT_EQ(refusal(image(8, 8, F::rgb)).message().find("batch: "), 0U);
  EXPECT_EQ(refusal(Tensor()).message().find("batch: "), 0U);
}

class DeferredTest : public ManyTest {
 protected:
  void defer(const Convert& request) { ASSERT_OK(processor_.convert_deferred(request)); }
  static Convert request(const Tensor& src, const Tensor& dst) { return {src, dst}; }
  Tensor a_ = image(16, 16, F::rgb);
  Tensor b_ = image(16, 16, F::rgb);
  Tensor c_ = image(16, 16, F::rgb);
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
  Convert c = request(a_, image(32, 16, F::rgb));
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
  const Tensor second = image(16, 16, F::rgb);
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
  const Tensor later = image(16, 16, F::rgb);
  defer(request(later, b_));
  const Convert read = request(b_, c_);
  ASSERT_TRUE(processor_.convert_all({&read, 1}));
  EXPECT_EQ(greatest_difference(later, c_), 0);
  defer(request(a_, b_));
  ASSERT_TRUE(processor_.run(processor_.plan(read).value(), b_, c_));
  EXPECT_EQ(greatest_difference(a_, c_), 0);
}

TEST_F(DeferredTest, parts_of_one_image_wait_together) {
  const Tensor whole = image(32, 16, F::rgb);
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
  EXPECT_FAILS(processor_.convert_deferred(request(a_, read_only_image(16, 16, F::rgb))),
               Errc::permission);
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
