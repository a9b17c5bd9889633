// SPDX-License-Identifier: Apache-2.0
// JSON and YAML text to one tree, and checked reading of it.
#include "decode/document.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/format_error.h"
#include "halyard/description.h"

namespace halyard::decode {
namespace {

using nlohmann::json;

constexpr char twice[] = "description: a key stands twice";
constexpr char too_deep[] = "lists and maps nest deeper than {}";
constexpr char too_large[] = "more than {} values, aliases resolved";
constexpr char too_long[] = "more than {} MiB of texts, aliases resolved";
constexpr std::size_t longest_reason = 200;

Error malformed(std::string_view language, std::size_t line, std::string_view position,
                std::string_view why) {
  return fail(Errc::malformed, "description: the text does not parse", "{}, line {}{}: {}",
              language, line, position, why.substr(0, longest_reason));
}

// The library's message without its own prefix, "[json.exception...] ".
std::string_view plain_text(std::string_view text) {
  const auto end = text.find("] ");
  return text.starts_with("[json.exception") && end != std::string_view::npos ? text.substr(end + 2)
                                                                              : text;
}

// The value of an unquoted scalar; text that is no number, bool or null stays text.
json plain_scalar(const std::string& text) {
  constexpr std::string_view number_starts = "+-.0123456789";  // "inf" and "nan" are texts
  if (text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL")
    return nullptr;
  if (text == "true" || text == "True" || text == "TRUE") return true;
  if (text == "false" || text == "False" || text == "FALSE") return false;
  if (number_starts.find(text[0]) == std::string_view::npos) return text;
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

// Copies a YAML tree. Aliases may make it endless or huge, hence the limits.
class YamlCopy {
 public:
  Result<json> copy(const YAML::Node& node, std::size_t depth) {
    if (depth > DocumentLimits::depth)
      return malformed("YAML", line_of(node), "", fmt::format(too_deep, DocumentLimits::depth));
    if (++nodes_ > DocumentLimits::nodes)
      return malformed("YAML", line_of(node), "", fmt::format(too_large, DocumentLimits::nodes));
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
        const std::string& key = item.first.Scalar();
        HALYARD_CHECK(count_text(key, item.first));
        if (out.contains(key)) {
          return fail(Errc::invalid_argument, twice, "YAML, line {}: \"{}\"", line_of(item.first),
                      key.substr(0, 60));
        }
        HALYARD_TRY(json value, copy(item.second, depth + 1));
        out[key] = std::move(value);
      }
      return out;
    }
    if (!node.IsScalar()) return json(nullptr);
    HALYARD_CHECK(count_text(node.Scalar(), node));
    return node.Tag() == "!" ? json(node.Scalar()) : plain_scalar(node.Scalar());
  }

 private:
  static std::size_t line_of(const YAML::Node& node) {
    return static_cast<std::size_t>(std::max(0, node.Mark().line)) + 1;
  }
  // One long text may stand at every alias.
  Status count_text(const std::string& text, const YAML::Node& at) {
    bytes_ += text.size();
    if (bytes_ <= DocumentLimits::json_bytes) return {};
    return malformed("YAML", line_of(at), "",
                     fmt::format(too_long, DocumentLimits::json_bytes >> 20));
  }
  std::size_t nodes_ = 0;
  std::size_t bytes_ = 0;
};

// Builds the tree, and stops at a limit or at a key that stands twice.
class JsonBuilder final : public nlohmann::json_sax<json> {
 public:
  explicit JsonBuilder(std::string_view text) : text_(text) {}
  json root;
  std::optional<Error> error;

  bool null() override { return put(nullptr); }
  bool boolean(bool value) override { return put(value); }
  bool number_integer(number_integer_t value) override { return put(value); }
  bool number_unsigned(number_unsigned_t value) override { return put(value); }
  bool number_float(number_float_t value, const string_t&) override { return put(value); }
  bool string(string_t& value) override { return put(std::move(value)); }
  bool binary(binary_t&) override { return false; }  // JSON texts have none
  bool start_object(std::size_t) override { return put(json::object()); }
  bool start_array(std::size_t) override { return put(json::array()); }
  bool end_object() override { return leave(); }
  bool end_array() override { return leave(); }
  bool key(string_t& value) override {
    if (open_.back()->contains(value)) {
      error = fail(Errc::invalid_argument, twice, "JSON: {}", path_to(value));
      return false;
    }
    keys_.back() = std::move(value);
    return true;
  }
  bool parse_error(std::size_t position, const std::string&, const json::exception& why) override {
    const std::size_t byte = std::min(position, text_.size());
    const auto head = text_.substr(0, byte == 0 ? 0 : byte - 1);
    const auto line = static_cast<std::size_t>(std::count(head.begin(), head.end(), '\n')) + 1;
    error = malformed("JSON", line, fmt::format(" byte {}", position), plain_text(why.what()));
    return false;
  }

 private:
  bool put(json value) {
    if (++nodes_ > DocumentLimits::nodes) {
      error = malformed("JSON", 1, " or later", fmt::format(too_large, DocumentLimits::nodes));
      return false;
    }
    const bool is_open = value.is_structured();
    if (is_open && open_.size() > DocumentLimits::depth) {
      error = malformed("JSON", 1, " or later", fmt::format(too_deep, DocumentLimits::depth));
      return false;
    }
    json* place = &root;
    if (open_.empty()) {
      root = std::move(value);
    } else if (open_.back()->is_array()) {
      open_.back()->push_back(std::move(value));
      place = &open_.back()->back();
    } else {
      place = &((*open_.back())[keys_.back()] = std::move(value));
    }
    if (is_open) {
      open_.push_back(place);
      keys_.emplace_back();
    }
    return true;
  }
  bool leave() {
    open_.pop_back();
    keys_.pop_back();
    return true;
  }
  std::string path_to(std::string_view key) const {
    std::string path;
    for (std::size_t i = 0; i + 1 < open_.size(); ++i) {
      if (open_[i]->is_array())
        path += fmt::format("[{}]", open_[i]->size() - 1);
      else
        path += (path.empty() ? "" : ".") + keys_[i];
    }
    return fmt::format("{}{}{}", path, path.empty() ? "" : ".", key).substr(0, 200);
  }

  std::string_view text_;
  std::vector<json*> open_;        // lists and maps that are being read; stable: none moves
  std::vector<std::string> keys_;  // the key in each, where it is a map
  std::size_t nodes_ = 0;
};

Status check_size(std::string_view text, std::size_t most) {
  if (text.size() <= most) return {};
  return fail(Errc::exhausted, "description: the text is too long", "{} bytes, at most {} MiB",
              text.size(), most >> 20);
}

}  // namespace

Result<json> parse_json(std::string_view text) {
  HALYARD_CHECK(check_size(text, DocumentLimits::json_bytes));
  JsonBuilder builder(text);
  if (json::sax_parse(text.begin(), text.end(), &builder)) return std::move(builder.root);
  if (builder.error) return *std::move(builder.error);
  return malformed("JSON", 1, " or later", "no JSON text");
}

Result<json> parse_yaml(std::string_view text) {
  HALYARD_CHECK(check_size(text, DocumentLimits::yaml_bytes));
  try {
    std::string copy(text);
    (void)json(copy).dump();  // throws unless it is UTF-8
    return YamlCopy().copy(YAML::Load(copy), 0);
  } catch (const YAML::Exception& e) {
    return malformed("YAML", static_cast<std::size_t>(std::max(0, e.mark.line)) + 1,
                     fmt::format(" column {}", std::max(0, e.mark.column) + 1), e.msg);
  } catch (const json::exception& e) {
    return malformed("YAML", 1, " or later", plain_text(e.what()));
  }
}

void Warnings::add(std::string text) {
  if (texts_.size() < DocumentLimits::warnings)
    texts_.push_back(std::move(text));
  else
    ++more_;
}

void Warnings::add_unknown(const Node& object, std::initializer_list<std::string_view> known) {
  constexpr std::size_t longest = 60;
  for (const auto& [key, value] : object.value().items()) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    const std::string short_key =
        json(key.substr(0, longest)).dump(-1, ' ', true, json::error_handler_t::replace);
    add(fmt::format("{}{}{}: unknown key, passed over", object.path(),
                    object.path().empty() ? "" : ".", short_key));
  }
}

std::vector<std::string> Warnings::take() && {
  if (more_ != 0) texts_.push_back(fmt::format("{} more", more_));
  return std::move(texts_);
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
