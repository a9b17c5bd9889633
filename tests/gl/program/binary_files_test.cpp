// SPDX-License-Identifier: Apache-2.0
// The files of compiled programs: nothing that is damaged, foreign or too large is taken, and what
// is wrong is replaced. Needs no OpenGL.
#include "gl/program/binary_files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "support/folder.h"
#include "support/in_child.h"
#include "support/result.h"

namespace halyard::test {
namespace {

namespace fs = std::filesystem;
using gl::binary_file_name;
using gl::BinaryFiles;
using gl::BinaryLimits;
using gl::ProgramBinary;

ProgramBinary numbered(std::size_t count, int seed = 0) {
  ProgramBinary out{7, std::vector<std::byte>(count)};
  for (std::size_t i = 0; i < count; ++i)
    out.bytes[i] = static_cast<std::byte>(i * 31 + static_cast<std::size_t>(seed));
  return out;
}

std::vector<char> content_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write_content(const std::string& path, const std::vector<char>& content) {
  std::ofstream(path, std::ios::binary)
      .write(content.data(), static_cast<std::streamsize>(content.size()));
}

class BinaryFilesTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_OK(files_); }
  bool finds(const std::string& key, const ProgramBinary& wanted) const {
    const auto found = files_->find(key);
    return found && found->format == wanted.format && found->bytes == wanted.bytes;
  }
  std::string path_of(const std::string& key) const { return folder_ / binary_file_name(key); }
  bool exists(const std::string& key) const { return fs::exists(fs::symlink_status(path_of(key))); }

  Folder folder_;
  Result<BinaryFiles> files_ = BinaryFiles::open(folder_.path());
  const ProgramBinary binary_ = numbered(100);
};

TEST_F(BinaryFilesTest, what_is_kept_under_a_key_is_found_under_it_alone) {
  EXPECT_FALSE(files_->find("key"));
  ASSERT_OK(files_->keep("key", binary_));
  EXPECT_TRUE(finds("key", binary_));
  EXPECT_FALSE(files_->find("another key"));
  ASSERT_OK(files_->keep("key", numbered(50, 9)));
  EXPECT_TRUE(finds("key", numbered(50, 9)));
  ASSERT_OK(files_->keep("empty", numbered(0)));
  EXPECT_TRUE(finds("empty", numbered(0)));
}

TEST_F(BinaryFilesTest, files_and_folders_are_this_users_alone) {
  const std::string deep = folder_ / "a/b/c";
  ASSERT_VALUE(const auto files, BinaryFiles::open(deep));
  ASSERT_OK(files.keep("key", binary_));
  for (const char* made : {"a", "a/b", "a/b/c"}) {
    struct stat seen {};
    ASSERT_EQ(::stat((folder_ / made).c_str(), &seen), 0);
    EXPECT_EQ(seen.st_mode & 07777U, 0700U) << made;
  }
  struct stat seen {};
  ASSERT_EQ(::stat((deep + "/" + binary_file_name("key")).c_str(), &seen), 0);
  EXPECT_EQ(seen.st_mode & 07777U, 0600U);
}

TEST_F(BinaryFilesTest, no_damaged_byte_passes) {
  ASSERT_OK(files_->keep("key", binary_));
  const std::vector<char> whole = content_of(path_of("key"));
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::vector<char> damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    write_content(path_of("key"), damaged);
    EXPECT_FALSE(files_->find("key")) << "byte " << i;
    EXPECT_FALSE(exists("key")) << "byte " << i;
  }
  ASSERT_OK(files_->keep("key", binary_));
  EXPECT_TRUE(finds("key", binary_));
}

TEST_F(BinaryFilesTest, no_file_of_another_length_passes) {
  ASSERT_OK(files_->keep("key", binary_));
  const std::vector<char> whole = content_of(path_of("key"));
  for (std::size_t size = 0; size < whole.size() + 20; ++size) {
    if (size == whole.size()) continue;
    std::vector<char> cut = whole;
    cut.resize(size);
    write_content(path_of("key"), cut);
    EXPECT_FALSE(files_->find("key")) << size;
    EXPECT_FALSE(exists("key")) << size;
  }
}

TEST_F(BinaryFilesTest, a_file_of_another_key_does_not_pass_under_this_name) {
  ASSERT_OK(files_->keep("key of one length", binary_));
  fs::rename(path_of("key of one length"), path_of("key of 1 length!!"));
  EXPECT_FALSE(files_->find("key of 1 length!!"));
}

TEST_F(BinaryFilesTest, files_that_others_may_have_written_are_ignored_and_replaced) {
  ASSERT_OK(files_->keep("key", binary_));
  for (const mode_t mode : {0620U, 0602U, 0666U}) {
    ASSERT_EQ(::chmod(path_of("key").c_str(), mode), 0);
    EXPECT_FALSE(files_->find("key"));
    EXPECT_FALSE(exists("key"));
    ASSERT_OK(files_->keep("key", binary_));
    EXPECT_TRUE(finds("key", binary_));
  }
  if (::chown(path_of("key").c_str(), 65534, 65534) != 0) GTEST_SKIP() << "only root can chown()";
  EXPECT_FALSE(files_->find("key"));
  EXPECT_FALSE(exists("key"));
}

TEST_F(BinaryFilesTest, links_fifos_and_folders_are_not_read) {
  ASSERT_OK(files_->keep("key", binary_));
  const std::string outside = folder_ / "outside";
  fs::rename(path_of("key"), outside);
  ASSERT_EQ(::symlink(outside.c_str(), path_of("key").c_str()), 0);
  EXPECT_FALSE(files_->find("key"));
  EXPECT_TRUE(fs::exists(outside)) << "the link is removed, not its target";
  ASSERT_EQ(::mkfifo(path_of("key").c_str(), 0600), 0);
  EXPECT_FALSE(files_->find("key"));
  EXPECT_FALSE(exists("key"));
  fs::create_directory(path_of("key"));
  EXPECT_FALSE(files_->find("key"));
  EXPECT_FAILS(files_->keep("key", binary_), "cannot be written");
  EXPECT_EQ(folder_.entries(), 2U) << "the unfinished file is removed";
}

TEST_F(BinaryFilesTest, a_folder_that_others_may_enter_is_refused) {
  for (const mode_t mode : {0710U, 0701U, 0777U}) {
    ASSERT_EQ(::chmod(folder_.path().c_str(), mode), 0);
    EXPECT_FAILS(BinaryFiles::open(folder_.path()), Errc::permission, "mode 07");
  }
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0700), 0);
  ASSERT_EQ(::symlink(folder_.path().c_str(), (folder_ / "link").c_str()), 0);
  EXPECT_FAILS(BinaryFiles::open(folder_ / "link"), "cannot be opened");
  write_content(folder_ / "file", {'x'});
  EXPECT_FAILS(BinaryFiles::open(folder_ / "file"), "cannot be opened");
  EXPECT_FAILS(BinaryFiles::open(folder_ / "file/below"), "cannot be opened");
  EXPECT_FAILS(BinaryFiles::open("/proc/no such folder"), "cannot be opened");
  ASSERT_EQ(::chown(folder_.path().c_str(), ::geteuid(), ::getegid()), 0);
  if (::chown(folder_.path().c_str(), 65534, 65534) != 0) GTEST_SKIP() << "only root can chown()";
  EXPECT_FAILS(BinaryFiles::open(folder_.path()), Errc::permission, "owner 65534");
}

TEST_F(BinaryFilesTest, large_programs_are_neither_kept_nor_read) {
  ASSERT_VALUE(const auto small, BinaryFiles::open(folder_.path(), {.file_bytes = 200}));
  EXPECT_FAILS(small.keep("key", numbered(200)), Errc::exhausted, "at most 200");
  ASSERT_OK(files_->keep("key", numbered(200)));
  EXPECT_FALSE(small.find("key"));
  EXPECT_FALSE(exists("key"));
}

TEST_F(BinaryFilesTest, of_too_many_files_those_used_last_are_kept) {
  const auto pause = [] { std::this_thread::sleep_for(std::chrono::milliseconds(20)); };
  ASSERT_VALUE(const auto few, BinaryFiles::open(folder_.path(), {.files = 3}));
  write_content(folder_ / ".part-of-a-killed-process", {'x'});
  for (const char* key : {"a", "b", "c"}) {
    pause();
    ASSERT_OK(few.keep(key, binary_));
  }
  EXPECT_EQ(folder_.entries(), 3U);
  EXPECT_FALSE(fs::exists(folder_ / ".part-of-a-killed-process"));
  pause();
  EXPECT_TRUE(few.find("a"));
  pause();
  ASSERT_OK(few.keep("d", binary_));
  EXPECT_TRUE(exists("a"));
  EXPECT_FALSE(exists("b"));
  const std::size_t file = fs::file_size(path_of("d"));
  ASSERT_VALUE(const auto narrow, BinaryFiles::open(folder_.path(), {.folder_bytes = 2 * file}));
  pause();
  ASSERT_OK(narrow.keep("e", binary_));
  EXPECT_EQ(folder_.entries(), 2U);
  EXPECT_TRUE(exists("d"));
  EXPECT_TRUE(exists("e"));
}

TEST_F(BinaryFilesTest, a_full_disk_leaves_no_part_of_a_file) {
  EXPECT_TRUE(is_true_in_child([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    const struct rlimit least { 100, 100 };
    return ::setrlimit(RLIMIT_FSIZE, &least) == 0 && !files_->keep("key", numbered(500));
  }));
  EXPECT_EQ(folder_.entries(), 0U);
}

TEST_F(BinaryFilesTest, a_folder_that_has_gone_is_an_error_of_writing_alone) {
  fs::remove_all(folder_.path());
  EXPECT_FALSE(files_->find("key"));
  EXPECT_FAILS(files_->keep("key", binary_), Errc::not_found);
}

TEST_F(BinaryFilesTest, processes_that_write_and_read_at_once_see_whole_files) {
  const auto write_and_read = [&](int seed) {
    for (int i = 0; i < 300; ++i) {
      if (!files_->keep("key", numbered(5000, seed))) return false;
      const auto found = files_->find("key");
      if (!found) return false;
      bool is_one_of_both = false;
      for (const int one : {1, 2})
        is_one_of_both = is_one_of_both || found->bytes == numbered(5000, one).bytes;
      if (!is_one_of_both) return false;
    }
    return true;
  };
  EXPECT_TRUE(
      are_true_in_children([&] { return write_and_read(1); }, [&] { return write_and_read(2); }));
  EXPECT_TRUE(files_->find("key"));
  EXPECT_EQ(folder_.entries(), 1U);
}

}  // namespace
}  // namespace halyard::test
