// SPDX-License-Identifier: Apache-2.0
// The engines by their names, and the rounds in which they are asked.
#include "halyard/buffer_engine.h"

#include <algorithm>

#include "base/format_error.h"
#include "reconcile/engines/engines.h"
#include "reconcile/problem.h"
#include "reconcile/rounds.h"

namespace halyard {

namespace {

constexpr int max_rounds = 4;

struct NamedEngine {
  std::string_view name;
  MadeEngine (*make)(std::string_view name, std::string_view settings);
};
constexpr NamedEngine engines[] = {
    {"cpu", make_cpu},          {"cpu.simd16", make_simd},   {"cpu.simd32", make_simd},
    {"cpu.simd64", make_simd},  {"gl.pbo", make_pbo},        {"egl.dmabuf", make_egl},
    {"nxp.g2d", make_g2d},      {"v4l2.capture", make_v4l2}, {"dla", make_dla},
    {"peer.proxy", make_proxy},
};

/// What the parties' own lists say together.
BufferRequest request_of(std::span<const EngineParty> parties) {
  Merged merged;
  std::vector<PixelFormat> formats;
  for (const EngineParty& party : parties) {
    for (const Attribute& each : party.list.attributes())
      merge(merged, to_fact(each, &party.list, 0));
    for (const Alternative& each : party.list.alternatives())
      if (each.tag.family == LayoutTag::Family::image) formats.push_back(each.tag.format);
  }
  BufferRequest request;
  if (merged[Key::dtype].is_set) request.dtype = static_cast<DType>(merged[Key::dtype].value.low);
  for (std::size_t k = max_axes; k-- > 0;)
    if (!request.shape.empty() || merged.at(Key::shape, k).is_set)
      request.shape.push_back(merged.number(Key::shape, k, 1));
  std::ranges::sort(formats);
  if (!formats.empty() && formats.front() == formats.back()) request.format = formats.front();
  request.width = merged.number(Key::width, 0);
  request.height = merged.number(Key::height, 0);
  return request;
}

bool same_values(const AttributeList& a, const AttributeList& b) {
  return a.attributes().size() == b.attributes().size() &&
         std::ranges::all_of(a.attributes(), [&](const Attribute& each) {
           return b.get(each.key, each.index) == each.value;
         });
}

/// The lists of all parties: their own, what engines filled, what engines found out.
struct Lists {
  std::vector<AttributeList> filled, found;
  std::vector<const AttributeList*> all(std::span<const EngineParty> parties) const {
    std::vector<const AttributeList*> out;
    for (const EngineParty& each : parties)
      out.push_back(&each.list);
    for (const AttributeList& each : filled)
      out.push_back(&each);
    for (const AttributeList& each : found)
      out.push_back(&each);
    return out;
  }
};

AttributeList list_for(const EngineParty& party) {
  AttributeList list(party.list.party());
  if (party.engine) list.set_engine(std::string(party.engine->name()));
  list.set_process(party.list.process());
  if (const auto priority = party.list.optional_priority()) list.set_optional(*priority);
  return list;
}

Result<Lists> fill(std::span<const EngineParty> parties) {
  Lists lists;
  const BufferRequest request = request_of(parties);
  for (const EngineParty& party : parties) {
    lists.filled.push_back(list_for(party));
    lists.found.push_back(list_for(party));
    if (!party.engine) continue;
    if (auto done = party.engine->fill(request, lists.filled.back()); !done)
      return fail(done.error().code, done.error().what, "party \"{}\", engine {}: {}",
                  party.list.party(), party.engine->name(),
                  done.error().detail ? *done.error().detail : std::string());
  }
  return lists;
}

/// One round: whether some engine asks for more. A refusal goes to `refusals`.
bool refine(std::span<const EngineParty> parties, const Reconciled& draft, Lists& lists,
            std::vector<Statement>& refusals) {
  bool is_changed = false;
  for (std::size_t k = 0; k < parties.size(); ++k) {
    if (!parties[k].engine) continue;
    AttributeList more = list_for(parties[k]);
    if (auto done = parties[k].engine->refine(draft, more); !done) {
      refusals.push_back({parties[k].list.party(), parties[k].list.process(),
                          std::string(parties[k].engine->name()), "g.engines", "refuses", "set",
                          done.error().message()});
    } else if (!same_values(more, lists.found[k])) {
      lists.found[k] = std::move(more);
      is_changed = true;
    }
  }
  return is_changed;
}

Error refused(const Reconciled& draft, std::vector<Statement> refusals, Conflict* conflict) {
  Conflict found;
  std::string tag = draft.has_tensor() ? to_string(draft.tensor_tag()) : std::string();
  if (draft.has_image()) tag += (tag.empty() ? "" : ", ") + to_string(draft.image_tag());
  found.items.push_back({"g.engines",
                         "every engine must work on the buffer",
                         tag,
                         std::move(refusals),
                         "",
                         {},
                         "let the party be optional, or copy for it"});
  auto error = fail(Errc::unsupported, "the parties disagree", "{}", found.to_text());
  if (conflict != nullptr) *conflict = std::move(found);
  return error;
}

}  // namespace

Status BufferEngine::refine(const Reconciled&, AttributeList&) const {
  return {};
}

Result<std::shared_ptr<const BufferEngine>> make_buffer_engine(std::string_view name,
                                                               std::string_view settings) {
  for (const NamedEngine& each : engines)
    if (each.name == name) return each.make(name, settings);
  std::string names;
  for (const NamedEngine& each : engines)
    names += (names.empty() ? "" : ", ") + std::string(each.name);
  return fail(Errc::not_found, "there is no such engine", "\"{}\", known: {}", name, names);
}

Result<Reconciled> reconcile_engines(std::span<const EngineParty> parties,
                                     const ReconcileOptions& options, Conflict* conflict) {
  HALYARD_TRY(Lists lists, fill(parties));
  std::vector<Candidate> excluded;
  for (int round = 0;; ++round) {
    Result<Reconciled> draft = reconcile_without(lists.all(parties), options, excluded, conflict);
    if (!draft) return draft;
    std::vector<Statement> refusals;
    const bool is_changed = refine(parties, *draft, lists, refusals);
    if (!refusals.empty()) {
      excluded.push_back({draft->tensor_tag(), draft->image_tag()});
      const auto others = reconcile_without(lists.all(parties), options, excluded, nullptr);
      if (!others) return refused(*draft, std::move(refusals), conflict);
      round = -1;
      continue;
    }
    if (!is_changed) return draft;
    if (round + 1 == max_rounds)
      return refused(
          *draft, {{"all", 0, "", "g.engines", "never content", "set", "four rounds of refine()"}},
          conflict);
  }
}

}  // namespace halyard
