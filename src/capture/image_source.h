// SPDX-License-Identifier: Apache-2.0
// Image files as frames, and what every reader of images shares.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "capture/source.h"
#include "halyard/capture.h"

namespace halyard::capture {

/// One image; the file is opened at the first next().
std::unique_ptr<Source> image_source(std::string path, const Options& options);

/// Decodes one image file's bytes; every error names `name`.
Result<Frame> decode_image(std::span<const std::byte> file, const std::string& name,
                           std::size_t index, const Options& options);

/// Time of image `index` at options.picture_rate.
std::chrono::nanoseconds image_time(std::size_t index, const Options& options) noexcept;

/// By the first bytes of the file.
bool has_jpeg_magic(std::span<const std::byte> bytes) noexcept;

/// The kinds of images that this build reads, for messages: "jpeg, png, webp".
std::string read_kinds();

/// The error with the source's name before its detail.
Error naming(const Error& error, const std::string& name);

/// Lower-case extension without the dot; empty when there is none.
std::string extension_of(const std::string& path);

}  // namespace halyard::capture
