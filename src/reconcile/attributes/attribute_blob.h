// SPDX-License-Identifier: Apache-2.0
// Results of negotiations as records of a blob.
#pragma once

#include "reconcile/attributes/blob.h"

namespace halyard {

/// The records of a result for one party. Errors: not_found.
Result<std::vector<std::byte>> result_records(const Reconciled& result, std::string_view party);

/// Decodes a result from records. Sets `buffer`, unless it is null, to the value of the record
/// BlobRecord::buffer.
Result<Reconciled> decode_result_records(std::span<const BlobEntry> entries,
                                         std::span<const std::byte>* buffer);

}  // namespace halyard
