// SPDX-License-Identifier: Apache-2.0
// The functions of the fake runtime for buffers of OpenGL.
#include <cstring>
#include <new>
#include <utility>

#include "fake_state.h"

#ifdef FAKE_CUDA_GL
#include <epoxy/egl.h>
#include <epoxy/gl.h>
#endif

namespace fake_cuda {
namespace {

#ifdef FAKE_CUDA_GL

void* current_context() {
  return eglGetCurrentContext();
}

std::size_t size_of_buffer(unsigned buffer) {
  GLint size = 0;
  glBindBuffer(GL_COPY_READ_BUFFER, buffer);
  glGetBufferParameteriv(GL_COPY_READ_BUFFER, GL_BUFFER_SIZE, &size);
  return static_cast<std::size_t>(size);
}

bool is_buffer(unsigned buffer) {
  return glIsBuffer(buffer) == GL_TRUE;
}

bool is_mapped_by_cpu(unsigned buffer) {
  GLint mapped = 0;
  glBindBuffer(GL_COPY_READ_BUFFER, buffer);
  glGetBufferParameteriv(GL_COPY_READ_BUFFER, GL_BUFFER_MAPPED, &mapped);
  return mapped != 0;
}

void transfer(Registration& r, bool to_device) {
  glBindBuffer(GL_COPY_READ_BUFFER, r.buffer);
  void* const mapped = glMapBufferRange(GL_COPY_READ_BUFFER, 0, static_cast<GLsizeiptr>(r.size),
                                        to_device ? GL_MAP_READ_BIT : GL_MAP_WRITE_BIT);
  if (to_device) {
    std::memcpy(r.bytes + r.offset, mapped, r.size);
  } else {
    std::memcpy(mapped, r.bytes + r.offset, r.size);
  }
  glUnmapBuffer(GL_COPY_READ_BUFFER);
  glBindBuffer(GL_COPY_READ_BUFFER, 0);
}

#else

void* current_context() {
  return nullptr;
}
std::size_t size_of_buffer(unsigned) {
  return 0;
}
bool is_buffer(unsigned) {
  return false;
}
bool is_mapped_by_cpu(unsigned) {
  return false;
}
void transfer(Registration&, bool) {}

#endif

constexpr std::align_val_t alignment{256};

Registration* find(State& s, void* resource) {
  const auto found = s.registrations.find(static_cast<Registration*>(resource));
  return found == s.registrations.end() ? nullptr : found->second.get();
}

// The registration of a call that needs its context.
Registration* take(State& s, const char* name, void* resource, int& code) {
  Registration* const found = find(s, resource);
  if (found == nullptr) {
    code = s.fault(std::string(name) + " of a resource that is not registered", bad_handle);
    return nullptr;
  }
  if (current_context() == nullptr || found->context != current_context()) {
    code = s.fault(std::string(name) + " without the context of OpenGL", bad_context);
    return nullptr;
  }
  return found;
}

int map_one(State& s, Registration& r, void* stream) {
  if (r.bytes != nullptr) return s.fault("a resource is mapped twice", bad_handle);
  if (is_mapped_by_cpu(r.buffer)) return s.fault("the CPU has the buffer mapped", bad_handle);
  r.size = size_of_buffer(r.buffer);
  r.offset = static_cast<std::size_t>(s.setting("misalign_bytes", 0));
  r.bytes = new (alignment) std::byte[r.size + r.offset];
  r.stream = stream;
  transfer(r, true);
  return ok;
}

int unmap_one(State& s, Registration& r, void* stream) {
  if (r.bytes == nullptr) return s.fault("a resource is unmapped without a map", bad_handle);
  if (r.stream != stream) return s.fault("a resource is unmapped on another stream", bad_handle);
  transfer(r, false);
  ::operator delete[](std::exchange(r.bytes, nullptr), alignment);
  return ok;
}

}  // namespace

EXPORTED int cudaGLGetDevices(unsigned* count, int* devices, unsigned max_devices, int) {
  return call("cudaGLGetDevices", [&](State& s) {
    if (current_context() == nullptr)
      return s.fault("cudaGLGetDevices without a context of OpenGL", bad_context);
    *count = static_cast<unsigned>(s.setting("gl_devices", 1));
    if (*count > 0 && max_devices > 0) devices[0] = s.setting("gl_device", 0);
    return static_cast<int>(ok);
  });
}

EXPORTED int cudaGraphicsGLRegisterBuffer(void** resource, unsigned buffer, unsigned) {
  return call("cudaGraphicsGLRegisterBuffer", [&](State& s) {
    if (current_context() == nullptr)
      return s.fault("a buffer is registered without a context of OpenGL", bad_context);
    if (!is_buffer(buffer)) return s.fault("what is registered is no buffer", bad_value);
    auto made = std::make_unique<Registration>();
    made->buffer = buffer;
    made->context = current_context();
    *resource = made.get();
    s.registrations.emplace(made.get(), std::move(made));
    return static_cast<int>(ok);
  });
}

EXPORTED int cudaGraphicsUnregisterResource(void* resource) {
  return call("cudaGraphicsUnregisterResource", [&](State& s) {
    int code = ok;
    Registration* const found = take(s, "cudaGraphicsUnregisterResource", resource, code);
    if (found == nullptr) return code;
    if (found->bytes != nullptr) {
      s.fault("a mapped resource is unregistered", ok);
      ::operator delete[](found->bytes, alignment);
    }
    if (!is_buffer(found->buffer)) s.fault("a buffer is deleted before it is unregistered", ok);
    s.registrations.erase(found);
    return code;
  });
}

EXPORTED int cudaGraphicsMapResources(int count, void** resources, void* stream) {
  return call("cudaGraphicsMapResources", [&](State& s) {
    int code = ok;
    for (int i = 0; i < count && code == ok; ++i) {
      Registration* const found = take(s, "cudaGraphicsMapResources", resources[i], code);
      if (found != nullptr) code = map_one(s, *found, stream);
    }
    return code;
  });
}

EXPORTED int cudaGraphicsUnmapResources(int count, void** resources, void* stream) {
  return call("cudaGraphicsUnmapResources", [&](State& s) {
    int code = ok;
    for (int i = 0; i < count && code == ok; ++i) {
      Registration* const found = take(s, "cudaGraphicsUnmapResources", resources[i], code);
      if (found != nullptr) code = unmap_one(s, *found, stream);
    }
    return code;
  });
}

EXPORTED int cudaGraphicsResourceGetMappedPointer(void** address, std::size_t* size,
                                                  void* resource) {
  return call("cudaGraphicsResourceGetMappedPointer", [&](State& s) {
    int code = ok;
    Registration* const found = take(s, "cudaGraphicsResourceGetMappedPointer", resource, code);
    if (found == nullptr) return code;
    if (found->bytes == nullptr) return s.fault("a resource has no address yet", bad_handle);
    *address = found->bytes + found->offset;
    *size = found->size - static_cast<std::size_t>(s.setting("missing_bytes", 0));
    return code;
  });
}

}  // namespace fake_cuda
