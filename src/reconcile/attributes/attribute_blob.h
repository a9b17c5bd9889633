// SPDX-License-Identifier: Apache-2.0
// Results of negotiations as records of a blob.
#pragma once

#include "reconcile/attributes/blob.h"

namespace halyard {

/// The records of a result for a party. Errors: not_found.
Result<std::vector<std::byte>> result_records(const Reconciled& result, std::string_view party);

/// The result of records; the value of BlobRecord::buffer goes to `buffer` where it is asked for.
Result<Reconciled> decode_result_records(std::span<const BlobEntry> entries,
                                         std::span<const std::byte>* buffer);

}  // namespace halyard
