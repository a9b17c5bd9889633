// SPDX-License-Identifier: Apache-2.0
// Reads types, shapes and texts.
#include "model/onnxruntime/ort_ports.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

namespace halyard::model::ort {
namespace {

constexpr char cannot_read[] = "engine cannot describe the model";

constexpr std::array<std::pair<ElementType, DType>, 13> dtypes{
    {{ElementType::f32, DType::f32},
     {ElementType::u8, DType::u8},
     {ElementType::i8, DType::i8},
     {ElementType::u16, DType::u16},
     {ElementType::i16, DType::i16},
     {ElementType::i32, DType::i32},
     {ElementType::i64, DType::i64},
     {ElementType::boolean, DType::boolean},
     {ElementType::f16, DType::f16},
     {ElementType::f64, DType::f64},
     {ElementType::u32, DType::u32},
     {ElementType::u64, DType::u64},
     {ElementType::bf16, DType::bf16}}};

/// A text that the library allocated.
std::string taken(const Library& library, char* text) {
  std::string copy = text == nullptr ? "" : text;
  if (text != nullptr) {
    Status* const bad = library.api.free(library.allocator, text);
    if (bad != nullptr) library.api.release_status(bad);
  }
  return copy;
}

Result<std::vector<std::int64_t>> extents_in(const Api& api, const ShapeInfo* info) {
  std::size_t rank = 0;
  if (auto* bad = api.rank(info, &rank)) return error_of(api, bad, Errc::device, cannot_read);
  std::vector<std::int64_t> extents(rank);
  if (auto* bad = api.extents(info, extents.data(), rank))
    return error_of(api, bad, Errc::device, cannot_read);
  return extents;
}

Result<Shape> shape_at(const Library& library, const Session& session, std::size_t index,
                       bool is_input) {
  const Api& api = library.api;
  Shape shape;
  char* name = nullptr;
  const auto name_of = is_input ? api.input_name : api.output_name;
  if (auto* bad = name_of(&session, index, library.allocator, &name))
    return error_of(api, bad, Errc::device, cannot_read);
  shape.name = taken(library, name);
  Owned<TypeInfo> type(api.release_type);
  const auto type_of = is_input ? api.input_type : api.output_type;
  if (auto* bad = type_of(&session, index, type.out()))
    return error_of(api, bad, Errc::device, cannot_read);
  const ShapeInfo* info = nullptr;  // part of the type
  if (auto* bad = api.shape_of_type(type.get(), &info))
    return error_of(api, bad, Errc::device, cannot_read);
  if (info == nullptr) return shape;
  shape.is_tensor = true;
  if (auto* bad = api.element_type(info, &shape.type))
    return error_of(api, bad, Errc::device, cannot_read);
  HALYARD_TRY(shape.extents, extents_in(api, info));
  return shape;
}

}  // namespace

bool Shape::is_fixed() const noexcept {
  return is_tensor && std::all_of(extents.begin(), extents.end(),
                                  [](std::int64_t extent) { return extent >= 0; });
}

std::optional<DType> dtype_of_element(int type) noexcept {
  for (const auto& [element, dtype] : dtypes)
    if (static_cast<int>(element) == type) return dtype;
  return std::nullopt;
}

Port port_of(const Shape& shape) {
  Port port;
  port.name = shape.name;
  if (shape.is_tensor) port.dtype = dtype_of_element(shape.type);
  port.type_text = shape.is_tensor ? fmt::format("ONNX Runtime's type {}", shape.type)
                                   : std::string("not a tensor");
  port.shape_text = fmt::format("[{}]", fmt::join(shape.extents, ","));
  if (shape.is_fixed()) port.shape.emplace(shape.extents.begin(), shape.extents.end());
  return port;
}

Result<std::vector<Shape>> shapes_of(const Library& library, const Session& session,
                                     bool is_input) {
  const Api& api = library.api;
  std::size_t count = 0;
  const auto count_of = is_input ? api.input_count : api.output_count;
  if (auto* bad = count_of(&session, &count)) return error_of(api, bad, Errc::device, cannot_read);
  std::vector<Shape> shapes;
  for (std::size_t i = 0; i < count; ++i) {
    HALYARD_TRY(auto shape, shape_at(library, session, i, is_input));
    shapes.push_back(std::move(shape));
  }
  return shapes;
}

Result<std::vector<std::int64_t>> extents_of(const Library& library, const Value& value) {
  const Api& api = library.api;
  Owned<ShapeInfo> info(api.release_shape);
  if (auto* bad = api.shape_of_value(&value, info.out()))
    return error_of(api, bad, Errc::device, cannot_read);
  return extents_in(api, info.get());
}

Metadata texts_of(const Library& library, const Session& session) {
  const Api& api = library.api;
  Metadata metadata;
  const auto is_read = [&](Status* bad) {
    if (bad != nullptr) api.release_status(bad);
    return bad == nullptr;
  };
  Owned<ModelMetadata> all(api.release_metadata);
  if (!is_read(api.model_metadata(&session, all.out()))) return metadata;
  char** keys = nullptr;
  std::int64_t count = 0;
  if (!is_read(api.metadata_keys(all.get(), library.allocator, &keys, &count))) return metadata;
  for (std::int64_t i = 0; i < count; ++i) {
    char* value = nullptr;
    if (is_read(api.metadata_value(all.get(), library.allocator, keys[i], &value)) &&
        value != nullptr)
      metadata.emplace(keys[i], taken(library, value));
    taken(library, keys[i]);
  }
  if (keys != nullptr) is_read(api.free(library.allocator, keys));
  return metadata;
}

}  // namespace halyard::model::ort
