// SPDX-License-Identifier: Apache-2.0
// The images of one folder, in natural order of their names. Sub-folders are not entered.
#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <utility>

#include "base/text/format_error.h"
#include "capture/image_source.h"
#include "capture/natural_order.h"
#include "capture/source.h"

namespace halyard::capture {
namespace {

namespace fs = std::filesystem;

class FolderSource final : public Source {
 public:
  FolderSource(std::vector<std::string> paths, const Options& options)
      : paths_(std::move(paths)), options_(options) {}

  Result<std::optional<Frame>> next() override {
    if (index_ >= paths_.size()) return std::optional<Frame>();
    const std::size_t index = index_++;
    const std::string& path = paths_[index];
    auto file = read_file(path);
    if (!file) return naming(file.error(), path);
    HALYARD_TRY(Frame frame, decode_image(*file, path, index, options_));
    return std::optional<Frame>(std::move(frame));
  }
  std::optional<std::size_t> frame_count() const noexcept override { return paths_.size(); }
  double rate() const noexcept override { return options_.picture_rate; }
  Status seek(std::chrono::nanoseconds time) override {
    index_ = std::min(first_index(time, options_), paths_.size());
    return {};
  }

 private:
  std::vector<std::string> paths_;
  Options options_;
  std::size_t index_ = 0;
};

bool begins_like_an_image(const fs::path& path) {
  std::array<std::byte, 18> head{};
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(head.data()), head.size());
  const auto bytes = std::span(head).first(static_cast<std::size_t>(file.gcount()));
  return image_file_type(bytes).has_value();
}

// Decides by the extension; without one, by the first bytes. Hidden files are skipped.
bool is_image(const fs::directory_entry& entry) {
  std::error_code error;
  const std::string name = entry.path().filename().string();
  if (name.empty() || name.front() == '.' || !entry.is_regular_file(error)) return false;
  if (extension_of(name).empty()) return begins_like_an_image(entry.path());
  return image_file_type(name).has_value();
}

}  // namespace

SourceResult folder_source(const std::string& path, const Options& options) {
  std::error_code error;
  std::vector<std::string> paths;
  for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
    if (is_image(*it)) paths.push_back(it->path().string());
  }
  if (error) return fail_os("folder cannot be read", error.value(), path);
  if (paths.empty()) {
    return fail(Errc::invalid_argument,
                "folder holds no image (jpg, jpeg, png, webp, tif, tiff, bmp, gif)", "{}", path);
  }
  std::sort(paths.begin(), paths.end(),
            [](const std::string& a, const std::string& b) { return natural_less(a, b); });
  return std::unique_ptr<Source>(std::make_unique<FolderSource>(std::move(paths), options));
}

}  // namespace halyard::capture
