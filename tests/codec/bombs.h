// SPDX-License-Identifier: Apache-2.0
// Small files that ask for much: progressive JPEGs of many nearly empty scans, blank PNGs, EXIF
// directories that lead to each other.
#pragma once

#include "codec/support.h"

namespace halyard::test {

/// A grey progressive JPEG, `side` pixels square, all blank: one bit a block for the DC, then
/// `scans` (up to 882) legal scans of one coefficient each, whose blocks are all skipped by runs.
Bytes scan_bomb(unsigned side, int scans);

/// A blank PNG of one bit a pixel with a palette of two colours, and transparency if asked for.
Bytes blank_png(unsigned width, unsigned height, bool has_transparency = false,
                bool is_interlaced = false);

/// An APP1 payload of two directories, each of whose entries leads to the second one.
std::string looping_exif();

}  // namespace halyard::test
