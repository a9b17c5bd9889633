// SPDX-License-Identifier: Apache-2.0
// halyard negotiate: the buffer that serves all parties of a file, or their conflict.
#include <fmt/format.h>

#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "commands/commands.h"
#include "halyard/buffer_engine.h"
#include "halyard/buffer_plan.h"
#include "input/input_file.h"
#include "input/json_document.h"
#include "report.h"

namespace halyard::tool {
namespace {

constexpr int exit_conflict = 3;
constexpr std::size_t max_file_bytes = 1 << 20;

struct NegotiateCommand {
  std::string file;
  std::vector<std::string> explained;
  bool is_json = false;
  bool allow_drop = false;
  bool without_anchor = false;
  bool plans = false;
};

Result<std::string> read_file(const std::string& path) {
  if (path == "-") {
    HALYARD_TRY(const auto bytes, read_path(path, max_file_bytes));
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  std::ifstream in(path, std::ios::binary);
  if (!in) return make_error(Errc::not_found, "the file cannot be read");
  std::string text(max_file_bytes + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (in.bad()) return make_error(Errc::os, "the file cannot be read");
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (text.size() > max_file_bytes)
    return make_error(Errc::invalid_argument, "a file of parties has at most 1 MiB");
  return text;
}

std::string document_of(const std::string& json) {
  return json_text(json_document(json_from(json)));
}

/// "t.row_align" explains all values of the key, "i.pitch_align[1]" one of them.
int explain(const Reconciled& result, const std::string& wanted) {
  const std::string name = wanted.substr(0, wanted.find('['));
  const KeyInfo* const info = key_info(name);
  if (info == nullptr) return report_usage("--explain", "there is no key " + wanted);
  bool is_said = false;
  for (std::size_t k = 0; k < info->count; ++k)
    for (const Statement& each : result.explain(info->key, k)) {
      if (name != wanted && each.key != wanted) continue;
      is_said = true;
      print_line(fmt::format("{} = {}  {}{}", each.key, each.value, each.party,
                             each.source.empty() ? "" : "  (" + each.source + ")"));
    }
  if (!is_said)
    print_line(fmt::format("{}: no party sets it; the default is {}", wanted, info->fallback));
  return exit_ok;
}

int show_plan(const NegotiateCommand& command, const std::vector<EngineParty>& parties,
              const ReconcileOptions& options) {
  Conflict conflict;
  const auto plan = plan_buffers(parties, options, &conflict);
  if (!plan && conflict.items.empty()) return report_usage(command.file, plan.error().message());
  if (command.is_json) {
    print_line(document_of(plan ? plan->to_json() : conflict.to_json()));
  } else {
    print_lines(plan ? plan->to_text() : conflict.to_text());
  }
  return plan ? exit_ok : exit_conflict;
}

int negotiate(const NegotiateCommand& command) {
  const auto text = read_file(command.file);
  if (!text) return report_usage(command.file, text.error().message());
  const auto parties = parties_from_json(*text);
  if (!parties) return report_usage(command.file, parties.error().message());
  const ReconcileOptions options{.allow_drop = command.allow_drop,
                                 .can_anchor = !command.without_anchor};
  if (command.plans) return show_plan(command, *parties, options);
  Conflict conflict;
  const auto result = reconcile_engines(*parties, options, &conflict);
  if (!result && conflict.items.empty())
    return report_usage(command.file, result.error().message());
  if (command.is_json) {
    print_line(document_of(result ? result->to_json() : conflict.to_json()));
    return result ? exit_ok : exit_conflict;
  }
  if (!result) {
    print_lines(conflict.to_text());
    return exit_conflict;
  }
  if (command.explained.empty()) print_lines(result->to_text());
  for (const std::string& each : command.explained)
    if (const int code = explain(*result, each); code != exit_ok) return code;
  return exit_ok;
}

}  // namespace

CommandSpec negotiate_command() {
  auto command = std::make_shared<NegotiateCommand>();
  CommandSpec spec{
      "negotiate", "The buffer that several engines and processes can share",
      "Exit codes: 0 there is one, 2 bad file or command line, 3 the parties disagree.\n"
      "\n"
      "Examples:\n"
      "  halyard negotiate parties.json\n"
      "  halyard negotiate parties.json --explain i.pitch_align\n"
      "  halyard negotiate parties.json --plan\n"
      "  halyard negotiate parties.json --json"};
  spec.option("file", &command->file, "Parties and what each needs, JSON (docs/negotiation.md)")
      .required();
  spec.option("--json", &command->is_json, "JSON on standard output");
  spec.option("--explain", &command->explained, "Who made this key what it is, e.g. t.row_align")
      .without({"--json"});
  spec.option("--allow-drop", &command->allow_drop,
              "Leave out optional parties that cause a conflict");
  spec.option("--no-anchor", &command->without_anchor,
              "As on a machine without a render node that could hold buffers attached");
  spec.option("--plan", &command->plans,
              "Where not all agree: the fewest buffers, and the copies between them")
      .without({"--explain", "--allow-drop"});
  spec.action = [command] { return negotiate(*command); };
  return spec;
}

}  // namespace halyard::tool
