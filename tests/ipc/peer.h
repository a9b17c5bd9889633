// SPDX-License-Identifier: Apache-2.0
// Peer: another process in a test. It runs this very program with one of its tests, Peer.<role>,
// and talks with the test over pipes, line by line.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

extern char** environ;

namespace halyard::ipc::testing {

/// A namespace of its own, that this program's peers share; there before anything is opened, gone
/// with the program.
class OwnNamespace {
 public:
  OwnNamespace() {
    if (std::getenv("HALYARD_TEST_PEER") != nullptr) return;
    const std::string name = "t" + std::to_string(::getpid());
    ::setenv("HALYARD_NAMESPACE", name.c_str(), 1);
    folder_ = "/dev/shm/halyard-" + std::to_string(::geteuid()) + "/" + name;
    process_ = ::getpid();
  }
  OwnNamespace(const OwnNamespace&) = delete;
  OwnNamespace& operator=(const OwnNamespace&) = delete;
  ~OwnNamespace() {
    std::error_code ignored;
    if (process_ == ::getpid()) std::filesystem::remove_all(folder_, ignored);
  }

 private:
  std::string folder_;
  pid_t process_ = -1;
};
inline const OwnNamespace own_namespace;

/// Looks until it is so, or the time is over.
template <class F>
bool comes_true(const F& condition, std::chrono::milliseconds within = std::chrono::minutes(1)) {
  const auto end = std::chrono::steady_clock::now() + within;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

class Peer {
 public:
  /// Runs TEST(Peer, DISABLED_<role>) there; `arguments` are its HALYARD_TEST_PEER.
  explicit Peer(const std::string& role, const std::string& arguments = "-") {
    int to_child[2];
    int from_child[2];
    if (::pipe2(to_child, O_CLOEXEC) != 0 || ::pipe2(from_child, O_CLOEXEC) != 0) std::abort();
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, to_child[0], 200);
    ::posix_spawn_file_actions_adddup2(&actions, from_child[1], 201);
    const std::string filter = "--gtest_filter=Peer.DISABLED_" + role;
    const std::string peer = "HALYARD_TEST_PEER=" + arguments;
    std::string self = "/proc/self/exe";
    char* const argv[] = {self.data(), const_cast<char*>(filter.c_str()),
                          const_cast<char*>("--gtest_also_run_disabled_tests"),
                          const_cast<char*>("--gtest_brief=1"), nullptr};
    std::vector<char*> env;
    for (char** e = environ; *e != nullptr; ++e)
      env.push_back(*e);
    env.push_back(const_cast<char*>(peer.c_str()));
    env.push_back(nullptr);
    if (::posix_spawn(&pid_, self.c_str(), &actions, nullptr, argv, env.data()) != 0) std::abort();
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(to_child[0]);
    ::close(from_child[1]);
    in_ = ::fdopen(to_child[1], "w");
    out_ = ::fdopen(from_child[0], "r");
  }
  /// The same, and hears `greeting` from it; the test fails here where it says something else.
  Peer(const std::string& role, const std::string& arguments, const std::string& greeting)
      : Peer(role, arguments) {
    const std::string said = hear();
    if (said != greeting) throw std::runtime_error("peer " + role + " says \"" + said + "\"");
  }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;
  ~Peer() {
    kill();
    std::fclose(in_);
    std::fclose(out_);
  }

  void say(const std::string& line) {
    std::fprintf(in_, "%s\n", line.c_str());
    std::fflush(in_);
  }
  /// The next line that it says; empty when it has ended.
  std::string hear() {
    char line[4096];
    if (std::fgets(line, sizeof(line), out_) == nullptr) return {};
    std::string text = line;
    text.pop_back();
    return text;
  }
  std::string ask(const std::string& line) {
    say(line);
    return hear();
  }
  void kill(int signal = SIGKILL) {
    if (pid_ <= 0) return;
    ::kill(pid_, signal);
    if (signal == SIGKILL) end();
    // It may answer until it is there that it stops.
    int status = 0;
    if (signal == SIGSTOP) ::waitpid(pid_, &status, WUNTRACED);
  }
  /// Waits for its end. True: it ended well.
  bool end() {
    int status = 0;
    if (pid_ <= 0 || ::waitpid(pid_, &status, 0) != pid_) return false;
    pid_ = -1;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
  pid_t pid() const { return pid_; }

  // In the peer:
  static const char* arguments() { return std::getenv("HALYARD_TEST_PEER"); }
  /// The next line of the test; empty when it wants nothing more.
  static std::string next() {
    static FILE* const in = ::fdopen(200, "r");
    char line[4096];
    if (in == nullptr || std::fgets(line, sizeof(line), in) == nullptr) return {};
    std::string text = line;
    text.pop_back();
    return text;
  }
  static void tell(const std::string& line) {
    const std::string text = line + "\n";
    if (::write(201, text.data(), text.size()) < 0) std::abort();
  }

 private:
  pid_t pid_ = -1;
  FILE* in_ = nullptr;
  FILE* out_ = nullptr;
};

}  // namespace halyard::ipc::testing
