// SPDX-License-Identifier: Apache-2.0
// Topics in C: messages from any process to any process of this machine, by name. Frames stay where
// they are. C, C++ and Python programs meet on one topic. Ours, all of it.
//
// Threads may share a topic: its functions take it as const; each message goes to one of those that
// receive on one handle. A wait set belongs to one thread at a time. A child of fork() has no part
// in the topics of its parent: it makes handles of its own. Where a timeout is taken, 0 does not
// wait and a negative one waits for ever; signals do not end it.
#pragma once

#include "halyard/c/base.h"
#include "halyard/c/message.h"
#include "halyard/c/pool.h"

HAL_BEGIN

typedef struct hal_topic hal_topic;
typedef struct hal_waitset hal_waitset;

// What happens to a message when a subscriber has not read the oldest of `depth` messages yet.
enum hal_overflow HAL_ENUM_INT {
  HAL_OVERFLOW_DROP_OLDEST = 0,  // the subscriber loses it, and is told how many it has lost
  HAL_OVERFLOW_DROP_NEWEST = 1,  // sending fails with ENOSPC
  HAL_OVERFLOW_BLOCK = 2,        // sending waits, up to block_timeout_ns, then fails with ETIMEDOUT
};
typedef enum hal_overflow hal_overflow;

enum hal_topic_role HAL_ENUM_INT {
  HAL_TOPIC_PUBLISHER = 1,
  HAL_TOPIC_SUBSCRIBER = 2,
  HAL_TOPIC_BOTH = 3,
};
typedef enum hal_topic_role hal_topic_role;

// Of a hal_topic_config: as the topic is, or the default where nobody has joined it yet.
#define HAL_UNSET -1

// How a topic is made: fill it with hal_topic_config_default() first. What is set of the first five
// must be what the topic has, where others have made it.
struct hal_topic_config {
  int32_t depth;                ///< messages kept per publisher, 1..4096; HAL_UNSET: 16
  int32_t overflow;             ///< hal_overflow; HAL_UNSET: HAL_OVERFLOW_DROP_OLDEST
  int32_t history;              ///< a late subscriber gets so many, 0..depth; HAL_UNSET: 0
  int32_t max_endpoints;        ///< publishers, and subscribers, 1..1024; HAL_UNSET: 64
  const hal_pool_config* pool;  ///< limits of the topic's pool; NULL: not set
  // What follows is this handle's own choice.
  int role;           ///< hal_topic_role
  bool latest_only;   ///< receiving gives the newest message and passes over older ones
  bool receives_own;  ///< what this handle sends, it receives
  int64_t block_timeout_ns;
};
typedef struct hal_topic_config hal_topic_config;

// Counts of one handle, and what the topic is.
struct hal_topic_stats {
  uint32_t depth;
  uint32_t history;
  uint32_t max_endpoints;
  int32_t overflow;      ///< hal_overflow
  uint32_t publishers;   ///< others, in all processes
  uint32_t subscribers;  ///< others, in all processes
  uint64_t sent;
  uint64_t refused;  ///< messages that sending did not take, by the overflow rule
  uint64_t received;
  uint64_t lost;    ///< messages that this handle came too late for
  uint64_t copied;  ///< frames that were copied into the topic's pool
  uint64_t copied_bytes;
  uint64_t buffers;  ///< DMA-BUFs whose descriptors this handle got, one for each buffer
  uint64_t corrupt;  ///< of those lost: what they said was nonsense
  /// Why the last message was lost that the overflow rule did not drop; "": there was none.
  char last_error[160];
};
typedef struct hal_topic_stats hal_topic_stats;

// ---- Joining

/// Everything HAL_UNSET, both roles, a second for blocking.
hal_topic_config hal_topic_config_default(void);
/// Joins the topic, which is made when nobody has. `name`: 1..200 letters, digits and _ - . in
/// parts that / divides. `config` NULL: the default. errno: EINVAL (a name, a limit, no
/// enumerator), EEXIST (the topic has another type or other limits; hal_last_error() says which are
/// wanted and which found), ENOSPC (max_endpoints have joined), EACCES, ETIMEDOUT (a process of the
/// topic does not answer), ENOMEM, and what system calls report.
hal_topic* hal_topic_create(const char* name, hal_message_type type,
                            const hal_topic_config* config);
/// A topic of plain structs. `struct_name` is the one that all programs give the struct, in C++ its
/// member message_name, 1..200 bytes; `size` and `alignment` are its sizeof and _Alignof, at most 1
/// MiB. errno: as above.
hal_topic* hal_topic_create_struct(const char* name, const char* struct_name, size_t size,
                                   size_t alignment, const hal_topic_config* config);
/// Leaves the topic. Messages that were received live on, and subscribers still get what was sent.
/// A wait set that has the topic stays joined until it lets go of it.
void hal_topic_free(hal_topic* topic);

const char* hal_topic_name(const hal_topic* topic);  ///< as given; NULL for NULL
/// errno: EINVAL (NULL).
int hal_topic_get_stats(const hal_topic* topic, hal_topic_stats* out);
/// The pool that the topic's own frames come from, for hal_pool_free(). errno: EINVAL (NULL), and
/// those of hal_pool_create().
hal_pool* hal_topic_pool(const hal_topic* topic);
/// A tensor in that pool, to be filled and sent. errno: those of both.
hal_tensor* hal_topic_alloc_tensor(const hal_topic* topic, hal_dtype dtype, const size_t* shape,
                                   size_t ndim);

// ---- Sending
//
// A tensor in a pool's memory stays where it is and cannot be written any more. One in DMA-BUFs
// stays where it is, too; nobody may write it until no subscriber has it. Any other tensor is
// copied into the topic's pool. Sending waits where the overflow rule is BLOCK and, once for each
// new memory of this process, up to 500 ms for a subscriber that is stopped. `header` NULL: no time
// and no coordinate frame.
//
// errno of all: EINVAL (NULL, a topic of another type, what is said below), ENOSPC (DROP_NEWEST: a
// subscriber is behind; or the topic's pool has no room for a copy), ETIMEDOUT (BLOCK: a subscriber
// is behind), ENOTSUP (a handle that is SUBSCRIBER alone, a tensor with a scale for each channel or
// a negative stride), ENOMEM.

/// Bytes, as many as there are; or a plain struct, whose size `size` must be. errno: EINVAL also
/// for `data` NULL, unless `size` is 0.
int hal_topic_send(const hal_topic* topic, const void* data, size_t size);
int hal_topic_send_tensor(const hal_topic* topic, const hal_tensor* tensor);
/// `tensor` is an image, or has the dtype and the shape of `encoding`: [H, W] or [H, W, C].
/// `encoding` is a hal_image_encoding, or -1 for what format and dtype of an image say. errno:
/// EINVAL also for another dtype, format or shape, and for the text of the header; ENOTSUP also for
/// planes in several buffers.
int hal_topic_send_image(const hal_topic* topic, const hal_tensor* tensor,
                         const hal_sensor_header* header, int encoding);
/// `tensor`: [H, W], [H, W, 1] or a grey image, f32 metres or u16 units of `depth_scale`
/// millimetres. Depths are valid from `min_depth` to `max_depth` metres, which may be infinite.
/// errno: EINVAL also for numbers that hal_depth_image_metadata does not have.
int hal_topic_send_depth_image(const hal_topic* topic, const hal_tensor* tensor,
                               const hal_sensor_header* header, float depth_scale, float min_depth,
                               float max_depth);
/// `tensor`: [N, K], or [H, W, K] for an organised cloud, the last axis without gaps. `fields` say
/// what the bytes of a point are; NULL and 0: its numbers are x y z for 3, x y z r g b for 6, else
/// x y z intensity f4 f5 ... from 4 on, and f0 f1 below 3. errno: EINVAL also for fields that no
/// point of this tensor has, or more than 16.
int hal_topic_send_point_cloud(const hal_topic* topic, const hal_tensor* tensor,
                               const hal_sensor_header* header, const hal_point_field* fields,
                               size_t field_count, bool is_dense);

// ---- Receiving

/// The next message: 1, and `out` is the caller's, for hal_message_free(); 0, and `out` is NULL:
/// nothing came in time, or another thread took it. Messages of one publisher come in their order.
/// `out_lost`, which may be NULL: how many messages were lost since the call before. errno: EINVAL
/// (NULL), ENOMEM.
int hal_topic_recv(const hal_topic* topic, int64_t timeout_ns, hal_message** out,
                   uint64_t* out_lost);
/// The same for plain structs, copied to `data` of `size` bytes: allocates nothing. errno: EINVAL
/// (NULL, another size, a topic of another type).
int hal_topic_recv_struct(const hal_topic* topic, int64_t timeout_ns, void* data, size_t size,
                          uint64_t* out_lost);
/// Whether a message is there; NULL: false.
bool hal_topic_has_message(const hal_topic* topic);
/// Waits until there is a message: 1, or 0 when there is none in time. errno: EINVAL (NULL).
int hal_topic_wait(const hal_topic* topic, int64_t timeout_ns);
/// A descriptor for poll(), epoll and event loops, which ends with the topic: readable when
/// messages may be there. Call hal_topic_recv() until it gives 0, which makes it wait again. errno:
/// EINVAL (NULL).
int hal_topic_fd(const hal_topic* topic);

// ---- Waiting for several topics, timers and descriptors at once. `token` is what the set says of
// each, the caller's own choice, one for each.

/// errno: EMFILE, ENFILE, ENOMEM.
hal_waitset* hal_waitset_create(void);
/// Lets go of what is in the set.
void hal_waitset_free(hal_waitset* set);
/// The set keeps the topic joined until it is removed, also when its handle is freed. errno: EINVAL
/// (NULL), EEXIST (the token is taken, or the topic is in the set), ENOMEM, ENOSPC.
int hal_waitset_add_topic(hal_waitset* set, const hal_topic* topic, uint64_t token);
/// Every `interval_ns` from now on. errno: as above; EINVAL also for an interval that is not above
/// 0, EMFILE, ENFILE.
int hal_waitset_add_timer(hal_waitset* set, int64_t interval_ns, uint64_t token);
/// While it is readable. It stays the caller's, who removes it before closing it. errno: as above;
/// EINVAL also for a descriptor that is not open, or of a file.
int hal_waitset_add_fd(hal_waitset* set, int fd, uint64_t token);
/// errno: EINVAL (NULL), ENOENT (there is no such token).
int hal_waitset_remove(hal_waitset* set, uint64_t token);
/// Writes the tokens of topics that have messages, of timers that have run out since the last call
/// and of readable descriptors, at most `capacity`, and gives their count; 0: none in time. Those
/// that do not fit the next call gives. errno: EINVAL (NULL, capacity 0), ENOMEM.
int hal_waitset_wait(hal_waitset* set, uint64_t* tokens, size_t capacity, int64_t timeout_ns);

HAL_END
