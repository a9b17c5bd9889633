// SPDX-License-Identifier: Apache-2.0
// An interpreter of TFLite with its delegate: one network, ready to run.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "halyard/result.h"
#include "model/runtime.h"
#include "model/tflite/external_delegate.h"
#include "model/tflite/tflite_api.h"

namespace halyard::model::tflite {

/// A model file. Interpreters keep it alive.
struct ModelFile {
  ModelFile(const Calls& from, Model* loaded) noexcept : api(from), model(loaded) {}
  ModelFile(const ModelFile&) = delete;
  ModelFile& operator=(const ModelFile&) = delete;
  ~ModelFile() { api.delete_model(model); }
  const Calls& api;
  Model* model;
};

/// Thread-bound, except cancel().
class PreparedNetwork {
 public:
  /// Errors: unsupported (the batch), device (with the library's text), those of the delegate.
  static Result<std::unique_ptr<PreparedNetwork>> create(std::shared_ptr<const ModelFile> file,
                                                         const RuntimeOptions& options,
                                                         std::size_t batch);
  PreparedNetwork(const PreparedNetwork&) = delete;
  PreparedNetwork& operator=(const PreparedNetwork&) = delete;
  ~PreparedNetwork();

  Ports ports() const;
  std::size_t input_count() const;
  std::size_t output_count() const;
  PortMemory input(std::size_t index) const;
  PortMemory output(std::size_t index) const;
  /// Whether the delegate's buffers hold the inputs.
  bool has_own_buffers() const noexcept { return !dma_inputs_.empty(); }
  /// Runs what is in the inputs. Errors: device, cancelled.
  Status invoke();
  void cancel() noexcept;

 private:
  PreparedNetwork(std::shared_ptr<const ModelFile> file) noexcept;
  Status prepare(const RuntimeOptions& options, std::size_t batch);
  Status resize(std::size_t batch);
  Status find_buffers();
  Error failed(Errc code, const char* what);
  static void report(void* self, const char* format, std::va_list values);

  std::shared_ptr<const ModelFile> file_;
  const Calls& api_;
  std::unique_ptr<ExternalDelegate> delegate_;
  Options* options_ = nullptr;
  Interpreter* interpreter_ = nullptr;
  std::string reported_;
  std::vector<DmaBufTensor> dma_inputs_;   ///< empty, or one for each input
  std::vector<DmaBufTensor> dma_outputs_;  ///< empty, or one for each output
};

}  // namespace halyard::model::tflite
