// SPDX-License-Identifier: Apache-2.0
// Attribute lists: setting values, by key or from text.
#include "halyard/attributes.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text/format_error.h"
#include "reconcile/attributes/key_table.h"
#include "reconcile/attributes/value_text.h"
#include "reconcile/layout/layout_tag.h"

namespace halyard {

namespace {

using nlohmann::json;

constexpr std::size_t max_alternatives = 64;
static_assert(slot_count <= 128, "a list has a bit for each");

std::string text_of(CodeLine where) {
  const std::string_view file = where.file;
  return fmt::format("{}:{}", file.substr(file.find_last_of('/') + 1), where.line);
}

/// "i.pitch_align[1]" is a key and an index.
struct IndexedName {
  std::string_view name;
  std::optional<std::size_t> index;
};
Result<IndexedName> split_index(std::string_view text) {
  if (!text.ends_with(']')) return IndexedName{text, std::nullopt};
  const auto open = text.find('[');
  if (open == std::string_view::npos || text.size() - open != 3 || text[open + 1] < '0' ||
      text[open + 1] > '7')
    return fail(Errc::invalid_argument, "an index is one digit, 0 to 7, in brackets", "{}", text);
  return IndexedName{text.substr(0, open), static_cast<std::size_t>(text[open + 1] - '0')};
}

/// The number of values that a single number sets: all values of the key, except for i.pitch_exact,
/// where it sets the first plane's.
std::size_t values_of_one(const KeyInfo& info) {
  return info.key == Key::pitch_exact ? 1 : info.count;
}

Error of_party(const AttributeList& list, const Error& error) {
  return fail(error.code, error.what, "party \"{}\": {}", list.party(),
              error.detail ? *error.detail : std::string());
}

Status accept_tags(AttributeList& list, const KeyInfo& info, const json& value) {
  const json tags = value.is_array() ? value : json::array({value});
  for (const json& each : tags) {
    const auto tag = layout_tag_from_json(info, each);
    if (!tag) return of_party(list, tag.error());
    HALYARD_RETURN_IF_ERROR(list.accept(*tag));
  }
  return {};
}

/// Sets one value or a list of them. Axes are written outermost first and stored innermost first.
Status set_values(AttributeList& list, const KeyInfo& info, const json& value,
                  std::optional<std::size_t> index, const std::string& source) {
  const bool is_list = info.count > 1 && value.is_array() && !index;
  if (is_list && (value.empty() || value.size() > info.count))
    return fail(Errc::invalid_argument, "the list of the key must have a legal count of values",
                "party \"{}\": {}: {}, legal: 1..{}", list.party(), info.name, value.size(),
                info.count);
  const std::size_t count = is_list ? value.size() : index ? 1 : values_of_one(info);
  const bool from_last = is_list && info.count == max_axes;
  for (std::size_t k = 0; k < count; ++k) {
    const json& one = is_list ? value[from_last ? count - 1 - k : k] : value;
    const auto number = value_from_json(info, one);
    if (!number) return of_party(list, number.error());
    HALYARD_RETURN_IF_ERROR(list.set(info.key, *number, index.value_or(k), source));
  }
  return {};
}

}  // namespace

AttributeList::AttributeList(std::string party) : party_(std::move(party)) {}

std::optional<AttributeValue> AttributeList::get(Key key, std::size_t index) const noexcept {
  const KeyInfo* const info = key_info(key);
  if (info == nullptr || index >= info->count) return std::nullopt;
  const std::size_t slot = slot_of(*info, index);
  if ((said_[slot / 64] >> (slot % 64) & 1) == 0) return std::nullopt;
  for (const Attribute& each : attributes_)
    if (each.key == key && each.index == index) return each.value;
  return std::nullopt;
}

Status AttributeList::set(Key key, AttributeValue value, std::size_t index, std::string source) {
  const KeyInfo* const info = key_info(key);
  if (info == nullptr)
    return fail(Errc::invalid_argument, "the table of keys has no such key", "party \"{}\": {:#x}",
                party_, static_cast<unsigned>(key));
  if (index >= info->count)
    return fail(Errc::invalid_argument, "the index must be below the key's number of values",
                "party \"{}\": {}[{}] of {}", party_, info->name, index, info->count);
  if (auto legal = check_value(*info, value); !legal)
    return fail(Errc::invalid_argument, legal.error().what, "party \"{}\": {}", party_,
                legal.error().detail ? *legal.error().detail : std::string());
  // Normalizes the value: most keys use only `low`, and padding with the value 0 becomes padding
  // with zeros.
  const bool has_high =
      info->type == ValueType::range || key == Key::policy || key == Key::pad_fill;
  if (!has_high) value.high = 0;
  if (key == Key::pad_fill && value == AttributeValue{3, 0}) value = {2, 0};
  const std::size_t slot = slot_of(*info, index);
  std::uint64_t& said = said_[slot / 64];
  const std::uint64_t mark = std::uint64_t{1} << (slot % 64);
  if (const auto before = (said & mark) != 0 ? get(key, index) : std::nullopt)
    return fail(Errc::exists, "the list has the key already", "party \"{}\": {} = {}, then {}",
                party_, info->name, to_string(key, *before), to_string(key, value));
  said |= mark;
  if (attributes_.empty()) attributes_.reserve(16);
  attributes_.push_back({key, static_cast<std::uint8_t>(index), value, std::move(source)});
  return {};
}

Status AttributeList::set(Key key, std::uint64_t number, CodeLine where) {
  const KeyInfo* const info = key_info(key);
  const bool is_range = info != nullptr && info->type == ValueType::range;
  const std::size_t count = info != nullptr ? values_of_one(*info) : 1;
  for (std::size_t k = 0; k < count; ++k)
    HALYARD_RETURN_IF_ERROR(set(key, {number, is_range ? number : 0}, k, text_of(where)));
  return {};
}

Status AttributeList::set_dtype(DType dtype, CodeLine where) {
  return set(Key::dtype, {static_cast<std::uint64_t>(dtype), 0}, 0, text_of(where));
}

Status AttributeList::set_shape(std::span<const std::size_t> shape, CodeLine where) {
  if (shape.empty() || shape.size() > max_axes)
    return fail(Errc::invalid_argument, "a shape has 1 to 8 axes", "party \"{}\": {}", party_,
                shape.size());
  for (std::size_t k = 0; k < shape.size(); ++k) {
    const std::uint64_t extent = shape[shape.size() - 1 - k];
    HALYARD_RETURN_IF_ERROR(set(Key::shape, {extent, extent}, k, text_of(where)));
  }
  return {};
}

Status AttributeList::set_image(std::size_t width, std::size_t height, CodeLine where) {
  HALYARD_RETURN_IF_ERROR(set(Key::width, {width, width}, 0, text_of(where)));
  return set(Key::height, {height, height}, 0, text_of(where));
}

Status AttributeList::set_heaps(std::initializer_list<Heap> heaps, CodeLine where) {
  std::uint64_t bits = 0;
  for (const Heap each : heaps)
    bits |= bit(each);
  return set(Key::heaps, {bits, 0}, 0, text_of(where));
}

Status AttributeList::set_policy(CpuPolicy policy, bool strict, CodeLine where) {
  return set(Key::policy, {static_cast<std::uint64_t>(policy), strict ? 1U : 0U}, 0,
             text_of(where));
}

Status AttributeList::set_cpu(CpuAccess access, CodeLine where) {
  return set(Key::cpu, {static_cast<std::uint64_t>(access), 0}, 0, text_of(where));
}

Status AttributeList::accept(LayoutTag tag, std::uint32_t cost) {
  return accept(tag, cost, AttributeList(party_));
}

Status AttributeList::accept(LayoutTag tag, std::uint32_t cost, const AttributeList& attributes) {
  HALYARD_RETURN_IF_ERROR(check_tag(tag));
  if (!attributes.alternatives().empty())
    return fail(Errc::invalid_argument, "an alternative has no alternatives of its own",
                "party \"{}\": {}", party_, to_string(tag));
  if (alternatives_.size() == max_alternatives)
    return fail(Errc::exhausted, "a list has at most 64 alternatives", "party \"{}\"", party_);
  if (std::ranges::find(alternatives_, tag, &Alternative::tag) != alternatives_.end())
    return fail(Errc::exists, "the list accepts this layout already", "party \"{}\": {}", party_,
                to_string(tag));
  const auto own = attributes.attributes();
  alternatives_.push_back({tag, cost, {own.begin(), own.end()}});
  return {};
}

Status AttributeList::set_text(std::string_view key, std::string_view text, std::string source) {
  const auto name = split_index(key);
  if (!name) return of_party(*this, name.error());
  const KeyInfo* const info = key_info(name->name);
  if (info == nullptr)
    return fail(Errc::not_found, "the table of keys has no such key", "party \"{}\": {}", party_,
                key);
  const json value = json::parse(text, nullptr, false);
  if (value.is_discarded())
    return fail(Errc::malformed, "the value is not JSON", "party \"{}\": {}: {}", party_, key,
                text);
  if (info->type == ValueType::layout) return accept_tags(*this, *info, value);
  return set_values(*this, *info, value, name->index, source);
}

}  // namespace halyard
