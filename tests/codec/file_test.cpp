// SPDX-License-Identifier: Apache-2.0
// Files: limits when reading; no half file, no leftover when writing.
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <thread>

#include "codec/support.h"
#include "halyard/fd.h"
#include "support/folder.h"
#include "support/in_child.h"
#include "support/result.h"

namespace halyard {
namespace {

using F = PixelFormat;

namespace fs = std::filesystem;
using test::Bytes;

class FileTest : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return folder_ / name; }

  const test::Folder folder_;
  const Bytes small_ = {std::byte{1}, std::byte{2}, std::byte{3}};
};

TEST_F(FileTest, what_was_written_is_read) {
  for (const std::size_t size : {0U, 1U, 65535U, 65536U, 300000U}) {
    Bytes bytes(size);
    for (std::size_t i = 0; i < size; ++i)
      bytes[i] = static_cast<std::byte>(i * 7);
    ASSERT_TRUE(write_file(path("f"), bytes));
    ASSERT_VALUE(const auto back, read_file(path("f")));
    EXPECT_EQ(back, bytes);
    EXPECT_EQ(folder_.entries(), 1U);
  }
}

TEST_F(FileTest, read_stops_at_its_limit) {
  ASSERT_TRUE(write_file(path("f"), small_));
  EXPECT_TRUE(read_file(path("f"), 3));
  EXPECT_FAILS(read_file(path("f"), 2), Errc::invalid_argument);
  // A device tells no size.
  EXPECT_FAILS(read_file("/dev/zero", 1000), Errc::invalid_argument);
}

TEST_F(FileTest, stream_is_read_to_one_byte_beyond_the_limit_and_no_further) {
  int ends[2] = {};
  ASSERT_EQ(::pipe(ends), 0);
  const Fd reader(ends[0]), writer(ends[1]);
  const Bytes bytes(200'000);
  ASSERT_GE(::fcntl(writer.get(), F_SETPIPE_SZ, 1 << 18), 1 << 18);
  ASSERT_EQ(::write(writer.get(), bytes.data(), bytes.size()), 200'000);
  EXPECT_FAILS(read_file("/proc/self/fd/" + std::to_string(reader.get()), 100'000),
               Errc::invalid_argument);
  int left = 0;
  ASSERT_EQ(::ioctl(reader.get(), FIONREAD, &left), 0);
  EXPECT_EQ(left, 200'000 - 100'001);
}

TEST_F(FileTest, long_streams_are_read_whole) {
  int ends[2] = {};
  ASSERT_EQ(::pipe(ends), 0);
  const Fd reader(ends[0]);
  Bytes bytes(3'000'001);
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<std::byte>(i * 7 ^ i >> 8);
  std::thread writer([&, end = Fd(ends[1])] {
    for (std::size_t at = 0; at < bytes.size();) {
      const ssize_t put = ::write(end.get(), bytes.data() + at, bytes.size() - at);
      ASSERT_GT(put, 0);
      at += static_cast<std::size_t>(put);
    }
  });
  const auto read = read_file(reader.get(), "pipe", bytes.size());
  writer.join();
  ASSERT_OK(read);
  EXPECT_EQ(*read, bytes);
}

TEST_F(FileTest, long_streams_need_little_more_memory_than_their_bytes) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers keep released memory";
#endif
  constexpr std::size_t size_mib = 256;
  EXPECT_TRUE(test::is_true_in_child([] {
    int ends[2] = {};
    // Earlier tests have raised it: then blocks that grow are copied.
    if (::pipe(ends) != 0 || ::mallopt(M_MMAP_THRESHOLD, 1 << 17) != 1) return false;
    std::thread writer([end = Fd(ends[1])] {
      const Bytes mib(std::size_t{1} << 20);
      for (std::size_t at = 0; at < size_mib * mib.size();) {
        const std::size_t left = mib.size() - at % mib.size();
        at += static_cast<std::size_t>(::write(end.get(), mib.data(), left));
      }
    });
    rusage before{}, after{};
    ::getrusage(RUSAGE_SELF, &before);
    const auto read = read_file(ends[0], "pipe");
    ::getrusage(RUSAGE_SELF, &after);
    writer.join();
    const auto more_mib = static_cast<std::size_t>(after.ru_maxrss - before.ru_maxrss) >> 10;
    return read && read->size() >> 20 == size_mib && more_mib < size_mib + 80;
  }));
}

TEST_F(FileTest, descriptors_are_read_from_their_position) {
  const Bytes bytes = {std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}};
  ASSERT_TRUE(write_file(path("f"), bytes));
  const Fd fd(::open(path("f").c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_EQ(::lseek(fd.get(), 2, SEEK_SET), 2);
  ASSERT_VALUE(const auto rest, read_file(fd.get(), "f", 2));
  EXPECT_EQ(rest, Bytes(bytes.begin() + 2, bytes.end()));
  ASSERT_VALUE(const auto none, read_file(fd.get(), "f", 2));
  EXPECT_TRUE(none.empty());
  EXPECT_FAILS(read_file(-1, "the name"), "the name");
  ASSERT_EQ(::lseek(fd.get(), 1, SEEK_SET), 1);
  EXPECT_FAILS(read_file(fd.get(), "the name", 2), "the name: above 2 bytes");
}

TEST_F(FileTest, signals_do_not_end_the_wait_for_a_pipe) {
  struct sigaction ignore = {};
  struct sigaction old = {};
  ignore.sa_handler = [](int) {};  // and no SA_RESTART: system calls fail with EINTR
  ASSERT_EQ(::sigaction(SIGUSR1, &ignore, &old), 0);
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  const pthread_t reader = ::pthread_self();
  std::thread writer([&] {
    const Fd end(::open(path("pipe").c_str(), O_WRONLY | O_CLOEXEC));  // the reader has opened it
    // Were the reader gone, the bytes would still find a pipe.
    const Fd other(::open(path("pipe").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    for (int i = 0; i < 20; ++i) {
      ::pthread_kill(reader, SIGUSR1);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_EQ(::write(end.get(), small_.data(), small_.size()), 3);
  });
  const auto read = read_file(path("pipe"));
  writer.join();
  ::sigaction(SIGUSR1, &old, nullptr);
  ASSERT_OK(read);
  EXPECT_EQ(*read, small_);
}

TEST_F(FileTest, missing_files_and_folders_are_told_apart) {
  EXPECT_FAILS(read_file(path("none")), Errc::not_found);
  EXPECT_FAILS(read_file(folder_.path()), Errc::os);
  EXPECT_FAILS(write_file(path("none/f"), small_), Errc::not_found);
  EXPECT_FAILS(write_file(folder_.path(), small_), Errc::os);
  EXPECT_FAILS(read_file(path("none")), "none");
}

TEST_F(FileTest, forbidden_folder_is_a_permission_error) {
  if (::geteuid() == 0) GTEST_SKIP() << "the superuser may write anywhere";
  fs::permissions(folder_.path(), fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_FAILS(write_file(path("f"), small_), Errc::permission);
  fs::permissions(folder_.path(), fs::perms::owner_all);
}

TEST_F(FileTest, replaced_file_keeps_its_permissions_and_a_link_stays_one) {
  ASSERT_TRUE(write_file(path("f"), small_));
  ASSERT_EQ(::chmod(path("f").c_str(), 0640), 0);
  fs::create_symlink("f", path("link"));
  const Bytes other = {std::byte{9}};
  ASSERT_TRUE(write_file(path("link"), other));
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(*read_file(path("f")), other);
  struct stat status {};
  ASSERT_EQ(::stat(path("f").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777U, 0640U);
}

TEST_F(FileTest, full_device_is_an_os_error_and_stays_a_device) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  const auto status = write_file("/dev/full", small_);
  EXPECT_FAILS(status, Errc::os);
  EXPECT_EQ(status.error().os_errno, ENOSPC);
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
}

TEST_F(FileTest, dangling_link_gets_its_target_and_stays) {
  fs::create_symlink("target", path("link"));
  ASSERT_TRUE(write_file(path("link"), small_));
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(*read_file(path("target")), small_);
  const auto image = Tensor::create_image(20, 10, F::rgb);
  fs::create_symlink("seen.png", path("shown.png"));
  ASSERT_TRUE(save_png(*image, path("shown.png")));
  EXPECT_TRUE(fs::is_symlink(path("shown.png")));
  EXPECT_TRUE(load_image(path("seen.png")));
  EXPECT_EQ(folder_.entries(), 4U);
}

TEST_F(FileTest, failed_write_leaves_neither_the_name_nor_a_part_file) {
  ASSERT_TRUE(write_file(path("old"), small_));
  fs::create_directory(path("target"));
  // The target is a folder by the time of the rename: as if another program had made it.
  EXPECT_FALSE(write_file(path("target"), small_));
  EXPECT_EQ(folder_.entries(), 2U);
}

TEST_F(FileTest, saved_images_load_again) {
  const auto image = Tensor::create_image(20, 10, F::rgb);
  ASSERT_TRUE(save_png(*image, path("p.png")));
  ASSERT_TRUE(save_jpeg(*image, path("p.jpg")));
  EXPECT_EQ(load_image(path("p.png"))->format(), F::rgb);
  EXPECT_EQ(load_image(path("p.jpg"))->format(), F::nv12);
  EXPECT_EQ(folder_.entries(), 2U);
  EXPECT_FAILS(save_png(*image, path("no/p.png")), Errc::not_found);
}

TEST_F(FileTest, image_that_cannot_be_encoded_writes_nothing) {
  const auto planar = Tensor::create_image(8, 8, F::planar_rgb);
  EXPECT_FAILS(save_jpeg(*planar, path("p.jpg")), Errc::unsupported);
  EXPECT_FAILS(save_png(*planar, path("p.png")), Errc::unsupported);
  EXPECT_EQ(folder_.entries(), 0U);
}

TEST_F(FileTest, errors_of_images_name_the_file) {
  ASSERT_TRUE(write_file(path("empty"), Bytes{}));
  ASSERT_TRUE(write_file(path("text"), small_));
  EXPECT_FAILS(load_image(path("empty")), Errc::invalid_argument);
  EXPECT_FAILS(load_image(path("text")), Errc::malformed, "text");
  EXPECT_FAILS(load_image(path("none")), Errc::not_found);
}

}  // namespace
}  // namespace halyard
