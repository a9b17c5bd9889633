// SPDX-License-Identifier: Apache-2.0
// The interface between Engine and an inference runtime: a table in a separate shared object, which
// is loaded when the first model is opened. The object uses no function of the library, so one file
// works with the library and with programs that contain its layers. Both sides must be built by one
// compiler for one version of Halyard; the entry compares the version.
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

/// An input or output of a network as the runtime reports it.
struct Port {
  std::string name;
  std::optional<DType> dtype;  ///< nullopt: no DType has this type
  std::string type_text;
  std::optional<std::vector<std::size_t>> shape;  ///< nullopt: an axis is dynamic
  std::string shape_text;
  std::optional<Quantization> quantization;  ///< not checked
};

struct Ports {
  std::vector<Port> inputs;
  std::vector<Port> outputs;
};

/// An output of one run; valid as long as its owner lives.
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

/// A network that has been read. Thread-bound. No function throws, except bad_alloc.
class Network {
 public:
  virtual ~Network() = default;
  /// The texts that the runtime found in the file.
  virtual Metadata metadata() const = 0;
  /// A dynamic batch becomes 1; dynamic height and width of NCHW inputs become `image`.
  virtual Status fix_shapes(std::optional<Size> image) = 0;
  virtual Result<Ports> ports() const = 0;
  /// Errors: device.
  virtual Result<std::unique_ptr<RuntimeSession>> compile(const std::string& device,
                                                          unsigned threads) = 0;
};

/// The runtime. All functions are thread-safe and throw nothing except bad_alloc.
struct Runtime {
  std::string (*version)();  ///< "2026.4.1"
  /// Errors: device.
  Result<std::vector<std::string>> (*devices)();
  /// Errors: malformed.
  Result<std::unique_ptr<Network>> (*read)(const std::string& path, FileKind kind);
};

/// Name and type of the one symbol that the shared object exports. It returns the table, or null if
/// the object was built for another version than `halyard_version`.
inline constexpr char runtime_entry[] = "halyard_openvino_runtime";
using RuntimeEntry = const Runtime* (*)(const char* halyard_version);

}  // namespace halyard::model
