// SPDX-License-Identifier: Apache-2.0
// Checks of plain structs and of pool settings.
#include "capi/ipc/topics.h"

namespace halyard::capi {

Status check_plain(const hal_topic& topic, std::size_t size) {
  if (topic.type != MessageKind::plain)
    return make_error(Errc::invalid_argument, "topic: must carry plain structs");
  const std::size_t wanted = topic.endpoint->type().inline_bytes;
  if (size == wanted) return {};
  return make_error(Errc::invalid_argument, "size: must be that of the struct",
                    std::to_string(size) + ", the struct has " + std::to_string(wanted));
}

Result<TensorPoolConfig> pool_config_from(const hal_pool_config* config) {
  if (config == nullptr) return TensorPoolConfig{};
  HALYARD_RETURN_IF_ERROR(aligned(config, "config"));
  TensorPoolConfig limits;
  limits.pool_size = config->pool_size;
  limits.max_slots = config->max_slots;
  limits.slot_alignment = config->slot_alignment;
  HALYARD_TRY(limits.scrub,
              enumerator<Scrub>(config->scrub, "scrub: must be a value of hal_scrub"));
  limits.prefault = config->prefault;
  limits.lock_memory = config->lock_memory;
  limits.huge_pages = config->huge_pages;
  limits.first_bytes = config->first_bytes;
  return limits;
}

}  // namespace halyard::capi
