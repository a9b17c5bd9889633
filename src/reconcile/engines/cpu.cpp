// SPDX-License-Identifier: Apache-2.0
// CPU engines: plain loops, vector code, and a process that joins later.
#include "reconcile/attributes/key_table.h"
#include "reconcile/engines/engines.h"
#include "reconcile/engines/table_engine.h"

namespace halyard {

namespace {

class Cpu : public TableEngine {
 public:
  using TableEngine::TableEngine;
  Status fill(const BufferRequest&, AttributeList& list) const override {
    constexpr auto no_cpu = static_cast<std::uint64_t>(Coherency::no_cpu);
    HALYARD_RETURN_IF_ERROR(set_fact(list, Key::domains, all_bits(Key::domains) & ~no_cpu));
    return list.accept(LayoutTag::any());
  }
};

/// Reads whole vectors, so the last row may be read past its end.
class Simd : public TableEngine {
 public:
  using TableEngine::TableEngine;
  Status fill(const BufferRequest&, AttributeList& list) const override {
    HALYARD_RETURN_IF_ERROR(set(list, Key::base_align, "base_align"));
    HALYARD_RETURN_IF_ERROR(set(list, Key::row_align, "vector"));
    HALYARD_RETURN_IF_ERROR(set(list, Key::tail_slack, "vector"));
    HALYARD_RETURN_IF_ERROR(list.accept(LayoutTag::tensor(AxisOrder::nchw)));
    HALYARD_RETURN_IF_ERROR(list.accept(LayoutTag::tensor(AxisOrder::nhwc)));
    return list.accept(LayoutTag::any(), 1);
  }
};

/// Requires nothing itself: the keys of its party describe a process that joins later.
class Proxy : public TableEngine {
 public:
  using TableEngine::TableEngine;
  Status fill(const BufferRequest&, AttributeList&) const override { return {}; }
};

}  // namespace

MadeEngine make_cpu(std::string_view name, std::string_view json) {
  HALYARD_TRY(Settings settings, Settings::read(name, {}, json));
  return std::shared_ptr<const BufferEngine>(std::make_shared<Cpu>(name, std::move(settings)));
}

MadeEngine make_simd(std::string_view name, std::string_view json) {
  const std::uint64_t vector = name.ends_with("16") ? 16 : name.ends_with("32") ? 32 : 64;
  const Setting table[] = {{"vector", vector}, {"base_align", 64}};
  HALYARD_TRY(Settings settings, Settings::read(name, table, json));
  return std::shared_ptr<const BufferEngine>(std::make_shared<Simd>(name, std::move(settings)));
}

MadeEngine make_proxy(std::string_view name, std::string_view json) {
  HALYARD_TRY(Settings settings, Settings::read(name, {}, json));
  return std::shared_ptr<const BufferEngine>(std::make_shared<Proxy>(name, std::move(settings)));
}

}  // namespace halyard
