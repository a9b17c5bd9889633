// SPDX-License-Identifier: Apache-2.0
// PointCloud: points with named fields, as a message that follows sensor_msgs/PointCloud2.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "halyard/export.h"
#include "halyard/format.h"
#include "halyard/result.h"
#include "halyard/sensor_message.h"
#include "halyard/view.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {

class TensorPool;

/// Number type of a field. Values are those of sensor_msgs/PointField.
enum class PointDatatype : std::uint8_t {
  int8 = 1,
  uint8 = 2,
  int16 = 3,
  uint16 = 4,
  int32 = 5,
  uint32 = 6,
  float32 = 7,
  float64 = 8,
};
/// nullopt for a foreign value.
std::optional<DType> dtype_from(PointDatatype datatype) noexcept;
/// nullopt for types that PointField lacks: f16, bf16, i64, u64, bool.
std::optional<PointDatatype> point_datatype_from(DType dtype) noexcept;

/// One field of every point.
struct PointField {
  char name_bytes[16] = {};  ///< UTF-8, 1..15 bytes, then zeros
  std::uint32_t offset = 0;  ///< bytes from the start of a point
  std::uint32_t count = 0;   ///< numbers in the field, mostly 1
  PointDatatype datatype{};
  std::uint8_t reserved[3] = {};

  /// Errors: invalid_argument (a name that is empty, longer than 15 bytes or not UTF-8; a foreign
  /// datatype; count 0).
  static Result<PointField> create(std::string_view name, std::uint32_t offset,
                                   PointDatatype datatype, std::uint32_t count = 1);
  /// Views this field's bytes; at most 15 bytes.
  std::string_view name() const noexcept;
};
static_assert(sizeof(PointField) == 28 && alignof(PointField) == 4);
static_assert(offsetof(PointField, offset) == 16 && offsetof(PointField, datatype) == 24);

inline constexpr std::size_t max_point_fields = 16;

/// The metadata that is sent with the tensor of a point cloud. Plain bytes, little endian.
struct PointCloudMetadata {
  SensorHeader header;
  std::uint32_t height = 1;       ///< rows of an organised cloud, else 1
  std::uint32_t width = 0;        ///< points in a row
  std::uint32_t point_step = 0;   ///< bytes from one point to the next
  std::uint32_t field_count = 0;  ///< 1..16
  std::uint64_t row_step = 0;     ///< bytes from one row to the next
  std::uint8_t is_dense = 1;      ///< 1: no point has a NaN or an infinity
  std::uint8_t reserved[7] = {};
  std::array<PointField, max_point_fields> fields{};  ///< zeros where unused
};
static_assert(sizeof(PointCloudMetadata) == 520 && alignof(PointCloudMetadata) == 8);
static_assert(offsetof(PointCloudMetadata, height) == 40 &&
              offsetof(PointCloudMetadata, width) == 44);
static_assert(offsetof(PointCloudMetadata, point_step) == 48 &&
              offsetof(PointCloudMetadata, field_count) == 52);
static_assert(offsetof(PointCloudMetadata, row_step) == 56 &&
              offsetof(PointCloudMetadata, is_dense) == 64 &&
              offsetof(PointCloudMetadata, fields) == 72);

/// Points in one row (unorganised) or in height x width. If all fields have one type and leave no
/// gaps, tensor() has the shape [N, K] or [H, W, K] of that type; else it has [N, point_step] or
/// [H, W, point_step] bytes. Clouds without points are legal. A null `pool` means the default pool.
/// Memory from a pool holds arbitrary bytes. Errors of all makers: those of default_pool() and
/// TensorPool::alloc().
class PointCloud : public SensorMessage<PointCloudMetadata> {
 public:
  using Pool = std::shared_ptr<TensorPool>;

  /// `points` points of `fields` numbers each. Names of the fields: x y z for 3; x y z r g b for 6;
  /// else x y z intensity f4 f5 ... from 4 on, and f0 f1 below 3. Errors: invalid_argument (fields
  /// not 1..16, a dtype that PointField lacks).
  static Result<PointCloud> create(std::size_t points, std::size_t fields, DType dtype = DType::f32,
                                   const Pool& pool = nullptr);
  /// A cloud with any fields; height 1 is an unorganised one. `point_step` 0: a point ends where
  /// its last field ends. Errors: invalid_argument (not 1..16 fields, two fields of one name, a
  /// field outside the point, a size that overflows).
  static Result<PointCloud> create_fields(std::size_t width, std::size_t height,
                                          std::span<const PointField> fields,
                                          std::size_t point_step = 0, const Pool& pool = nullptr);
  /// Clouds with the f32 fields x y z; x y z intensity; x y z r g b.
  static Result<PointCloud> xyz(std::size_t points, const Pool& pool = nullptr);
  static Result<PointCloud> xyzi(std::size_t points, const Pool& pool = nullptr);
  static Result<PointCloud> xyzrgb(std::size_t points, const Pool& pool = nullptr);
  /// As above, filled with a copy of these points.
  static Result<PointCloud> from_xyz(std::span<const std::array<float, 3>> points,
                                     const Pool& pool = nullptr);
  static Result<PointCloud> from_xyzi(std::span<const std::array<float, 4>> points,
                                      const Pool& pool = nullptr);
  static Result<PointCloud> from_xyzrgb(std::span<const std::array<float, 6>> points,
                                        const Pool& pool = nullptr);
  /// A tensor as a message, without a copy: [N, K] or [H, W, K], the last axis without gaps.
  /// Without `fields` the numbers are named as create() names them; else `fields` describe the
  /// bytes of a point. Errors: invalid_argument (rank, strides, a field outside the point).
  static Result<PointCloud> wrap(const Tensor& tensor, std::span<const PointField> fields = {});
  /// A received message. Accepts any bytes. Errors: malformed (a field that no cloud can have),
  /// corrupt (points lie outside the tensor).
  static Result<PointCloud> from_parts(const Tensor& tensor, const PointCloudMetadata& metadata);
  /// As above, but a tensor of shape [width, K] or [height, width, K] gives the strides instead of
  /// point_step and row_step: topics copy tensors that are in no pool, and leave out the gaps.
  static Result<PointCloud> from_frame(const Tensor& tensor, const PointCloudMetadata& metadata);

  std::size_t point_count() const noexcept {
    return std::size_t{metadata_.width} * metadata_.height;
  }
  std::size_t width() const noexcept { return metadata_.width; }
  std::size_t height() const noexcept { return metadata_.height; }
  bool is_organized() const noexcept { return metadata_.height > 1; }
  std::size_t point_step() const noexcept { return metadata_.point_step; }
  std::size_t row_step() const noexcept { return metadata_.row_step; }
  static constexpr bool is_bigendian() noexcept { return std::endian::native == std::endian::big; }
  /// Whether the sender declares that no point has a NaN or an infinity.
  bool is_dense() const noexcept { return metadata_.is_dense != 0; }
  void set_is_dense(bool is_dense) noexcept { metadata_.is_dense = is_dense ? 1 : 0; }

  std::span<const PointField> fields() const noexcept {
    return std::span(metadata_.fields).first(metadata_.field_count);
  }
  std::size_t fields_per_point() const noexcept { return metadata_.field_count; }
  /// Null when no field has this name. Views the message.
  const PointField* find_field(std::string_view name) const noexcept;
  /// Whether the fields are x, y and z and no others.
  bool is_xyz() const noexcept;
  /// Whether there is a field "intensity" or "i".
  bool has_intensity() const noexcept;
  /// Whether there is a field "rgb" or "rgba" (packed), or fields "r", "g" and "b".
  bool has_color() const noexcept;

  /// The bytes of point `index`, to the end of its last field; points are counted row by row. Valid
  /// as long as data(). Errors: invalid_argument (index not below point_count()), those of data().
  Result<std::span<const std::byte>> point_at(std::size_t index) const;
  /// A copy of x, y and z of all points. Each may be f32 or f64. Errors: invalid_argument (a
  /// coordinate is missing or of another type), those of data().
  Result<std::vector<std::array<float, 3>>> extract_xyz() const;
  /// The numbers of a field without a copy: [point_count] of T, valid as long as data(). A const T
  /// reads, a plain T writes. For a field of several numbers it is the first number. Errors:
  /// invalid_argument (no such field, T is not its type), unsupported (numbers whose address is not
  /// a multiple of their size; gaps between rows: use field_rows()), those of data().
  template <class T>
  Result<View<T, 1>> field(std::string_view name) const {
    HALYARD_TRY(const FieldPlace place,
                place_of(name, dtype_of<std::remove_const_t<T>>, sizeof(T), !std::is_const_v<T>));
    HALYARD_RETURN_IF_ERROR(check_adjacent_rows());
    return View<T, 1>(place.data, {point_count()}, {place.point_step});
  }
  /// As above, as [height, width].
  template <class T>
  Result<View<T, 2>> field_rows(std::string_view name) const {
    HALYARD_TRY(const FieldPlace place,
                place_of(name, dtype_of<std::remove_const_t<T>>, sizeof(T), !std::is_const_v<T>));
    return View<T, 2>(place.data, {height(), width()}, {place.row_step, place.point_step});
  }
  /// A copy whose x, y and z (f32 or f64) are transformed by a row-major 4 x 4 matrix whose last
  /// row is 0 0 0 1: p' = M p, computed in double. All other fields are copied unchanged, normals
  /// too; bytes behind the last field become 0. The copy has no gaps between rows. Errors:
  /// invalid_argument (another last row, an element that is not finite, coordinates missing or of
  /// another type), those of create().
  Result<PointCloud> transform(const std::array<double, 16>& matrix,
                               const Pool& pool = nullptr) const;

 private:
  using SensorMessage::SensorMessage;
  struct FieldPlace {
    std::byte* data = nullptr;
    std::ptrdiff_t point_step = 0;
    std::ptrdiff_t row_step = 0;
  };
  static Result<PointCloud> of_bytes(std::span<const std::byte> bytes, std::size_t fields,
                                     const Pool& pool);
  Result<FieldPlace> place_of(std::string_view name, std::optional<DType> dtype,
                              std::size_t alignment, bool writes) const;
  Status check_adjacent_rows() const;
};

template <>
struct MessageFrame<PointCloud> : SensorFrame<PointCloud, PointCloudMetadata> {
  static constexpr std::string_view name = "halyard.PointCloud";
};

}  // namespace halyard
HALYARD_EXPORTS_END
