// SPDX-License-Identifier: Apache-2.0
// Part files and the end of a process: signals, threads, children.
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include "base/output_files.h"

namespace halyard {
namespace {

using PartFiles = test::OutputFiles;
using test::in_child;

TEST_F(PartFiles, signal_handler_s_call_removes_part_files_and_stops_new_ones) {
  put("old", "old");
  const int status = in_child([&] {
    auto held = *OutputFile::create(path("old"));
    auto other = *OutputFile::create(path("new"));
    if (names().size() != 3) ::_exit(1);
    errno = 77;
    remove_part_files();
    if (errno != 77) ::_exit(2);
    if (names() != Names{"old"}) ::_exit(3);
    if (OutputFile::create(path("late")).error().code != Errc::cancelled) ::_exit(4);
    if (held.commit()) ::_exit(5);
    if (!OutputFile::create("/dev/null")) ::_exit(6);
    if (names() != Names{"old"}) ::_exit(7);
  });
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(text_of("old"), "old");
}

TEST_F(PartFiles, child_process_leaves_its_parent_s_files_alone) {
  auto file = *OutputFile::create(path("a"));
  const int status = in_child([&] {
    { const OutputFile copy = std::move(file); }
    remove_part_files();
  });
  EXPECT_EQ(status, 0);
  EXPECT_EQ(names().size(), 1U);
  ASSERT_TRUE(file.write("new"));
  ASSERT_TRUE(file.commit());
  EXPECT_EQ(text_of("a"), "new");
}

TEST_F(PartFiles, slots_of_the_registry_are_used_again) {
  const int status = in_child([&] {
    for (int round = 0; round < 3; ++round) {
      std::vector<OutputFile> many;
      for (int i = 0; i < 80; ++i)
        many.push_back(*OutputFile::create(path("a")));
    }
    std::vector<OutputFile> files;
    for (int i = 0; i < 64; ++i)
      files.push_back(*OutputFile::create(path("a")));
    remove_part_files();
    ::_exit(names().empty() ? 0 : 1);
  });
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

std::atomic<int> finished_files{0};

void end_process(int) {
  remove_part_files();
  ::_exit(0);
}

void write_for_ever(const std::string& path) {
  for (;;) {
    auto file = OutputFile::create(path);
    if (!file) continue;
    const bool is_written = file->write("text").has_value();
    if (is_written && file->commit()) ++finished_files;
  }
}

TEST_F(PartFiles, signal_at_any_moment_leaves_no_part_file_of_any_thread) {
  for (int round = 0; round < 50; ++round) {
    int ready[2] = {};
    ASSERT_EQ(::pipe(ready), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      std::signal(SIGHUP, end_process);
      std::vector<std::thread> threads;
      for (const char* name : {"a", "b", "c"})
        threads.emplace_back(write_for_ever, path(name));
      while (finished_files < 3)
        std::this_thread::yield();
      static_cast<void>(::write(ready[1], "x", 1) == 1);
      write_for_ever(path("d"));
    }
    ::close(ready[1]);
    char byte = 0;
    EXPECT_EQ(::read(ready[0], &byte, 1), 1);
    ::usleep(static_cast<useconds_t>(37 * round));
    ::kill(child, SIGHUP);
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ::close(ready[0]);
    ASSERT_EQ(status, 0);
    for (const std::string& name : names())
      ASSERT_EQ(name.size(), 1U) << name << " in round " << round;
  }
}

}  // namespace
}  // namespace halyard
