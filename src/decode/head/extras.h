// SPDX-License-Identifier: Apache-2.0
// Results of a head other than boxes: keypoints and mask coefficients of survivors, image classes.
#pragma once

#include <cstddef>
#include <vector>

#include "decode/head/candidates.h"
#include "halyard/decode.h"

namespace halyard::decode {

/// Empties every part; keeps the memory.
void clear(Decoded& out) noexcept;

/// Reads keypoints and mask coefficients of the detections, in their order. Errors: those of
/// MaskPrototypes::append().
Status read_extras(const HeadProgram& program, Size input, std::size_t batch, Scratch& work,
                   Decoded& out);

/// The best `maximum` classes of the image; 0: all.
void classify(const HeadProgram& program, std::size_t maximum, Scratch& work,
              std::vector<ClassScore>& out);

}  // namespace halyard::decode
