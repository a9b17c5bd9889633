// SPDX-License-Identifier: Apache-2.0
// One socket is the child's standard input and output.
#include "bench/opencv_loop.h"

#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <utility>

#include "interrupt.h"

extern char** environ;

namespace halyard::tool {
namespace {

Error no_answer() {
  return make_error(Errc::malformed, "the Python program ended without an answer");
}

}  // namespace

Result<OpencvLoop> OpencvLoop::start(const std::string& python) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return make_error(Errc::os, "socketpair failed", {}, errno);
  Fd ours(ends[0]), theirs(ends[1]);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, theirs.get(), 0);
  posix_spawn_file_actions_adddup2(&actions, theirs.get(), 1);
  std::string program = python, flag = "-c", text(opencv_loop_text());
  const std::array<char*, 4> arguments{program.data(), flag.data(), text.data(), nullptr};
  pid_t child = 0;
  const int error =
      ::posix_spawnp(&child, python.c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error == ENOENT) return make_error(Errc::not_found, "there is no such program", python);
  if (error != 0) return make_error(Errc::os, "program cannot be started", python, error);
  return OpencvLoop(std::move(ours), child);
}

OpencvLoop::OpencvLoop(OpencvLoop&& other) noexcept
    : socket_(std::move(other.socket_)),
      child_(std::exchange(other.child_, 0)),
      received_(std::move(other.received_)) {}

OpencvLoop::~OpencvLoop() {
  if (child_ == 0) return;
  ::kill(child_, SIGTERM);
  while (::waitpid(child_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

Result<std::string> OpencvLoop::receive_line() {
  std::array<char, 65536> part{};
  while (true) {
    if (const std::size_t end = received_.find('\n'); end != std::string::npos) {
      std::string line = received_.substr(0, end);
      received_.erase(0, end + 1);
      return line;
    }
    const ssize_t count = ::recv(socket_.get(), part.data(), part.size(), 0);
    if (count < 0 && errno == EINTR && !InterruptGuard::is_requested()) continue;
    if (count <= 0) return no_answer();
    received_.append(part.data(), static_cast<std::size_t>(count));
  }
}

Result<Json> OpencvLoop::ask(const Json& line) {
  const std::string text = json_text(line, -1, true) + "\n";
  std::string_view rest = text;
  while (!rest.empty()) {
    const ssize_t count = ::send(socket_.get(), rest.data(), rest.size(), MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return no_answer();
    rest.remove_prefix(static_cast<std::size_t>(count));
  }
  HALYARD_TRY(const auto answer, receive_line());
  Json parsed = json_from(answer);
  if (!parsed.is_object()) return no_answer();
  if (const auto error = parsed.find("error"); error != parsed.end())
    return make_error(Errc::unsupported, "the loop cannot run",
                      error->is_string() ? error->get<std::string>() : json_text(*error));
  return parsed;
}

}  // namespace halyard::tool
