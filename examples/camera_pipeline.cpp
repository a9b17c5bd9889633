// SPDX-License-Identifier: Apache-2.0
// Three processes and one memory. Start them in any order; each may be killed and started again at
// any time, and the others continue:
//   camera_pipeline capture [CLIP]    publishes images: a test pattern, or a folder or video
//   camera_pipeline detect            finds the brightest region, sends the image on with its box
//   camera_pipeline view [COUNT]      prints the result of each image
// No pixel is copied: an image stays where capture has drawn it, and topics send its position.
#include <halyard/halyard.h>
#include <halyard/topic.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <thread>

using namespace halyard;
using Clock = std::chrono::steady_clock;  // one clock for all processes of a machine

struct ShotFacts {
  std::uint64_t number = 0;
  std::int64_t captured_ns = 0;
  std::uint64_t copies = 0;  // byte copies made by the processes before this one
};
struct Shot {
  ShotFacts facts;
  Tensor image;
};
struct FoundFacts {
  ShotFacts shot;
  std::uint64_t count = 0;
  Box boxes[4];  // in pixels of the image
};
struct Found {
  FoundFacts facts;
  Tensor image;
};

// A message is a tensor with plain bytes.
template <>
struct halyard::MessageFrame<Shot> {
  static constexpr std::string_view name = "example.Shot";
  using Metadata = ShotFacts;
  static const Tensor& tensor(const Shot& shot) { return shot.image; }
  static Metadata metadata(const Shot& shot) { return shot.facts; }
  static Result<Shot> make(Tensor image, const Metadata& facts) {
    return Shot{facts, std::move(image)};
  }
};
template <>
struct halyard::MessageFrame<Found> {
  static constexpr std::string_view name = "example.Found";
  using Metadata = FoundFacts;
  static const Tensor& tensor(const Found& found) { return found.image; }
  static Metadata metadata(const Found& found) { return found.facts; }
  static Result<Found> make(Tensor image, const Metadata& facts) {
    if (facts.count > std::size(facts.boxes)) return make_error(Errc::malformed, "count: above 4");
    return Found{facts, std::move(image)};
  }
};

static std::int64_t now_ns() {
  return std::chrono::nanoseconds(Clock::now().time_since_epoch()).count();
}

// A bright square that moves over a dark gradient.
static Status draw_pattern(const Tensor& image, std::uint64_t number) {
  constexpr std::size_t side = 80;
  HALYARD_TRY(const auto map, image.map(Access::write));
  const MappedPlane& plane = map.plane(0);
  const std::size_t left = number * 8 % (image.width() - side);
  const std::size_t top = number * 4 % (image.height() - side);
  for (std::size_t y = 0; y < image.height(); ++y) {
    std::byte* const row = plane.writable + y * plane.stride_bytes;
    std::memset(row, static_cast<int>(y % 100), plane.row_bytes);
    if (y >= top && y < top + side) std::memset(row + 3 * left, 255, 3 * side);
  }
  return {};
}

// The next image of a clip, which restarts at its end.
static Result<Frame> next_of(std::optional<FrameSource>& source, const std::string& clip) {
  if (source) {
    HALYARD_TRY(auto frame, source->next());
    if (frame) return *std::move(frame);
  }
  HALYARD_TRY(source, FrameSource::open(clip));
  HALYARD_TRY(auto first, source->next());
  if (!first) return make_error(Errc::malformed, "clip: has no images", clip);
  return *std::move(first);
}

static Status capture(const std::string& clip) {
  constexpr auto period = std::chrono::milliseconds(33);
  HALYARD_TRY(auto images, Topic<Shot>::create("camera/images", {.role = TopicRole::publisher}));
  HALYARD_TRY(const auto pool, images.pool());
  HALYARD_TRY(auto processor, Processor::create());
  std::optional<FrameSource> source;
  while (true) {
    // The number comes from the clock: numbers continue when this process is started again.
    const auto number = static_cast<std::uint64_t>(Clock::now().time_since_epoch() / period) + 1;
    std::this_thread::sleep_until(Clock::time_point(period * number));

    HALYARD_TRY(const auto image, pool->alloc_image(640, 360, PixelFormat::rgb));
    const std::int64_t captured_ns = now_ns();
    if (clip.empty()) {
      HALYARD_RETURN_IF_ERROR(draw_pattern(image, number));
    } else {
      HALYARD_TRY(auto frame, next_of(source, clip));
      HALYARD_RETURN_IF_ERROR(processor.convert({.src = frame.image, .dst = image}));
    }
    const std::uint64_t copies = copy_stats().copies + images.stats().copied;
    HALYARD_RETURN_IF_ERROR(images.send({{number, captured_ns, copies}, image}));
  }
}

// The brightest cell of 16 x 16 pixels, extended to both sides while cells are nearly as bright.
static Result<Box> brightest_region(const Tensor& grey) {
  constexpr int cell = 16;
  const int columns = static_cast<int>(grey.width()) / cell;
  const int rows = static_cast<int>(grey.height()) / cell;
  HALYARD_TRY(const auto map, grey.map(Access::read));
  const MappedPlane& plane = map.plane(0);
  const auto sum_of = [&](int column, int row) {
    int sum = 0;
    for (int y = row * cell; y < (row + 1) * cell; ++y) {
      for (int x = column * cell; x < (column + 1) * cell; ++x)
        sum += static_cast<int>(plane.data[static_cast<std::size_t>(y) * plane.stride_bytes +
                                           static_cast<std::size_t>(x)]);
    }
    return sum;
  };
  int best = -1;
  int column = 0;
  int row = 0;
  for (int i = 0; i < columns * rows; ++i) {
    const int sum = sum_of(i % columns, i / columns);
    if (sum <= best) continue;
    best = sum;
    column = i % columns;
    row = i / columns;
  }
  const auto is_bright = [&](int c, int r) {
    return c >= 0 && c < columns && r >= 0 && r < rows && sum_of(c, r) * 10 >= best * 9;
  };
  int right = column;
  int bottom = row;
  while (is_bright(right + 1, row))
    ++right;
  while (is_bright(column, bottom + 1))
    ++bottom;
  return Box{float(column * cell), float(row * cell), float((right + 1) * cell),
             float((bottom + 1) * cell)};
}

static Status detect() {
  HALYARD_TRY(auto images, Topic<Shot>::create("camera/images", {.role = TopicRole::subscriber,
                                                                 .latest_only = true}));
  HALYARD_TRY(auto results, Topic<Found>::create("camera/found", {.role = TopicRole::publisher}));
  HALYARD_TRY(const auto pool, results.pool());
  HALYARD_TRY(auto processor, Processor::create());
  while (true) {
    const auto shot = images.recv_for(std::chrono::seconds(1));
    if (!shot) continue;

    // What a network would get: its own size, letterboxed, straight from capture's memory.
    HALYARD_TRY(const auto input, pool->alloc_image(320, 320, PixelFormat::grey));
    HALYARD_TRY(
        const auto placed,
        processor.convert(
            {.src = shot->image, .dst = input, .fit = Fit::letterbox, .pad = {0, 0, 0, 255}}));
    HALYARD_TRY(const Box region, brightest_region(input));

    FoundFacts facts{shot->facts, 1, {placed.to_source(region)}};
    facts.shot.copies += copy_stats().copies + images.stats().copied + results.stats().copied;
    HALYARD_RETURN_IF_ERROR(results.send({facts, shot->image}));
  }
}

static Status view(int count) {
  HALYARD_TRY(auto results, Topic<Found>::create("camera/found", {.role = TopicRole::subscriber}));
  for (int seen = 0; count < 0 || seen < count;) {
    const auto found = results.recv_for(std::chrono::seconds(1));
    if (!found) continue;
    ++seen;
    const FoundFacts& facts = found->facts;
    std::printf("image %llu: ", static_cast<unsigned long long>(facts.shot.number));
    HALYARD_TRY(const auto map, found->image.map(Access::read));
    const MappedPlane& plane = map.plane(0);
    for (std::size_t i = 0; i < facts.count; ++i) {
      const Box& box = facts.boxes[i];
      const auto x = static_cast<std::size_t>((box.x1 + box.x2) / 2);
      const auto y = static_cast<std::size_t>((box.y1 + box.y2) / 2);
      if (x >= found->image.width() || y >= found->image.height()) continue;
      std::printf("[%.0f %.0f %.0f %.0f] red %d, ", double(box.x1), double(box.y1), double(box.x2),
                  double(box.y2), static_cast<int>(plane.data[y * plane.stride_bytes + 3 * x]));
    }
    const double age_ms = double(now_ns() - facts.shot.captured_ns) * 1e-6;
    const std::uint64_t copies = facts.shot.copies + copy_stats().copies + results.stats().copied;
    std::printf("%.2f ms old, %llu lost, %llu copies\n", age_ms,
                static_cast<unsigned long long>(found.lost()),
                static_cast<unsigned long long>(copies));
    std::fflush(stdout);
  }
  return {};
}

int main(int argc, char** argv) {
  const std::string role = argc > 1 ? argv[1] : "";
  Status done;
  if (role == "capture" && argc <= 3) {
    done = capture(argc == 3 ? argv[2] : "");
  } else if (role == "detect" && argc == 2) {
    done = detect();
  } else if (role == "view" && argc <= 3) {
    done = view(argc == 3 ? std::atoi(argv[2]) : -1);
  } else {
    std::fprintf(stderr, "usage: camera_pipeline capture [CLIP] | detect | view [COUNT]\n");
    return 2;
  }
  if (done) return 0;
  std::fprintf(stderr, "%s: %s\n", role.c_str(), done.error().message().c_str());
  return 1;
}
