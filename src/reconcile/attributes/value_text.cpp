// SPDX-License-Identifier: Apache-2.0
// Converts values of keys from and to JSON and text, and checks their ranges.
#include "reconcile/attributes/value_text.h"

#include <algorithm>
#include <bit>
#include <nlohmann/json.hpp>
#include <string>

#include "base/text/format_error.h"
#include "reconcile/attributes/key_table.h"

namespace halyard {

namespace {

using nlohmann::json;

constexpr std::uint64_t max_bytes = (std::uint64_t{1} << 63) - 1;
constexpr std::uint64_t max_extent = 0xFFFFFFFF;

/// Normalizes a name: case, '_', '-' and spaces do not matter.
std::string plain(std::string_view name) {
  std::string out;
  for (const char c : name)
    if (c != '_' && c != '-' && c != ' ')
      out += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return out;
}

Error no_such_value(const KeyInfo& info, std::string_view name) {
  std::string legal;
  for (const NamedValue& each : names_of(info.key))
    legal += (legal.empty() ? "" : ", ") + std::string(each.name);
  return fail(Errc::invalid_argument, "the key has no value of this name", "{}: \"{}\", legal: {}",
              info.name, name, legal);
}

Result<std::uint64_t> named(const KeyInfo& info, const json& value) {
  if (!value.is_string())
    return fail(Errc::invalid_argument, "the key wants a name", "{}: {}", info.name, value.dump());
  const auto text = value.get<std::string>();
  const std::string wanted = plain(text);
  for (const NamedValue& each : names_of(info.key))
    if (wanted == plain(each.name)) return each.value;
  if (info.key == Key::dtype)
    if (const auto dtype = dtype_from_string(text)) return static_cast<std::uint64_t>(*dtype);
  if (info.key == Key::policy && wanted == "automatic") return 0;
  if (info.key == Key::pad_fill && wanted == "anything") return 0;
  return no_such_value(info, text);
}

Result<std::uint64_t> number(const KeyInfo& info, const json& value) {
  if (value.is_number_unsigned()) return value.get<std::uint64_t>();
  return fail(Errc::invalid_argument, "the key wants a whole number, 0 or more", "{}: {}",
              info.name, value.dump());
}

Result<AttributeValue> range(const KeyInfo& info, const json& value) {
  const bool is_pair = value.is_array() && value.size() == 2;
  const bool is_object = value.is_object() && !value.empty() &&
                         std::ranges::all_of(value.items(), [](const auto& item) {
                           return item.key() == "min" || item.key() == "max";
                         });
  if (!is_pair && !is_object) {
    HALYARD_TRY(const std::uint64_t one, number(info, value));
    return AttributeValue{one, one};
  }
  AttributeValue out{1, max_extent};
  const json* const low = is_pair ? &value[0] : value.contains("min") ? &value["min"] : nullptr;
  const json* const high = is_pair ? &value[1] : value.contains("max") ? &value["max"] : nullptr;
  if (low != nullptr) {
    HALYARD_TRY(out.low, number(info, *low));
  }
  if (high != nullptr) {
    HALYARD_TRY(out.high, number(info, *high));
  }
  return out;
}

Result<AttributeValue> set_of_names(const KeyInfo& info, const json& value) {
  if (value.is_string() && value == "*") return AttributeValue{all_bits(info.key), 0};
  const json list = value.is_array() ? value : json::array({value});
  AttributeValue out;
  for (const json& each : list) {
    HALYARD_TRY(const std::uint64_t bits, named(info, each));
    out.low |= bits;
  }
  return out;
}

/// Accepts "uncached" or {"value": "uncached", "strict": true}; for padding {"value": 128}.
Result<AttributeValue> choice(const KeyInfo& info, const json& value) {
  if (!value.is_object()) {
    HALYARD_TRY(const std::uint64_t one, named(info, value));
    return AttributeValue{one, 0};
  }
  const json* const inner = value.contains("value") ? &value["value"] : nullptr;
  if (info.key == Key::pad_fill && inner != nullptr && value.size() == 1) {
    HALYARD_TRY(const std::uint64_t byte, number(info, *inner));
    return AttributeValue{static_cast<std::uint64_t>(PadFill::value), byte};
  }
  const bool strict = value.value("strict", json(false)) == json(true);
  if (info.key != Key::policy || inner == nullptr || value.size() > 2)
    return fail(Errc::invalid_argument, "the key wants a name", "{}: {}", info.name, value.dump());
  HALYARD_TRY(const std::uint64_t policy, named(info, *inner));
  return AttributeValue{policy, strict ? 1U : 0U};
}

Status out_of_range(const KeyInfo& info, std::uint64_t value, std::uint64_t low,
                    std::uint64_t high) {
  return fail(Errc::invalid_argument, "the value is out of the key's range",
              "{} = {}, legal: {}..{}", info.name, value, low, high);
}

std::uint64_t minimum(const KeyInfo& info) {
  if (info.rule == MergeRule::multiple || info.type == ValueType::range) return 1;
  switch (info.key) {
    case Key::addr_bits:
    case Key::size_max:
    case Key::count_max:
    case Key::max_axis:
    case Key::row_max:
    case Key::row_exact:
    case Key::pitch_max:
    case Key::pitch_exact:
    case Key::raw_size:
    case Key::array_stride:
    case Key::array_capacity:
    case Key::pyramid_levels:
      return 1;
    default:
      return 0;
  }
}

std::uint64_t maximum(const KeyInfo& info) {
  if (info.rule == MergeRule::multiple) return max_multiple;
  if (info.key == Key::addr_bits) return 64;
  if (info.key == Key::pyramid_levels) return 10;
  if (info.type == ValueType::range || info.unit == "buffers") return max_extent;
  return max_bytes;
}

Status check_choice(const KeyInfo& info, AttributeValue value) {
  const auto names = names_of(info.key);
  if (std::ranges::find(names, value.low, &NamedValue::value) == names.end())
    return fail(Errc::invalid_argument, "the key has no such value", "{} = {}", info.name,
                value.low);
  if (info.key == Key::pad_fill && value.high > 255) return out_of_range(info, value.high, 0, 255);
  return {};
}

std::string choice_text(const KeyInfo& info, AttributeValue value) {
  if (info.key == Key::pad_fill && value.low == static_cast<std::uint64_t>(PadFill::value))
    return std::to_string(value.high);
  for (const NamedValue& each : names_of(info.key))
    if (each.value == value.low)
      return std::string(each.name) + (info.key == Key::policy && value.high != 0 ? " strict" : "");
  return std::to_string(value.low);
}

/// The names of single bits; not "dmabuf.*", which has several.
std::vector<std::string> set_names(const KeyInfo& info, std::uint64_t bits) {
  std::vector<std::string> out;
  for (const NamedValue& each : names_of(info.key))
    if (std::has_single_bit(each.value) && (bits & each.value) != 0) out.emplace_back(each.name);
  return out;
}

std::string with_unit(const KeyInfo& info, std::string text) {
  return info.unit.empty() ? text : text + " " + std::string(info.unit);
}

}  // namespace

Status check_value(const KeyInfo& info, AttributeValue value) {
  switch (info.type) {
    case ValueType::layout:
      return fail(Errc::invalid_argument, "layouts and formats are set by accept()", "{}",
                  info.name);
    case ValueType::flag:
      if (value.low > 1) return out_of_range(info, value.low, 0, 1);
      return {};
    case ValueType::number:
      if (value.low < minimum(info) || value.low > maximum(info))
        return out_of_range(info, value.low, minimum(info), maximum(info));
      return {};
    case ValueType::range:
      if (value.low < 1 || value.high > max_extent || value.low > value.high)
        return fail(Errc::invalid_argument,
                    "a range must begin at 1 or more, and not end below its begin", "{} = {}..{}",
                    info.name, value.low, value.high);
      return {};
    case ValueType::fraction:
      if (const double f = std::bit_cast<double>(value.low); !(f > 0 && f <= 1))
        return fail(Errc::invalid_argument, "a scale is above 0, at most 1", "{} = {}", info.name,
                    f);
      return {};
    case ValueType::set:
      if (value.low == 0 || (value.low & ~all_bits(info.key)) != 0)
        return fail(Errc::invalid_argument,
                    "a set has one of the key's values at least, and no "
                    "others",
                    "{} = {:#x}", info.name, value.low);
      return {};
    case ValueType::choice:
      return check_choice(info, value);
  }
  return fail(Errc::invalid_argument, "the key has no type", "{}", info.name);
}

Result<AttributeValue> value_from_json(const KeyInfo& info, const json& value) {
  switch (info.type) {
    case ValueType::flag:
      if (value.is_boolean()) return AttributeValue{value.get<bool>() ? 1U : 0U, 0};
      return fail(Errc::invalid_argument, "the key wants true or false", "{}: {}", info.name,
                  value.dump());
    case ValueType::number: {
      HALYARD_TRY(const std::uint64_t one, number(info, value));
      return AttributeValue{one, 0};
    }
    case ValueType::range:
      return range(info, value);
    case ValueType::fraction:
      if (value.is_number())
        return AttributeValue{std::bit_cast<std::uint64_t>(value.get<double>()), 0};
      return fail(Errc::invalid_argument, "the key wants a number", "{}: {}", info.name,
                  value.dump());
    case ValueType::set:
      return set_of_names(info, value);
    case ValueType::choice:
      return choice(info, value);
    case ValueType::layout:
      break;
  }
  return fail(Errc::invalid_argument, "layouts and formats are set by accept()", "{}", info.name);
}

json value_to_json(const KeyInfo& info, AttributeValue value) {
  switch (info.type) {
    case ValueType::flag:
      return value.low != 0;
    case ValueType::range:
      if (value.low != value.high) return json::array({value.low, value.high});
      return value.low;
    case ValueType::fraction:
      return std::bit_cast<double>(value.low);
    case ValueType::set:
      return set_names(info, value.low);
    case ValueType::choice:
      return choice_text(info, value);
    default:
      return value.low;
  }
}

std::string to_string(Key key, AttributeValue value) {
  const KeyInfo* const info = key_info(key);
  if (info == nullptr) return std::to_string(value.low);
  switch (info->type) {
    case ValueType::flag:
      return value.low != 0 ? "true" : "false";
    case ValueType::range:
      return with_unit(*info, value.low == value.high
                                  ? std::to_string(value.low)
                                  : fmt::format("{}..{}", value.low, value.high));
    case ValueType::fraction:
      return fmt::format("{}", std::bit_cast<double>(value.low));
    case ValueType::set:
      return fmt::format("{{{}}}", fmt::join(set_names(*info, value.low), ", "));
    case ValueType::choice:
      return choice_text(*info, value);
    default:
      return with_unit(*info, std::to_string(value.low));
  }
}

}  // namespace halyard
