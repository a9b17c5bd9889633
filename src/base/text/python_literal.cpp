// SPDX-License-Identifier: Apache-2.0
// A cursor over the text. Every step checks that there is text left.
#include "base/text/python_literal.h"

#include <charconv>
#include <cstddef>

namespace halyard {
namespace {

constexpr std::size_t max_names = 65536;

class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  bool at_end() const { return position_ >= text_.size(); }
  char peek() const { return at_end() ? '\0' : text_[position_]; }
  void skip_space() {
    while (!at_end() &&
           std::string_view(" \t\r\n").find(text_[position_]) != std::string_view::npos)
      ++position_;
  }
  bool take(char c) {
    skip_space();
    if (at_end() || text_[position_] != c) return false;
    ++position_;
    return true;
  }

  /// A quoted string; its escapes are resolved as far as names need them.
  std::optional<std::string> quoted() {
    const char quote = peek();
    ++position_;
    std::string out;
    while (!at_end()) {
      char c = text_[position_++];
      if (c == quote) return out;
      if (c == '\\' && !at_end()) {
        c = text_[position_++];
        if (c == 'n') c = '\n';
        if (c == 't') c = '\t';
      }
      out += c;
    }
    return std::nullopt;
  }

  /// A string, or raw text up to a separator outside brackets and quotes.
  std::optional<std::string> value(std::string_view stops) {
    skip_space();
    if (peek() == '\'' || peek() == '"') return quoted();
    const std::size_t begin = position_;
    std::size_t depth = 0;
    while (!at_end()) {
      const char c = text_[position_];
      if (depth == 0 && stops.find(c) != std::string_view::npos) break;
      if (c == '\'' || c == '"') {
        if (!quoted()) return std::nullopt;
        continue;
      }
      if (c == '[' || c == '{' || c == '(') ++depth;
      if ((c == ']' || c == '}' || c == ')') && depth > 0) --depth;
      ++position_;
    }
    std::size_t end = position_;
    while (end > begin && text_[end - 1] == ' ')
      --end;
    if (end == begin) return std::nullopt;
    return std::string(text_.substr(begin, end - begin));
  }

 private:
  std::string_view text_;
  std::size_t position_ = 0;
};

}  // namespace

std::optional<std::vector<LiteralItem>> split_literal(std::string_view text) {
  Cursor cursor(text);
  const bool is_dict = cursor.take('{');
  if (!is_dict && !cursor.take('[')) return std::nullopt;
  const char closing = is_dict ? '}' : ']';
  std::vector<LiteralItem> items;
  while (!cursor.take(closing)) {
    LiteralItem item;
    if (is_dict) {
      auto key = cursor.value(":}");
      if (!key || !cursor.take(':')) return std::nullopt;
      item.key = *std::move(key);
    } else {
      item.key = std::to_string(items.size());
    }
    auto value = cursor.value(is_dict ? ",}" : ",]");
    if (!value) return std::nullopt;
    item.value = *std::move(value);
    items.push_back(std::move(item));
    if (cursor.take(',')) continue;
    if (!cursor.take(closing)) return std::nullopt;
    break;
  }
  return items;
}

std::vector<std::string> parse_names(std::string_view text) {
  const auto items = split_literal(text);
  if (!items) return {};
  std::vector<std::string> names;
  for (const LiteralItem& item : *items) {
    std::size_t index = 0;
    const char* end = item.key.data() + item.key.size();
    const auto parsed = std::from_chars(item.key.data(), end, index);
    if (parsed.ec != std::errc{} || parsed.ptr != end || index >= max_names) return {};
    if (names.size() <= index) names.resize(index + 1);
    names[index] = item.value;
  }
  return names;
}

}  // namespace halyard
