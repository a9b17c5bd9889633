// SPDX-License-Identifier: Apache-2.0
// Fields of point clouds: their types, their usual names, and the checks of a table of them.
#pragma once

#include <array>
#include <cstddef>
#include <optional>

#include "halyard/point_cloud.h"

namespace halyard::ipc {

/// The first `fields` entries are the fields of create(). Errors: invalid_argument (not 1..16, a
/// dtype that PointField lacks).
Result<std::array<PointField, max_point_fields>> default_fields(std::size_t fields, DType dtype);

/// Bytes of a point to the end of its last field, 0 without fields. The table is any bytes.
std::size_t used_bytes(const PointCloudMetadata& metadata) noexcept;

/// The one type of all fields, where they are single numbers, one behind the other, and fill the
/// point.
std::optional<DType> only_dtype(const PointCloudMetadata& metadata) noexcept;

/// Checks the fields in use, and that they stay in the point. Errors: `code`, naming the field.
Status check_fields(const PointCloudMetadata& metadata, Errc code);

/// Checks all of the metadata but what depends on the tensor. Errors: malformed, naming the field.
Status check_metadata(const PointCloudMetadata& metadata);

}  // namespace halyard::ipc
