// SPDX-License-Identifier: Apache-2.0
// Image files as frames: the source of a single file, and functions that all image sources share.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "capture/source.h"
#include "halyard/capture.h"

namespace halyard::capture {

/// One image as the only frame; the file is opened at the first next().
std::unique_ptr<Source> image_source(std::string path, const Options& options);

/// Decodes the bytes of one image file; every error names `name`.
Result<Frame> decode_image(std::span<const std::byte> file, const std::string& name,
                           std::size_t index, const Options& options);

/// Time of frame `index` at options.picture_rate.
std::chrono::nanoseconds image_time(std::size_t index, const Options& options) noexcept;
/// The first index whose image_time() is not before `time`.
std::size_t first_index(std::chrono::nanoseconds time, const Options& options) noexcept;

/// Whether a file begins with these bytes of a JPEG.
bool has_jpeg_magic(std::span<const std::byte> bytes) noexcept;

/// The kinds of images that this build reads, for messages: "jpeg, png, webp".
std::string read_kinds();

/// The error with the source's name in front of its detail.
Error naming(const Error& error, const std::string& name);

/// Lower-case extension without the dot; empty if there is none.
std::string extension_of(const std::string& path);

}  // namespace halyard::capture
