// SPDX-License-Identifier: Apache-2.0
// EXIF payloads, with and without the JPEG prefix.
#include "codec/exif.h"

#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto payload = std::as_bytes(std::span(data, size));
  for (const int tag : {halyard::codec::exif_orientation(payload),
                        halyard::codec::exif_orientation_of_tiff(payload)}) {
    if (tag < 0 || tag > 8) std::abort();
    (void)halyard::codec::orientation_of_tag(tag);
  }
  return 0;
}
