// SPDX-License-Identifier: Apache-2.0
// Negotiated buffers in C: several engines and processes say what they need of a buffer, and get
// one that serves them all, or a report of who disagrees about what. Ours, all of it. Keys, layouts
// and engines: docs/negotiation.md.
//
// A hal_attrs says what one party needs. hal_reconcile() takes the lists of all parties and gives a
// hal_reconciled, which nothing changes any more; hal_reconciled_alloc() gives memory for it, a
// hal_buffer, with tensors for every other function of this interface.
//
// Threads may share a hal_reconciled and a hal_buffer: their functions take them as const.
#pragma once

#include "halyard/c/base.h"
#include "halyard/c/pool.h"

HAL_BEGIN

typedef struct hal_attrs hal_attrs;
typedef struct hal_reconciled hal_reconciled;
typedef struct hal_buffer hal_buffer;
typedef struct hal_operation hal_operation;

// ---- What a party needs

/// A list for a party; `party` is its name in reports, 1..255 bytes of UTF-8 without control
/// characters. errno: EINVAL (NULL, no such name).
hal_attrs* hal_attrs_new(const char* party);
void hal_attrs_free(hal_attrs* attrs);
/// Sets a key by its name, once: "t.row_align" and "64", "t.dtype" and "\"f16\"", "t.shape" and
/// "[1, 3, 480, 640]", "g.heaps" and "[\"memfd\"]". errno: EINVAL (NULL, a value that the key
/// cannot have, no JSON), ENOENT (no such key), EEXIST (the list has it). hal_last_error() names
/// party, key and limit.
int hal_attrs_set(hal_attrs* attrs, const char* key, const char* json);
/// The same for keys that are one number.
int hal_attrs_set_number(hal_attrs* attrs, const char* key, uint64_t value);
/// Adds an arrangement that the party accepts: "NCHW", "NHWC", "NCxHWx32", "nv12", "*". The least
/// sum of costs wins. A list without one accepts all. errno: EINVAL, EEXIST, ENOSPC (64 are there).
int hal_attrs_accept(hal_attrs* attrs, const char* layout, uint32_t cost);
/// A built-in engine speaks for the party, too: "cpu.simd32", "dla", "v4l2.capture". `settings`: a
/// JSON object with its numbers, or NULL. errno: EINVAL, ENOENT (no such engine).
int hal_attrs_set_engine(hal_attrs* attrs, const char* engine, const char* settings);
/// The party may be left out when it stands in the way, the lowest priority first. errno: EINVAL.
int hal_attrs_set_optional(hal_attrs* attrs, int priority);

// ---- What all agree on

#define HAL_RECONCILE_ALLOW_DROP 1u  // leaves optional parties out that stand in the way
#define HAL_RECONCILE_NO_ANCHOR 2u   // this machine keeps no buffer attached to a device

/// The buffer that serves all lists, 1..64. NULL: there is none, and where `report` is not NULL it
/// gets the reason as JSON, {"ok": false, "conflicts": [...]}, to be released by free(); else it
/// gets NULL. errno: EINVAL (NULL, no list, nobody says what the buffer holds, an unknown flag),
/// ENOTSUP (the parties disagree: hal_last_error() begins the report), ENOSPC (more than 64), and
/// what engines report.
hal_reconciled* hal_reconcile(hal_attrs* const* lists, size_t count, unsigned flags, char** report);
void hal_reconciled_free(hal_reconciled* reconciled);
/// {"ok": true, "outputs": {"t.strides": [...], ...}, "explain": {...}}, released by free(). errno:
/// EINVAL.
char* hal_reconciled_json(const hal_reconciled* reconciled);
size_t hal_reconciled_size(const hal_reconciled* reconciled);   ///< bytes to allocate; NULL: 0
size_t hal_reconciled_count(const hal_reconciled* reconciled);  ///< buffers to have; NULL: 0

// ---- Memory

/// Memory for the result, for the party that this process speaks for; NULL: for all of them.
/// Zero-filled, or filled with the padding's value. errno: EINVAL, ENOENT (no such party), ENOTSUP
/// and EACCES (no kind of memory that all accept serves here: hal_last_error() says why), ENOMEM.
hal_buffer* hal_reconciled_alloc(const hal_reconciled* reconciled, const char* party);
/// Pool `id`, whose hal_pool_alloc_frame() gives such buffers in every process, `count` at a time.
/// errno: those of hal_pool_create(), ENOTSUP (not all parties reach shared memory).
hal_pool* hal_reconciled_pool(const hal_reconciled* reconciled, uint32_t id, uint32_t count);
/// A frame as the pool says; waits for room, a negative timeout for ever. errno: those of
/// hal_pool_alloc_for(), ENOTSUP (the pool has no frames).
hal_tensor* hal_pool_alloc_frame(const hal_pool* pool, int64_t timeout_ns);
void hal_buffer_free(hal_buffer* buffer);

/// The tensor in it, the image in it, over the same bytes. errno: EINVAL, ENOTSUP (there is none).
hal_tensor* hal_buffer_tensor(const hal_buffer* buffer);
hal_tensor* hal_buffer_image(const hal_buffer* buffer);
#define HAL_AXIS_ORDER_NCHW 0
#define HAL_AXIS_ORDER_NHWC 1
#define HAL_AXIS_ORDER_NC_HWX 2
/// How the tensor lies in the buffer, outermost axis first: N, C, H, W; N, H, W, C; or N, C/x, H,
/// W, x.
struct hal_buffer_layout {
  int dtype;      ///< hal_dtype
  int order;      ///< HAL_AXIS_ORDER_*
  uint32_t x;     ///< channels of a block of HAL_AXIS_ORDER_NC_HWX; else 1
  uint32_t ndim;  ///< 1..8
  uint64_t dims[8];
  int64_t strides[8];     ///< bytes
  uint64_t offset_bytes;  ///< of the first element
  uint64_t size_bytes;    ///< of the buffer
};
typedef struct hal_buffer_layout hal_buffer_layout;
/// errno: EINVAL, ENOTSUP (there is no tensor).
int hal_buffer_get_layout(const hal_buffer* buffer, hal_buffer_layout* out);
/// "heap", "memfd", "dmabuf.cma", ...; NULL for NULL.
const char* hal_buffer_heap(const hal_buffer* buffer);
/// "none", "advisory", "hard": what keeps readers from writing; NULL for NULL.
const char* hal_buffer_enforcement(const hal_buffer* buffer);

// ---- Access

/// The bytes, once no operation is under way and nobody is in the way: many readers, one writer, of
/// this process. Ended by hal_buffer_unlock() on this thread. `size` may be NULL. A negative
/// timeout: for ever. errno: EINVAL, EBUSY (this thread holds a lock already), ETIMEDOUT, EACCES
/// (more access than the party asked for), ENOTSUP (no CPU maps the buffer), ENOSPC (64 threads
/// hold locks), and what system calls report.
void* hal_buffer_lock(const hal_buffer* buffer, enum HalCpuAccess access, int64_t timeout_ns,
                      size_t* size);
/// errno: EINVAL (NULL, nobody holds a lock), EACCES (another thread does), and what the device
/// reports when it was not told; the lock is over then, too.
int hal_buffer_unlock(const hal_buffer* buffer);

/// An engine begins to use the buffer, until hal_operation_finish() or hal_operation_fail(); a
/// freed operation that had neither counts as failed with ECANCELED. errno: EINVAL, EBUSY (locked,
/// or an operation is under way).
hal_operation* hal_buffer_submit(const hal_buffer* buffer);
void hal_operation_finish(hal_operation* operation);
void hal_operation_fail(hal_operation* operation, int code);
void hal_operation_free(hal_operation* operation);
/// The same until `fence`, which is borrowed, gets readable: a sync_file, an eventfd. errno:
/// EINVAL, EBADF, EBUSY.
int hal_buffer_submit_fence(const hal_buffer* buffer, int fence);

#define HAL_OPERATION_NONE 0
#define HAL_OPERATION_PENDING 1
#define HAL_OPERATION_DONE 2
#define HAL_OPERATION_FAILED 3
struct hal_operation_status {
  int state;             ///< HAL_OPERATION_*
  int code;              ///< of hal_operation_fail(), or the fence's errno
  uint64_t duration_us;  ///< of it whole; while pending: until now
  bool is_poisoned;      ///< an unlock failed: what devices see is not certain any more
};
typedef struct hal_operation_status hal_operation_status;
/// Waits for the end of the latest operation; 0 looks and does not wait, negative: for ever. errno:
/// EINVAL, ETIMEDOUT.
int hal_buffer_get_status(const hal_buffer* buffer, int64_t timeout_ns, hal_operation_status* out);

// ---- Other processes

/// The lists as bytes, released by free(). errno: EINVAL, ENOSPC (more than 65536 bytes).
uint8_t* hal_attrs_encode(hal_attrs* const* lists, size_t count, size_t* size);
/// The lists of such bytes, which may be hostile, at most `capacity`; gives how many. errno:
/// EINVAL, ENOSPC (more than fit), EPROTO (another version), EBADMSG (no such bytes), ENOTSUP.
int hal_attrs_decode(const uint8_t* bytes, size_t size, hal_attrs** out, size_t capacity);
/// The buffer for the process of `party`: bytes, released by free(), and a descriptor that is the
/// caller's, to go beside them. errno: EINVAL, ENOENT (no such party), ENOTSUP (memory without a
/// descriptor: set g.export), EACCES, ENOSPC.
uint8_t* hal_buffer_export(const hal_buffer* buffer, const char* party, size_t* size, int* fd);
/// The buffer of such bytes and a borrowed descriptor, both of which may be hostile; `lists` is
/// what this process needs, and may be NULL. errno: EINVAL, EBADMSG, EPROTO, EACCES (memory that
/// its owner can shrink), ENOTSUP (it does not serve `lists`), ENOSPC (more than 2 GiB).
hal_buffer* hal_buffer_import(const uint8_t* bytes, size_t size, int fd, hal_attrs* const* lists,
                              size_t count);

HAL_END
