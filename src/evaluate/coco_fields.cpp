// SPDX-License-Identifier: Apache-2.0
#include "evaluate/coco_fields.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace halyard::evaluate {

const Json* member(const Json& record, const char* key) {
  const auto found = record.find(key);
  return found == record.end() ? nullptr : &*found;
}

Problem read_integer(const Json& record, const char* key, std::int64_t& out) {
  const Json* value = member(record, key);
  if (value == nullptr) return fmt::format("{}: is missing", key);
  if (!value->is_number_integer() ||
      (value->is_number_unsigned() && value->get<std::uint64_t>() >> 63 != 0))
    return fmt::format("{}: must be an integer", key);
  out = value->get<std::int64_t>();
  return {};
}

Problem read_number(const Json& record, const char* key, double& out) {
  const Json* value = member(record, key);
  if (value == nullptr) return fmt::format("{}: is missing", key);
  if (!value->is_number()) return fmt::format("{}: must be a number", key);
  out = value->get<double>();
  return {};
}

Problem read_text(const Json& record, const char* key, std::string& out) {
  const Json* value = member(record, key);
  if (value == nullptr) return {};
  if (!value->is_string()) return fmt::format("{}: must be a text", key);
  out = value->get<std::string>();
  return {};
}

Problem read_box(const Json& record, CocoBox& out) {
  const Json* value = member(record, "bbox");
  if (value == nullptr) return "bbox: is missing";
  if (!value->is_array() || value->size() != 4) return "bbox: must be [x, y, width, height]";
  double* const numbers[] = {&out.x, &out.y, &out.width, &out.height};
  for (std::size_t i = 0; i < 4; ++i) {
    if (!(*value)[i].is_number()) return fmt::format("bbox[{}]: must be a number", i);
    *numbers[i] = (*value)[i].get<double>();
    if (i >= 2 && *numbers[i] < 0)
      return fmt::format("bbox[{}]: {}, must be at least 0", i, *numbers[i]);
  }
  return {};
}

Problem read_numbers(const Json& value, const std::string& key, std::vector<double>& out) {
  out.clear();
  if (!value.is_array()) return key + ": must be an array of numbers";
  for (const Json& number : value) {
    if (!number.is_number()) return fmt::format("{}[{}]: must be a number", key, out.size());
    out.push_back(number.get<double>());
  }
  return {};
}

}  // namespace halyard::evaluate
