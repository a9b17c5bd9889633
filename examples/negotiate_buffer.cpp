// SPDX-License-Identifier: Apache-2.0
// A camera, a 2D engine and a program agree on one buffer; with a GPU that wants another pitch they
// do not, and the report says why.
#include <halyard/buffer_engine.h>
#include <halyard/negotiated_buffer.h>

#include <algorithm>
#include <cstdio>
#include <vector>

using namespace halyard;

static Result<std::vector<EngineParty>> parties() {
  AttributeList app("app");
  HALYARD_CHECK(app.set_image(1920, 1080));
  HALYARD_CHECK(app.accept(LayoutTag::image(PixelFormat::nv12)));
  HALYARD_CHECK(app.set_cpu(CpuAccess::read));
  AttributeList camera("camera");
  HALYARD_CHECK(camera.set(Key::pitch_exact, 1920));
  HALYARD_CHECK(camera.set(Key::camp, 4));
  HALYARD_TRY(const auto blitter, make_buffer_engine("nxp.g2d"));
  return std::vector<EngineParty>{
      {app, nullptr}, {camera, nullptr}, {AttributeList("blitter"), blitter}};
}

static bool negotiate(const std::vector<EngineParty>& parties) {
  const auto buffer = reconcile_engines(parties);
  if (!buffer) {
    std::printf("%s\n", buffer.error().message().c_str());
    return false;
  }
  std::printf("%s\n", buffer->to_text().c_str());
  for (const Statement& each : buffer->explain(Key::contig))
    std::printf("contiguous memory is asked for by %s\n", each.party.c_str());
  return true;
}

static Status use(const Reconciled& result) {
  HALYARD_TRY(auto buffers, allocate_negotiated(result));
  NegotiatedBuffer& first = buffers.front();
  {
    HALYARD_TRY(BufferLock lock, first.lock(Access::write, std::chrono::milliseconds(100)));
    std::ranges::fill(lock.writable_bytes(), std::byte{128});
    HALYARD_CHECK(lock.unlock());
  }
  HALYARD_TRY(const Tensor tensor, first.tensor());
  std::printf("%zu buffers of %s, rows of %td bytes\n", buffers.size(),
              std::string(to_string(first.heap())).c_str(), tensor.layout().stride_bytes[2]);
  return {};
}

static Result<Reconciled> small_tensor() {
  AttributeList app("app"), network("network");
  HALYARD_CHECK(app.set_dtype(DType::u8));
  HALYARD_CHECK(app.set_shape({1, 3, 640, 500}));
  HALYARD_CHECK(app.set_cpu(CpuAccess::read_write));
  HALYARD_CHECK(network.set(Key::row_align, 64));
  HALYARD_CHECK(network.set(Key::slack, 2));
  return reconcile(std::vector<AttributeList>{app, network});
}

int main() {
  auto all = parties();
  const auto gpu = make_buffer_engine("egl.dmabuf", R"({"pitch_align": 256})");
  if (!all || !gpu) return 1;
  const bool agree = negotiate(*all);
  all->push_back({AttributeList("gpu"), *gpu});
  const bool still_agree = negotiate(*all);
  const auto tensor = small_tensor();
  if (!tensor || !use(*tensor)) return 1;
  return agree && !still_agree ? 0 : 1;
}
