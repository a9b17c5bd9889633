// SPDX-License-Identifier: Apache-2.0
// A producer of DLPack tensors outside the library, for tests.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <numeric>

#include "halyard/dlpack.h"
#include "support/result.h"
#include "tensor/exchange/dlpack_abi.h"

namespace halyard {

using dlpack_abi::from_public;
using dlpack_abi::Managed;
using dlpack_abi::ManagedVersioned;
using dlpack_abi::to_public;

/// Six i32 elements, 2 x 3, and a count of the calls of its deleter.
template <class ManagedType>
struct Producer {
  std::array<std::int32_t, 24> memory{};
  std::array<std::int64_t, 9> shape{2, 3};
  std::array<std::int64_t, 9> strides{3, 1};
  std::atomic<int> deleted{0};
  ManagedType managed{};

  Producer() {
    std::iota(memory.begin(), memory.end(), 0);
    managed.tensor = {memory.data(), {1, 0}, 2, {0, 32, 1}, shape.data(), strides.data(), 0};
    managed.manager_ctx = this;
    managed.deleter = [](ManagedType* self) {
      static_cast<Producer*>(self->manager_ctx)->deleted.fetch_add(1);
    };
    if constexpr (requires { managed.version; }) managed.version = {1, 1};
  }
  Result<Tensor> take() { return from_dlpack(to_public(&managed)); }
};

}  // namespace halyard
