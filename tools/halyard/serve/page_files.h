// SPDX-License-Identifier: Apache-2.0
// The page's files, which the build compiles in from tools/halyard/serve/page.
#pragma once

#include <optional>
#include <string_view>

namespace halyard::tool {

struct PageFile {
  std::string_view name;  ///< "index.html"
  std::string_view bytes;
};

/// Nullopt: the page has no such file.
std::optional<PageFile> page_file(std::string_view name) noexcept;

}  // namespace halyard::tool
