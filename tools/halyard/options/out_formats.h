// SPDX-License-Identifier: Apache-2.0
// What the program draws into, by the extension of the name: images are those of the codec's
// table (image_file_kinds), videos those of VideoWriter.
#pragma once

#include <string>

namespace halyard::tool {

enum class OutKind { none, image, folder, video };

/// Whether the name ends as that of an image file that this build writes.
bool is_image_name(const std::string& path);
/// What --out names: by its extension an image or a video; a folder that is there, a name that
/// ends in a slash and one without an extension are folders. None: empty, or another extension.
OutKind out_kind(const std::string& out);

/// ".jpg .jpeg .png .webp ...".
std::string image_extensions();
/// ".mp4 .mkv .mov .avi"; "none in this build" without FFmpeg.
std::string video_extensions();

/// Whether `--out` can be written; exit_ok, or exit_usage with a message that names the extension
/// and those that are served. An empty name is fine.
int check_out_name(const std::string& out);
/// The same for an option that names an image. A name without an extension becomes a JPEG.
int check_image_name(const std::string& option, const std::string& path);

}  // namespace halyard::tool
