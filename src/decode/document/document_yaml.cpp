// SPDX-License-Identifier: Apache-2.0
// Parses YAML text into a tree of JSON values.
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <charconv>
#include <sstream>
#include <string>
#include <vector>

#include "base/text/cut_text.h"
#include "decode/document/document.h"
#include "decode/document/document_text.h"
#include "decode/document/document_yaml.h"
#include "halyard/description.h"

namespace halyard::decode {
namespace {

using nlohmann::json;

constexpr char too_long[] = "more than {} MiB of texts, aliases resolved";

// The value of an unquoted scalar. Text that is not a number, bool or null stays a string.
json plain_scalar(const std::string& text) {
  constexpr std::string_view number_starts = "+-.0123456789";  // "inf" and "nan" are strings
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

// A value as written, before aliases are resolved.
struct Item {
  enum class Kind : std::uint8_t { null, plain, quoted, list, map };
  Kind kind = Kind::null;
  std::size_t line = 1;
  std::string text = {};
  std::vector<std::uint32_t> children = {};  // indices; for a map keys and values alternate
};

std::size_t line_of(const YAML::Mark& mark) {
  return static_cast<std::size_t>(std::max(0, mark.line)) + 1;
}

// Thrown to end the parser if lists and maps nest too deeply: the parser recurses, and the stack of
// the thread can be small.
struct TooDeep {
  std::size_t line = 1;
};

// Stores the parser's events. YAML::Load() would build a tree that is ten times as large and slow.
// Beyond the limit nothing more is stored, and parse_yaml() reports an error.
class Items final : public YAML::EventHandler {
 public:
  static constexpr std::size_t maximum =
      2 * DocumentLimits::nodes + 1;  // keys are not counted as values

  bool is_beyond() const noexcept { return items_.size() == maximum; }
  bool empty() const noexcept { return items_.empty(); }
  const Item& operator[](std::uint32_t index) const { return items_[index]; }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    add({Item::Kind::null, line_of(mark)}, anchor);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    add({tag == "!" ? Item::Kind::quoted : Item::Kind::plain, line_of(mark), value}, anchor);
  }
  void OnAlias(const YAML::Mark&, YAML::anchor_t anchor) override {
    if (!is_beyond()) attach(anchors_[anchor]);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(Item::Kind::list, mark, anchor);
  }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(Item::Kind::map, mark, anchor);
  }
  void OnSequenceEnd() override { open_.pop_back(); }
  void OnMapEnd() override { open_.pop_back(); }

 private:
  void open(Item::Kind kind, const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (open_.size() > DocumentLimits::depth) throw TooDeep{line_of(mark)};
    open_.push_back(add({kind, line_of(mark)}, anchor));
  }
  std::uint32_t add(Item item, YAML::anchor_t anchor) {
    if (is_beyond()) return 0;
    const auto index = static_cast<std::uint32_t>(items_.size());
    items_.push_back(std::move(item));
    if (anchor >= anchors_.size()) anchors_.resize(anchor + 1);
    anchors_[anchor] = index;
    attach(index);
    return index;
  }
  void attach(std::uint32_t index) {
    if (!open_.empty()) items_[open_.back()].children.push_back(index);
  }
  std::vector<Item> items_;
  std::vector<std::uint32_t> open_;
  std::vector<std::uint32_t> anchors_;  // by the parser's numbers, which ascend; 0: none
};

// Copies the items into the tree. Aliases can make it endless or huge; the limits prevent this.
class YamlCopy {
 public:
  explicit YamlCopy(const Items& items) : items_(items) {}

  Result<Tree> copy(std::uint32_t index, std::size_t depth) {
    using Kind = Item::Kind;
    const Item& item = items_[index];
    if (depth > DocumentLimits::depth)
      return malformed("YAML", item.line, "", fmt::format(too_deep, DocumentLimits::depth));
    if (++nodes_ > DocumentLimits::nodes)
      return malformed("YAML", item.line, "", fmt::format(too_large, DocumentLimits::nodes));
    if (item.kind == Kind::map) return copy_map(item, depth);
    if (item.kind == Kind::list) {
      Tree out(json::array());
      for (const std::uint32_t child : item.children) {
        HALYARD_TRY(Tree value, copy(child, depth + 1));
        out->push_back(std::move(*value));
      }
      return out;
    }
    if (item.kind == Kind::null) return Tree();
    HALYARD_RETURN_IF_ERROR(count_text(item));
    return Tree(item.kind == Kind::quoted ? json(item.text) : plain_scalar(item.text));
  }

 private:
  Result<Tree> copy_map(const Item& map, std::size_t depth) {
    Tree out(json::object());
    for (std::size_t i = 0; i + 1 < map.children.size(); i += 2) {
      const Item& key = items_[map.children[i]];
      if (key.kind != Item::Kind::plain && key.kind != Item::Kind::quoted)
        continue;  // no key of ours is a list or map
      HALYARD_RETURN_IF_ERROR(count_text(key));
      if (out->contains(key.text)) {
        return fail(Errc::invalid_argument, twice, "YAML, line {}: \"{}\"", key.line,
                    cut_text(key.text, 60));
      }
      HALYARD_TRY(Tree value, copy(map.children[i + 1], depth + 1));
      json& place = (*out)[key.text];  // before the move: it can allocate, and the value must
                                       // survive a failure
      place = std::move(*value);
    }
    return out;
  }
  // A long text can be repeated by every alias.
  Status count_text(const Item& item) {
    bytes_ += item.text.size();
    if (bytes_ <= DocumentLimits::json_bytes) return {};
    return malformed("YAML", item.line, "",
                     fmt::format(too_long, DocumentLimits::json_bytes >> 20));
  }
  const Items& items_;
  std::size_t nodes_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace

Result<Tree> parse_yaml(std::string_view text) {
  HALYARD_RETURN_IF_ERROR(check_size(text, DocumentLimits::yaml_bytes));
  try {
    const std::string copy(text);
    (void)json(copy).dump();  // throws unless it is UTF-8
    std::istringstream stream(copy);
    YAML::Parser parser(stream);
    Items items;
    parser.HandleNextDocument(items);
    if (items.is_beyond())
      return malformed("YAML", 1, " or later", fmt::format(too_large, DocumentLimits::nodes));
    if (items.empty()) return Tree();
    return YamlCopy(items).copy(0, 0);
  } catch (const TooDeep& here) {
    return malformed("YAML", here.line, "", fmt::format(too_deep, DocumentLimits::depth));
  } catch (const YAML::Exception& e) {
    return malformed("YAML", line_of(e.mark),
                     fmt::format(" column {}", std::max(0, e.mark.column) + 1), e.msg);
  } catch (const json::exception&) {
    return malformed("YAML", 1, " or later", "the text is not UTF-8");
  }
}

}  // namespace halyard::decode
