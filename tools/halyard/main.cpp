// SPDX-License-Identifier: Apache-2.0
// halyard: the program. Parses the command line and converts results to exit codes.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <exception>
#include <new>
#include <string>
#include <string_view>

#include "commands/commands.h"
#include "halyard/log.h"
#include "interrupt.h"
#include "options/parser.h"
#include "report.h"

namespace {

constexpr const char* examples =
    "Examples:\n"
    "  halyard run --model yolov8n.onnx bus.jpg --out seen.jpg --json -\n"
    "  halyard run --model boats.onnx --track harbour.mp4 --out seen.mp4 --trace trace.json\n"
    "  halyard decode output.npy --quant 0.0039,-128 --input-size 640x640 --source-size 810x1080\n"
    "  halyard track --mot det.txt --gt gt.txt --tracker ocsort\n"
    "  halyard convert photo.jpg small.png --size 640x640 --fit letterbox\n"
    "  halyard val --gt instances.json --detections results.json\n"
    "  halyard bench yolov8n.onnx photos/\n"
    "  halyard info photo.jpg\n"
    "  halyard doctor\n"
    "  halyard topic hz camera/left\n"
    "  halyard top\n"
    "  halyard negotiate parties.json --explain i.pitch_align\n"
    "\n"
    "Exit codes: 0 done, 1 something failed, 2 wrong command line, 130 interrupted by Ctrl-C. "
    "SIGTERM\n"
    "finishes the frames on their way too, and ends the program by that signal (a shell shows "
    "143).";

void log_to_stderr(halyard::LogLevel level, std::string_view target, std::string_view text) {
  const std::string name = std::string(halyard::to_string(level)) + " " + std::string(target);
  halyard::tool::report(name, text);
}

/// Opens /dev/null for standard streams that are closed, so that a file opened later does not
/// become standard output. The wrong access mode makes reads and writes fail.
void occupy_standard_streams() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(fd, F_GETFD) < 0 && errno == EBADF)
      static_cast<void>(::open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY));
}

int parse_and_act(int argc, char** argv) {
  using namespace halyard::tool;
  CommandSpec program{
      "", "Finds objects in images and videos, and reports what works on this machine.", examples};
  for (const auto make : {run_command, serve_command, decode_command, track_command,
                          convert_command, val_command, bench_command, info_command, doctor_command,
                          pool_command, topic_command, top_command, negotiate_command})
    program.commands.push_back(make());
  program.commands.push_back(completion_command(program));
  program.commands.push_back(man_command(program));
  program.complete();
  int code = exit_ok;
  const CommandSpec* const command = parse(program, argc, argv, code);
  if (command == nullptr) return code;
  try {
    return command->action();
  } catch (const std::bad_alloc&) {
    return report("memory", "exhausted");
  } catch (const std::exception& error) {
    return report("internal error", error.what());
  }
}

}  // namespace

int main(int argc, char** argv) {
  using namespace halyard;
  occupy_standard_streams();
  tool::install_signal_handlers();
  set_log_sink(log_to_stderr);
  const int code = parse_and_act(argc, argv);
  const Status flushed = tool::finish_stdout();
  // Earlier failures have been reported, a failed write to standard output included.
  if (!flushed && code == tool::exit_ok) return tool::report("standard output", flushed.error());
  if (code != tool::exit_ok) tool::end_by_requested_signal();
  return code;
}
