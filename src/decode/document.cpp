// SPDX-License-Identifier: Apache-2.0
// JSON and YAML text to one tree, and checked reading of it.
#include "decode/document.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/format_error.h"

namespace halyard::decode {
namespace {

using nlohmann::json;

constexpr int deepest = 64;
constexpr std::size_t most_nodes = std::size_t{1} << 17;

Error malformed(std::string_view language, std::size_t line, std::string_view position,
                std::string_view why) {
  return fail(Errc::malformed, "description: the text does not parse", "{}, line {}{}: {}",
              language, line, position, why);
}

// The library's message without its own prefix, "[json.exception...] ".
std::string_view plain_text(std::string_view text) {
  const auto end = text.find("] ");
  return text.starts_with("[json.exception") && end != std::string_view::npos ? text.substr(end + 2)
                                                                              : text;
}

// The value of an unquoted scalar; text that is no number, bool or null stays text.
json plain_scalar(const std::string& text) {
  if (text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL")
    return nullptr;
  if (text == "true" || text == "True" || text == "TRUE") return true;
  if (text == "false" || text == "False" || text == "FALSE") return false;
  const char* first = text.data() + (text[0] == '+' ? 1 : 0);
  const char* last = text.data() + text.size();
  std::int64_t whole = 0;
  if (const auto r = std::from_chars(first, last, whole); r.ec == std::errc{} && r.ptr == last)
    return whole;
  double real = 0;
  if (const auto r = std::from_chars(first, last, real); r.ec == std::errc{} && r.ptr == last)
    return real;
  return text;
}

// Copies a YAML tree. Aliases may make it endless or huge, hence both limits.
class YamlCopy {
 public:
  Result<json> copy(const YAML::Node& node, int depth) {
    if (depth > deepest || ++nodes_ > most_nodes) {
      const auto line = static_cast<std::size_t>(std::max(0, node.Mark().line)) + 1;
      return malformed("YAML", line, "", "too deep or too large after resolving aliases");
    }
    if (node.IsSequence()) {
      json out = json::array();
      for (const auto& item : node) {
        HALYARD_TRY(json value, copy(item, depth + 1));
        out.push_back(std::move(value));
      }
      return out;
    }
    if (node.IsMap()) {
      json out = json::object();
      for (const auto& item : node) {
        if (!item.first.IsScalar()) continue;  // no key of ours
        HALYARD_TRY(json value, copy(item.second, depth + 1));
        out[item.first.Scalar()] = std::move(value);
      }
      return out;
    }
    if (!node.IsScalar()) return json(nullptr);
    return node.Tag() == "!" ? json(node.Scalar()) : plain_scalar(node.Scalar());
  }

 private:
  std::size_t nodes_ = 0;
};

}  // namespace

Result<json> parse_json(std::string_view text) {
  try {
    return json::parse(text.begin(), text.end());
  } catch (const json::parse_error& e) {
    const std::size_t byte = std::min(e.byte, text.size());
    const auto head = text.substr(0, byte == 0 ? 0 : byte - 1);
    const auto line = static_cast<std::size_t>(std::count(head.begin(), head.end(), '\n')) + 1;
    return malformed("JSON", line, fmt::format(" byte {}", e.byte), plain_text(e.what()));
  } catch (const json::exception& e) {  // a number beyond double
    return malformed("JSON", 1, " or later", plain_text(e.what()));
  }
}

Result<json> parse_yaml(std::string_view text) {
  try {
    const YAML::Node root = YAML::Load(std::string(text));
    return YamlCopy().copy(root, 0);
  } catch (const YAML::Exception& e) {
    return malformed("YAML", static_cast<std::size_t>(std::max(0, e.mark.line)) + 1,
                     fmt::format(" column {}", std::max(0, e.mark.column) + 1), e.msg);
  } catch (const json::exception& e) {
    return malformed("YAML", 1, " or later", plain_text(e.what()));
  }
}

std::optional<Node> Node::member(const char* key) const {
  const auto found = value_->find(key);
  if (found == value_->end() || found->is_null()) return std::nullopt;
  return Node(*found, path_.empty() ? key : path_ + "." + key);
}

Node Node::element(std::size_t i) const {
  return {(*value_)[i], fmt::format("{}[{}]", path_, i)};
}

Status Node::must_be_object() const {
  if (!value_->is_object()) return wrong("must be a map of keys");
  return {};
}

Status Node::must_be_array() const {
  if (!value_->is_array()) return wrong("must be a list");
  return {};
}

Result<bool> Node::boolean() const {
  if (!value_->is_boolean()) return wrong("must be true or false");
  return value_->get<bool>();
}

Result<std::string> Node::text() const {
  if (!value_->is_string()) return wrong("must be a text");
  return value_->get<std::string>();
}

Result<double> Node::number() const {
  if (!value_->is_number()) return wrong("must be a number");
  const double number = value_->get<double>();
  if (!std::isfinite(number)) return wrong("must be finite");
  return number;
}

Result<std::int64_t> Node::whole(std::int64_t least, std::int64_t most) const {
  if (!value_->is_number_integer()) return wrong("must be a whole number");
  // Beyond the signed range only unsigned values exist, and they are above any limit.
  const bool huge = value_->is_number_unsigned() &&
                    value_->get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max();
  const std::int64_t number =
      huge ? std::numeric_limits<std::int64_t>::max() : value_->get<std::int64_t>();
  if (number < least) return wrong(fmt::format("must be at least {}", least));
  if (huge || number > most) return wrong(fmt::format("must be at most {}", most));
  return number;
}

// Short, printable, one line.
std::string Node::seen() const {
  constexpr std::size_t longest = 60;
  std::string text = value_->is_object() ? std::string("a map")
                     : value_->is_array()
                         ? fmt::format("a list of {}", value_->size())
                         : value_->dump(-1, ' ', true, json::error_handler_t::replace);
  if (text.size() > longest) text.replace(longest, std::string::npos, "...");
  return text;
}

Error Node::wrong(std::string_view rule) const {
  return fail(Errc::invalid_argument, "description: a value is wrong", "{}: {}, {}",
              path_.empty() ? "document" : path_, seen(), rule);
}

Error Node::unsupported(std::string_view rule) const {
  return fail(Errc::unsupported, "description: not decoded by this version", "{}: {}, {}",
              path_.empty() ? "document" : path_, seen(), rule);
}

}  // namespace halyard::decode
