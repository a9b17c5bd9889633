// SPDX-License-Identifier: Apache-2.0
// Attribute lists, results and negotiated buffers, for other files of the extension.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bindings.h"
#include "halyard/buffer_engine.h"
#include "halyard/negotiated_buffer.h"

namespace halyard::python {

/// Python's AttributeList: the needs of a party, and the engine that adds to them.
struct PyAttributeList {
  EngineParty party;
};

/// Copies of the lists of an argument, so that the interpreter can be released. Raises TypeError.
std::vector<EngineParty> parties_from(nb::handle object, const char* argument);
/// The same without their engines, for calls that do not use engines.
std::vector<AttributeList> lists_from(nb::handle object, const char* argument);
std::vector<const AttributeList*> pointers_to(const std::vector<AttributeList>& lists);

/// Raises ConflictError if there is a report, else as raise().
[[noreturn]] void raise_conflict(const Error& error, const Conflict& conflict);
template <class T>
T take(Result<T> result, const Conflict& conflict) {
  if (!result) raise_conflict(result.error(), conflict);
  return *std::move(result);
}

/// json.loads().
nb::object object_of_json(const std::string& json);
nb::bytes bytes_of(std::span<const std::byte> bytes);

/// A party's name, or "" for None.
std::string party_from(nb::handle object, const char* argument);
/// "read" and "read_write"; none for None.
std::optional<Permission> permission_from(nb::handle object, const char* argument);

nb::object negotiated_result(NegotiatedBuffer&& buffer);
/// The buffer of an argument. Raises TypeError.
NegotiatedBuffer& negotiated_from(nb::handle object, const char* argument);

void bind_reconciled(nb::module_& m);
void bind_negotiated_buffer(nb::module_& m);
void bind_buffer_exchange(nb::module_& m);

}  // namespace halyard::python
