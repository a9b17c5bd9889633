// SPDX-License-Identifier: Apache-2.0
// Each part is written together with the end; the next part overwrites that end.
#include "input/growing_file.h"

#include <utility>

#include "options/paths.h"

namespace halyard::tool {

Result<GrowingFile> GrowingFile::create(const std::string& path, const Shape& shape) {
  HALYARD_TRY(auto file, open_output(path));
  return GrowingFile(std::move(file), shape);
}

Status GrowingFile::add(std::string_view part) {
  const bool is_first = !std::exchange(is_begun_, true);
  std::string text(is_first ? shape_.head : "");
  if (!part.empty()) {
    if (std::exchange(has_parts_, true)) text += shape_.separator;
    text += part;
  }
  if (file_.is_direct()) return file_.write(text);
  text += shape_.end;
  if (!is_first) return file_.replace_tail(file_.position_bytes() - shape_.end.size(), text);
  HALYARD_RETURN_IF_ERROR(file_.write(text));
  return file_.publish();
}

Status GrowingFile::finish() {
  if (!is_begun_) HALYARD_RETURN_IF_ERROR(file_.write(shape_.head));
  if (!is_begun_ || file_.is_direct()) HALYARD_RETURN_IF_ERROR(file_.write(shape_.end));
  return file_.commit();
}

}  // namespace halyard::tool
