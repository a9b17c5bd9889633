// SPDX-License-Identifier: Apache-2.0
// Buffers for parties given as JSON texts.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "halyard/buffer_engine.h"
#include "halyard/negotiated_buffer.h"
#include "support/result.h"
#include "support/value_of.h"

namespace halyard::test {

/// What a call that must fail says.
template <class T>
Error error_of(const Result<T>& result) {
  EXPECT_FALSE(result.has_value());
  return result ? Error() : result.error();
}

/// The parties of a list in JSON.
inline std::vector<EngineParty> parties_of(const std::string& parties) {
  return value_of(parties_from_json("{\"parties\": " + parties + "}"));
}

/// What they agree on. They must.
inline Reconciled agreed(const std::string& parties) {
  return value_of(reconcile_engines(parties_of(parties)));
}

/// A party's list, its keys in JSON.
inline AttributeList list_of(const std::string& party, const std::string& keys) {
  return parties_of(R"([{"name": ")" + party + R"(", "keys": )" + keys + "}]")[0].list;
}

/// A tensor of 4 KiB in memory of a kind: [1, 1, 64, 64] of u8, read and written by the CPU.
inline std::string tensor_in(const std::string& heap, const std::string& more = {}) {
  return R"([{"name": "app", "keys": {"t.dtype": "u8", "t.shape": [1, 1, 64, 64],
    "g.cpu": "read_write", "g.heaps": [")" +
         heap + "\"]" + more + "}}]";
}

inline NegotiatedBuffer one_buffer(const std::string& parties) {
  return value_of(allocate_negotiated(agreed(parties))).at(0);
}

}  // namespace halyard::test
