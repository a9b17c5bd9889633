// SPDX-License-Identifier: Apache-2.0
// What a head gives beside boxes: keypoints and mask coefficients of survivors, classes of the
// image.
#pragma once

#include <cstddef>
#include <vector>

#include "decode/head/candidates.h"
#include "halyard/decode.h"

namespace halyard::decode {

/// Nothing in any part; keeps memory.
void clear(Decoded& out) noexcept;

/// Keypoints and mask coefficients of the detections, in their order. Errors: those of
/// MaskPrototypes::append.
Status read_extras(const HeadProgram& program, Size input, std::size_t batch, Scratch& work,
                   Decoded& out);

/// The best classes of the image; 0: all.
void classify(const HeadProgram& program, std::size_t maximum, Scratch& work,
              std::vector<ClassScore>& out);

}  // namespace halyard::decode
