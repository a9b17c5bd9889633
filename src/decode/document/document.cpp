// SPDX-License-Identifier: Apache-2.0
// Checked access to the values of a document.
#include "decode/document/document.h"

#include <algorithm>
#include <cmath>

#include "base/text/format_error.h"
#include "halyard/description.h"

namespace halyard::decode {

using nlohmann::json;

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
    add(fmt::format("{}{}{}: unknown key, ignored", object.path(), object.path().empty() ? "" : ".",
                    short_key));
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

Result<std::int64_t> Node::whole(std::int64_t minimum, std::int64_t maximum) const {
  if (!value_->is_number_integer()) return wrong("must be a whole number");
  // Only unsigned values lie above the signed range, and they exceed every limit.
  const bool huge = value_->is_number_unsigned() &&
                    value_->get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max();
  const std::int64_t number =
      huge ? std::numeric_limits<std::int64_t>::max() : value_->get<std::int64_t>();
  if (number < minimum) return wrong(fmt::format("must be at least {}", minimum));
  if (huge || number > maximum) return wrong(fmt::format("must be at most {}", maximum));
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
