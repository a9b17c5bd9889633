// SPDX-License-Identifier: Apache-2.0
// Chooses the kind of output by name. Videos are the types that VideoWriter writes.
#include "options/out_formats.h"

#include <algorithm>
#include <filesystem>
#include <span>
#include <string_view>
#include <system_error>

#include "halyard/capture.h"
#include "halyard/codec.h"
#include "options/values.h"
#include "report.h"

namespace halyard::tool {
namespace {

// `extension` includes its dot.
bool is_among(std::span<const std::string_view> known, std::string_view extension) {
  return !extension.empty() && std::ranges::find(known, extension.substr(1)) != known.end();
}

std::string with_dots(std::span<const std::string_view> known) {
  std::string text;
  for (const std::string_view extension : known)
    text += (text.empty() ? "." : " .") + std::string(extension);
  return text;
}

bool is_folder(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored);
}

}  // namespace

bool is_image_name(const std::string& path) {
  const auto type = image_file_type(path);
  return type && image_file_kinds()[static_cast<std::size_t>(*type)].is_written;
}

OutKind out_kind(const std::string& out) {
  if (out.empty()) return OutKind::none;
  const std::string extension = extension_of(out);
  if (extension.empty() || is_folder(out)) return OutKind::folder;
  if (is_image_name(out)) return OutKind::image;
  return is_among(VideoWriter::extensions(), extension) ? OutKind::video : OutKind::none;
}

std::string image_extensions() {
  return written_image_extensions();
}

std::string video_extensions() {
  const auto known = VideoWriter::extensions();
  return known.empty() ? "none in this build" : with_dots(known);
}

int check_out_name(const std::string& out) {
  if (out == "-") {
    return report_usage("--out -", "must name an image (" + image_extensions() + "), a video (" +
                                       video_extensions() +
                                       ") or a folder; a folder of this name is ./-");
  }
  if (out.empty() || out_kind(out) != OutKind::none) return exit_ok;
  return report_usage("--out " + out, "cannot write " + extension_of(out) + "; images: " +
                                          image_extensions() + ", videos: " + video_extensions() +
                                          "; a folder of this name is " + out + "/");
}

int check_image_name(const std::string& option, const std::string& path) {
  if (path == "-") {
    return report_usage(option + " -", "must name an image (" + image_extensions() +
                                           "); /dev/stdout is standard output");
  }
  const std::string extension = extension_of(path);
  if (extension.empty() || is_image_name(path)) return exit_ok;
  return report_usage(option + " " + path,
                      "cannot write " + extension + "; images: " + image_extensions());
}

}  // namespace halyard::tool
