// SPDX-License-Identifier: Apache-2.0
// Encodes attribute lists and results as records, and decodes them through the checks that all
// callers meet.
#include "halyard/attribute_blob.h"

#include <unistd.h>

#include <algorithm>

#include "base/text/format_error.h"
#include "base/text/utf8.h"
#include "reconcile/attributes/attribute_blob.h"
#include "reconcile/attributes/blob.h"
#include "reconcile/attributes/stored_lists.h"
#include "reconcile/buffer/negotiated_state.h"

namespace halyard {
namespace {

constexpr std::string_view others_name = "(others)";
constexpr std::size_t max_lists = 1024;

template <class Record>
constexpr std::uint16_t key_of_record(Record record) {
  return static_cast<std::uint16_t>(record);
}

void put_attribute(BlobBytes& out, const Attribute& each) {
  out.record(static_cast<std::uint16_t>(each.key), each.index, [&] {
    out.put(each.value.low);
    out.put(each.value.high);
    if (!each.source.empty()) out.put_text(each.source);
  });
}

std::vector<Attribute> in_order(std::span<const Attribute> attributes) {
  std::vector<Attribute> sorted(attributes.begin(), attributes.end());
  std::ranges::sort(sorted, {}, [](const Attribute& a) { return std::pair(a.key, a.index); });
  return sorted;
}

std::vector<std::byte> list_records(const AttributeList& list) {
  BlobBytes out;
  const std::uint32_t process =
      list.process() != 0 ? list.process() : static_cast<std::uint32_t>(::getpid());
  out.record(key_of_record(BlobRecord::party), 0, [&] {
    out.put(process);
    out.put(static_cast<std::uint8_t>(list.optional_priority().has_value()));
    out.put(static_cast<std::int32_t>(list.optional_priority().value_or(0)));
    out.put_text(list.party());
    out.put_text(list.engine());
  });
  for (const Attribute& each : in_order(list.attributes()))
    put_attribute(out, each);
  std::vector<Alternative> alternatives(list.alternatives().begin(), list.alternatives().end());
  std::ranges::sort(alternatives, {}, &Alternative::tag);
  for (const Alternative& each : alternatives) {
    out.record(key_of_record(BlobRecord::alternative), 0, [&] {
      out.put(each.cost);
      out.put_text(to_string(each.tag));
    });
    for (const Attribute& attribute : in_order(each.attributes))
      put_attribute(out, attribute);
  }
  return std::move(out.get());
}

/// The records of all lists, sorted by their bytes.
std::vector<std::byte> records_of(std::span<const AttributeList> lists) {
  std::vector<std::string> each;
  for (const AttributeList& list : lists) {
    const auto records = list_records(list);
    each.emplace_back(reinterpret_cast<const char*>(records.data()), records.size());
  }
  std::ranges::sort(each);
  BlobBytes all;
  for (const std::string& records : each)
    all.put_bytes(std::as_bytes(std::span(records)));
  return std::move(all.get());
}

/// Whether a text from another process is safe to print in reports and on terminals.
bool is_clean(std::string_view text) {
  return is_utf8(text) &&
         std::ranges::none_of(text, [](unsigned char c) { return c < ' ' || c == 127; });
}

Error bad_record(const BlobEntry& entry) {
  return fail(Errc::malformed, "blob: a record's value is malformed", "key {:#06x}, {} bytes",
              entry.key, entry.value.size());
}

/// Puts lists together, record by record.
class ListReader {
 public:
  /// Returns false if the record does not belong to a list.
  Result<bool> read(const BlobEntry& entry) {
    if (entry.key == key_of_record(BlobRecord::party)) {
      HALYARD_RETURN_IF_ERROR(finish_alternative());
      HALYARD_RETURN_IF_ERROR(begin_party(entry));
      return true;
    }
    if (entry.key == key_of_record(BlobRecord::alternative)) {
      HALYARD_RETURN_IF_ERROR(finish_alternative());
      HALYARD_RETURN_IF_ERROR(begin_alternative(entry));
      return true;
    }
    if (key_info(static_cast<Key>(entry.key)) == nullptr) return false;
    HALYARD_RETURN_IF_ERROR(set(entry));
    return true;
  }
  Result<std::vector<AttributeList>> finish() {
    HALYARD_RETURN_IF_ERROR(finish_alternative());
    return std::move(lists_);
  }

 private:
  Status begin_party(const BlobEntry& entry) {
    BlobValues values(entry.value);
    const auto process = values.get<std::uint32_t>();
    const bool is_optional = values.get<std::uint8_t>() != 0;
    const auto priority = values.get<std::int32_t>();
    const std::string_view name = values.text();
    const std::string_view engine = values.text();
    if (values.fails() || !values.is_empty() || !is_clean(name) || !is_clean(engine))
      return bad_record(entry);
    if (lists_.size() == max_lists)
      return fail(Errc::exhausted, "blob: has too many lists", "at most {}", max_lists);
    lists_.emplace_back(std::string(name));
    lists_.back().set_engine(std::string(engine));
    lists_.back().set_process(process);
    if (is_optional) lists_.back().set_optional(priority);
    return {};
  }
  Status begin_alternative(const BlobEntry& entry) {
    BlobValues values(entry.value);
    cost_ = values.get<std::uint32_t>();
    const std::string_view tag = values.text();
    if (values.fails() || !values.is_empty() || lists_.empty()) return bad_record(entry);
    HALYARD_TRY(tag_, layout_tag_from_string(tag));
    own_.emplace(lists_.back().party());
    return {};
  }
  Status set(const BlobEntry& entry) {
    BlobValues values(entry.value);
    AttributeValue value;
    value.low = values.get<std::uint64_t>();
    value.high = values.get<std::uint64_t>();
    const std::string_view source = values.is_empty() ? std::string_view() : values.text();
    if (values.fails() || !values.is_empty() || lists_.empty() || !is_clean(source))
      return bad_record(entry);
    return (own_ ? *own_ : lists_.back())
        .set(static_cast<Key>(entry.key), value, entry.index, std::string(source));
  }
  Status finish_alternative() {
    if (!own_) return {};
    HALYARD_RETURN_IF_ERROR(lists_.back().accept(tag_, cost_, *own_));
    own_.reset();
    return {};
  }

  std::vector<AttributeList> lists_;
  std::optional<AttributeList> own_;  ///< attributes of the alternative that is being read
  LayoutTag tag_;
  std::uint32_t cost_ = 0;
};

Status check_unknown(const BlobEntry& entry) {
  if ((entry.key & blob_critical_bit) == 0) return {};
  return fail(Errc::unsupported, "blob: has a key that this library must understand and does not",
              "{:#06x}", entry.key);
}

/// The records of a result other than those of its lists.
struct ResultRecords {
  bool has_choice = false, has_view = false;
  bool can_anchor = true;
  std::array<std::uint8_t, 16> digest{};
  PartyView view;
  std::uint8_t others_cpu = 0;
};

bool read_choice(const BlobEntry& entry, ResultRecords& out) {
  BlobValues values(entry.value);
  out.can_anchor = values.get<std::uint8_t>() != 0;
  for (std::uint8_t& each : out.digest)
    each = values.get<std::uint8_t>();
  return !values.fails() && values.is_empty() && !std::exchange(out.has_choice, true);
}

bool read_view(const BlobEntry& entry, ResultRecords& out) {
  BlobValues values(entry.value);
  const auto cpu = values.get<std::uint8_t>();
  const auto perm = values.get<std::uint8_t>();
  out.others_cpu = values.get<std::uint8_t>();
  out.view = {std::string(values.text()), static_cast<CpuAccess>(cpu),
              static_cast<Permission>(perm)};
  return !values.fails() && values.is_empty() && cpu <= 3 && perm <= 1 && out.others_cpu <= 3 &&
         !std::exchange(out.has_view, true);
}

/// Adds what the other parties do with the CPU as one party, which does not name them.
Status add_others(std::vector<AttributeList>& lists, std::uint8_t cpu) {
  if (cpu == 0) return {};
  lists.emplace_back(std::string(others_name));
  return lists.back().set(Key::cpu, {cpu, 0}, 0, {});
}

Result<Reconciled> agree_again(std::vector<AttributeList> lists, const ResultRecords& records,
                               std::vector<std::byte> unknown) {
  HALYARD_RETURN_IF_ERROR(add_others(lists, records.others_cpu));
  Conflict conflict;
  ReconcileOptions options;
  options.can_anchor = records.can_anchor;
  auto result = reconcile(lists, options, &conflict);
  if (!result)
    return fail(Errc::corrupt, "blob: its parties agree on no buffer", "{}",
                result.error().message());
  if (result->digest() != records.digest)
    return fail(Errc::corrupt, "blob: its parties agree on another buffer in this library");
  if (std::ranges::find(result->views(), records.view.party, &PartyView::party) ==
      result->views().end())
    return fail(Errc::corrupt, "blob: its party must take part", "{}", records.view.party);
  ReconciledState& state = ReconciledState::edit(*result);
  state.views = {records.view};
  state.unknown_records = std::move(unknown);
  return result;
}

}  // namespace

Result<std::vector<std::byte>> encode_lists(std::span<const AttributeList> lists) {
  return make_blob(BlobContent::lists, records_of(lists));
}

Result<std::vector<std::byte>> encode_lists(std::span<const AttributeList* const> lists) {
  std::vector<AttributeList> copies;
  for (const AttributeList* each : lists) {
    if (each == nullptr) return fail(Errc::invalid_argument, "lists: none may be null");
    copies.push_back(*each);
  }
  return encode_lists(copies);
}

Result<std::vector<AttributeList>> decode_lists(std::span<const std::byte> blob) {
  HALYARD_TRY(const auto entries, read_blob(BlobContent::lists, blob));
  ListReader reader;
  for (const BlobEntry& entry : entries) {
    HALYARD_TRY(const bool is_known, reader.read(entry));
    if (!is_known) HALYARD_RETURN_IF_ERROR(check_unknown(entry));
  }
  return reader.finish();
}

Result<std::vector<std::byte>> result_records(const Reconciled& result, std::string_view party) {
  const ReconciledState& state = ReconciledState::of(result);
  if (party.empty()) return fail(Errc::invalid_argument, "party: must have a name");
  HALYARD_TRY(const PartyView view, view_of(result, party));
  BlobBytes out;
  out.record(key_of_record(BlobRecord::choice), 0, [&] {
    out.put(static_cast<std::uint8_t>(state.machine.can_anchor));
    for (const std::uint8_t each : result.digest())
      out.put(each);
  });
  std::uint64_t others_cpu = 0;
  for (std::size_t p = 0; p < state.parties.size(); ++p)
    if (state.parties[p].name != party) others_cpu |= state.merged.parties[p].cpu;
  out.record(key_of_record(BlobRecord::view), 0, [&] {
    out.put(static_cast<std::uint8_t>(view.cpu));
    out.put(static_cast<std::uint8_t>(view.permission));
    out.put(static_cast<std::uint8_t>(others_cpu));
    out.put_text(party);
  });
  out.put_bytes(records_of(stored_lists(state, &view.party)));
  out.put_bytes(state.unknown_records);
  return std::move(out.get());
}

Result<std::vector<std::byte>> encode_result(const Reconciled& result, std::string_view party) {
  HALYARD_TRY(const auto records, result_records(result, party));
  return make_blob(BlobContent::result, records);
}

Result<Reconciled> decode_result(std::span<const std::byte> blob) {
  HALYARD_TRY(const auto entries, read_blob(BlobContent::result, blob));
  return decode_result_records(entries, nullptr);
}

Result<Reconciled> decode_result_records(std::span<const BlobEntry> entries,
                                         std::span<const std::byte>* buffer) {
  ListReader reader;
  ResultRecords records;
  std::vector<std::byte> unknown;
  for (const BlobEntry& entry : entries) {
    bool is_good = true;
    if (entry.key == key_of_record(BlobRecord::choice)) {
      is_good = read_choice(entry, records);
    } else if (entry.key == key_of_record(BlobRecord::view)) {
      is_good = read_view(entry, records);
    } else if (entry.key == key_of_record(BlobRecord::buffer)) {
      if (buffer != nullptr) *buffer = entry.value;
    } else {
      HALYARD_TRY(const bool is_known, reader.read(entry));
      if (!is_known) HALYARD_RETURN_IF_ERROR(check_unknown(entry));
      if (!is_known) unknown.insert(unknown.end(), entry.whole.begin(), entry.whole.end());
    }
    if (!is_good) return bad_record(entry);
  }
  if (!records.has_choice || !records.has_view)
    return fail(Errc::malformed, "blob: lacks the record of the choice or of the party's view");
  HALYARD_TRY(auto lists, reader.finish());
  return agree_again(std::move(lists), records, std::move(unknown));
}

}  // namespace halyard
