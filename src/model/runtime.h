// SPDX-License-Identifier: Apache-2.0
// The interface between Engine and an inference runtime. OpenVINO's is in a separate shared object
// that uses no function of the library, so one file works with the library and with programs that
// contain its layers. Both sides must be built by one compiler for one version of Halyard; the
// entry compares the version.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "halyard/geometry.h"
#include "halyard/quantization.h"
#include "halyard/result.h"

namespace halyard::model {

/// Texts of a model file, by key.
using Metadata = std::map<std::string, std::string>;

/// The kind of a model file, by its extension in any case.
enum class FileKind : std::uint8_t { onnx, tflite, ir, other };

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

/// The memory of one input or output.
struct PortMemory {
  void* data = nullptr;  ///< null: only the descriptor is known
  std::size_t size_bytes = 0;
  int fd = -1;  ///< borrowed
  std::size_t offset_bytes = 0;
};

/// One inference request: the memory of one run. One thread at a time, except cancel(). No function
/// throws, except bad_alloc.
class RuntimeRequest {
 public:
  /// What start() calls at the end of the run, from any thread, once, perhaps before it returns.
  struct Done {
    void (*call)(void* self) noexcept = nullptr;
    void* self = nullptr;
  };
  virtual ~RuntimeRequest() = default;
  /// The memory of the next run, contiguous, in the order of the ports. Inputs are only read. An
  /// output without data is written to the request's own memory. Errors: device.
  virtual Status bind(std::span<const PortMemory> inputs, std::span<const PortMemory> outputs) = 0;
  /// Runs, and returns at the end. Errors: device, cancelled.
  virtual Status run() = 0;
  /// Begins a run; only if the session is asynchronous. Errors: device; then Done is not called.
  virtual Status start(Done done) = 0;
  /// Waits for the end of the run that start() began. Errors: device, cancelled.
  virtual Status wait() = 0;
  /// Makes the bound run end early, if it can. Any thread, also just after its end.
  virtual void cancel() noexcept = 0;
  /// Where the last run wrote this output, valid until the next bind(). Errors: device.
  virtual Result<PortMemory> output(std::size_t index) = 0;
};

/// A compiled network. Thread-safe. Outlives its requests.
class RuntimeSession {
 public:
  virtual ~RuntimeSession() = default;
  /// Errors: device, exhausted (the runtime has a fixed number).
  virtual Result<std::unique_ptr<RuntimeRequest>> make_request() = 0;
  /// Whether requests can start().
  virtual bool is_asynchronous() const noexcept = 0;
  /// Whether inputs with a descriptor need no data.
  virtual bool takes_descriptors() const noexcept { return false; }
  /// The memory in which the runtime wants this input, which is bound as it is; nullopt: any.
  virtual std::optional<PortMemory> input_memory(std::size_t) const { return std::nullopt; }
};

/// What a network is read and compiled with.
struct RuntimeOptions {
  std::string device;
  unsigned threads = 0;
  unsigned requests = 0;
  std::size_t batch = 1;
  std::string delegate;
  std::map<std::string, std::string> settings;
};

/// A network that has been read. Thread-bound. No function throws, except bad_alloc.
class Network {
 public:
  virtual ~Network() = default;
  /// The texts that the runtime found in the file.
  virtual Metadata metadata() const = 0;
  /// A dynamic batch becomes `batch`; dynamic height and width of NCHW inputs become `image`.
  virtual Status fix_shapes(std::optional<Size> image, std::size_t batch) = 0;
  virtual Result<Ports> ports() const = 0;
  /// Errors: device.
  virtual Result<std::unique_ptr<RuntimeSession>> compile() = 0;
};

/// A runtime. Thread-safe. No function throws, except bad_alloc.
class Runtime {
 public:
  virtual ~Runtime() = default;
  virtual std::string version() const = 0;  ///< "2026.4.1"
  /// Errors: device.
  virtual Result<std::vector<std::string>> devices() const = 0;
  /// Errors: malformed, device (the options).
  virtual Result<std::unique_ptr<Network>> read(const std::string& path, FileKind kind,
                                                const RuntimeOptions& options) const = 0;
};

/// The one function that OpenVINO's shared object exports. Returns the runtime, or null if the
/// object was built for another version than `halyard_version`.
extern "C" const Runtime* halyard_openvino_runtime(const char* halyard_version);

}  // namespace halyard::model
