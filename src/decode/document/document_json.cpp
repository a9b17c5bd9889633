// SPDX-License-Identifier: Apache-2.0
// Parses JSON text into a tree.
#include <algorithm>
#include <string>
#include <vector>

#include "decode/document/document.h"
#include "decode/document/document_json.h"
#include "decode/document/document_text.h"
#include "halyard/description.h"

namespace halyard::decode {
namespace {

using nlohmann::json;

// The parser's message without its prefix "[json.exception...] parse error at line 1, column 2: ".
std::string_view reason_of(std::string_view text) {
  for (const std::string_view prefix : {"[json.exception", "parse error at line"}) {
    const auto end = text.find(prefix == "[json.exception" ? "] " : ": ");
    if (text.starts_with(prefix) && end != std::string_view::npos) text = text.substr(end + 2);
  }
  return text;
}

// Builds the tree. Stops at a limit or at a key that appears twice in a map.
class JsonBuilder final : public nlohmann::json_sax<json> {
 public:
  explicit JsonBuilder(std::string_view text) : text_(text) {}
  Tree root;
  std::optional<Error> error;

  bool null() override { return put(nullptr); }
  bool boolean(bool value) override { return put(value); }
  bool number_integer(number_integer_t value) override { return put(value); }
  bool number_unsigned(number_unsigned_t value) override { return put(value); }
  bool number_float(number_float_t value, const string_t&) override { return put(value); }
  bool string(string_t& value) override { return put(std::move(value)); }
  bool binary(binary_t&) override { return false; }  // JSON text has none
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
    error = malformed("JSON", line, fmt::format(" byte {}", position), reason_of(why.what()));
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
    json* place = &*root;
    if (open_.empty()) {
      *root = std::move(value);
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
  std::vector<json*> open_;        // lists and maps that are being read; none of them moves
  std::vector<std::string> keys_;  // the current key of each map
  std::size_t nodes_ = 0;
};

// Replaces line breaks and tabs between values by spaces. The parser's message repeats all text
// before an error, and writes each break as eight characters.
std::string without_breaks(std::string_view text) {
  std::string out(text);
  bool is_inside = false;  // inside a string: breaks are errors there, and the parser must see them
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (out[i] == '"') is_inside = !is_inside;
    if (is_inside && out[i] == '\\') ++i;
    if (!is_inside && (out[i] == '\n' || out[i] == '\r' || out[i] == '\t')) out[i] = ' ';
  }
  return out;
}

}  // namespace

Result<Tree> parse_json(std::string_view text) {
  HALYARD_RETURN_IF_ERROR(check_size(text, DocumentLimits::json_bytes));
  JsonBuilder builder(text);
  if (json::sax_parse(without_breaks(text), &builder)) return std::move(builder.root);
  if (builder.error) return *std::move(builder.error);
  return malformed("JSON", 1, " or later", "no JSON text");
}

}  // namespace halyard::decode
