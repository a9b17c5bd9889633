// SPDX-License-Identifier: Apache-2.0
// Fields of point clouds: their types, their default names, and the checks of a table of fields.
#pragma once

#include <array>
#include <cstddef>
#include <optional>

#include "halyard/point_cloud.h"

namespace halyard::ipc {

/// The fields of create(): the first `fields` entries of the result. Errors: invalid_argument
/// (`fields` is not 1..16; a dtype that PointField lacks).
Result<std::array<PointField, max_point_fields>> default_fields(std::size_t fields, DType dtype);

/// Bytes of a point up to the end of its last field; 0 without fields. The table may hold any
/// bytes.
std::size_t used_bytes(const PointCloudMetadata& metadata) noexcept;

/// The type of all fields, if all are single numbers of one type that follow each other and fill
/// the point.
std::optional<DType> only_dtype(const PointCloudMetadata& metadata) noexcept;

/// Checks the fields in use, and that they lie within the point. Errors: `code`, with the name of
/// the field.
Status check_fields(const PointCloudMetadata& metadata, Errc code);

/// Checks all metadata that does not depend on the tensor. Errors: malformed, with the name of the
/// member.
Status check_cloud_metadata(const PointCloudMetadata& metadata);

}  // namespace halyard::ipc
