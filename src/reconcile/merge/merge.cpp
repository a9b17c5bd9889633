// SPDX-License-Identifier: Apache-2.0
// The rules by which facts become one value, and the facts that determine a merged value.
#include "reconcile/merge/merge.h"

#include <algorithm>
#include <numeric>

namespace halyard {

namespace {

constexpr std::uint64_t pad_value = 3;

void merge_equal(MergedValue& into, AttributeValue value) noexcept {
  into.contradicts |= !(into.value == value);
  into.value.low = std::max(into.value.low, value.low);
}

void merge_intersect(MergedValue& into, std::uint64_t value) noexcept {
  into.value.low &= value;
  into.contradicts = into.value.low == 0;
}

void merge_hull(MergedValue& into, AttributeValue value) noexcept {
  into.value.low = std::min(into.value.low, value.low);
  into.value.high = std::max(into.value.high, value.high);
}

void merge_multiple(MergedValue& into, std::uint64_t value) noexcept {
  const std::uint64_t multiple = common_multiple(into.value.low, value);
  into.contradicts |= multiple == 0;
  if (multiple != 0) into.value.low = multiple;
}

/// Keeps the strongest policy. It contradicts a strict policy that is weaker.
void merge_order(MergedValue& into, AttributeValue value) noexcept {
  // `high` holds the weakest strict policy plus one.
  const std::uint64_t strict = value.high != 0 ? value.low + 1 : 0;
  if (strict != 0)
    into.value.high = into.value.high == 0 ? strict : std::min(into.value.high, strict);
  into.value.low = std::max(into.value.low, value.low);
  into.contradicts = into.value.high != 0 && into.value.high < into.value.low + 1;
}

/// anything < not_nan < zero, and not_nan < value. Zero and a value, or two different values,
/// contradict each other.
void merge_pad(MergedValue& into, AttributeValue value) noexcept {
  if (value.low == into.value.low) {
    into.contradicts |= value.low == pad_value && value.high != into.value.high;
    into.value.high = std::max(into.value.high, value.high);
    return;
  }
  into.contradicts |= value.low >= 2 && into.value.low >= 2;
  if (value.low > into.value.low) into.value = value;
}

void merge_range(MergedValue& into, AttributeValue value) noexcept {
  into.value.low = std::max(into.value.low, value.low);
  into.value.high = std::min(into.value.high, value.high);
  into.contradicts = into.value.low > into.value.high;
}

/// Unknown colours agree with any others.
void merge_color(MergedValue& into, std::uint64_t value) noexcept {
  into.contradicts |= into.value.low != 0 && value != 0 && into.value.low != value;
  into.value.low = std::max(into.value.low, value);
  into.is_set = true;
}

/// The initial value of a slot, to which the first fact is then merged.
AttributeValue neutral(MergeRule rule, AttributeValue value) noexcept {
  return rule == MergeRule::order ? AttributeValue{0, 0} : value;
}

void merge_value(MergedValue& into, MergeRule rule, AttributeValue value) noexcept {
  if (!into.is_set) into.value = neutral(rule, value);
  into.is_set = true;
  switch (rule) {
    case MergeRule::equal:
      merge_equal(into, value);
      return;
    case MergeRule::max:
    case MergeRule::per_party:
      into.value.low = std::max(into.value.low, value.low);
      return;
    case MergeRule::min:
      into.value.low = std::min(into.value.low, value.low);
      return;
    case MergeRule::multiple:
      merge_multiple(into, value.low);
      return;
    case MergeRule::any:
    case MergeRule::unite:
      into.value.low |= value.low;
      return;
    case MergeRule::intersect:
      merge_intersect(into, value.low);
      return;
    case MergeRule::range:
      merge_range(into, value);
      return;
    case MergeRule::hull:
      merge_hull(into, value);
      return;
    case MergeRule::sum:
      return;  // PartyValues holds them
    case MergeRule::order:
      merge_order(into, value);
      return;
    case MergeRule::pad:
      merge_pad(into, value);
      return;
  }
}

void merge_party(PartyValues& into, Key key, std::uint64_t value) noexcept {
  switch (key) {
    case Key::cpu:
      into.cpu |= value;
      return;
    case Key::perm:
      into.perm = std::max(into.perm, value);
      return;
    case Key::attach:
      into.attach = std::max(into.attach, value);
      return;
    case Key::domains:
      into.domains &= value;
      return;
    case Key::camp:
      into.camp = std::max(into.camp, value);
      return;
    case Key::slack:
      into.slack = std::max(into.slack, value);
      return;
    case Key::addr_pinned:
      into.is_pinned |= value != 0;
      return;
    case Key::count_max:
      into.limits_count = true;
      return;
    default:
      return;
  }
}

/// Whether the facts merge into the value that `whole` has in the slot.
bool gives(const std::vector<const Fact*>& facts, const MergedValue& whole) {
  Merged merged;
  for (const Fact* each : facts)
    merge(merged, *each);
  if (facts.empty()) return false;
  const MergedValue& value = merged.values[facts.front()->slot];
  return value.value == whole.value && value.contradicts == whole.contradicts;
}

/// Removes facts from `found` until the value of the rest would differ without any one of them.
void drop_redundant(std::vector<std::size_t>& found, std::span<const Fact> facts,
                    const MergedValue& value) {
  // Small numbers are removed first, so that 256 explains 256 even if 16 and 64 were stated too.
  std::ranges::stable_sort(found, {}, [&](std::size_t k) { return facts[k].value.low; });
  for (std::size_t k = 0; k < found.size();) {
    std::vector<const Fact*> others;
    for (std::size_t j = 0; j < found.size(); ++j)
      if (j != k) others.push_back(&facts[found[j]]);
    if (gives(others, value)) {
      found.erase(found.begin() + static_cast<std::ptrdiff_t>(k));
    } else {
      ++k;
    }
  }
}

/// All facts of the slot that state the same as one of `found`.
std::vector<std::size_t> facts_like(const std::vector<std::size_t>& found,
                                    std::span<const Fact> facts, std::size_t slot) {
  std::vector<std::size_t> all;
  for (std::size_t k = 0; k < facts.size(); ++k)
    if (facts[k].slot == slot &&
        std::ranges::any_of(found, [&](std::size_t j) { return facts[j].value == facts[k].value; }))
      all.push_back(k);
  return all;
}

}  // namespace

std::uint64_t common_multiple(std::uint64_t a, std::uint64_t b) noexcept {
  if (a == 0 || b == 0) return std::max(a, b);
  const std::uint64_t factor = b / std::gcd(a, b);
  return factor > max_multiple / a ? 0 : a * factor;
}

void merge(Merged& into, const Fact& fact) noexcept {
  const SlotRule& slot = slot_rules[fact.slot];
  if (slot.key == Key::color) {
    merge_color(into.values[fact.slot], fact.value.low);
  } else {
    merge_value(into.values[fact.slot], slot.rule, fact.value);
  }
  merge_party(into.parties[fact.party], slot.key, fact.value.low);
  into.party_count = std::max<std::size_t>(into.party_count, fact.party + 1U);
}

std::vector<std::size_t> witnesses(std::span<const Fact> facts, std::size_t slot) {
  std::vector<std::size_t> found;
  Merged whole;
  for (std::size_t k = 0; k < facts.size(); ++k)
    if (facts[k].slot == slot) {
      found.push_back(k);
      merge(whole, facts[k]);
    }
  const MergeRule rule = key_of(slot).info->rule;
  const MergedValue& value = whole.values[slot];
  const auto says_it = [&](std::size_t k) { return facts[k].value.low == value.value.low; };
  switch (rule) {
    case MergeRule::unite:
    case MergeRule::per_party:
    case MergeRule::sum:
      return found;
    case MergeRule::equal:
    case MergeRule::max:
    case MergeRule::min:
    case MergeRule::any:
    case MergeRule::order:
    case MergeRule::pad:
      std::erase_if(found, [&](std::size_t k) { return !says_it(k); });
      return found;
    default:
      break;
  }
  drop_redundant(found, facts, value);
  return facts_like(found, facts, slot);
}

}  // namespace halyard
