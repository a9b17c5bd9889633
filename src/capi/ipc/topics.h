// SPDX-License-Identifier: Apache-2.0
// Handles of pools, topics and messages, and checks of their arguments.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "capi/arguments.h"
#include "capi/handles.h"
#include "halyard/c/topic.h"
#include "halyard/depth_image.h"
#include "halyard/image_message.h"
#include "halyard/point_cloud.h"
#include "halyard/pool.h"
#include "halyard/topic.h"

struct hal_pool {
  static constexpr std::uint32_t kind = halyard::capi::kind_of("pool");
  halyard::capi::Tag tag{kind};
  std::shared_ptr<halyard::TensorPool> pool;
};

namespace halyard::capi {

/// The values of hal_message_type, and plain structs. Plain has no enumerator, because a function
/// of its own creates such topics.
enum class MessageKind { tensor, image, depth_image, point_cloud, bytes, plain };

}  // namespace halyard::capi

struct hal_topic {
  static constexpr std::uint32_t kind = halyard::capi::kind_of("topc");
  halyard::capi::Tag tag{kind};
  halyard::capi::MessageKind type;
  std::shared_ptr<halyard::TopicEndpoint> endpoint;  ///< shared with wait sets
};

struct hal_message {
  static constexpr std::uint32_t kind = halyard::capi::kind_of("mesg");
  halyard::capi::Tag tag{kind};
  std::optional<hal_tensor> frame = {};  ///< for messages with a tensor
  std::variant<std::monostate, halyard::ImageMetadata, halyard::DepthImageMetadata,
               halyard::PointCloudMetadata>
      metadata = {};
  std::vector<std::byte> plain = {};           ///< a plain struct
  std::optional<halyard::TensorMap> map = {};  ///< keeps `data` of a message of bytes valid
  std::optional<std::span<const std::byte>> data = {};
};

namespace halyard::capi {

/// A pointer to a type with the same representation in C and C++. Errors: invalid_argument (NULL,
/// not aligned).
template <class T>
Result<T*> pointer_to(T* argument, const char* name) {
  if (argument == nullptr) return make_error(Errc::invalid_argument, "argument: is NULL", name);
  HALYARD_RETURN_IF_ERROR(aligned(argument, name));
  return argument;
}

/// Errors: invalid_argument (NULL, another kind).
inline Result<TensorPool*> pool_of(const hal_pool* handle) {
  HALYARD_TRY(const hal_pool* const found, checked(handle, "pool"));
  return found->pool.get();
}
inline Result<TopicEndpoint*> endpoint_of(const hal_topic* handle) {
  HALYARD_TRY(const hal_topic* const found, checked(handle, "topic"));
  return found->endpoint.get();
}

/// A Status as the result of a call that returns nothing else.
inline Result<int> done(const Status& status) {
  if (!status) return status.error();
  return 0;
}

/// Checks a topic of plain structs. Errors: invalid_argument (another type, or not the struct's
/// size).
Status check_plain(const hal_topic& topic, std::size_t size);

/// Converts the limits; NULL gives the defaults. Errors: invalid_argument.
Result<TensorPoolConfig> pool_config_from(const hal_pool_config* config);

}  // namespace halyard::capi
