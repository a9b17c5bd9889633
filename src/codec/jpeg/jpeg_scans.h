// SPDX-License-Identifier: Apache-2.0
// Counts the work of a JPEG's scans from their headers. Nothing is decoded.
#pragma once

#include <cstdint>
#include <span>

#include "codec/jpeg/jpeg_header.h"

namespace halyard::codec {

/// The most block visits that all scans of an image may have together.
std::uint64_t max_visits(const JpegHeader& header, const DecodeLimits& limits) noexcept;

/// Whether the file has several scans, for which libjpeg keeps the coefficients of the whole image.
bool has_many_scans(std::span<const std::byte> file, const JpegHeader& header) noexcept;

/// Checks all scan headers of a file that has several scans. Errors: invalid_argument (max_scans,
/// max_scan_passes).
Status check_jpeg_scans(std::span<const std::byte> file, const JpegHeader& header,
                        const DecodeLimits& limits);

}  // namespace halyard::codec
