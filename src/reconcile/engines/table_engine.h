// SPDX-License-Identifier: Apache-2.0
// An engine whose requirements follow from a table of numbers.
#pragma once

#include <string>
#include <utility>

#include "halyard/buffer_engine.h"
#include "reconcile/engines/settings.h"

namespace halyard {

class TableEngine : public BufferEngine {
 public:
  TableEngine(std::string_view name, Settings settings)
      : name_(name), settings_(std::move(settings)) {}
  std::string_view name() const noexcept override { return name_; }

 protected:
  std::uint64_t number(std::string_view setting) const { return settings_.number(setting); }
  const Settings& settings() const { return settings_; }
  /// Sets a key to the value of a setting.
  Status set(AttributeList& list, Key key, std::string_view setting, std::size_t index = 0) const {
    return list.set(key, {number(setting), 0}, index, settings_.source(setting));
  }
  /// Sets all values of the key to that of a setting.
  Status set_all(AttributeList& list, Key key, std::string_view setting) const {
    for (std::size_t k = 0; k < key_info(key)->count; ++k)
      HALYARD_RETURN_IF_ERROR(set(list, key, setting, k));
    return {};
  }
  /// Sets a key to a value that does not depend on a setting.
  static Status set_fact(AttributeList& list, Key key, std::uint64_t value) {
    return list.set(key, {value, 0}, 0, "table");
  }

 private:
  std::string name_;
  Settings settings_;
};

}  // namespace halyard
