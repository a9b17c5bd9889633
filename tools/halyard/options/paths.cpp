// SPDX-License-Identifier: Apache-2.0
// Files are compared by stat(), after all links are followed.
#include "options/paths.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <system_error>

#include "halyard/model.h"
#include "report.h"

namespace halyard::tool {

/// An existing file, or a name below an existing folder.
struct FileIdentity {
  dev_t device = 0;
  ino_t inode = 0;
  mode_t mode = 0;
  std::string rest;  ///< empty: it exists

  bool is_same(const FileIdentity& other) const {
    return device == other.device && inode == other.inode && rest == other.rest;
  }
};

namespace {

namespace fs = std::filesystem;

constexpr int max_links = 40;

FileIdentity identity_of(const struct stat& status) {
  return {status.st_dev, status.st_ino, status.st_mode, {}};
}

std::optional<FileIdentity> existing(const fs::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  return identity_of(status);
}

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

/// For a name that does not exist: the nearest existing folder, and the rest of the path.
std::optional<FileIdentity> identity_below_folder(const fs::path& path) {
  fs::path rest = path.filename();
  for (fs::path folder = folder_of(path);; folder = folder_of(folder)) {
    if (auto found = existing(folder)) {
      found->rest = rest.lexically_normal().string();
      return found;
    }
    if (folder == folder_of(folder)) return std::nullopt;
    rest = folder.filename() / rest;
  }
}

/// A dangling link is followed to the name that it holds.
std::optional<FileIdentity> identity_of(fs::path path) {
  while (path.has_relative_path() && !path.has_filename())
    path = path.parent_path();  // "folder/"
  for (int links = 0; links <= max_links; ++links) {
    if (auto found = existing(path)) return found;
    std::error_code error;
    const fs::path target = fs::read_symlink(path, error);
    if (error) return identity_below_folder(path);
    path = folder_of(path) / target;  // an absolute target replaces the folder
  }
  return std::nullopt;
}

bool is_shared(const FileIdentity& file) {
  return file.rest.empty() && S_ISCHR(file.mode);
}

bool is_folder(const FileIdentity& file) {
  return file.rest.empty() && S_ISDIR(file.mode);
}

/// Calls `each` for the paths in a folder until it returns true. Returns whether it did.
template <class Iterator, class Call>
bool any_entry(const std::string& folder, Call each) {
  std::error_code error;
  Iterator entry(folder, fs::directory_options::skip_permission_denied, error);
  for (; !error && entry != Iterator(); entry.increment(error))
    if (each(entry->path())) return true;
  return false;
}

/// Whether the file at the end of the path's links is in this folder.
bool lies_in(const fs::path& path, const FileIdentity& folder) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  if (error) return false;
  const auto around = existing(folder_of(real));
  return around && around->is_same(folder);
}

}  // namespace

struct PathCheck::Seen {
  const Use* use = nullptr;
  FileIdentity identity;

  bool is_input() const {
    return use->kind == Kind::input || use->kind == Kind::frames || use->kind == Kind::input_tree;
  }
};

Result<OutputFile> open_output(const std::string& path) {
  return path == "-" ? OutputFile::standard_output() : OutputFile::create(path);
}

PathCheck& PathCheck::add(Kind kind, const std::string& option, const std::string& path) {
  if (!path.empty()) uses_.push_back({kind, option, path});
  return *this;
}

PathCheck& PathCheck::input(const std::string& option, const std::string& path) {
  if (path != "-") return add(Kind::input, option, path);
  refused_.push_back(option);
  return *this;
}

PathCheck& PathCheck::stream_input(const std::string& option, const std::string& path) {
  if (path != "-") return add(Kind::input, option, path);
  stdin_.push_back(option);
  return *this;
}

PathCheck& PathCheck::frames(const std::string& option, const std::string& path) {
  if (path != "-") return add(Kind::frames, option, path);
  stdin_.push_back(option);
  return *this;
}

PathCheck& PathCheck::input_tree(const std::string& option, const std::string& path) {
  return add(Kind::input_tree, option, path);
}

PathCheck& PathCheck::model(const std::string& option, const std::string& path) {
  input(option, path);
  if (path.empty()) return *this;
  for (const std::string& file : files_of_model(path))
    if (file != path) implied_.push_back({Kind::input, option, file});
  return *this;
}

PathCheck& PathCheck::output(const std::string& option, const std::string& path) {
  return add(Kind::output, option, path);
}

PathCheck& PathCheck::stream_output(const std::string& option, const std::string& path) {
  return add(Kind::stream_output, option, path);
}

PathCheck& PathCheck::output_folder(const std::string& option, const std::string& path) {
  return add(Kind::output_folder, option, path);
}

PathCheck& PathCheck::text_folder(const std::string& option, const std::string& path) {
  return add(Kind::text_folder, option, path);
}

/// Images in an output folder have the names of frames, so no input frame may be in that folder. A
/// folder of frames may hold links to files in it.
bool PathCheck::overwrites_frames(const Seen& folder, const Seen& input) {
  if (input.use->kind != Kind::frames || !is_folder(folder.identity)) return false;
  if (!is_folder(input.identity)) return lies_in(input.use->path, folder.identity);
  return any_entry<fs::directory_iterator>(input.use->path, [&](const fs::path& entry) {
    std::error_code error;
    return fs::is_symlink(entry, error) && lies_in(entry, folder.identity);
  });
}

/// Whether a link in the folder leads to the input, or into it: writing to the link would change
/// the input.
bool PathCheck::links_to(const Seen& folder, const Seen& input) {
  if (!is_folder(folder.identity)) return false;
  return any_entry<fs::directory_iterator>(folder.use->path, [&](const fs::path& entry) {
    std::error_code error;
    if (!fs::is_symlink(entry, error)) return false;
    const auto file = existing(entry);
    if (!file) return false;
    return file->is_same(input.identity) ||
           (is_folder(input.identity) && lies_in(entry, input.identity));
  });
}

bool PathCheck::overwrites_inside(const Seen& output, const Seen& input) {
  if (!is_folder(input.identity) || !output.identity.rest.empty()) return false;
  const auto is_output = [&](const fs::path& entry) {
    const auto file = existing(entry);
    return file && file->is_same(output.identity);
  };
  return input.use->kind == Kind::input_tree
             ? any_entry<fs::recursive_directory_iterator>(input.use->path, is_output)
             : any_entry<fs::directory_iterator>(input.use->path, is_output);
}

bool PathCheck::clashes(const Seen& output, const Seen& other) {
  const auto is_stdout = [](const Use& use) {
    return use.kind == Kind::stream_output && use.path == "-";
  };
  if (is_stdout(*output.use) && is_stdout(*other.use)) return true;
  if (is_shared(output.identity)) return false;
  if (output.identity.is_same(other.identity)) return true;
  if (!other.is_input()) return false;
  switch (output.use->kind) {
    case Kind::output_folder:
      return overwrites_frames(output, other) || links_to(output, other);
    case Kind::text_folder:
      return links_to(output, other);
    default:
      return overwrites_inside(output, other);
  }
}

std::optional<PathCheck::Seen> PathCheck::look_at(const Use& use) {
  std::optional<FileIdentity> identity;
  if (use.kind == Kind::stream_output && use.path == "-") {
    struct stat status {};
    if (::fstat(STDOUT_FILENO, &status) == 0) identity = identity_of(status);
  } else {
    identity = identity_of(fs::path(use.path));
  }
  if (!identity) return std::nullopt;  // opening it reports the error
  return Seen{&use, *std::move(identity)};
}

int PathCheck::run() const {
  if (!refused_.empty())
    return report_usage(refused_[0] + " -", "must name a file: it is not read from standard input");
  if (stdin_.size() > 1)
    return report_usage(stdin_[1] + " -", "is standard input, which " + stdin_[0] + " - reads");
  std::vector<Seen> seen;
  for (const Use& use : uses_)
    if (auto found = look_at(use)) seen.push_back(*std::move(found));
  for (const Use& use : implied_)
    if (auto found = look_at(use)) seen.push_back(*std::move(found));
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (seen[i].is_input()) continue;
    for (std::size_t j = 0; j < seen.size(); ++j) {
      // Of two outputs the later one is reported.
      if (j == i || (j > i && !seen[j].is_input()) || !clashes(seen[i], seen[j])) continue;
      const Use &output = *seen[i].use, &other = *seen[j].use;
      return report_usage(output.option + " " + output.path,
                          (seen[j].is_input() ? "would overwrite " : "is the same file as ") +
                              other.option + " " + other.path);
    }
  }
  return exit_ok;
}

}  // namespace halyard::tool
