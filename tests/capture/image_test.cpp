// SPDX-License-Identifier: Apache-2.0
// Single images and folders: order, choice of files, damaged ones among good ones, refusals.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "capture/image_source.h"
#include "capture/media.h"
#include "capture/natural_order.h"
#include "capture/source.h"
#include "halyard/capture.h"
#include "support/result.h"

namespace halyard {
namespace {

using test::Folder;
using test::jpeg_of;
using test::number_of;
using test::write_bytes;

Errc code_of_opening(const std::string& path) {
  const auto source = FrameSource::open(path);
  return source ? Errc::ok : source.error().code;
}

TEST(NaturalOrder, compares_runs_of_digits_as_numbers) {
  std::vector<std::string> names{
      "f10", "f9", "f010", "f1", "f", "g2", "f2a", "f2", "f100000000000000000000"};
  std::sort(names.begin(), names.end(),
            [](auto& a, auto& b) { return capture::natural_less(a, b); });
  EXPECT_EQ(names, (std::vector<std::string>{"f", "f1", "f2", "f2a", "f9", "f010", "f10",
                                             "f100000000000000000000", "g2"}));
  EXPECT_FALSE(capture::natural_less("a", "a"));
}

TEST(ImageSource, gives_one_frame_and_then_ends) {
  const Folder folder;
  write_bytes(folder / "one.jpg", jpeg_of(77));
  auto source = *FrameSource::open(folder / "one.jpg");
  EXPECT_FALSE(source.is_video());
  EXPECT_EQ(source.frame_count(), 1U);
  EXPECT_EQ(source.rate(), 25);
  const auto frame = *source.next();
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->image.format(), PixelFormat::nv12);
  EXPECT_EQ(number_of(frame->image), 77);
  EXPECT_EQ(frame->source, folder / "one.jpg");
  EXPECT_EQ(frame->index, 0U);
  EXPECT_FALSE(*source.next());
  EXPECT_FALSE(*source.next());
}

TEST(ImageSource, format_of_the_options_is_served) {
  const Folder folder;
  write_bytes(folder / "one.jpg", jpeg_of(1));
  auto source = *FrameSource::open(folder / "one.jpg", {.load = {.format = PixelFormat::rgb}});
  EXPECT_EQ((*source.next())->image.format(), PixelFormat::rgb);
}

TEST(ImageSource, content_decides_not_the_extension) {
  const Folder folder;
  write_bytes(folder / "image.dat", jpeg_of(5));
  auto source = *FrameSource::open(folder / "image.dat");
  EXPECT_EQ(number_of((*source.next())->image), 5);
}

TEST(ImageSource, damaged_image_is_an_error_that_names_it) {
  const Folder folder;
  auto bytes = jpeg_of(5);
  bytes.resize(bytes.size() / 2);
  write_bytes(folder / "cut.jpg", bytes);
  write_bytes(folder / "text.jpg", std::as_bytes(std::span("no image")));
  for (const char* name : {"cut.jpg", "text.jpg"}) {
    auto source = *FrameSource::open(folder / name);
    EXPECT_FAILS(source.next(), name) << name;
    EXPECT_FALSE(*source.next());
  }
}

TEST(ImageSource, limits_are_applied) {
  const Folder folder;
  write_bytes(folder / "one.jpg", jpeg_of(1));
  auto source = *FrameSource::open(folder / "one.jpg", {.load = {.limits = {.max_width = 64}}});
  EXPECT_FAILS(source.next(), Errc::invalid_argument);
}

TEST(FolderSource, gives_images_in_natural_order_and_nothing_else) {
  const Folder folder;
  write_bytes(folder / "f10.jpg", jpeg_of(10));
  write_bytes(folder / "f9.JPEG", jpeg_of(9));
  write_bytes(folder / "f1.jPg", jpeg_of(1));
  write_bytes(folder / "f2", jpeg_of(2));  // no extension: by its first bytes
  write_bytes(folder / "readme", std::as_bytes(std::span("text")));
  write_bytes(folder / "f3.txt", jpeg_of(3));
  write_bytes(folder / ".f4.jpg", jpeg_of(4));
  std::filesystem::create_directory(folder / "f5.jpg");
  auto source = *FrameSource::open(folder.path(), {.picture_rate = 10});
  EXPECT_EQ(source.frame_count(), 4U);
  EXPECT_EQ(source.rate(), 10);
  std::size_t index = 0;
  for (int expected : {1, 2, 9, 10}) {
    const auto frame = *source.next();
    ASSERT_TRUE(frame);
    EXPECT_EQ(number_of(frame->image), expected);
    EXPECT_EQ(frame->index, index);
    EXPECT_EQ(frame->timestamp, std::chrono::milliseconds(100) * index);
    ++index;
  }
  EXPECT_FALSE(*source.next());
}

TEST(FolderSource, goes_on_behind_a_damaged_file_and_names_it) {
  const Folder folder;
  auto cut = jpeg_of(2);
  cut.resize(cut.size() / 3);
  write_bytes(folder / "1.jpg", jpeg_of(1));
  write_bytes(folder / "2.jpg", cut);
  write_bytes(folder / "3.jpg", {});
  write_bytes(folder / "4.jpg", jpeg_of(4));
  auto source = *FrameSource::open(folder.path());
  EXPECT_EQ(number_of((*source.next())->image), 1);
  for (const char* name : {"2.jpg", "3.jpg"})
    EXPECT_FAILS(source.next(), name);
  const auto last = *source.next();
  ASSERT_TRUE(last);
  EXPECT_EQ(number_of(last->image), 4);
  EXPECT_EQ(last->index, 3U);
  EXPECT_FALSE(*source.next());
}

TEST(FolderSource, file_that_went_away_is_an_error_and_the_rest_is_given) {
  const Folder folder;
  write_bytes(folder / "1.jpg", jpeg_of(1));
  write_bytes(folder / "2.jpg", jpeg_of(2));
  auto source = *FrameSource::open(folder.path());
  std::filesystem::remove(folder / "1.jpg");
  EXPECT_FAILS(source.next(), Errc::not_found);
  EXPECT_EQ(number_of((*source.next())->image), 2);
}

TEST(FrameSource, refusals_are_typed) {
  const Folder folder;
  EXPECT_EQ(code_of_opening(folder.path()), Errc::invalid_argument);  // no image in it
  EXPECT_EQ(code_of_opening(folder / "missing.jpg"), Errc::not_found);
  EXPECT_EQ(code_of_opening(""), Errc::not_found);
  write_bytes(folder / "empty.jpg", {});
  EXPECT_EQ(code_of_opening(folder / "empty.jpg"), Errc::malformed);
  EXPECT_NE(code_of_opening(folder / "empty.jpg/under_a_file"), Errc::ok);
  write_bytes(folder / "text.txt", std::as_bytes(std::span("neither image nor video\n")));
  const Errc text = code_of_opening(folder / "text.txt");
  EXPECT_TRUE(text == Errc::malformed || text == Errc::unsupported);
  FrameSourceOptions options;
  for (double rate : {0.0, -1.0, 1e7, std::nan("")}) {
    options.picture_rate = rate;
    EXPECT_FAILS(FrameSource::open(folder / "empty.jpg", options), Errc::invalid_argument);
  }
}

TEST(FrameSource, messages_name_the_images_that_this_build_reads) {
  const std::string kinds = ", " + capture::read_kinds() + ",";
  for (const ImageFileKind& kind : image_file_kinds())
    EXPECT_EQ(kinds.find(", " + std::string(kind.name) + ",") != kinds.npos, kind.is_read) << kinds;
#ifndef HALYARD_HAVE_FFMPEG
  const Folder folder;
  write_bytes(folder / "notes.txt", std::vector<std::byte>(64, std::byte{'n'}));
  const auto source = FrameSource::open(folder / "notes.txt");
  EXPECT_FAILS(source, Errc::unsupported);
  const std::string message = source.error().message();
  EXPECT_NE(message.find("(" + capture::read_kinds() + ")"), message.npos) << message;
#endif
}

TEST(FrameSource, unreadable_file_and_folder_are_permission_errors) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read everything";
  const Folder folder;
  write_bytes(folder / "one.jpg", jpeg_of(1));
  ::chmod((folder / "one.jpg").c_str(), 0);
  EXPECT_EQ(code_of_opening(folder / "one.jpg"), Errc::permission);
  ::chmod(folder.path().c_str(), 0);
  EXPECT_EQ(code_of_opening(folder.path()), Errc::permission);
  ::chmod(folder.path().c_str(), 0700);
}

}  // namespace
}  // namespace halyard
