// SPDX-License-Identifier: Apache-2.0
// The document is read once, because it may come from standard input, and parsed for each kind.
#include "input/val_truth.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "halyard/codec.h"
#include "input/coco_files.h"

namespace halyard::tool {
namespace {

namespace fs = std::filesystem;

/// Names of the folders, or of the image files, in a folder, sorted. Errors: os.
Result<std::vector<std::string>> names_in(const fs::path& folder, bool of_folders) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    std::error_code ignored;
    const bool fits = of_folders ? entry->is_directory(ignored)
                                 : entry->is_regular_file(ignored) && image_file_type(name);
    if (fits && name[0] != '.') names.push_back(name);
  }
  if (error) return make_error(Errc::os, "folder cannot be read", folder.string(), error.value());
  std::sort(names.begin(), names.end());
  return names;
}

Result<CocoTruth> read_class_folders(const std::string& path) {
  CocoTruth truth;
  HALYARD_TRY(const auto classes, names_in(path, true));
  for (const std::string& name : classes) {
    HALYARD_TRY(const auto files, names_in(fs::path(path) / name, false));
    for (const std::string& file : files) {
      CocoObject& object = truth.objects.emplace_back();
      object.image = truth.images.size();
      object.category = truth.categories.size();
      truth.images.push_back({static_cast<std::int64_t>(truth.images.size()) + 1,
                              (fs::path(name) / file).string(), Size{}});
    }
    truth.categories.push_back({static_cast<std::int64_t>(truth.categories.size()) + 1, name});
  }
  if (truth.images.empty())
    return make_error(Errc::not_found, "folder must hold a folder of images for each class");
  return truth;
}

}  // namespace

Result<ValTruth> ValTruth::open(const std::string& path, std::vector<double> sigmas) {
  ValTruth out;
  out.sigmas_ = std::move(sigmas);
  std::error_code ignored;
  out.is_folder_ = path != "-" && fs::is_directory(path, ignored);
  if (out.is_folder_) {
    HALYARD_TRY(out.classes_, read_class_folders(path));
  } else {
    HALYARD_TRY(out.text_, read_document(path));
  }
  return out;
}

Result<CocoTruth> ValTruth::read(CocoKind kind) const {
  if (is_folder_) {
    if (kind == CocoKind::classes) return classes_;
    return make_error(Errc::invalid_argument,
                      "a folder of classes has nothing but classes to measure");
  }
  HALYARD_TRY(auto truth, parse_coco_truth(text_, kind));
  if (kind == CocoKind::keypoints && !sigmas_.empty()) HALYARD_RETURN_IF_ERROR(use_sigmas(truth));
  return truth;
}

Status ValTruth::use_sigmas(CocoTruth& truth) const {
  for (CocoCategory& category : truth.categories) {
    const std::size_t count = category.sigmas.size();
    if (sigmas_.size() != 1 && count != 0 && sigmas_.size() != count)
      return make_error(Errc::invalid_argument, "sigmas must be one, or one for each keypoint",
                        fmt::format("{} for {} keypoints", sigmas_.size(), count));
    for (std::size_t i = 0; i < count; ++i)
      category.sigmas[i] = sigmas_[sigmas_.size() == 1 ? 0 : i];
  }
  return {};
}

}  // namespace halyard::tool
