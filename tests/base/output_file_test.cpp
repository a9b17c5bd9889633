// SPDX-License-Identifier: Apache-2.0
// Output files: what is replaced, followed, written to or refused.
#include "halyard/output_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "base/output_files.h"
#include "support/result.h"

namespace {

// What the next calls of getrandom() give; empty: the system's.
std::vector<std::uint64_t> next_randoms;

}  // namespace

extern "C" ssize_t getrandom(void* to, std::size_t size, unsigned flags) {
  if (next_randoms.empty() || size != sizeof(std::uint64_t)) {
    return ::syscall(SYS_getrandom, to, size, flags);
  }
  std::memcpy(to, &next_randoms.front(), size);
  next_randoms.erase(next_randoms.begin());
  return static_cast<ssize_t>(size);
}

namespace halyard {
namespace {

namespace fs = std::filesystem;

using OutputFileTest = test::OutputFiles;
using test::in_child;

TEST_F(OutputFileTest, name_shows_the_whole_file_or_none) {
  const mode_t mask = ::umask(027);
  {
    auto file = *OutputFile::create(path("a"));
    EXPECT_FALSE(file.is_direct());
    ASSERT_TRUE(file.write("one "));
    ASSERT_TRUE(file.write(std::string(100'000, 'x')));
    EXPECT_EQ(file.position_bytes(), 100'004U);
    EXPECT_FALSE(fs::exists(path("a")));
    ASSERT_TRUE(file.commit());
  }
  ::umask(mask);
  EXPECT_EQ(text_of("a"), "one " + std::string(100'000, 'x'));
  EXPECT_EQ(look("a").st_mode & 07777U, 0640U);
  EXPECT_EQ(names(), Names{"a"});
}

TEST_F(OutputFileTest, file_that_is_not_committed_leaves_the_old_one_alone) {
  put("a", "old");
  {
    auto file = *OutputFile::create(path("a"));
    ASSERT_TRUE(file.write(std::string(100'000, 'x')));
    EXPECT_EQ(names().size(), 2U);
  }
  EXPECT_EQ(text_of("a"), "old");
  EXPECT_EQ(names(), Names{"a"});
}

TEST_F(OutputFileTest, replaced_file_keeps_its_permissions) {
  for (const mode_t mode : {0600U, 0444U, 0666U, 02755U}) {
    put("a", "old");
    ASSERT_EQ(::chmod(path("a").c_str(), mode), 0);
    auto file = *OutputFile::create(path("a"));
    ASSERT_TRUE(file.write("new"));
    ASSERT_TRUE(file.commit());
    EXPECT_EQ(look("a").st_mode & 07777U, mode);
    EXPECT_EQ(text_of("a"), "new");
    fs::remove(path("a"));
  }
}

TEST_F(OutputFileTest, replaced_file_keeps_its_owner_where_that_is_permitted) {
  if (::geteuid() != 0) GTEST_SKIP() << "only the superuser may give files away";
  put("a", "old");
  ASSERT_EQ(::chown(path("a").c_str(), 12345, 54321), 0);
  ASSERT_TRUE(write_whole(path("a"), "new"));
  EXPECT_EQ(look("a").st_uid, 12345U);
  EXPECT_EQ(look("a").st_gid, 54321U);
}

TEST_F(OutputFileTest, group_that_cannot_be_kept_hands_its_rights_to_nobody_else) {
  if (::geteuid() != 0) GTEST_SKIP() << "only the superuser may become somebody else";
  put("a", "old");
  ASSERT_EQ(::chown(path("a").c_str(), 12345, 54321), 0);
  ASSERT_EQ(::chmod(path("a").c_str(), 0664), 0);
  ASSERT_EQ(::chown(folder_.path().c_str(), 12345, 12345), 0);
  const int status = in_child([&] {
    if (::setgid(12345) != 0 || ::setuid(12345) != 0) ::_exit(1);
    ::_exit(write_whole(path("a"), "new") ? 0 : 2);
  });
  ASSERT_EQ(status, 0);
  EXPECT_EQ(look("a").st_gid, 12345U);
  EXPECT_EQ(look("a").st_mode & 07777U, 0644U);
}

TEST_F(OutputFileTest, links_are_followed_and_stay) {
  fs::create_directory(path("sub"));
  put("sub/file", "old");
  fs::create_symlink("sub/file", path("link"));
  fs::create_symlink(path("link"), path("far"));
  ASSERT_TRUE(write_whole(path("far"), "new"));
  EXPECT_TRUE(fs::is_symlink(path("far")));
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(text_of("sub/file"), "new");
  EXPECT_EQ(names(), (Names{"far", "link", "sub"}));
}

TEST_F(OutputFileTest, target_of_a_dangling_link_is_created) {
  fs::create_directory(path("sub"));
  fs::create_symlink("sub/file", path("link"));
  ASSERT_TRUE(write_whole(path("link"), "new"));
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(text_of("sub/file"), "new");
  fs::create_symlink("none/file", path("lost"));
  EXPECT_FAILS(OutputFile::create(path("lost")), Errc::not_found);
}

TEST_F(OutputFileTest, links_in_a_circle_are_an_error) {
  fs::create_symlink("b", path("a"));
  fs::create_symlink("a", path("b"));
  EXPECT_EQ(OutputFile::create(path("a")).error().os_errno, ELOOP);
}

TEST_F(OutputFileTest, links_of_others_in_a_shared_folder_are_not_followed) {
  if (::geteuid() != 0) GTEST_SKIP() << "only the superuser may give links away";
  put("victim", "old");
  fs::create_directory(path("shared"));
  ASSERT_EQ(::chmod(path("shared").c_str(), 01777), 0);
  fs::create_symlink("../victim", path("shared/link"));
  ASSERT_TRUE(write_whole(path("shared/link"), "mine")) << "the caller's own link";
  ASSERT_EQ(::lchown(path("shared/link").c_str(), 12345, 12345), 0);
  EXPECT_FAILS(OutputFile::create(path("shared/link")), Errc::permission);
  EXPECT_EQ(text_of("victim"), "mine");
  ASSERT_EQ(::chmod(path("shared").c_str(), 0755), 0);
  EXPECT_TRUE(write_whole(path("shared/link"), "new")) << "a folder that is not shared";
}

TEST_F(OutputFileTest, link_that_waits_at_the_part_name_is_not_written_through) {
  put("victim", "old");
  fs::create_symlink("victim", path(".a.part-0000000000000007"));
  next_randoms = {7, 8};
  ASSERT_TRUE(write_whole(path("a"), "new"));
  EXPECT_TRUE(next_randoms.empty()) << "the name that was taken must have been tried";
  EXPECT_EQ(text_of("victim"), "old");
  EXPECT_EQ(text_of("a"), "new");
  EXPECT_FALSE(fs::is_symlink(path("a")));
  EXPECT_EQ(names(), (Names{".a.part-0000000000000007", "a", "victim"}));
}

TEST_F(OutputFileTest, part_names_that_are_all_taken_are_an_error_and_stay) {
  put(".a.part-0000000000000007", "other");
  next_randoms.assign(16, 7);
  EXPECT_FAILS(OutputFile::create(path("a")), Errc::exists);
  next_randoms.clear();
  EXPECT_EQ(text_of(".a.part-0000000000000007"), "other");
}

TEST_F(OutputFileTest, part_names_are_hidden_and_random) {
  std::vector<OutputFile> files;
  for (int i = 0; i < 100; ++i)
    files.push_back(*OutputFile::create(path("a.json")));
  EXPECT_EQ(names().size(), 100U);
  const std::regex expected("\\.a\\.json\\.part-[0-9a-f]{16}");
  std::set<char> first_digits;
  for (const std::string& name : names()) {
    EXPECT_TRUE(std::regex_match(name, expected)) << name;
    first_digits.insert(name[name.size() - 16]);
  }
  EXPECT_GT(first_digits.size(), 8U);
  files.clear();
  EXPECT_EQ(names(), Names{});
}

TEST_F(OutputFileTest, longest_names_are_served) {
  std::string name(NAME_MAX, 'n');
  ASSERT_TRUE(write_whole(path(name), "new"));
  EXPECT_EQ(names(), Names{name});
  // Cut between characters: file systems may insist on UTF-8.
  std::string wide;
  while (wide.size() + 3 <= NAME_MAX)
    wide += "\xe2\x82\xac";
  {
    auto file = OutputFile::create(path(wide));
    ASSERT_TRUE(file);
    for (const std::string& part : names()) {
      if (part != name) {
        EXPECT_EQ((part.find(".part-") - 1) % 3, 0U) << part;
      }
    }
  }
  EXPECT_EQ(OutputFile::create(path(name + "n")).error().os_errno, ENAMETOOLONG);
  EXPECT_EQ(names(), Names{name});
}

TEST_F(OutputFileTest, devices_are_written_to_and_stay) {
  ASSERT_TRUE(write_whole("/dev/null", "lost"));
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_TRUE(OutputFile::create("/dev/null")->is_direct());
  auto full = *OutputFile::create("/dev/full");
  EXPECT_EQ(full.write("lost").error().os_errno, ENOSPC);
  EXPECT_EQ(full.commit().error().os_errno, ENOSPC) << "a failed file stays failed";
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
  EXPECT_FAILS(full.commit(), "/dev/full");
}

TEST_F(OutputFileTest, device_node_in_a_folder_is_no_file_to_replace) {
  if (::mknod(path("null").c_str(), S_IFCHR | 0666, ::makedev(1, 3)) != 0) {
    GTEST_SKIP() << "device nodes cannot be made here";
  }
  fs::create_symlink("null", path("link"));
  for (const char* name : {"null", "link"}) {
    const auto opened = OutputFile::create(path(name));
    if (!opened) GTEST_SKIP() << "devices cannot be opened here";
    ASSERT_TRUE(write_whole(path(name), "lost"));
  }
  EXPECT_TRUE(fs::is_character_file(path("null")));
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(names(), (Names{"link", "null"}));
}

TEST_F(OutputFileTest, pipe_takes_the_bytes_as_they_come) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  const int reader = ::open(path("pipe").c_str(), O_RDONLY | O_NONBLOCK);
  auto file = *OutputFile::create(path("pipe"));
  ASSERT_TRUE(file.write("now"));
  char got[8] = {};
  EXPECT_EQ(::read(reader, got, sizeof got), 3) << "before commit()";
  EXPECT_FAILS(file.seek(0), Errc::unsupported);
  ::close(reader);
  auto* const handler = std::signal(SIGPIPE, SIG_IGN);
  EXPECT_EQ(file.write("late").error().os_errno, EPIPE);
  std::signal(SIGPIPE, handler);
  EXPECT_TRUE(fs::is_fifo(path("pipe")));
  EXPECT_EQ(names(), Names{"pipe"});
}

TEST_F(OutputFileTest, link_in_proc_is_the_open_file_and_is_appended_to) {
  put("log", "before ");
  const int fd = ::open(path("log").c_str(), O_WRONLY);
  fs::create_symlink("/proc/self/fd/" + std::to_string(fd), path("link"));
  for (const std::string& name : {"/proc/self/fd/" + std::to_string(fd), path("link")})
    ASSERT_TRUE(write_whole(name, "more "));
  ::close(fd);
  EXPECT_EQ(text_of("log"), "before more more ");
  EXPECT_EQ(names(), (Names{"link", "log"}));
}

TEST_F(OutputFileTest, standard_output_is_written_to) {
  const int kept = ::dup(STDOUT_FILENO);
  const int log = ::open(path("log").c_str(), O_WRONLY | O_CREAT, 0600);
  ::dup2(log, STDOUT_FILENO);
  auto file = OutputFile::standard_output();
  ::dup2(kept, STDOUT_FILENO);
  ASSERT_TRUE(file);
  EXPECT_TRUE(file->is_direct());
  ASSERT_TRUE(file->write("text"));
  ASSERT_TRUE(file->commit());
  ::close(kept);
  ::close(log);
  EXPECT_EQ(text_of("log"), "text");
}

TEST_F(OutputFileTest, folders_sockets_and_wrong_paths_are_errors) {
  const auto error = [](const std::string& path) { return OutputFile::create(path).error(); };
  for (const char* name : {"", "/", "/.", "/.."})
    EXPECT_EQ(error(path(name)).os_errno, EISDIR) << name;
  EXPECT_EQ(error(path("new/")).code, Errc::not_found);
  EXPECT_EQ(error("").code, Errc::invalid_argument);
  EXPECT_EQ(error(std::string("a\0b", 3)).code, Errc::invalid_argument);
  EXPECT_EQ(error(path("no/file")).code, Errc::not_found);
  put("file", "");
  EXPECT_EQ(error(path("file/x")).os_errno, ENOTDIR);
  struct sockaddr_un address {};
  address.sun_family = AF_UNIX;
  ASSERT_LT(path("s").size(), sizeof address.sun_path);
  std::strcpy(address.sun_path, path("s").c_str());
  const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
  ASSERT_EQ(::bind(socket, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(error(path("s")).os_errno, ENXIO);
  ::close(socket);
  EXPECT_EQ(names(), (Names{"file", "s"}));
}

TEST_F(OutputFileTest, failed_write_keeps_the_old_file) {
  put("a", "old");
  struct rlimit kept {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &kept), 0);
  auto* const handler = std::signal(SIGXFSZ, SIG_IGN);
  const struct rlimit low { 10'000, kept.rlim_max };
  {
    auto file = *OutputFile::create(path("a"));
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &low), 0);
    const Status written = file.write(std::string(100'000, 'x'));
    ::setrlimit(RLIMIT_FSIZE, &kept);
    EXPECT_EQ(written.error().os_errno, EFBIG);
    EXPECT_EQ(file.write("x").error().os_errno, EFBIG);
    EXPECT_EQ(file.commit().error().os_errno, EFBIG);
    EXPECT_EQ(names(), Names{"a"});
  }
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(text_of("a"), "old");
}

TEST_F(OutputFileTest, name_that_became_no_file_is_not_replaced) {
  for (const bool is_pipe : {true, false}) {
    auto file = *OutputFile::create(path("a"));
    ASSERT_EQ(is_pipe ? ::mkfifo(path("a").c_str(), 0600) : ::mkdir(path("a").c_str(), 0700), 0);
    EXPECT_FAILS(file.commit(), Errc::exists);
    EXPECT_EQ(names(), Names{"a"});
    fs::remove(path("a"));
  }
}

TEST_F(OutputFileTest, folder_that_is_renamed_gets_its_file) {
  fs::create_directory(path("sub"));
  auto file = *OutputFile::create(path("sub/a"));
  fs::rename(path("sub"), path("moved"));
  fs::create_directory(path("sub"));
  ASSERT_TRUE(file.write("new"));
  ASSERT_TRUE(file.commit());
  EXPECT_EQ(text_of("moved/a"), "new");
  EXPECT_TRUE(fs::is_empty(path("sub")));
}

TEST_F(OutputFileTest, positions_may_be_revisited_and_read_back) {
  auto file = *OutputFile::create(path("a"));
  ASSERT_TRUE(file.write("0123456789"));
  ASSERT_TRUE(file.seek(2));
  ASSERT_TRUE(file.write("ab"));
  EXPECT_EQ(file.position_bytes(), 4U);
  std::array<std::byte, 16> bytes{};
  ASSERT_EQ(*file.read_at(1, bytes), 9U);
  EXPECT_EQ(std::memcmp(bytes.data(), "1ab456789", 9), 0);
  EXPECT_EQ(*file.read_at(10, bytes), 0U);
  EXPECT_EQ(file.position_bytes(), 4U);
  ASSERT_TRUE(file.seek(12));
  ASSERT_TRUE(file.write("z"));
  ASSERT_TRUE(file.commit());
  EXPECT_EQ(text_of("a"), std::string("01ab456789\0\0z", 13));
}

TEST_F(OutputFileTest, moved_from_and_committed_files_refuse_every_call) {
  auto first = *OutputFile::create(path("a"));
  OutputFile second = std::move(first);
  std::array<std::byte, 4> bytes{};
  const auto refuses = [&](OutputFile& file) {
    EXPECT_FAILS(file.write("x"), Errc::invalid_argument);
    EXPECT_FAILS(file.seek(0), Errc::invalid_argument);
    EXPECT_FAILS(file.read_at(0, bytes), Errc::invalid_argument);
    EXPECT_FAILS(file.commit(), Errc::invalid_argument);
  };
  refuses(first);
  EXPECT_EQ(first.position_bytes(), 0U);
  EXPECT_FALSE(first.is_direct());
  ASSERT_TRUE(second.commit());
  refuses(second);
  EXPECT_EQ(names(), Names{"a"});
}

}  // namespace
}  // namespace halyard
