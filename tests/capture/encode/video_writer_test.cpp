// SPDX-License-Identifier: Apache-2.0
// Writing videos: formats, odd sizes, refusals, full disks, nothing left behind.
#ifdef HALYARD_HAVE_FFMPEG

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "capture/media.h"
#include "capture/video.h"
#include "halyard/capture.h"
#include "support/result.h"

namespace halyard {
namespace {

using F = PixelFormat;
using test::Folder;
using test::make_video;
using test::number_of;
using test::numbered_image;
using test::psnr;
using test::write_bytes;

TEST(VideoWriter, takes_nv12_and_changes_of_format) {
  const Folder folder;
  auto writer = *VideoWriter::create(folder / "clip.mp4", {128, 96}, 25);
  for (int n = 0; n < 10; ++n) {
    const auto format = n % 3 == 2 ? F::i420 : F::nv12;
    ASSERT_TRUE(writer.write(numbered_image(n, 128, 96, format)));
  }
  ASSERT_TRUE(writer.finish());
  auto source = *FrameSource::open(folder / "clip.mp4");
  for (int n = 0; n < 10; ++n) {
    const auto frame = *source.next();
    ASSERT_TRUE(frame);
    EXPECT_EQ(number_of(frame->image), n);
    for (std::size_t plane : {0U, 1U, 2U})
      EXPECT_GT(psnr(frame->image, numbered_image(n), plane), 35) << n << " " << plane;
  }
  EXPECT_FALSE(*source.next());
}

TEST(VideoWriter, index_lies_in_front_so_that_pipes_can_be_read) {
  const Folder folder;
  for (const char* name : {"clip.mp4", "clip.mov"}) {
    make_video(folder / name, 5);
    const auto file = *read_file(folder / name);
    const std::string text(reinterpret_cast<const char*>(file.data()), file.size());
    ASSERT_NE(text.find("moov"), std::string::npos) << name;
    EXPECT_LT(text.find("moov"), text.find("mdat")) << name;
  }
}

TEST(VideoWriter, odd_sizes_repeat_the_last_column_and_row) {
  const Folder folder;
  for (PixelFormat format : {F::i420, F::nv12}) {
    make_video(folder / "clip.mp4", 5, 25, format, 131, 97);
    auto source = *FrameSource::open(folder / "clip.mp4");
    const auto frame = *source.next();
    ASSERT_TRUE(frame);
    EXPECT_EQ(frame->image.size(), (Size{132, 98}));
    const Tensor original = numbered_image(0, 131, 97);
    for (std::size_t plane : {0U, 1U, 2U})
      EXPECT_GT(psnr(frame->image, original, plane), 35);
    const auto map = *frame->image.map(Access::read);
    const MappedPlane& luma = map.plane(0);
    EXPECT_NEAR(std::to_integer<int>(luma.data[131]), std::to_integer<int>(luma.data[130]), 8);
  }
}

TEST(VideoWriter, smallest_and_sliced_images_are_served) {
  const Folder folder;
  auto writer = *VideoWriter::create(folder / "one.mkv", {1, 1}, 25);
  Tensor pixel = *Tensor::create_image(1, 1, F::nv12);
  EXPECT_TRUE(writer.write(pixel));
  EXPECT_TRUE(writer.finish());
  auto sliced = *VideoWriter::create(folder / "slice.mp4", {128, 96}, 25);
  for (int n = 0; n < 4; ++n) {
    Tensor large = numbered_image(n, 384, 200);
    ASSERT_TRUE(sliced.write(*large.slice({128, 50, 128, 96})));
  }
  ASSERT_TRUE(sliced.finish());
  auto source = *FrameSource::open(folder / "slice.mp4");
  for (int n = 0; n < 4; ++n)
    EXPECT_EQ(number_of((*source.next())->image), n);
}

TEST(VideoWriter, does_not_copy_images_that_fit) {
  const Folder folder;
  const Tensor image = numbered_image(3);
  const auto before = copy_stats();
  auto writer = *VideoWriter::create(folder / "clip.mp4", {128, 96}, 25);
  for (int n = 0; n < 5; ++n)
    ASSERT_TRUE(writer.write(image));
  ASSERT_TRUE(writer.finish());
  EXPECT_EQ(copy_stats().copies, before.copies);
}

TEST(VideoWriter, unfinished_file_leaves_nothing_and_an_old_one_stays) {
  const Folder folder;
  make_video(folder / "clip.mp4", 3);
  const auto old = *read_file(folder / "clip.mp4");
  {
    auto writer = *VideoWriter::create(folder / "clip.mp4", {128, 96}, 25);
    ASSERT_TRUE(writer.write(numbered_image(1)));
    EXPECT_EQ(folder.entries(), 2U);
  }
  {
    auto writer = *VideoWriter::create(folder / "none.mp4", {128, 96}, 25);
    const Status finished = writer.finish();  // no frame
    EXPECT_FAILS(finished, Errc::invalid_argument);
  }
  EXPECT_EQ(folder.entries(), 1U);
  EXPECT_EQ(*read_file(folder / "clip.mp4"), old);
}

TEST(VideoWriter, link_stays_and_the_file_keeps_its_permissions) {
  const Folder folder;
  write_bytes(folder / "kept.mp4", {});
  std::filesystem::permissions(folder / "kept.mp4", std::filesystem::perms(0600));
  std::filesystem::create_symlink("kept.mp4", folder / "link.mp4");
  std::filesystem::create_symlink("new.avi", folder / "dangling.avi");
  make_video(folder / "link.mp4", 3);
  make_video(folder / "dangling.avi", 3);
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link.mp4"));
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "dangling.avi"));
  EXPECT_EQ(std::filesystem::status(folder / "kept.mp4").permissions(),
            std::filesystem::perms(0600));
  for (const char* name : {"kept.mp4", "new.avi"}) {
    auto source = FrameSource::open(folder / name);
    ASSERT_TRUE(source) << name;
    for (int n = 0; n < 3; ++n)
      EXPECT_EQ(number_of((*source->next())->image), n) << name;
  }
  EXPECT_EQ(folder.entries(), 4U);
}

TEST(VideoWriter, part_files_have_random_names_and_overwrite_nothing) {
  const Folder folder;
  std::set<std::string> digits;
  for (int n = 0; n < 20; ++n) {
    const auto writer = VideoWriter::create(folder / "clip.mp4", {128, 96}, 25);
    ASSERT_TRUE(writer);
    ASSERT_EQ(folder.entries(), 1U);
    const auto part = std::filesystem::directory_iterator(folder.path())->path().filename();
    EXPECT_TRUE(part.string().starts_with(".clip.mp4.part-")) << part;
    digits.insert(part.string().substr(15));
  }
  EXPECT_EQ(digits.size(), 20U);
  EXPECT_EQ(folder.entries(), 0U);
}

TEST(VideoWriter, pipes_are_refused_and_stay) {
  const Folder folder;
  ASSERT_EQ(::mkfifo((folder / "clip.mkv").c_str(), 0600), 0);
  EXPECT_FAILS(VideoWriter::create(folder / "clip.mkv", {128, 96}, 25), Errc::invalid_argument);
  EXPECT_TRUE(std::filesystem::is_fifo(folder / "clip.mkv"));
}

TEST(VideoWriter, refusals_are_typed) {
  const Folder folder;
  const auto code = [](const std::string& path, Size size, double rate) {
    auto writer = VideoWriter::create(path, size, rate);
    return writer ? Errc::ok : writer.error().code;
  };
  EXPECT_EQ(code(folder / "a.mp4", {0, 4}, 25), Errc::invalid_argument);
  EXPECT_EQ(code(folder / "a.mp4", {4, -1}, 25), Errc::invalid_argument);
  EXPECT_EQ(code(folder / "a.mp4", {16385, 4}, 25), Errc::invalid_argument);
  EXPECT_EQ(code(folder / "a.mp4", {4, 4}, 0), Errc::invalid_argument);
  EXPECT_EQ(code(folder / "a.mp4", {4, 4}, std::nan("")), Errc::invalid_argument);
  EXPECT_EQ(code(folder / "a.mp4", {4, 4}, 1e9), Errc::invalid_argument);
  EXPECT_EQ(code(folder / "a.mp4", {4, 4}, 1e-300), Errc::invalid_argument);
  EXPECT_EQ(code(folder / "a.txt", {4, 4}, 25), Errc::unsupported);
  EXPECT_EQ(code(folder / "a", {4, 4}, 25), Errc::unsupported);
  EXPECT_EQ(code(folder / "a.webm", {4, 4}, 25), Errc::unsupported);
  for (const std::string_view extension : VideoWriter::extensions())
    EXPECT_TRUE(VideoWriter::create(folder / ("b." + std::string(extension)), {4, 4}, 25));
  EXPECT_EQ(VideoWriter::extensions().size(), 4U);
  EXPECT_EQ(code(folder / "no/a.mp4", {4, 4}, 25), Errc::not_found);
  write_bytes(folder / "file", {});
  EXPECT_NE(code(folder / "file/a.mp4", {4, 4}, 25), Errc::ok);
  std::filesystem::create_directory(folder / "dir.mp4");
  EXPECT_EQ(code(folder / "dir.mp4", {4, 4}, 25), Errc::invalid_argument);
  EXPECT_EQ(folder.entries(), 2U);

  auto writer = *VideoWriter::create(folder / "a.mp4", {128, 96}, 25);
  EXPECT_FAILS(writer.write(numbered_image(0, 130, 96)), Errc::invalid_argument);
  Tensor rgb = *Tensor::create_image(128, 96, F::rgb);
  EXPECT_FAILS(writer.write(rgb), Errc::unsupported);
  EXPECT_FAILS(writer.write(Tensor()), Errc::invalid_argument);
  EXPECT_TRUE(writer.write(numbered_image(0)));  // still usable
  EXPECT_TRUE(writer.finish());
  EXPECT_TRUE(writer.finish());
  EXPECT_FALSE(writer.write(numbered_image(0)));
}

TEST(VideoWriter, full_disk_is_an_os_error_and_leaves_nothing) {
  const Folder folder;
  // A limit on the size of files acts as the full disk.
  struct rlimit old {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old), 0);
  auto* const handler = std::signal(SIGXFSZ, SIG_IGN);
  struct rlimit low = old;
  low.rlim_cur = 20'000;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &low), 0);
  std::mt19937 random(1);
  Status last;
  {
    auto writer = *VideoWriter::create(folder / "clip.mp4", {320, 240}, 25);
    for (int n = 0; n < 60 && last; ++n) {
      Tensor noise = *Tensor::create_image(320, 240, F::i420, DType::u8, Memory::mem);
      {
        const auto map = *noise.map(Access::write);
        for (std::size_t i = 0; i < noise.size_bytes(); ++i)
          map.writable()[i] = static_cast<std::byte>(random());
      }
      last = writer.write(noise);
    }
    if (last) last = writer.finish();
    EXPECT_FALSE(writer.finish());  // stays failed
  }
  ::setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, handler);
  EXPECT_FAILS(last, Errc::os);
  EXPECT_EQ(last.error().os_errno, EFBIG) << last.error().message();
  EXPECT_EQ(folder.entries(), 0U);
}

}  // namespace
}  // namespace halyard

#endif
