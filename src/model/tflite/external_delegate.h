// SPDX-License-Identifier: Apache-2.0
// An external delegate of TFLite, and the DMA-BUFs that it may own for a network's tensors
// (halyard/c/delegate.h).
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/system/shared_object.h"
#include "halyard/format.h"
#include "halyard/result.h"
#include "model/runtime.h"
#include "model/tflite/tflite_api.h"

namespace halyard::model::tflite {

/// hal_dmabuf_tensor_info of halyard/c/delegate.h, which is of a layer above.
struct DmaBufInfo {
  std::size_t size;
  std::size_t offset;
  std::size_t shape[8];
  std::size_t rank;
  int fd;
  int dtype;
};

/// A tensor of the network that the delegate holds in a DMA-BUF.
struct DmaBufTensor {
  int index = 0;  ///< among all tensors of the network
  PortMemory memory;
};

/// One delegate object. Destroyed after its interpreter. Thread-bound.
class ExternalDelegate {
 public:
  /// `path`: as EngineOptions::delegate. Errors: unsupported (cannot be loaded, or no delegate),
  /// device (it refuses the settings, with its text).
  static Result<std::unique_ptr<ExternalDelegate>> create(
      const std::string& path, const std::map<std::string, std::string>& settings);
  ExternalDelegate(const ExternalDelegate&) = delete;
  ExternalDelegate& operator=(const ExternalDelegate&) = delete;
  ~ExternalDelegate();

  DelegateObject* object() const noexcept { return object_; }
  /// Whether it owns DMA-BUFs for tensors. Call it when the network has been prepared.
  bool has_dmabuf();
  /// The tensor's buffer; nullopt if the delegate has none for it. Errors: device (what it gives is
  /// not consistent).
  Result<std::optional<DmaBufTensor>> dmabuf(int index, std::size_t size_bytes);
  Status sync_for_device(int index);
  Status sync_for_cpu(int index);

 private:
  explicit ExternalDelegate(const SharedObject& library) noexcept : library_(library) {}
  Status make(const std::map<std::string, std::string>& settings);
  Status sync(const char* function, int index);

  SharedObject library_;
  DelegateObject* object_ = nullptr;
  void (*destroy_)(DelegateObject*) = nullptr;
  void* instance_ = nullptr;  ///< of the DMA-BUF functions
};

}  // namespace halyard::model::tflite
