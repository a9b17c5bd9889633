// SPDX-License-Identifier: Apache-2.0
// Topics in C: messages between any processes of this machine, by name. Frames are not copied. C,
// C++ and Python programs can use one topic together. All of it is ours.
//
// Threads may share a topic: its functions take it as const; each message is returned to one of the
// threads that receive on one handle. A wait set belongs to one thread at a time. A child of fork()
// cannot use the topics of its parent and must create its own handles. For all timeouts, 0 does not
// wait and a negative one waits for ever; signals do not end the wait.
#pragma once

#include "halyard/c/base.h"
#include "halyard/c/message.h"
#include "halyard/c/pool.h"

HAL_BEGIN

typedef struct hal_topic hal_topic;
typedef struct hal_waitset hal_waitset;

// What happens to a message if a subscriber has not read the oldest of `depth` messages yet.
enum hal_overflow HAL_ENUM_INT {
  HAL_OVERFLOW_DROP_OLDEST = 0,  // the subscriber loses the oldest one, and gets a count of losses
  HAL_OVERFLOW_DROP_NEWEST = 1,  // sending fails with ENOSPC
  HAL_OVERFLOW_BLOCK = 2,        // sending waits up to block_timeout_ns, then fails with ETIMEDOUT
};
typedef enum hal_overflow hal_overflow;

enum hal_topic_role HAL_ENUM_INT {
  HAL_TOPIC_PUBLISHER = 1,
  HAL_TOPIC_SUBSCRIBER = 2,
  HAL_TOPIC_BOTH = 3,
};
typedef enum hal_topic_role hal_topic_role;

// For hal_topic_config: the value that the topic has, or the default if nobody has joined it yet.
#define HAL_UNSET -1

// Parameters of a topic: fill it with hal_topic_config_default() first. If others have made the
// topic, those of the first five members that are set must be equal to its values.
struct hal_topic_config {
  int32_t depth;                ///< messages kept per publisher, 1..4096; HAL_UNSET: 16
  int32_t overflow;             ///< hal_overflow; HAL_UNSET: HAL_OVERFLOW_DROP_OLDEST
  int32_t history;              ///< messages that a late subscriber gets, 0..depth; HAL_UNSET: 0
  int32_t max_endpoints;        ///< publishers, and subscribers, 1..1024; HAL_UNSET: 64
  const hal_pool_config* pool;  ///< limits of the topic's pool; NULL: not set
  // The members below are this handle's own choice.
  int role;           ///< hal_topic_role
  bool latest_only;   ///< receiving returns the newest message and skips older ones
  bool receives_own;  ///< this handle receives what it sends
  int64_t block_timeout_ns;
  /// Frames in DMA-BUFs that subscribers may have unread or in use; sending copies further ones
  /// into the topic's pool, so that a stopped subscriber leaves a camera buffers. HAL_UNSET: no
  /// limit.
  int32_t max_shared_frames;
};
typedef struct hal_topic_config hal_topic_config;

// Counts of one handle, and the parameters of its topic.
struct hal_topic_stats {
  uint32_t depth;
  uint32_t history;
  uint32_t max_endpoints;
  int32_t overflow;      ///< hal_overflow
  uint32_t publishers;   ///< other endpoints, in all processes
  uint32_t subscribers;  ///< other endpoints, in all processes
  uint64_t sent;
  uint64_t refused;  ///< messages that were refused because of the overflow rule
  uint64_t received;
  uint64_t lost;    ///< messages that this handle missed: too late, or corrupt
  uint64_t copied;  ///< frames that were copied into the topic's pool
  uint64_t copied_bytes;
  uint64_t buffers;  ///< DMA-BUFs whose descriptors this handle received, each counted once
  uint64_t corrupt;  ///< lost messages whose content was invalid
  /// Why the last message was lost for another reason than the overflow rule; "": none was.
  char last_error[160];
};
typedef struct hal_topic_stats hal_topic_stats;

// ---- Joining

/// Everything HAL_UNSET, both roles, block_timeout_ns of one second.
hal_topic_config hal_topic_config_default(void);
/// Joins the topic, and makes it if nobody has joined it. `name`: 1..200 letters, digits and _ - .
/// in parts that / divides. `config` NULL: the default. errno: EINVAL (a name, a limit, not an
/// enumerator), EEXIST (the topic has another type or other limits; hal_last_error() has those
/// wanted and those found), ENOSPC (max_endpoints have joined), EACCES, ETIMEDOUT (a process of the
/// topic does not answer), ENOMEM, and what system calls report.
hal_topic* hal_topic_create(const char* name, hal_message_type type,
                            const hal_topic_config* config);
/// Joins a topic of plain structs. `struct_name` is the name that all programs give the struct, in
/// C++ its member message_name, 1..200 bytes. `size` and `alignment` are its sizeof and _Alignof,
/// at most 1 MiB. errno: as above.
hal_topic* hal_topic_create_struct(const char* name, const char* struct_name, size_t size,
                                   size_t alignment, const hal_topic_config* config);
/// Leaves the topic. Received messages stay valid, and subscribers still receive what was sent. A
/// wait set that contains the topic stays joined until the topic is removed from the set.
void hal_topic_free(hal_topic* topic);

const char* hal_topic_name(const hal_topic* topic);  ///< as given; NULL for NULL
/// errno: EINVAL (NULL).
int hal_topic_get_stats(const hal_topic* topic, hal_topic_stats* out);
/// The pool of the topic's own frames; release it with hal_pool_free(). errno: EINVAL (NULL), and
/// those of hal_pool_create().
hal_pool* hal_topic_pool(const hal_topic* topic);
/// Allocates a tensor in that pool, to fill and send. errno: those of both.
hal_tensor* hal_topic_alloc_tensor(const hal_topic* topic, hal_dtype dtype, const size_t* shape,
                                   size_t ndim);

// ---- Sending
//
// A tensor in a pool's memory is not copied, and becomes read-only. A tensor in DMA-BUFs is not
// copied either; nobody may write it until no subscriber has it. Any other tensor is copied into
// the topic's pool. Sending waits if the overflow rule is BLOCK and, once for each new memory of
// this process, up to 500 ms for a subscriber that is stopped. `header` NULL: no time and no
// coordinate frame.
//
// errno of all functions: EINVAL (NULL, a topic of another type, and the cases named below), ENOSPC
// (DROP_NEWEST: a subscriber is behind; or the topic's pool has no room for a copy), ETIMEDOUT
// (BLOCK: a subscriber is behind), ENOTSUP (a handle that is only SUBSCRIBER, a tensor with one
// scale per channel or a negative stride), ENOMEM.

/// Sends `size` bytes, or a plain struct, whose size must be `size`. errno: EINVAL also for `data`
/// NULL, unless `size` is 0.
int hal_topic_send(const hal_topic* topic, const void* data, size_t size);
int hal_topic_send_tensor(const hal_topic* topic, const hal_tensor* tensor);
/// `tensor` is an image, or has the dtype and the shape of `encoding`: [H, W] or [H, W, C].
/// `encoding` is a hal_image_encoding, or -1 for the encoding of an image's format and dtype.
/// errno: EINVAL also for another dtype, format or shape, and for the text of the header; ENOTSUP
/// also for planes in several buffers.
int hal_topic_send_image(const hal_topic* topic, const hal_tensor* tensor,
                         const hal_sensor_header* header, int encoding);
/// `tensor`: [H, W], [H, W, 1] or a grey image, f32 in metres or u16 in units of `depth_scale`
/// millimetres. Depths are valid from `min_depth` to `max_depth` metres, which may be infinite.
/// errno: EINVAL also for numbers that hal_depth_image_metadata cannot hold.
int hal_topic_send_depth_image(const hal_topic* topic, const hal_tensor* tensor,
                               const hal_sensor_header* header, float depth_scale, float min_depth,
                               float max_depth);
/// `tensor`: [N, K], or [H, W, K] for an organised cloud, the last axis without gaps. `fields`
/// describe the bytes of a point. With NULL and 0 the numbers are x y z for 3; x y z r g b for 6;
/// else x y z intensity f4 f5 ... from 4 on, and f0 f1 below 3. errno: EINVAL also for fields
/// outside a point of this tensor, or more than 16.
int hal_topic_send_point_cloud(const hal_topic* topic, const hal_tensor* tensor,
                               const hal_sensor_header* header, const hal_point_field* fields,
                               size_t field_count, bool is_dense);

// ---- Receiving

/// Receives the next message. 1: the caller owns `out` and releases it with hal_message_free(). 0:
/// `out` is NULL; no message came in time, or another thread received it. Messages of one publisher
/// arrive in order. `out_lost`, which may be NULL, receives the number of messages lost since the
/// last call. errno: EINVAL (NULL), ENOMEM.
int hal_topic_recv(const hal_topic* topic, int64_t timeout_ns, hal_message** out,
                   uint64_t* out_lost);
/// As above for plain structs, copied to `data` of `size` bytes; allocates nothing. errno: EINVAL
/// (NULL, another size, a topic of another type).
int hal_topic_recv_struct(const hal_topic* topic, int64_t timeout_ns, void* data, size_t size,
                          uint64_t* out_lost);
/// Whether there is a message; NULL: false.
bool hal_topic_has_message(const hal_topic* topic);
/// Waits until there is a message. Returns 1, or 0 if none came in time. errno: EINVAL (NULL).
int hal_topic_wait(const hal_topic* topic, int64_t timeout_ns);
/// A descriptor for poll(), epoll and event loops, owned by the topic and closed with it. It is
/// readable when there may be messages. Call hal_topic_recv() until it returns 0; this resets the
/// descriptor. errno: EINVAL (NULL).
int hal_topic_fd(const hal_topic* topic);

// ---- Waiting for several topics, timers and descriptors at once. `token` identifies an entry in
// the results of hal_waitset_wait(). The caller chooses it; each entry needs its own.

/// errno: EMFILE, ENFILE, ENOMEM.
hal_waitset* hal_waitset_create(void);
/// Frees the set and releases its entries.
void hal_waitset_free(hal_waitset* set);
/// Adds a topic. The set keeps the topic joined until it is removed, also after its handle is
/// freed. errno: EINVAL (NULL), EEXIST (the token is taken, or the topic is in the set), ENOMEM,
/// ENOSPC.
int hal_waitset_add_topic(hal_waitset* set, const hal_topic* topic, uint64_t token);
/// Adds a timer that fires every `interval_ns` from now on. errno: as above; EINVAL also for an
/// interval that is not above 0, EMFILE, ENFILE.
int hal_waitset_add_timer(hal_waitset* set, int64_t interval_ns, uint64_t token);
/// Adds a descriptor; its token is returned while it is readable. The caller keeps it, and removes
/// it before closing it. errno: as above; EINVAL also for a descriptor that is not open, or of a
/// file.
int hal_waitset_add_fd(hal_waitset* set, int fd, uint64_t token);
/// errno: EINVAL (NULL), ENOENT (there is no such token).
int hal_waitset_remove(hal_waitset* set, uint64_t token);
/// Writes the tokens of topics that have messages, of timers that have fired since the last call
/// and of readable descriptors, at most `capacity`, and returns their number; 0: none in time.
/// Tokens that do not fit are returned by the next call. errno: EINVAL (NULL, capacity 0), ENOMEM.
int hal_waitset_wait(hal_waitset* set, uint64_t* tokens, size_t capacity, int64_t timeout_ns);

HAL_END
