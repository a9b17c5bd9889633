// SPDX-License-Identifier: Apache-2.0
// What an inference runtime brings to Engine, as a table in a shared object of its own that is
// loaded when the first model is opened. The object uses no function of the library, so that one
// file serves the library and programs that contain its layers. Types: of one compiler and one
// version of Halyard, which the entry compares.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "halyard/quantization.h"
#include "halyard/result.h"
#include "model/session.h"

namespace halyard::model {

/// An input or output of a network as the runtime sees it.
struct Port {
  std::string name;
  std::optional<DType> dtype;  ///< none: a type that tensors do not have
  std::string type_text;
  std::optional<std::vector<std::size_t>> shape;  ///< none: an axis is dynamic
  std::string shape_text;
  std::optional<Quantization> quantization;  ///< not checked
};

struct Ports {
  std::vector<Port> inputs;
  std::vector<Port> outputs;
};

/// An output of one run; alive as long as its owner.
struct PortMemory {
  void* data = nullptr;
  std::size_t size_bytes = 0;
  std::shared_ptr<void> owner;
};

/// A compiled network. Thread-safe.
class RuntimeSession {
 public:
  virtual ~RuntimeSession() = default;
  /// `inputs` are contiguous, in the order of the ports, and are only read. Errors: device.
  virtual Result<std::vector<PortMemory>> run(std::span<const std::byte* const> inputs) = 0;
};

/// A network that has been read. For one thread. No function throws (bad_alloc aside).
class Network {
 public:
  virtual ~Network() = default;
  /// Text that the runtime found in the file.
  virtual Metadata metadata() const = 0;
  /// A dynamic batch becomes 1; dynamic height and width of NCHW inputs become `image`.
  virtual Status fix_shapes(std::optional<Size> image) = 0;
  virtual Result<Ports> ports() const = 0;
  /// Errors: device.
  virtual Result<std::unique_ptr<RuntimeSession>> compile(const std::string& device,
                                                          unsigned threads) = 0;
};

/// The runtime. All functions are thread-safe and throw nothing (bad_alloc aside).
struct Runtime {
  std::string (*version)();  ///< "2026.4.1"
  /// Errors: device.
  Result<std::vector<std::string>> (*devices)();
  /// Errors: malformed.
  Result<std::unique_ptr<Network>> (*read)(const std::string& path, FileKind kind);
};

/// Name and type of the one symbol that the shared object exports: the table, or null where
/// `halyard_version` is not the version that the object was built for.
inline constexpr char runtime_entry[] = "halyard_openvino_runtime";
using RuntimeEntry = const Runtime* (*)(const char* halyard_version);

}  // namespace halyard::model
