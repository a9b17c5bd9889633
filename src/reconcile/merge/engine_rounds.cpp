// SPDX-License-Identifier: Apache-2.0
// The rounds of questions to engines: what each needs of a buffer, and whether a draft serves it.
#include <algorithm>
#include <tuple>

#include "base/text/format_error.h"
#include "halyard/buffer_engine.h"
#include "reconcile/layout/settle_extents.h"
#include "reconcile/merge/conflict.h"
#include "reconcile/merge/problem.h"
#include "reconcile/merge/reconcile.h"
#include "reconcile/merge/rounds.h"

namespace halyard {

namespace {

constexpr int max_rounds = 4;        ///< for a candidate
constexpr int max_all_rounds = 256;  ///< for all candidates together

constexpr std::string_view must_say = "every engine must say what it needs";
constexpr std::string_view must_work = "every engine must work on the buffer";
constexpr std::string_view must_be_content = "every engine must be content after four rounds";
constexpr std::string_view must_end = "every engine must be content after 256 rounds in all";

/// The request that follows from the parties' own lists.
BufferRequest request_of(std::span<const EngineParty> parties) {
  Merged merged;
  BufferRequest request;
  for (const EngineParty& party : parties) {
    for (const Attribute& each : party.list.attributes())
      merge(merged, to_fact(each, &party.list, 0));
    for (const Alternative& each : party.list.alternatives())
      if (each.tag.family == LayoutTag::Family::image) request.images.push_back(each.tag);
  }
  std::vector<Failure> conflicts;  // reported later
  settle_extents(merged, conflicts);
  if (merged[Key::dtype].is_set) request.dtype = static_cast<DType>(merged[Key::dtype].value.low);
  for (std::size_t k = max_axes; k-- > 0;)
    if (!request.shape.empty() || merged.at(Key::shape, k).is_set)
      request.shape.push_back(merged.number(Key::shape, k, 1));
  std::ranges::sort(request.images);
  request.images.erase(std::unique(request.images.begin(), request.images.end()),
                       request.images.end());
  const auto has_format = [&](const LayoutTag& each) {
    return each.format == request.images.front().format;
  };
  if (!request.images.empty() && std::ranges::all_of(request.images, has_format))
    request.format = request.images.front().format;
  request.width = merged.number(Key::width, 0);
  request.height = merged.number(Key::height, 0);
  return request;
}

AttributeList list_for(const EngineParty& party) {
  AttributeList list(party.list.party());
  if (party.engine) list.set_engine(std::string(party.engine->name()));
  list.set_process(party.list.process());
  if (const auto priority = party.list.optional_priority()) list.set_optional(*priority);
  return list;
}

Statement refusal_of(const EngineParty& party) {
  return {party.list.party(),
          party.list.process(),
          std::string(party.engine->name()),
          "g.engines",
          "refuses",
          "set",
          {}};
}

/// An optional party whose engine failed in fill().
DroppedParty left_out(const EngineParty& party, const Error& error) {
  ConflictItem item;
  item.key = "g.engines";
  item.rule = must_say;
  item.parties.push_back(refusal_of(party));
  item.parties.back().source = error.message();
  return {std::string(party.list.party()), {{std::move(item)}}};
}

/// The lists that the engines fill, one per party.
Result<std::vector<AttributeList>> fill(std::span<const EngineParty> parties, bool allow_drop,
                                        std::vector<DroppedParty>& absent) {
  std::vector<AttributeList> lists;
  const BufferRequest request = request_of(parties);
  for (const EngineParty& party : parties) {
    lists.push_back(list_for(party));
    if (!party.engine) continue;
    auto done = party.engine->fill(request, lists.back());
    if (done) continue;
    if (!allow_drop || !party.list.optional_priority())
      return fail(done.error().code, done.error().what, "party \"{}\", engine {}: {}",
                  party.list.party(), party.engine->name(),
                  done.error().detail ? *done.error().detail : std::string());
    absent.push_back(left_out(party, done.error()));
  }
  return lists;
}

bool takes_part(const Reconciled& draft, const std::string& party) {
  return std::ranges::find(draft.dropped(), party, &DroppedParty::party) == draft.dropped().end();
}

bool has(std::span<const Attribute> all, const Attribute& one) {
  return std::ranges::any_of(all, [&](const Attribute& each) {
    return each.key == one.key && each.index == one.index && each.value == one.value;
  });
}

bool has_all(std::span<const Attribute> all, std::span<const Attribute> some) {
  return std::ranges::all_of(some, [&](const Attribute& each) { return has(all, each); });
}

/// Sorts statements and removes duplicates, so that reports do not depend on the order of the
/// parties.
void sort_statements(std::vector<Statement>& all) {
  const auto key = [](const Statement& s) { return std::tie(s.party, s.key, s.value, s.source); };
  std::ranges::sort(all, {}, key);
  const auto same = [&](const Statement& a, const Statement& b) { return key(a) == key(b); };
  all.erase(std::unique(all.begin(), all.end(), same), all.end());
}

/// Asks all engines about one draft after the other.
class Rounds {
 public:
  Rounds(std::span<const EngineParty> parties, std::vector<DroppedParty> absent)
      : parties_(parties) {
    said_.absent = std::move(absent);
  }
  /// Asks the engines that take part. Returns true if all accept the draft.
  bool ask(const Reconciled& draft);
  const EngineRounds& said() const { return said_; }
  /// Gives up after the draft of the last ask().
  Error give_up(Conflict* conflict);

 private:
  void ask(std::size_t asked, const Reconciled& draft);
  void take(std::size_t asked, std::vector<Attribute> attributes);
  void refuse(std::string_view rule, std::vector<Statement> statements);

  struct Count {
    Candidate candidate;
    int rounds = 0;
  };
  std::span<const EngineParty> parties_;
  EngineRounds said_;
  std::vector<Count> counts_;
  // State of the current round:
  Candidate candidate_;
  std::vector<Statement> refusing_, asking_;
};

/// Replaces the earlier answer of an engine, and records what changes.
void Rounds::take(std::size_t asked, std::vector<Attribute> attributes) {
  std::vector<EngineAnswer>& answers = said_.answers;
  auto before = std::ranges::find_if(answers, [&](const EngineAnswer& each) {
    return each.asked == asked && same_tags(each.candidate, candidate_);
  });
  if (before == answers.end())
    before = answers.insert(answers.end(), {candidate_, asked, parties_[asked].list.party(), {}});
  const bool is_same =
      has_all(before->attributes, attributes) && has_all(attributes, before->attributes);
  if (is_same) return;
  for (const Attribute& each : attributes) {
    if (has(before->attributes, each)) continue;
    Statement asks = refusal_of(parties_[asked]);
    asks.key = slot_name(slot_of(each.key, each.index));
    asks.value = to_string(each.key, each.value);
    asks.source = each.source;
    asking_.push_back(std::move(asks));
  }
  if (has_all(before->attributes, attributes)) {
    asking_.push_back(refusal_of(parties_[asked]));
    asking_.back().value = "takes back what it asked for";
  }
  before->attributes = std::move(attributes);
}

void Rounds::ask(std::size_t asked, const Reconciled& draft) {
  AttributeList more = list_for(parties_[asked]);
  if (auto done = parties_[asked].engine->refine(draft, more); !done) {
    refusing_.push_back(refusal_of(parties_[asked]));
    refusing_.back().source = done.error().message();
    return;
  }
  std::vector<Attribute> attributes(more.attributes().begin(), more.attributes().end());
  for (const LayoutTag& tag : {candidate_.tensor, candidate_.image}) {
    if (tag.family == LayoutTag::Family::wildcard) continue;
    const Acceptance acceptance = halyard::acceptance(more, tag);
    if (!acceptance.accepts) {
      refusing_.push_back(refusal_of(parties_[asked]));
      refusing_.back().source = "accepts other layouts";
      return;
    }
    if (acceptance.alternative == nullptr) continue;
    const auto& own = acceptance.alternative->attributes;
    attributes.insert(attributes.end(), own.begin(), own.end());
  }
  take(asked, std::move(attributes));
}

void Rounds::refuse(std::string_view rule, std::vector<Statement> statements) {
  sort_statements(statements);
  said_.refusals.push_back({candidate_, rule, std::move(statements)});
}

bool Rounds::ask(const Reconciled& draft) {
  candidate_ = {draft.tensor_tag(), draft.image_tag()};
  refusing_.clear();
  asking_.clear();
  for (std::size_t k = 0; k < parties_.size(); ++k)
    if (parties_[k].engine && takes_part(draft, parties_[k].list.party())) ask(k, draft);
  if (refusing_.empty() && asking_.empty()) return true;
  auto count = std::ranges::find_if(
      counts_, [&](const Count& each) { return same_tags(each.candidate, candidate_); });
  if (count == counts_.end()) count = counts_.insert(counts_.end(), {candidate_});
  const bool is_last = ++count->rounds >= max_rounds;
  if (!refusing_.empty()) {
    refuse(must_work, refusing_);
  } else if (is_last) {
    refuse(must_be_content, asking_);
  }
  return false;
}

Error Rounds::give_up(Conflict* conflict) {
  if (refusing_.empty()) refuse(must_end, asking_);
  return refused_by_engines(said_.refusals, conflict);
}

}  // namespace

Status BufferEngine::refine(const Reconciled&, AttributeList&) const {
  return {};
}

Result<Reconciled> reconcile_engines(std::span<const EngineParty> parties,
                                     const ReconcileOptions& options, Conflict* conflict) {
  std::vector<DroppedParty> absent;
  HALYARD_TRY(const std::vector<AttributeList> filled, fill(parties, options.allow_drop, absent));
  std::vector<const AttributeList*> lists;
  for (const EngineParty& each : parties)
    lists.push_back(&each.list);
  for (const AttributeList& each : filled)
    lists.push_back(&each);
  Rounds rounds(parties, std::move(absent));
  for (int round = 0; round < max_all_rounds; ++round) {
    Result<Reconciled> draft = reconcile_after(lists, options, rounds.said(), conflict);
    if (!draft || rounds.ask(*draft)) return draft;
  }
  return rounds.give_up(conflict);
}

}  // namespace halyard
