// SPDX-License-Identifier: Apache-2.0
// Topics in C: joining, leaving and properties. topic_send.cpp sends, topic_receive.cpp receives.
#include "halyard/topic.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <utility>

#include "capi/error.h"
#include "capi/ipc/topics.h"

namespace halyard::capi {
namespace {

// HAL_UNSET gives nullopt.
Result<std::optional<std::uint32_t>> setting(std::int32_t value, const char* what) {
  std::optional<std::uint32_t> set;
  if (value == HAL_UNSET) return set;
  if (value < 0) return make_error(Errc::invalid_argument, what, std::to_string(value));
  set = static_cast<std::uint32_t>(value);
  return set;
}

Result<TopicConfig> topic_config_from(const hal_topic_config* config) {
  TopicConfig wanted;
  if (config == nullptr) return wanted;
  HALYARD_RETURN_IF_ERROR(aligned(config, "config"));
  HALYARD_TRY(wanted.depth, setting(config->depth, "depth: must be HAL_UNSET or 1..4096"));
  HALYARD_TRY(wanted.history, setting(config->history, "history: must be HAL_UNSET or 0..depth"));
  HALYARD_TRY(wanted.max_endpoints,
              setting(config->max_endpoints, "max_endpoints: must be HAL_UNSET or 1..1024"));
  if (config->overflow != HAL_UNSET) {
    HALYARD_TRY(wanted.overflow, enumerator<Overflow>(config->overflow,
                                                      "overflow: must be a value of hal_overflow"));
  }
  if (config->pool != nullptr) {
    HALYARD_TRY(wanted.pool, pool_config_from(config->pool));
  }
  HALYARD_TRY(wanted.role,
              enumerator<TopicRole>(config->role, "role: must be a value of hal_topic_role"));
  wanted.latest_only = config->latest_only;
  wanted.receives_own = config->receives_own;
  wanted.block_timeout = std::chrono::nanoseconds(config->block_timeout_ns);
  HALYARD_TRY(wanted.max_shared_frames,
              setting(config->max_shared_frames, "max_shared_frames: must be HAL_UNSET or >= 0"));
  return wanted;
}

Result<MessageType> type_from(int type) {
  HALYARD_TRY(const auto kind,
              enumerator<hal_message_type>(type, "type: must be a value of hal_message_type"));
  switch (kind) {
    case HAL_MESSAGE_TENSOR:
      return detail::message_type<Tensor>();
    case HAL_MESSAGE_IMAGE:
      return detail::message_type<Image>();
    case HAL_MESSAGE_DEPTH_IMAGE:
      return detail::message_type<DepthImage>();
    case HAL_MESSAGE_POINT_CLOUD:
      return detail::message_type<PointCloud>();
    case HAL_MESSAGE_BYTES:
      break;
  }
  return detail::message_type<std::vector<std::byte>>();
}

Result<hal_topic*> join(const char* name, MessageKind kind, const MessageType& type,
                        const hal_topic_config* config) {
  if (name == nullptr) return null_argument("name: is NULL");
  HALYARD_TRY(const TopicConfig wanted, topic_config_from(config));
  HALYARD_TRY(auto endpoint, TopicEndpoint::create(name, type, wanted));
  return new hal_topic{.type = kind, .endpoint = std::move(endpoint)};
}

Result<hal_topic*> create_topic(const char* name, int type, const hal_topic_config* config) {
  HALYARD_TRY(const MessageType wanted, type_from(type));
  return join(name, static_cast<MessageKind>(type), wanted, config);
}

Result<hal_topic*> create_plain(const char* name, const char* struct_name, std::size_t size,
                                std::size_t alignment, const hal_topic_config* config) {
  if (struct_name == nullptr) return null_argument("struct_name: is NULL");
  if (!std::has_single_bit(alignment)) {
    return make_error(Errc::invalid_argument, "alignment: must be a power of two",
                      std::to_string(alignment));
  }
  if (size == 0 || size % alignment != 0) {
    return make_error(Errc::invalid_argument, "size: must be a multiple of the alignment, above 0",
                      std::to_string(size));
  }
  return join(name, MessageKind::plain, MessageType::plain(struct_name, size, alignment), config);
}

hal_topic_stats topic_stats_to_c(const TopicStats& stats) {
  hal_topic_stats out = {.depth = stats.depth,
                         .history = stats.history,
                         .max_endpoints = stats.max_endpoints,
                         .overflow = static_cast<std::int32_t>(stats.overflow),
                         .publishers = stats.publishers,
                         .subscribers = stats.subscribers,
                         .sent = stats.sent,
                         .refused = stats.refused,
                         .received = stats.received,
                         .lost = stats.lost,
                         .copied = stats.copied,
                         .copied_bytes = stats.copied_bytes,
                         .buffers = stats.buffers,
                         .corrupt = stats.corrupt,
                         .last_error = {}};
  if (stats.last_error.code == Errc::ok) return out;
  const std::string text = stats.last_error.message();
  std::copy_n(text.data(), std::min(text.size(), sizeof(out.last_error) - 1), out.last_error);
  return out;
}

Result<hal_tensor*> allocate_for_topic(const hal_topic* topic, int dtype, const std::size_t* shape,
                                       std::size_t ndim) {
  HALYARD_TRY(TopicEndpoint* const endpoint, endpoint_of(topic));
  HALYARD_TRY(const auto extents, shape_from(shape, ndim));
  HALYARD_TRY(const DType element, dtype_from(dtype));
  HALYARD_TRY(const auto pool, endpoint->pool());
  HALYARD_TRY(TensorHandle tensor, pool->alloc(extents, element));
  return new hal_tensor{.tensor = std::move(tensor)};
}

}  // namespace

}  // namespace halyard::capi

using namespace halyard;
using capi::guarded;
using capi::is_valid;

hal_topic_config hal_topic_config_default(void) {
  const TopicConfig config;
  return {.depth = HAL_UNSET,
          .overflow = HAL_UNSET,
          .history = HAL_UNSET,
          .max_endpoints = HAL_UNSET,
          .pool = nullptr,
          .role = static_cast<int>(config.role),
          .latest_only = config.latest_only,
          .receives_own = config.receives_own,
          .block_timeout_ns = config.block_timeout.count(),
          .max_shared_frames = HAL_UNSET};
}

hal_topic* hal_topic_create(const char* name, hal_message_type type,
                            const hal_topic_config* config) {
  return guarded<hal_topic*>(nullptr, [&] { return capi::create_topic(name, type, config); });
}

hal_topic* hal_topic_create_struct(const char* name, const char* struct_name, size_t size,
                                   size_t alignment, const hal_topic_config* config) {
  return guarded<hal_topic*>(
      nullptr, [&] { return capi::create_plain(name, struct_name, size, alignment, config); });
}

void hal_topic_free(hal_topic* topic) {
  if (is_valid(topic)) delete topic;
}

const char* hal_topic_name(const hal_topic* topic) {
  return is_valid(topic) ? topic->endpoint->name().c_str() : nullptr;
}

int hal_topic_get_stats(const hal_topic* topic, hal_topic_stats* out) {
  return guarded<int>(-1, [&]() -> Result<int> {
    HALYARD_TRY(TopicEndpoint* const endpoint, capi::endpoint_of(topic));
    HALYARD_RETURN_IF_ERROR(capi::pointer_to(out, "out"));
    *out = capi::topic_stats_to_c(endpoint->stats());
    return 0;
  });
}

hal_pool* hal_topic_pool(const hal_topic* topic) {
  return guarded<hal_pool*>(nullptr, [&]() -> Result<hal_pool*> {
    HALYARD_TRY(TopicEndpoint* const endpoint, capi::endpoint_of(topic));
    HALYARD_TRY(auto pool, endpoint->pool());
    return new hal_pool{.pool = std::move(pool)};
  });
}

hal_tensor* hal_topic_alloc_tensor(const hal_topic* topic, hal_dtype dtype, const size_t* shape,
                                   size_t ndim) {
  return guarded<hal_tensor*>(nullptr,
                              [&] { return capi::allocate_for_topic(topic, dtype, shape, ndim); });
}
