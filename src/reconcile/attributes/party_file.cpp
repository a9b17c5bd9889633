// SPDX-License-Identifier: Apache-2.0
// Reads files of parties: JSON.
#include <nlohmann/json.hpp>
#include <set>

#include "base/text/format_error.h"
#include "halyard/buffer_engine.h"

namespace halyard {

namespace {

using nlohmann::json;

/// Parses JSON. Refuses an object that has a key twice, which the JSON library would accept
/// silently.
Result<json> parse_strictly(std::string_view text) {
  std::vector<std::set<std::string>> open;
  std::string twice;
  const auto look = [&](int, json::parse_event_t event, json& parsed) {
    if (event == json::parse_event_t::object_start) open.emplace_back();
    if (event == json::parse_event_t::object_end) open.pop_back();
    if (event == json::parse_event_t::key && !open.back().insert(parsed.get<std::string>()).second)
      twice = parsed.get<std::string>();
    return true;
  };
  json out = json::parse(text, look, false);
  if (out.is_discarded()) return fail(Errc::malformed, "the file of parties is not JSON");
  if (!twice.empty())
    return fail(Errc::exists, "an object of the file has a key twice", "\"{}\"", twice);
  return out;
}

Status check_fields(const json& object, std::initializer_list<std::string_view> legal,
                    std::string_view where) {
  if (!object.is_object())
    return fail(Errc::malformed, "the file of parties must have an object here", "{}", where);
  for (const auto& [key, value] : object.items())
    if (std::ranges::find(legal, key) == legal.end())
      return fail(Errc::malformed, "the file of parties has an unknown field", "{}: \"{}\"", where,
                  key);
  return {};
}

Status set_keys(AttributeList& list, const json& object, std::string_view where) {
  if (!object.contains("keys")) return {};
  const json& keys = object["keys"];
  if (!keys.is_object()) return fail(Errc::malformed, "\"keys\" must be an object", "{}", where);
  for (const auto& [key, value] : keys.items())
    HALYARD_RETURN_IF_ERROR(list.set_text(key, value.dump()));
  return {};
}

Status accept_alternatives(AttributeList& list, const json& party) {
  if (!party.contains("alternatives")) return {};
  const json& alternatives = party["alternatives"];
  const std::string where = "party \"" + list.party() + "\"";
  if (!alternatives.is_array())
    return fail(Errc::malformed, "\"alternatives\" must be a list", "{}", where);
  for (const json& each : alternatives) {
    HALYARD_RETURN_IF_ERROR(check_fields(each, {"tag", "cost", "keys"}, where));
    if (!each.contains("tag") || !each["tag"].is_string())
      return fail(Errc::malformed, "an alternative has no \"tag\"", "{}", where);
    auto tag = layout_tag_from_string(each["tag"].get<std::string>());
    if (!tag) return fail(tag.error().code, tag.error().what, "{}: {}", where, *tag.error().detail);
    const json cost = each.value("cost", json(0U));
    if (!cost.is_number_unsigned() || cost.get<std::uint64_t>() > 0xFFFFFFFF)
      return fail(Errc::malformed, "a cost is a whole number, 0 to 2^32-1", "{}: {}", where,
                  cost.dump());
    AttributeList own(list.party());
    HALYARD_RETURN_IF_ERROR(set_keys(own, each, where));
    HALYARD_RETURN_IF_ERROR(list.accept(*tag, cost.get<std::uint32_t>(), own));
  }
  return {};
}

Status set_optional(AttributeList& list, const json& value) {
  if (value.is_boolean()) {
    if (value.get<bool>()) list.set_optional();
    return {};
  }
  if (!value.is_number_integer())
    return fail(Errc::malformed, "\"optional\" is true, false or a priority", "party \"{}\": {}",
                list.party(), value.dump());
  list.set_optional(value.get<int>());
  return {};
}

Result<EngineParty> read_party(const json& party, std::size_t index) {
  HALYARD_RETURN_IF_ERROR(
      check_fields(party, {"name", "engine", "settings", "optional", "pid", "keys", "alternatives"},
                   fmt::format("party {}", index)));
  if (!party.contains("name") || !party["name"].is_string())
    return fail(Errc::malformed, "a party has no \"name\"", "party {}", index);
  EngineParty out{AttributeList(party["name"].get<std::string>()), nullptr};
  AttributeList& list = out.list;
  if (party.contains("optional")) HALYARD_RETURN_IF_ERROR(set_optional(list, party["optional"]));
  if (party.contains("pid") && party["pid"].is_number_unsigned())
    list.set_process(party["pid"].get<std::uint32_t>());
  if (party.contains("engine")) {
    if (!party["engine"].is_string())
      return fail(Errc::malformed, "\"engine\" must be a name", "party \"{}\"", list.party());
    const auto name = party["engine"].get<std::string>();
    const std::string settings = party.contains("settings") ? party["settings"].dump() : "";
    auto engine = make_buffer_engine(name, settings);
    if (!engine)
      return fail(engine.error().code, engine.error().what, "party \"{}\": {}", list.party(),
                  engine.error().detail ? *engine.error().detail : name);
    out.engine = *std::move(engine);
    list.set_engine(name);
  }
  HALYARD_RETURN_IF_ERROR(set_keys(list, party, fmt::format("party \"{}\"", list.party())));
  HALYARD_RETURN_IF_ERROR(accept_alternatives(list, party));
  return out;
}

}  // namespace

Result<std::vector<EngineParty>> parties_from_json(std::string_view text) {
  HALYARD_TRY(const json file, parse_strictly(text));
  HALYARD_RETURN_IF_ERROR(check_fields(file, {"parties"}, "the file"));
  if (!file.contains("parties") || !file["parties"].is_array())
    return fail(Errc::malformed, "the file has no list \"parties\"");
  std::vector<EngineParty> out;
  for (std::size_t k = 0; k < file["parties"].size(); ++k) {
    HALYARD_TRY(EngineParty party, read_party(file["parties"][k], k));
    out.push_back(std::move(party));
  }
  return out;
}

}  // namespace halyard
