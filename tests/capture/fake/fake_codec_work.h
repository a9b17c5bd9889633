// SPDX-License-Identifier: Apache-2.0
// What the device behind FakeCodec does with the buffers that it has.
#pragma once

#include <cstddef>
#include <cstdint>

#include "capture/fake/fake_codec.h"

namespace halyard::test {

/// Whether the buffers of a queue are packets, not images.
bool is_coded(const FakeCodec& codec, const FakeQueue& queue);
/// Gives a queue of images its size, aligned as the codec has it.
void size_raw(FakeCodec& codec, FakeQueue& queue, std::uint32_t width, std::uint32_t height,
              std::uint32_t stride);
std::size_t plane_bytes(const FakeCodec& codec, const FakeQueue& queue, std::size_t plane);
/// Decodes or encodes all that waits, and makes the descriptor readable if there is news.
void work(FakeCodec& codec);

}  // namespace halyard::test
