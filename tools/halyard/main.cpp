// SPDX-License-Identifier: Apache-2.0
// halyard: the program. Parses the command line and converts results to exit codes.
#include <fcntl.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <cerrno>
#include <exception>
#include <new>
#include <sstream>
#include <string>
#include <vector>

#include "commands/commands.h"
#include "halyard/log.h"
#include "halyard/version.h"
#include "interrupt.h"
#include "options/nearest.h"
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

/// Every command has --version.
void add_versions(CLI::App& app) {
  app.set_version_flag("--version", std::string("halyard ") + halyard::version());
  for (CLI::App* sub : app.get_subcommands({}))
    add_versions(*sub);
}

/// A hint with the known name that is nearest to an unknown argument.
std::string meant(const CLI::App& command) {
  for (const std::string& text : command.remaining()) {
    std::vector<std::string> names;
    if (text.starts_with("-")) {
      for (const CLI::Option* option : command.get_options())
        for (const std::string& name : option->get_lnames())
          names.push_back("--" + name);
    } else {
      for (const CLI::App* sub : command.get_subcommands({}))
        names.push_back(sub->get_name());
    }
    const std::string name = text.substr(0, text.find('='));
    if (auto hint = halyard::tool::did_you_mean(name, names); !hint.empty()) return hint;
  }
  return {};
}

/// Reports a parse error. --help and --version are exceptions too.
int usage(const CLI::App& app, const CLI::ParseError& error, const char* first) {
  if (error.get_exit_code() == 0) {
    std::ostringstream text;
    app.exit(error, text, text);
    halyard::tool::print_lines(text.str());
    return halyard::tool::exit_ok;
  }
  const CLI::App* command = &app;
  std::string name = "halyard";
  while (!command->get_subcommands().empty()) {
    command = command->get_subcommands().front();
    name += " " + command->get_name();
  }
  const std::string hint = meant(*command) + " (see " + name + " --help)";
  if (command == &app && first != nullptr && first[0] != '-')
    return halyard::tool::report_usage(first, "no such command" + hint);
  return halyard::tool::report_usage("command line", error.what() + hint);
}

/// Opens /dev/null for standard streams that are closed, so that a file opened later does not
/// become standard output. The wrong access mode makes reads and writes fail.
void occupy_standard_streams() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(fd, F_GETFD) < 0 && errno == EBADF)
      static_cast<void>(::open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY));
}

int parse_and_act(int argc, char** argv) {
  using namespace halyard;
  CLI::App app("Finds objects in images and videos, and reports what works on this machine.",
               "halyard");
  app.footer(examples);
  app.require_subcommand(1);
  tool::Action action;
  tool::add_run(app, action);
  tool::add_serve(app, action);
  tool::add_decode(app, action);
  tool::add_track(app, action);
  tool::add_convert(app, action);
  tool::add_val(app, action);
  tool::add_bench(app, action);
  tool::add_info(app, action);
  tool::add_doctor(app, action);
  tool::add_pool(app, action);
  tool::add_topic(app, action);
  tool::add_top(app, action);
  tool::add_negotiate(app, action);
  tool::add_completion(app, action);
  tool::add_man(app, action);
  add_versions(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return usage(app, error, argc > 1 ? argv[1] : nullptr);
  }
  try {
    return action();
  } catch (const std::bad_alloc&) {
    return tool::report("memory", "exhausted");
  } catch (const std::exception& error) {
    return tool::report("internal error", error.what());
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
