// SPDX-License-Identifier: Apache-2.0
// How much work the scans of a JPEG are: counted from their headers, nothing decoded.
#pragma once

#include <cstdint>
#include <span>

#include "codec/jpeg/jpeg_header.h"

namespace halyard::codec {

/// Block visits that the scans of an image may sum up to.
std::uint64_t max_visits(const JpegHeader& header, const DecodeLimits& limits) noexcept;

/// Whether the file has several scans, so that libjpeg keeps the coefficients of the whole image.
bool has_many_scans(std::span<const std::byte> file, const JpegHeader& header) noexcept;

/// Walks over all scan headers of a file that has several. Errors: invalid_argument (max_scans,
/// max_scan_passes).
Status check_jpeg_scans(std::span<const std::byte> file, const JpegHeader& header,
                        const DecodeLimits& limits);

}  // namespace halyard::codec
