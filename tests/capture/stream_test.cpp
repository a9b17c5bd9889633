// SPDX-License-Identifier: Apache-2.0
// Images from pipes and standard input: several JPEGs in a row, in any portions, whole or
// damaged.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <vector>

#include "capture/media.h"
#include "capture/network/byte_stream.h"
#include "capture/network/jpeg_splitter.h"
#include "capture/source.h"
#include "halyard/capture.h"
#include "support/result.h"

namespace halyard {
namespace {

using capture::ByteStream;
using test::Folder;
using test::jpeg_of;
using test::number_of;
using test::write_bytes;

void append(std::vector<std::byte>& to, const std::vector<std::byte>& bytes) {
  to.insert(to.end(), bytes.begin(), bytes.end());
}

// A pipe whose other end is fed from a thread, `portion` bytes at a time.
class Feeder {
 public:
  Feeder(std::vector<std::byte> bytes, std::size_t portion) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) std::abort();
    read_ = Fd(ends[0]);
    writer_ = std::thread([bytes = std::move(bytes), portion, out = Fd(ends[1])] {
      for (std::size_t at = 0; at < bytes.size();) {
        const auto sent =
            ::write(out.get(), bytes.data() + at, std::min(portion, bytes.size() - at));
        if (sent <= 0) return;
        at += static_cast<std::size_t>(sent);
      }
    });
  }
  ~Feeder() { writer_.join(); }
  Fd take() { return std::move(read_); }

 private:
  Fd read_;
  std::thread writer_;
};

Result<std::unique_ptr<capture::Source>> open_stream(Feeder& feeder) {
  return capture::stream_source(ByteStream(feeder.take()), "stream", {});
}

class Portions : public testing::TestWithParam<std::size_t> {};

TEST_P(Portions, several_jpegs_in_a_row_are_several_frames) {
  std::vector<std::byte> bytes;
  for (int n : {3, 1, 200})
    append(bytes, jpeg_of(n));
  Feeder feeder(bytes, GetParam());
  ASSERT_VALUE(auto source, open_stream(feeder));
  std::size_t index = 0;
  for (int n : {3, 1, 200}) {
    const auto frame = source->next();
    ASSERT_TRUE(frame && *frame);
    EXPECT_EQ(number_of((*frame)->image), n);
    EXPECT_EQ((*frame)->index, index++);
  }
  EXPECT_FALSE(*source->next());
  EXPECT_FALSE(*source->next());
}

INSTANTIATE_TEST_SUITE_P(all, Portions, testing::Values(1U, 7U, 1000U, 1U << 20U));

TEST(JpegStream, gives_an_image_before_the_next_one_begins) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  Fd out(ends[1]);
  const auto first = jpeg_of(9);
  ASSERT_EQ(::write(out.get(), first.data(), first.size()), static_cast<ssize_t>(first.size()));
  auto source = *capture::stream_source(ByteStream(Fd(ends[0])), "camera", {});
  const auto frame = *source->next();  // would hang if it waited for more
  ASSERT_TRUE(frame);
  EXPECT_EQ(number_of(frame->image), 9);
  out.reset();
  EXPECT_FALSE(*source->next());
}

TEST(JpegStream, goes_on_behind_a_cut_image_and_between_garbage) {
  std::vector<std::byte> bytes = jpeg_of(3);
  auto cut = jpeg_of(4);
  cut.resize(cut.size() * 2 / 3);
  append(bytes, cut);
  append(bytes, jpeg_of(5));
  append(bytes, std::vector<std::byte>(100, std::byte{0}));
  append(bytes, jpeg_of(6));
  append(bytes, std::vector<std::byte>(3, std::byte{0xFF}));
  Feeder feeder(bytes, 100);
  ASSERT_VALUE(auto source, open_stream(feeder));
  EXPECT_EQ(number_of((*source->next())->image), 3);
  EXPECT_FAILS(source->next(), "image 1");
  EXPECT_EQ(number_of((*source->next())->image), 5);
  EXPECT_EQ(number_of((*source->next())->image), 6);
  EXPECT_FALSE(*source->next());
}

TEST(JpegStream, every_truncation_ends) {
  const auto whole = jpeg_of(3);
  for (std::size_t length = 3; length < whole.size(); length += 37) {
    Feeder feeder({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length)}, 1 << 16);
    ASSERT_VALUE(auto source, open_stream(feeder));
    EXPECT_FALSE(source->next()) << length;
    EXPECT_FALSE(*source->next());
  }
}

TEST(JpegSplitter, steps_over_a_thumbnail_and_stops_at_nonsense) {
  const auto bytes = [](std::initializer_list<int> values) {
    std::vector<std::byte> out;
    for (int v : values)
      out.push_back(static_cast<std::byte>(v));
    return out;
  };
  // APP1 of 6 bytes that holds an EOI, then SOS of 2, data with a stuffed FF, RST0, EOI, rest.
  const auto image =
      bytes({0xFF, 0xD8, 0xFF, 0xE1, 0,    6,    0xFF, 0xD9, 0xFF, 0xD8, 0xFF, 0xDA, 0,
             2,    1,    0xFF, 0,    0xFF, 0xD0, 2,    0xFF, 0xFF, 0xD9, 7,    7});
  EXPECT_EQ(capture::JpegSplitter().end(image), image.size() - 2);
  capture::JpegSplitter slow;
  for (std::size_t n = 0; n + 2 < image.size(); ++n)
    EXPECT_FALSE(slow.end(std::span(image).first(n))) << n;
  EXPECT_EQ(slow.end(image), image.size() - 2);
  EXPECT_EQ(capture::JpegSplitter().end(bytes({0xFF, 0xD8, 0x12, 0x34})), 2U);
  EXPECT_EQ(capture::JpegSplitter().end(bytes({0xFF, 0xD8, 0xFF, 0xE0, 0, 1, 9})), 6U);
}

TEST(StandardInput, reads_images_through_a_pipe) {
  Feeder feeder(jpeg_of(42), 1000);
  const Fd input = feeder.take();
  const Fd kept(::dup(STDIN_FILENO));
  ASSERT_GE(::dup2(input.get(), STDIN_FILENO), 0);
  auto source = FrameSource::open("-");
  ::dup2(kept.get(), STDIN_FILENO);
  ASSERT_TRUE(source);
  const auto frame = *source->next();
  ASSERT_TRUE(frame);
  EXPECT_EQ(number_of(frame->image), 42);
  EXPECT_EQ(frame->source, "standard input");
  EXPECT_FALSE(*source->next());
}

TEST(StandardInput, png_is_one_image) {
  Tensor image = *Tensor::create_image(5, 3, PixelFormat::rgb);
  Feeder feeder(*encode_png(image), 11);
  ASSERT_VALUE(auto source, open_stream(feeder));
  EXPECT_EQ((*source->next())->image.size(), (Size{5, 3}));
  EXPECT_FALSE(*source->next());
}

TEST(StandardInput, empty_and_meaningless_streams_are_refused) {
  Feeder empty({}, 1);
  EXPECT_FAILS(capture::stream_source(ByteStream(empty.take()), "stream", {}), Errc::malformed);
  Feeder text(std::vector<std::byte>(5000, std::byte{'x'}), 1000);
  const auto meaningless = capture::stream_source(ByteStream(text.take()), "stream", {});
  ASSERT_FALSE(meaningless);
  EXPECT_TRUE(meaningless.error().code == Errc::malformed ||
              meaningless.error().code == Errc::unsupported);
  const auto closed = capture::stream_source(ByteStream(Fd(::open(".", O_RDONLY))), "folder", {});
  ASSERT_FALSE(closed);
  EXPECT_EQ(closed.error().os_errno, EISDIR);
}

TEST(NamedPipe, and_a_file_of_jpegs_are_read_like_standard_input) {
  const Folder folder;
  std::vector<std::byte> bytes = jpeg_of(8);
  append(bytes, jpeg_of(9));
  write_bytes(folder / "clip.mjpeg", bytes);
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  std::thread writer([&] { write_bytes(folder / "pipe", bytes); });
  for (const char* name : {"clip.mjpeg", "pipe"}) {
    auto source = *FrameSource::open(folder / name);
    EXPECT_EQ(number_of((*source.next())->image), 8);
    EXPECT_EQ(number_of((*source.next())->image), 9);
    EXPECT_FALSE(*source.next());
  }
  writer.join();
}

// The other end stays open and says nothing more.
TEST(SilentPipe, is_left_when_the_caller_cancels) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const Fd writer(ends[1]);
  const auto image = jpeg_of(3);
  ASSERT_EQ(::write(ends[1], image.data(), image.size()), static_cast<ssize_t>(image.size()));
  FrameSourceOptions options;
  int asked = 0;
  bool is_over = false;
  options.load.is_cancelled = [&] { return is_over && ++asked > 1; };
  ASSERT_VALUE(auto source,
               capture::stream_source(ByteStream(Fd(ends[0]), options.load.is_cancelled), "stream",
                                      options));
  const auto frame = source->next();
  ASSERT_TRUE(frame && *frame);
  is_over = true;
  EXPECT_FAILS(source->next(), Errc::cancelled);
  EXPECT_EQ(asked, 2);
}

TEST(SilentPipe, without_a_writer_is_left_too) {
  const Folder folder;
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  FrameSourceOptions options;
  options.load.is_cancelled = [] { return true; };
  EXPECT_FAILS(FrameSource::open(folder / "pipe", options), Errc::cancelled);
}

TEST(ByteStream, peeks_reads_and_seeks_from_where_it_began) {
  const Folder folder;
  std::vector<std::byte> bytes(100);
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<std::byte>(i);
  write_bytes(folder / "file", bytes);
  Fd fd(::open((folder / "file").c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_EQ(::lseek(fd.get(), 10, SEEK_SET), 10);
  ByteStream stream(std::move(fd));
  ASSERT_TRUE(stream.is_seekable());
  EXPECT_EQ(stream.size_bytes(), 90U);
  EXPECT_EQ((*stream.peek(4))[3], std::byte{13});
  std::array<std::byte, 6> out{};
  EXPECT_EQ(*stream.read(out), 4U);
  EXPECT_EQ(stream.position(), 4U);
  EXPECT_EQ(*stream.read(out), 6U);
  EXPECT_EQ(out[0], std::byte{14});
  ASSERT_TRUE(stream.seek(0));
  EXPECT_EQ(*stream.read(out), 6U);
  EXPECT_EQ(out[0], std::byte{10});
  EXPECT_EQ(stream.peek(1000)->size(), 84U);
  EXPECT_FALSE(stream.seek(~std::uint64_t{0}));
  Feeder pipe({}, 1);
  ByteStream unseekable(pipe.take());
  EXPECT_FALSE(unseekable.is_seekable());
  EXPECT_FALSE(unseekable.seek(0));
}

}  // namespace
}  // namespace halyard
