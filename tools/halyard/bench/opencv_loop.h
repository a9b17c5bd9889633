// SPDX-License-Identifier: Apache-2.0
// The Python program opencv_loop.py as a child process: tasks and answers are lines of JSON.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "halyard/fd.h"
#include "halyard/result.h"
#include "input/json_document.h"

namespace halyard::tool {

/// The text of opencv_loop.py, which the build compiles in.
std::string_view opencv_loop_text() noexcept;

/// Thread-bound. Destruction ends the child and waits for it.
class OpencvLoop {
 public:
  /// Starts `python`, a path or a name in PATH. Errors: not_found (no such program), os.
  static Result<OpencvLoop> start(const std::string& python);
  OpencvLoop(OpencvLoop&& other) noexcept;
  OpencvLoop& operator=(OpencvLoop&&) = delete;
  ~OpencvLoop();

  /// Sends a line and waits for the answer, without a limit. Errors: unsupported (the answer is an
  /// error, whose text it has), malformed (the child has ended, or its answer is no JSON).
  Result<Json> ask(const Json& line);

 private:
  OpencvLoop(Fd socket, pid_t child) : socket_(std::move(socket)), child_(child) {}
  Result<std::string> receive_line();
  Fd socket_;
  pid_t child_;
  std::string received_;
};

}  // namespace halyard::tool
