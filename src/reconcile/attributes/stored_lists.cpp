// SPDX-License-Identifier: Apache-2.0
// Rebuilds the lists of a result, and serializes what all its copies share.
#include "reconcile/attributes/stored_lists.h"

#include "reconcile/attributes/blob.h"
#include "reconcile/attributes/key_table.h"

namespace halyard {
namespace {

bool is_view(Key key) {
  return key == Key::cpu || key == Key::perm;
}

/// Whether a value follows from the engine's name, which the party has.
bool is_said_by_engine(const StoredParty& party, const SlotKey& slot, AttributeValue value) {
  return slot.info->key == Key::engines && !party.engine.empty() &&
         value == engine_attribute(party.engine).value;
}

/// The lists of one party. Each list has each key once, so there are as many lists as needed.
class PartyLists {
 public:
  PartyLists(const StoredParty& party, std::vector<AttributeList>& out)
      : party_(party), out_(out), first_(out.size()) {
    add();
  }
  void say(SlotKey slot, AttributeValue value) {
    for (std::size_t k = first_;; ++k) {
      if (k == out_.size()) add();
      if (out_[k].get(slot.info->key, slot.index)) continue;
      // The value was legal when the party set it, so set() cannot fail.
      static_cast<void>(out_[k].set(slot.info->key, value, slot.index, {}));
      return;
    }
  }
  void accept(const LayoutTag& tag) { static_cast<void>(out_[first_].accept(tag)); }

 private:
  void add() {
    out_.emplace_back(party_.name);
    out_.back().set_engine(party_.engine);
    out_.back().set_process(party_.process);
  }
  const StoredParty& party_;
  std::vector<AttributeList>& out_;
  std::size_t first_;
};

void put_tag(BlobBytes& out, const LayoutTag& tag) {
  out.put_text(to_string(tag));
}

}  // namespace

std::vector<AttributeList> stored_lists(const ReconciledState& state, const std::string* party) {
  std::vector<AttributeList> lists;
  for (std::size_t p = 0; p < state.parties.size(); ++p) {
    PartyLists own(state.parties[p], lists);
    for (const Fact& fact : state.facts) {
      const SlotKey slot = key_of(fact.slot);
      if (fact.party != p || is_said_by_engine(state.parties[p], slot, fact.value)) continue;
      if (slot.info->type == ValueType::layout) {
        own.accept(slot.info->key == Key::format ? state.candidate.image : state.candidate.tensor);
      } else if (!is_view(slot.info->key) || party == nullptr || *party == state.parties[p].name) {
        own.say(slot, fact.value);
      }
    }
  }
  return lists;
}

std::vector<std::byte> shared_bytes(const ReconciledState& state) {
  BlobBytes out;
  put_tag(out, state.candidate.tensor);
  put_tag(out, state.candidate.image);
  out.put(static_cast<std::uint8_t>(state.machine.can_anchor));
  std::uint64_t cpu = 0;
  for (std::size_t p = 0; p < state.merged.party_count; ++p)
    cpu |= state.merged.parties[p].cpu;
  out.put(cpu);
  out.reserve(out.get().size() + state.facts.size() * 32);
  const Fact* last = nullptr;
  for (const Fact& fact : state.facts) {
    const SlotRule& slot = slot_rules[fact.slot];
    // Which engines use a buffer does not change the buffer.
    if (is_view(slot.key) || slot.key == Key::engines) continue;
    // Two lists of a party may state the same.
    const bool is_repeated = last != nullptr && last->party == fact.party &&
                             last->slot == fact.slot && last->value == fact.value;
    last = &fact;
    if (is_repeated) continue;
    out.put_text(state.parties[fact.party].name);
    // The key is put, not the slot: versions with more keys have other slots.
    const auto key = static_cast<std::uint16_t>(slot.key);
    const auto index = static_cast<std::uint8_t>(key_of(fact.slot).index);
    std::array<std::byte, sizeof(key) + sizeof(index) + 2 * sizeof(std::uint64_t)> numbers;
    std::memcpy(numbers.data(), &key, 2);
    std::memcpy(numbers.data() + 2, &index, 1);
    std::memcpy(numbers.data() + 3, &fact.value.low, 8);
    std::memcpy(numbers.data() + 11, &fact.value.high, 8);
    out.put_bytes(numbers);
  }
  return std::move(out.get());
}

}  // namespace halyard
