// SPDX-License-Identifier: Apache-2.0
// What tests of output files share: a folder, what is in it, and child processes.
#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "halyard/output_file.h"
#include "support/folder.h"

namespace halyard::test {

class OutputFiles : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return folder_ / name; }
  void put(const std::string& name, const std::string& text) const {
    std::ofstream(path(name)) << text;
  }
  std::string text_of(const std::string& name) const {
    std::ifstream file(path(name));
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static Status write_whole(const std::string& path, std::string_view text) {
    HALYARD_TRY(auto file, OutputFile::create(path));
    HALYARD_RETURN_IF_ERROR(file.write(text));
    return file.commit();
  }
  struct stat look(const std::string& name) const {
    struct stat status {};
    EXPECT_EQ(::lstat(path(name).c_str(), &status), 0) << name;
    return status;
  }
  std::set<std::string> names() const {
    std::set<std::string> out;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path()))
      out.insert(entry.path().filename().string());
    return out;
  }
  using Names = std::set<std::string>;

  const Folder folder_;
};

/// Runs `work` in a child process; its exit status as waitpid() has it.
template <class Work>
int in_child(Work work) {
  const pid_t child = ::fork();
  if (child == 0) {
    work();
    ::_exit(0);
  }
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return status;
}

}  // namespace halyard::test
