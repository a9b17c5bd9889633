// SPDX-License-Identifier: Apache-2.0
// Types by number, and the identifier of the file.
#include "model/tflite/element_types.h"

#include <array>
#include <fstream>
#include <string_view>
#include <utility>

namespace halyard::model::tflite {

std::optional<DType> dtype_of_type(int type) noexcept {
  constexpr std::array<std::pair<int, DType>, 13> types{{{1, DType::f32},
                                                         {2, DType::i32},
                                                         {3, DType::u8},
                                                         {4, DType::i64},
                                                         {6, DType::boolean},
                                                         {7, DType::i16},
                                                         {9, DType::i8},
                                                         {10, DType::f16},
                                                         {11, DType::f64},
                                                         {13, DType::u64},
                                                         {16, DType::u32},
                                                         {17, DType::u16},
                                                         {19, DType::bf16}}};
  for (const auto& [number, dtype] : types)
    if (number == type) return dtype;
  return std::nullopt;
}

bool has_identifier(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string head(8, '\0');
  file.read(head.data(), 8);
  return file && std::string_view(head).substr(4) == "TFL3";
}

}  // namespace halyard::model::tflite
