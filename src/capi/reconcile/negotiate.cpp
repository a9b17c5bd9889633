// SPDX-License-Identifier: Apache-2.0
// Attribute lists and results in C.
#include "capi/reconcile/negotiate.h"

#include <algorithm>
#include <utility>

#include "capi/error.h"
#include "capi/ipc/topics.h"

namespace halyard::capi {
namespace {

constexpr std::size_t max_lists = 1024;

Result<hal_attrs*> new_list(const char* party) {
  HALYARD_TRY(const std::string name, text_from(party, "party"));
  const auto is_control = [](unsigned char c) { return c < ' ' || c == 127; };
  if (name.empty() || name.size() > 255 || std::any_of(name.begin(), name.end(), is_control))
    return make_error(Errc::invalid_argument,
                      "party: must have 1 to 255 bytes without control characters");
  return new hal_attrs{.party = {AttributeList(name), nullptr}};
}

// Checks the list and calls `use` with it.
template <class F>
Result<int> with_list(hal_attrs* handle, F&& use) {
  HALYARD_TRY(hal_attrs* const found, checked(handle, "attrs"));
  HALYARD_RETURN_IF_ERROR(use(found->party));
  return 0;
}

// Reports malformed JSON as an invalid argument, because C has no errno of its own for it.
Status as_argument(Status status) {
  if (status || status.error().code != Errc::malformed) return status;
  Error error = status.error();
  error.code = Errc::invalid_argument;
  return error;
}

Status set_engine(EngineParty& party, const char* engine, const char* settings) {
  HALYARD_TRY(const std::string name, text_from(engine, "engine"));
  std::string numbers;
  if (settings != nullptr) {
    HALYARD_TRY(numbers, text_from(settings, "settings"));
  }
  auto made = make_buffer_engine(name, numbers);
  if (!made) return as_argument(made.error());
  party.engine = *std::move(made);
  return {};
}

Result<hal_reconciled*> reconcile_lists(hal_attrs* const* lists, std::size_t count, unsigned flags,
                                        char** report) {
  HALYARD_RETURN_IF_ERROR(aligned(report, "report"));
  if (report != nullptr) *report = nullptr;
  constexpr unsigned known = HAL_RECONCILE_ALLOW_DROP | HAL_RECONCILE_NO_ANCHOR;
  if ((flags & ~known) != 0)
    return make_error(Errc::invalid_argument, "flags: has unknown bits", std::to_string(flags));
  HALYARD_TRY(const auto handles, lists_from(lists, count));
  std::vector<EngineParty> parties;
  for (const hal_attrs* each : handles)
    parties.push_back(each->party);
  ReconcileOptions options;
  options.allow_drop = (flags & HAL_RECONCILE_ALLOW_DROP) != 0;
  options.can_anchor = (flags & HAL_RECONCILE_NO_ANCHOR) == 0;
  Conflict conflict;
  auto result = reconcile_engines(parties, options, &conflict);
  if (result) return new hal_reconciled{.result = *std::move(result)};
  if (report != nullptr && !conflict.items.empty())
    *report = duplicated(conflict.to_json().c_str());
  return std::move(result).error();
}

Result<hal_buffer*> allocate_agreed(const hal_reconciled* handle, const char* party) {
  HALYARD_TRY(const hal_reconciled* const found, checked(handle, "reconciled"));
  NegotiatedOptions options;
  options.count = 1;
  if (party != nullptr) {
    HALYARD_TRY(options.party, text_from(party, "party"));
  }
  HALYARD_TRY(auto buffers, allocate_negotiated(found->result, options));
  return new hal_buffer{.buffer = std::move(buffers.front())};
}

Result<hal_pool*> make_pool(const hal_reconciled* handle, std::uint32_t id, std::uint32_t count) {
  HALYARD_TRY(const hal_reconciled* const found, checked(handle, "reconciled"));
  HALYARD_TRY(const FrameLayout frame, found->result.frame_layout());
  HALYARD_TRY(const TensorPoolConfig config, TensorPoolConfig::for_frames(frame, count));
  HALYARD_TRY(auto pool, TensorPool::create(id, config));
  return new hal_pool{.pool = std::move(pool)};
}

Result<hal_tensor*> allocate_frame(const hal_pool* handle, std::int64_t timeout_ns) {
  HALYARD_TRY(TensorPool* const pool, pool_of(handle));
  HALYARD_TRY(TensorHandle frame, pool->alloc_frame(std::chrono::nanoseconds(timeout_ns)));
  return new hal_tensor{.tensor = std::move(frame)};
}

}  // namespace

Result<std::string> text_from(const char* text, const char* name) {
  if (text == nullptr) return make_error(Errc::invalid_argument, "argument: is NULL", name);
  if (!is_utf8(text)) return make_error(Errc::invalid_argument, "argument: is not UTF-8", name);
  return std::string(text);
}

Result<std::vector<const hal_attrs*>> lists_from(hal_attrs* const* lists, std::size_t count) {
  std::vector<const hal_attrs*> found;
  if (count == 0) return found;
  HALYARD_RETURN_IF_ERROR(pointer_to(lists, "lists"));
  if (count > max_lists)
    return make_error(Errc::invalid_argument, "count: must be at most 1024", std::to_string(count));
  for (std::size_t k = 0; k < count; ++k) {
    HALYARD_TRY(const hal_attrs* const each, checked(lists[k], "lists"));
    found.push_back(each);
  }
  return found;
}

Result<std::uint8_t*> copied(std::span<const std::byte> bytes) {
  auto* const copy =
      static_cast<std::uint8_t*>(std::malloc(std::max<std::size_t>(bytes.size(), 1)));
  if (copy == nullptr) return make_error(Errc::no_memory, "memory: allocation failed");
  if (!bytes.empty()) std::memcpy(copy, bytes.data(), bytes.size());
  return copy;
}

}  // namespace halyard::capi

using namespace halyard;
using namespace halyard::capi;

hal_attrs* hal_attrs_new(const char* party) {
  return guarded<hal_attrs*>(nullptr, [&] { return new_list(party); });
}

void hal_attrs_free(hal_attrs* attrs) {
  if (is_valid(attrs)) delete attrs;
}

int hal_attrs_set(hal_attrs* attrs, const char* key, const char* json) {
  return guarded(-1, [&] {
    return with_list(attrs, [&](EngineParty& party) -> Status {
      HALYARD_TRY(const std::string name, text_from(key, "key"));
      HALYARD_TRY(const std::string value, text_from(json, "json"));
      return as_argument(party.list.set_text(name, value));
    });
  });
}

int hal_attrs_set_number(hal_attrs* attrs, const char* key, uint64_t value) {
  return guarded(-1, [&] {
    return with_list(attrs, [&](EngineParty& party) -> Status {
      HALYARD_TRY(const std::string name, text_from(key, "key"));
      return as_argument(party.list.set_text(name, std::to_string(value)));
    });
  });
}

int hal_attrs_accept(hal_attrs* attrs, const char* layout, uint32_t cost) {
  return guarded(-1, [&] {
    return with_list(attrs, [&](EngineParty& party) -> Status {
      HALYARD_TRY(const std::string name, text_from(layout, "layout"));
      HALYARD_TRY(const LayoutTag tag, layout_tag_from_string(name));
      return party.list.accept(tag, cost);
    });
  });
}

int hal_attrs_set_engine(hal_attrs* attrs, const char* engine, const char* settings) {
  return guarded(-1, [&] {
    return with_list(attrs,
                     [&](EngineParty& party) { return set_engine(party, engine, settings); });
  });
}

int hal_attrs_set_optional(hal_attrs* attrs, int priority) {
  return guarded(-1, [&] {
    return with_list(attrs, [&](EngineParty& party) -> Status {
      party.list.set_optional(priority);
      return {};
    });
  });
}

hal_reconciled* hal_reconcile(hal_attrs* const* lists, size_t count, unsigned flags,
                              char** report) {
  return guarded<hal_reconciled*>(nullptr,
                                  [&] { return reconcile_lists(lists, count, flags, report); });
}

void hal_reconciled_free(hal_reconciled* reconciled) {
  if (is_valid(reconciled)) delete reconciled;
}

char* hal_reconciled_json(const hal_reconciled* reconciled) {
  return guarded<char*>(nullptr, [&]() -> Result<char*> {
    HALYARD_TRY(const hal_reconciled* const found, checked(reconciled, "reconciled"));
    return duplicated(found->result.to_json().c_str());
  });
}

size_t hal_reconciled_size(const hal_reconciled* reconciled) {
  return is_valid(reconciled) ? reconciled->result.allocated_bytes() : 0;
}

size_t hal_reconciled_count(const hal_reconciled* reconciled) {
  return is_valid(reconciled) ? reconciled->result.count() : 0;
}

hal_buffer* hal_reconciled_alloc(const hal_reconciled* reconciled, const char* party) {
  return guarded<hal_buffer*>(nullptr, [&] { return allocate_agreed(reconciled, party); });
}

hal_pool* hal_reconciled_pool(const hal_reconciled* reconciled, uint32_t id, uint32_t count) {
  return guarded<hal_pool*>(nullptr, [&] { return make_pool(reconciled, id, count); });
}

hal_tensor* hal_pool_alloc_frame(const hal_pool* pool, int64_t timeout_ns) {
  return guarded<hal_tensor*>(nullptr, [&] { return allocate_frame(pool, timeout_ns); });
}
