// SPDX-License-Identifier: Apache-2.0
// The kinds of files that the program draws into, by extension. Images: the codec's table
// (image_file_kinds). Videos: those of VideoWriter.
#pragma once

#include <string>

namespace halyard::tool {

enum class OutKind { none, image, folder, video };

/// Whether the name ends like that of an image file that this build writes.
bool is_image_name(const std::string& path);
/// The kind that --out names. By extension: an image or a video. A folder: an existing folder, a
/// name that ends in a slash, or one without an extension. None: an empty name, or another
/// extension.
OutKind out_kind(const std::string& out);

/// ".jpg .jpeg .png .webp ...".
std::string image_extensions();
/// ".mp4 .mkv .mov .avi"; "none in this build" without FFmpeg.
std::string video_extensions();

/// Checks the name of `--out`: exit_ok, or exit_usage with a message that names the extension and
/// the supported ones. An empty name is valid.
int check_out_name(const std::string& out);
/// As above, for an option that names an image. A name without an extension becomes a JPEG.
int check_image_name(const std::string& option, const std::string& path);

}  // namespace halyard::tool
