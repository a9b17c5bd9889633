// SPDX-License-Identifier: Apache-2.0
// Halyard as a contender, and the floors.
#include "work.h"

#include <cstdlib>
#include <cstring>
#include <new>
#include <random>
#include <utility>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace halyard::bench {
namespace {

// Images that begin on a cache line, as those of a camera do.
struct Bytes {
  explicit Bytes(std::size_t bytes)
      : size(bytes),
        data(static_cast<std::uint8_t*>(::operator new (bytes, std::align_val_t{64}))) {
    std::memset(data, 7, bytes);
  }
  ~Bytes() { ::operator delete (data, std::align_val_t{64}); }
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;
  std::size_t size;
  std::uint8_t* data;
};

// The part of [0, size) that is thread i's, in whole cache lines.
std::pair<std::size_t, std::size_t> share(std::size_t size, unsigned i, unsigned threads) {
  const auto edge = [&](unsigned k) { return k == threads ? size : size * k / threads / 64 * 64; };
  return {edge(i), edge(i + 1)};
}

#if defined(__SSE2__)
void store_past_cache(std::uint8_t* to, std::size_t bytes) {
  const __m128i value = _mm_set1_epi8(static_cast<char>(to[0] + 1));
  for (std::size_t i = 0; i + 16 <= bytes; i += 16)
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + i), value);
  _mm_sfence();
}
#endif

}  // namespace

std::size_t bytes_of(Size size, PixelFormat format, DType dtype) {
  return Tensor::create_image(static_cast<std::size_t>(size.width),
                              static_cast<std::size_t>(size.height), format, dtype, Memory::mem)
      .value()
      .buffer()
      ->size_bytes();
}

Tensor noise(Size size, PixelFormat format, DType dtype) {
  Tensor image =
      Tensor::create_image(static_cast<std::size_t>(size.width),
                           static_cast<std::size_t>(size.height), format, dtype, Memory::mem)
          .value();
  const auto map = image.buffer()->map(Access::write).value();
  std::mt19937 random(1);
  for (std::byte& b : map.writable_bytes())
    b = static_cast<std::byte>(random() & 0xFFU);
  return image;
}

Source::Source(const Work& work)
    : tensor(noise(work.source, work.from)), map(tensor.map(Access::read).value()) {}

const std::uint8_t* Source::plane(std::size_t index) const {
  return reinterpret_cast<const std::uint8_t*>(map.plane(index).data);
}

int Source::stride(std::size_t index) const {
  return static_cast<int>(map.plane(index).stride_bytes);
}

std::size_t Source::bytes() const {
  return tensor.buffer()->size_bytes();
}

Region content_of(const Work& work) {
  if (work.fit != Fit::letterbox) return {0, 0, work.target.width, work.target.height};
  return letterbox_region(work.source, work.target);
}

Convert request_of(const Work& work, const SharedSource& source) {
  Convert request;
  request.src = source->tensor;
  request.dst = noise(work.target, work.to, work.dtype);
  if (work.scale > 0 && !request.dst.set_quantization(Quantization::per_tensor(work.scale, -128)))
    std::abort();
  request.fit = work.fit;
  request.rotation = work.rotation;
  request.filter = work.filter;
  request.antialias = work.antialias;
  return request;
}

std::vector<Contender> ours(const Work& work, const SharedSource& source, unsigned threads) {
  ProcessorOptions options;
  options.threads = threads;
  auto processor = std::make_shared<Processor>(Processor::create(options).value());
  const Convert request = request_of(work, source);
  if (!processor->convert(request)) return {};
  return {{"ours", [processor, request, source] {
             auto placed = processor->convert(request);
             if (!placed) std::abort();
             benchmark::DoNotOptimize(placed);
           }}};
}

std::vector<Contender> floors(const Work& work, const SharedSource& source, unsigned threads) {
  const std::size_t written = bytes_of(work.target, work.to, work.dtype);
  auto crew = std::make_shared<Crew>(threads);
  auto from = std::make_shared<Bytes>((source->bytes() + written) / 2);
  auto to = std::make_shared<Bytes>(from->size);
  std::vector<Contender> all;
  all.push_back({"memcpy", [crew, from, to] {
                   crew->run([&](unsigned i) {
                     const auto [begin, end] = share(to->size, i, crew->threads());
                     std::memcpy(to->data + begin, from->data + begin, end - begin);
                   });
                   benchmark::ClobberMemory();
                 }});
#if defined(__SSE2__)
  auto out = std::make_shared<Bytes>(written);
  all.push_back({"streamed", [crew, out] {
                   crew->run([&](unsigned i) {
                     const auto [begin, end] = share(out->size, i, crew->threads());
                     store_past_cache(out->data + begin, end - begin);
                   });
                   benchmark::ClobberMemory();
                 }});
#endif
  return all;
}

}  // namespace halyard::bench
