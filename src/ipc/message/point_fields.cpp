// SPDX-License-Identifier: Apache-2.0
// The table of field types, and the checks of fields.
#include "ipc/message/point_fields.h"

#include <algorithm>
#include <string_view>

#include "base/checked.h"
#include "base/text/format_error.h"
#include "base/text/utf8.h"
#include "halyard/log.h"

namespace halyard {
namespace {

// In the order of PointDatatype, which begins at 1.
constexpr std::array<DType, 8> field_dtypes = {DType::i8,  DType::u8,  DType::i16, DType::u16,
                                               DType::i32, DType::u32, DType::f32, DType::f64};

bool is_zero(const PointField& field) noexcept {
  const auto* const bytes = reinterpret_cast<const unsigned char*>(&field);
  return std::all_of(bytes, bytes + sizeof field, [](unsigned char b) { return b == 0; });
}

// Bytes from the start of the point to the end of the field. Cannot overflow: less than 9 x 2^32.
std::uint64_t field_end(const PointField& field) noexcept {
  const auto dtype = dtype_from(field.datatype);
  return field.offset + std::uint64_t{field.count} * (dtype ? size_of(*dtype) : 0);
}

// The fault of a field by itself; null if there is none.
const char* fault_of(const PointField& field) noexcept {
  const std::string_view name = field.name();
  if (name.empty() || !is_utf8(name)) return "name: must be UTF-8 of 1..15 bytes";
  if (!std::all_of(field.name_bytes + name.size(), std::end(field.name_bytes),
                   [](char c) { return c == '\0'; }))
    return "name: must be followed by zeros";
  if (!dtype_from(field.datatype)) return "datatype: must be 1..8";
  if (field.count == 0) return "count: must be at least 1";
  const bool is_clear = std::all_of(std::begin(field.reserved), std::end(field.reserved),
                                    [](std::uint8_t b) { return b == 0; });
  return is_clear ? nullptr : "reserved: must be zero";
}

}  // namespace

std::optional<DType> dtype_from(PointDatatype datatype) noexcept {
  const auto code = static_cast<std::size_t>(datatype);
  if (code == 0 || code > field_dtypes.size()) return std::nullopt;
  return field_dtypes[code - 1];
}

std::optional<PointDatatype> point_datatype_from(DType dtype) noexcept {
  const auto* const found = std::find(field_dtypes.begin(), field_dtypes.end(), dtype);
  if (found == field_dtypes.end()) return std::nullopt;
  return static_cast<PointDatatype>(found - field_dtypes.begin() + 1);
}

Result<PointField> PointField::create(std::string_view name, std::uint32_t offset,
                                      PointDatatype datatype, std::uint32_t count) {
  PointField field;
  if (name.size() >= sizeof field.name_bytes || name.find('\0') != std::string_view::npos) {
    return fail(Errc::invalid_argument, "name: must be 1..15 bytes without a zero byte", "\"{}\"",
                printable(name.substr(0, 64)));
  }
  std::copy(name.begin(), name.end(), field.name_bytes);
  field.offset = offset;
  field.datatype = datatype;
  field.count = count;
  if (const char* const fault = fault_of(field))
    return fail(Errc::invalid_argument, fault, "\"{}\"", printable(name));
  return field;
}

std::string_view PointField::name() const noexcept {
  const char* const end = name_bytes + sizeof name_bytes - 1;
  return {name_bytes, static_cast<std::size_t>(std::find(name_bytes, end, '\0') - name_bytes)};
}

namespace ipc {

Result<std::array<PointField, max_point_fields>> default_fields(std::size_t fields, DType dtype) {
  constexpr std::array<std::string_view, 4> intensity = {"x", "y", "z", "intensity"};
  constexpr std::array<std::string_view, 6> color = {"x", "y", "z", "r", "g", "b"};
  if (fields == 0 || fields > max_point_fields)
    return fail(Errc::invalid_argument, "fields: must be 1..16", "{}", fields);
  const auto datatype = point_datatype_from(dtype);
  if (!datatype) {
    return fail(Errc::invalid_argument, "dtype: must be one of i8 u8 i16 u16 i32 u32 f32 f64", "{}",
                to_string(dtype));
  }
  std::array<PointField, max_point_fields> named{};
  for (std::size_t i = 0; i < fields; ++i) {
    const bool has_name = fields >= 3 && i < (fields == 6 ? color.size() : intensity.size());
    const std::string name = !has_name     ? fmt::format("f{}", i)
                             : fields == 6 ? std::string(color[i])
                                           : std::string(intensity[i]);
    const auto offset = static_cast<std::uint32_t>(i * size_of(dtype));
    HALYARD_TRY(named[i], PointField::create(name, offset, *datatype));
  }
  return named;
}

std::size_t used_bytes(const PointCloudMetadata& m) noexcept {
  std::uint64_t end = 0;
  for (std::size_t i = 0; i < std::min<std::size_t>(m.field_count, max_point_fields); ++i)
    end = std::max(end, field_end(m.fields[i]));
  return static_cast<std::size_t>(end);
}

std::optional<DType> only_dtype(const PointCloudMetadata& m) noexcept {
  const auto dtype = dtype_from(m.fields[0].datatype);
  if (!dtype || m.point_step != m.field_count * size_of(*dtype)) return std::nullopt;
  for (std::size_t i = 0; i < m.field_count; ++i) {
    const PointField& field = m.fields[i];
    if (dtype_from(field.datatype) != dtype || field.count != 1 ||
        field.offset != i * size_of(*dtype))
      return std::nullopt;
  }
  return dtype;
}

Status check_fields(const PointCloudMetadata& m, Errc code) {
  for (std::size_t i = 0; i < m.field_count; ++i) {
    const PointField& field = m.fields[i];
    if (const char* const fault = fault_of(field))
      return fail(code, fault, "field {} \"{}\"", i, printable(field.name()));
    if (field_end(field) > m.point_step) {
      return fail(code, "field: exceeds the point", "\"{}\" ends at {}, a point has {} bytes",
                  printable(field.name()), field_end(field), m.point_step);
    }
    for (std::size_t k = 0; k < i; ++k) {
      if (m.fields[k].name() == field.name())
        return fail(code, "fields: names must be unique", "\"{}\"", printable(field.name()));
    }
  }
  return {};
}

Status check_cloud_metadata(const PointCloudMetadata& m) {
  HALYARD_RETURN_IF_ERROR(validate(m.header));
  if (m.field_count == 0 || m.field_count > max_point_fields)
    return fail(Errc::malformed, "metadata.field_count: must be 1..16", "{}", m.field_count);
  if (m.height == 0) return fail(Errc::malformed, "metadata.height: must be at least 1");
  if (m.is_dense > 1)
    return fail(Errc::malformed, "metadata.is_dense: must be 0 or 1", "{}", m.is_dense);
  if (!std::all_of(std::begin(m.reserved), std::end(m.reserved),
                   [](std::uint8_t b) { return b == 0; }))
    return fail(Errc::malformed, "metadata.reserved: must be zero");
  if (!std::all_of(m.fields.begin() + m.field_count, m.fields.end(), is_zero))
    return fail(Errc::malformed, "metadata.fields: must be zero where not in use");
  HALYARD_RETURN_IF_ERROR(check_fields(m, Errc::malformed));
  const auto row = checked_mul(m.width, m.point_step);
  if (!row || m.row_step < (m.height > 1 ? *row : 0) || m.row_step > std::uint64_t{PTRDIFF_MAX}) {
    return fail(Errc::malformed,
                "metadata.row_step: must hold the points of a row, and be below 2^63",
                "{} bytes, {} points of {} bytes", m.row_step, m.width, m.point_step);
  }
  return {};
}

}  // namespace ipc
}  // namespace halyard
