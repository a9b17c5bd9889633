// SPDX-License-Identifier: Apache-2.0
// cudaImportExternalMemory() over a duplicate of the buffer's descriptor. The address stays the
// same until the buffer is destroyed.
#include "tensor/device/cuda_import.h"

#include <utility>

#include "base/runtime/cuda_runtime.h"
#include "base/text/log_format.h"

namespace halyard {
namespace {

class CudaImport final : public DeviceAttachment {
 public:
  CudaImport(const CudaRuntime& cuda, const Buffer& buffer) noexcept
      : cuda_(cuda), buffer_(buffer) {}
  CudaImport(const CudaImport&) = delete;
  CudaImport& operator=(const CudaImport&) = delete;
  ~CudaImport() override {
    // A child of fork() must not call CUDA; the parent still uses the import.
    if (memory_ == nullptr || !cuda_runtime()) return;
    const CudaDeviceScope scope(cuda_, device_);
    // CUDA's documentation demands both calls, in this order.
    report(cuda_.check(cuda_.free(address_), Errc::device, "cuda: cudaFree() failed"));
    destroy();
  }

  DeviceKind device() const noexcept override { return DeviceKind::cuda; }
  bool excludes_cpu() const noexcept override { return false; }
  int device_number() const noexcept override { return device_; }

  Result<void*> begin(void*) override {
    HALYARD_RETURN_IF_ERROR(cuda_runtime());
    if (memory_ == nullptr) HALYARD_RETURN_IF_ERROR(import());
    return address_;
  }

  Status wait(void* stream) override {
    HALYARD_RETURN_IF_ERROR(cuda_runtime());
    const CudaDeviceScope scope(cuda_, device_);
    return cuda_.check(cuda_.stream_synchronize(stream), Errc::device,
                       "cuda: cudaStreamSynchronize() failed");
  }

  void end(void* stream) noexcept override {
    if (cuda_runtime()) report(wait(stream));
  }

 private:
  Status import() {
    HALYARD_TRY(Fd fd, buffer_.clone_fd());
    HALYARD_RETURN_IF_ERROR(cuda_.check(cuda_.get_device(&device_), Errc::device,
                                        "cuda: the thread has no current device"));
    cuda_abi::MemoryHandleDesc desc;
    desc.handle.fd = fd.get();
    desc.size = buffer_.size_bytes();
    HALYARD_RETURN_IF_ERROR(cuda_.check(cuda_.import_external_memory(&memory_, &desc),
                                        Errc::unsupported,
                                        "device: CUDA refuses to import this DMA-BUF"));
    fd.release();  // an import that succeeds takes the descriptor
    cuda_abi::MemoryBufferDesc whole;
    whole.size = buffer_.size_bytes();
    const Status mapped =
        cuda_.check(cuda_.external_memory_get_mapped_buffer(&address_, memory_, &whole),
                    Errc::unsupported, "device: CUDA has no address for this DMA-BUF");
    if (!mapped) destroy();
    return mapped;
  }

  void destroy() noexcept {
    report(cuda_.check(cuda_.destroy_external_memory(std::exchange(memory_, nullptr)), Errc::device,
                       "cuda: cudaDestroyExternalMemory() failed"));
  }

  void report(const Status& status) noexcept {
    if (status) return;
    HALYARD_LOG(LogLevel::warn, "tensor", "buffer {}: {}", buffer_.id(), status.error().message());
  }

  const CudaRuntime& cuda_;
  const Buffer& buffer_;
  cuda_abi::MemoryHandle memory_ = nullptr;
  void* address_ = nullptr;
  int device_ = 0;
};

}  // namespace

Result<std::unique_ptr<DeviceAttachment>> make_cuda_import(Buffer& buffer) {
  HALYARD_TRY(const CudaRuntime* const cuda, cuda_runtime());
  return std::unique_ptr<DeviceAttachment>(std::make_unique<CudaImport>(*cuda, buffer));
}

}  // namespace halyard
