// SPDX-License-Identifier: Apache-2.0
// Results and conflicts as JSON and as text for people.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text/format_error.h"
#include "reconcile/attributes/blob.h"
#include "reconcile/attributes/stored_lists.h"
#include "reconcile/attributes/value_text.h"
#include "reconcile/merge/conflict.h"
#include "reconcile/merge/state.h"

namespace halyard {

namespace {

/// Engines and sources may hold any bytes: invalid UTF-8 is replaced.
template <class Json>
std::string dumped(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// Keys stay in the order of insertion: the most important come first.
using json = nlohmann::ordered_json;

json to_json(const Statement& s) {
  json out{{"name", s.party}, {"key", s.key}, {"value", s.value}, {"origin", s.origin}};
  if (!s.engine.empty()) out["engine"] = s.engine;
  if (s.process != 0) out["pid"] = s.process;
  if (!s.source.empty()) out["source"] = s.source;
  return out;
}

json to_json(const ConflictItem& item) {
  json out{{"key", item.key}, {"rule", item.rule}, {"tag", item.tag}};
  out["parties"] = json::array();
  for (const Statement& each : item.parties)
    out["parties"].push_back(to_json(each));
  out["computed"] = item.computed;
  out["nearest"] = item.nearest;
  out["hint"] = item.hint;
  return out;
}

json conflict_json(const Conflict& conflict) {
  json out{{"ok", false}, {"conflicts", json::array()}};
  for (const ConflictItem& each : conflict.items)
    out["conflicts"].push_back(to_json(each));
  return out;
}

std::string text(const json& object, const char* key) {
  return object.contains(key) ? object[key].get<std::string>() : std::string();
}

std::string party_label(const json& party) {
  std::string label = text(party, "name");
  if (const std::string engine = text(party, "engine"); !engine.empty() && engine != label)
    label += fmt::format(" ({})", engine);
  return label;
}

std::string pid_label(const json& party) {
  return party.contains("pid") ? fmt::format("pid {}", party["pid"].get<std::uint32_t>())
                               : std::string();
}

void add_parties(std::string& out, const json& parties) {
  std::size_t label = 0, pid = 0, key = 0;
  for (const json& each : parties) {
    label = std::max(label, party_label(each).size());
    pid = std::max(pid, pid_label(each).size());
    key = std::max(key, text(each, "key").size());
  }
  for (const json& each : parties) {
    out += fmt::format("     {:<{}}  ", party_label(each), label);
    if (pid != 0) out += fmt::format("{:<{}}  ", pid_label(each), pid);
    out += fmt::format("{:<{}} = {}", text(each, "key"), key, text(each, "value"));
    if (const std::string source = text(each, "source"); !source.empty())
      out += fmt::format("  ({})", source);
    out += '\n';
  }
}

/// The text is made from the JSON, so that both agree.
std::string conflict_text(const json& object) {
  const json& items = object["conflicts"];
  std::string out =
      fmt::format("reconcile: {} conflict{}\n", items.size(), items.size() == 1 ? "" : "s");
  std::size_t number = 0;
  for (const json& item : items) {
    const std::string tag = text(item, "tag");
    out += fmt::format(" [{}] {}  ({})", ++number, text(item, "key"), text(item, "rule"));
    out += tag.empty() ? "\n" : fmt::format(", layout {}\n", tag);
    add_parties(out, item["parties"]);
    std::string computed = text(item, "computed");
    if (!item["nearest"].empty()) {
      std::vector<std::string> values;
      for (const json& each : item["nearest"])
        values.push_back(dumped(each));
      computed += fmt::format("{}nearest legal: {}", computed.empty() ? "" : "; ",
                              fmt::join(values, " or "));
    }
    if (!computed.empty()) out += fmt::format("     {}\n", computed);
    out += fmt::format("     hint: {}\n", text(item, "hint"));
  }
  out.pop_back();
  return out;
}

std::string_view name(Coherency coherency) {
  switch (coherency) {
    case Coherency::hardware:
      return "HwCoherent";
    case Coherency::cpu_sync:
      return "CpuSync";
    case Coherency::uncached:
      return "Uncached";
    case Coherency::no_cpu:
      return "NoCpu";
  }
  return "unknown";
}

std::string_view name(CpuPolicy policy) {
  constexpr std::string_view names[] = {"auto", "unmapped", "uncached", "cached"};
  return names[static_cast<std::size_t>(policy)];
}

void add_tensor(json& out, const Reconciled& r) {
  const Layout& layout = r.layout();
  out["t.layout"] = to_string(r.tensor_tag());
  out["t.dtype"] = to_string(layout.dtype);
  out["t.shape"] = std::vector<std::size_t>(layout.dims().begin(), layout.dims().end());
  out["t.strides"] = std::vector<std::ptrdiff_t>(layout.stride_bytes.begin(),
                                                 layout.stride_bytes.begin() + layout.rank);
  out["t.offset"] = r.tensor_offset_bytes();
}

void add_image(json& out, const Reconciled& r) {
  out["i.format"] = to_string(r.image_tag());
  out["i.w"] = r.width();
  out["i.h"] = r.height();
  for (const char* const key : {"i.pitch", "i.offset", "i.rows", "i.plane_size"})
    out[key] = json::array();
  for (const PlaneLayout& plane : r.planes()) {
    out["i.pitch"].push_back(plane.stride_bytes);
    out["i.offset"].push_back(plane.offset_bytes);
    out["i.rows"].push_back(plane.rows);
    out["i.plane_size"].push_back(plane.size_bytes);
  }
}

json outputs(const Reconciled& r, const Draft& draft) {
  json out = json::object();
  if (r.has_tensor()) {
    add_tensor(out, r);
    out["t.size"] = draft.tensor.size;
  }
  if (r.has_image()) add_image(out, r);
  out["g.size"] = r.size_bytes();
  out["g.alloc_size"] = r.allocated_bytes();
  out["g.base_align"] = r.base_align_bytes();
  out["g.heap"] = to_string(r.heap());
  out["g.heaps"] = json::array();
  for (const Heap each : r.heaps())
    out["g.heaps"].push_back(to_string(each));
  out["g.domain"] = name(r.coherency());
  out["g.policy"] = name(r.policy());
  out["g.policy_emulated"] = r.is_policy_emulated();
  out["g.needs_sync"] = r.needs_sync();
  out["g.anchor"] = r.needs_anchor() ? "held" : "none";
  out["g.count"] = r.count();
  return out;
}

json party_views(const Reconciled& r) {
  json out = json::object();
  for (const PartyView& each : r.views())
    out[each.party] = {
        {"cpu", to_string(Key::cpu, {static_cast<std::uint64_t>(each.cpu), 0})},
        {"perm", to_string(Key::perm, {static_cast<std::uint64_t>(each.permission), 0})}};
  return out;
}

/// The parties that determine each key, with the keys in the order of the table.
json explanations(const Reconciled& r) {
  json out = json::object();
  for (std::size_t slot = 0; slot < slot_count; ++slot) {
    const SlotKey key = key_of(slot);
    json parties = json::array();
    for (const Statement& each : r.explain(key.info->key, key.index))
      if (std::ranges::find(parties, json(each.party)) == parties.end())
        parties.push_back(each.party);
    if (!parties.empty()) out[slot_name(slot)] = std::move(parties);
  }
  return out;
}

/// The statements that exclude other memory, as in "g2d: g.contig true".
std::string heap_reasons(const Reconciled& r) {
  std::string out;
  for (const Key key : {Key::heaps, Key::contig, Key::addr_bits, Key::exported})
    for (const Statement& each : r.explain(key))
      out += fmt::format("{}{}: {} {}", out.empty() ? "" : ", ", each.party, each.key, each.value);
  return out.empty() ? out : fmt::format(" ({})", out);
}

template <class Value>
std::string joined(const Reconciled& r, Value value) {
  std::string out;
  for (const PlaneLayout& plane : r.planes())
    out += fmt::format("{}{}", out.empty() ? "" : "/", plane.*value);
  return out;
}

}  // namespace

std::string Conflict::to_json() const {
  return dumped(conflict_json(*this));
}

std::string Conflict::to_text() const {
  return conflict_text(conflict_json(*this));
}

std::string Reconciled::to_json() const {
  json out{{"ok", true}, {"outputs", outputs(*this, state_->draft)}};
  out["views"] = party_views(*this);
  out["explain"] = explanations(*this);
  out["dropped"] = json::array();
  for (const DroppedParty& each : dropped())
    out["dropped"].push_back(
        {{"party", each.party}, {"conflicts", conflict_json(each.conflict)["conflicts"]}});
  return dumped(out);
}

std::string Reconciled::to_text() const {
  std::string out;
  if (has_image())
    out += fmt::format("{} {}x{} pitch {} offset {} ", to_string(image_tag()), width(), height(),
                       joined(*this, &PlaneLayout::stride_bytes),
                       joined(*this, &PlaneLayout::offset_bytes));
  if (has_tensor()) {
    const Layout& l = layout();
    out += fmt::format("{}tensor {} {} [{}] strides [{}] ", has_image() ? "= " : "",
                       to_string(tensor_tag()), to_string(l.dtype), fmt::join(l.dims(), ","),
                       fmt::join(l.stride_bytes.begin(), l.stride_bytes.begin() + l.rank, ","));
  }
  out +=
      fmt::format("size {} heap {}{} policy {} sync={} count>={}", size_bytes(), to_string(heap()),
                  heap_reasons(*this), name(policy()), needs_sync() ? "yes" : "no", count());
  for (const DroppedParty& each : dropped())
    out += fmt::format("\nleft out: {}\n{}", each.party, each.conflict.to_text());
  return out;
}

std::array<std::uint8_t, 16> Reconciled::digest() const {
  return blob_hash(shared_bytes(*state_));
}

}  // namespace halyard
