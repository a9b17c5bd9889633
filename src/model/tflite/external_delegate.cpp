// SPDX-License-Identifier: Apache-2.0
// Calls the functions that a delegate's shared object exports.
#include "model/tflite/external_delegate.h"

#include <cerrno>
#include <utility>

#include "base/text/format_error.h"
#include "model/one_line.h"

namespace halyard::model::tflite {
namespace {

using Create = DelegateObject*(char** keys, char** values, std::size_t count,
                               void (*report)(const char*));

// The interface of delegates has no place for an object of the caller's.
thread_local std::string reported;
void take_report(const char* text) {
  reported = text == nullptr ? "" : one_line(text);
}

}  // namespace

Result<std::unique_ptr<ExternalDelegate>> ExternalDelegate::create(
    const std::string& path, const std::map<std::string, std::string>& settings) {
  if (path.find('/') != std::string::npos && path.front() != '/')
    return fail(Errc::invalid_argument, "delegate: must be a file name or an absolute path", "'{}'",
                path);
  HALYARD_TRY(const SharedObject library, SharedObject::open(path, "delegate: cannot be loaded"));
  std::unique_ptr<ExternalDelegate> delegate(new ExternalDelegate(library));
  HALYARD_RETURN_IF_ERROR(delegate->make(settings));
  return delegate;
}

Status ExternalDelegate::make(const std::map<std::string, std::string>& settings) {
  auto* const create = library_.function<Create>("tflite_plugin_create_delegate");
  destroy_ = library_.function<void(DelegateObject*)>("tflite_plugin_destroy_delegate");
  if (create == nullptr || destroy_ == nullptr)
    return fail(Errc::unsupported, "delegate: the file exports no tflite_plugin_create_delegate");
  auto copies = settings;  // the interface takes no const texts
  std::vector<char*> keys;
  std::vector<char*> values;
  for (auto& [key, value] : copies) {
    keys.push_back(const_cast<char*>(key.c_str()));  // NOLINT: never written
    values.push_back(value.data());
  }
  reported.clear();
  object_ = create(keys.data(), values.data(), keys.size(), take_report);
  if (object_ != nullptr) return {};
  return fail(Errc::device, "delegate: refuses to be made", "{}",
              reported.empty() ? "no reason given" : reported);
}

ExternalDelegate::~ExternalDelegate() {
  if (object_ != nullptr) destroy_(object_);
}

bool ExternalDelegate::has_dmabuf() {
  const auto get = library_.function<void*()>("hal_dmabuf_get_instance");
  const auto is_supported = library_.function<int(void*)>("hal_dmabuf_is_supported");
  if (get == nullptr || is_supported == nullptr) return false;
  instance_ = get();
  return instance_ != nullptr && is_supported(instance_) == 1;
}

Result<std::optional<DmaBufTensor>> ExternalDelegate::dmabuf(int index, std::size_t size_bytes) {
  const auto ask =
      library_.function<int(void*, int, DmaBufInfo*, std::size_t)>("hal_dmabuf_get_tensor_info");
  if (ask == nullptr) return std::optional<DmaBufTensor>();
  DmaBufInfo info{};
  info.fd = -1;
  errno = 0;
  if (ask(instance_, index, &info, sizeof info) != 0) {
    const int why = errno;
    if (why == ERANGE || why == ENOTSUP) return std::optional<DmaBufTensor>();
    return fail(Errc::device, "delegate: does not tell its buffer", "tensor {}, errno {}", index,
                why);
  }
  if (info.fd < 0 || info.size != size_bytes)
    return fail(Errc::device, "delegate: its buffer is not the network's tensor",
                "tensor {}: descriptor {}, {} bytes, the network has {}", index, info.fd, info.size,
                size_bytes);
  return std::optional(DmaBufTensor{index, {nullptr, info.size, info.fd, info.offset}});
}

Status ExternalDelegate::sync(const char* function, int index) {
  const auto call = library_.function<int(void*, int)>(function);
  if (call == nullptr || call(instance_, index) == 0) return {};
  return fail(Errc::device, "delegate: cannot synchronise its buffer", "{}, tensor {}, errno {}",
              function, index, errno);
}

Status ExternalDelegate::sync_for_device(int index) {
  return sync("hal_dmabuf_sync_for_device", index);
}
Status ExternalDelegate::sync_for_cpu(int index) {
  return sync("hal_dmabuf_sync_for_cpu", index);
}

}  // namespace halyard::model::tflite
