// SPDX-License-Identifier: Apache-2.0
// Negotiated buffers in C: several engines and processes state what they need of a buffer, and get
// a buffer that serves all of them, or a report of who disagrees about what. All of it is ours.
// Keys, layouts and engines: docs/negotiation.md.
//
// A hal_attrs states what one party needs. hal_reconcile() takes the lists of all parties and
// returns a hal_reconciled, which is immutable. hal_reconciled_alloc() allocates memory for it: a
// hal_buffer, whose tensors every other function of this interface accepts.
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

/// A list for a party. `party` is its name in reports: 1..255 bytes of UTF-8 without control
/// characters. errno: EINVAL (NULL, not such a name).
hal_attrs* hal_attrs_new(const char* party);
void hal_attrs_free(hal_attrs* attrs);
/// Sets a key by its name, once: "t.row_align" and "64", "t.dtype" and "\"f16\"", "t.shape" and
/// "[1, 3, 480, 640]", "g.heaps" and "[\"memfd\"]". errno: EINVAL (NULL, a value that the key
/// cannot have, not JSON), ENOENT (no such key), EEXIST (the key is set already). hal_last_error()
/// names party, key and limit.
int hal_attrs_set(hal_attrs* attrs, const char* key, const char* json);
/// As above, for keys that are one number.
int hal_attrs_set_number(hal_attrs* attrs, const char* key, uint64_t value);
/// Adds a layout that the party accepts: "NCHW", "NHWC", "NCxHWx32", "nv12", "*". The layout with
/// the lowest sum of costs wins. A list without layouts accepts all. errno: EINVAL, EEXIST, ENOSPC
/// (the list has 64 layouts).
int hal_attrs_accept(hal_attrs* attrs, const char* layout, uint32_t cost);
/// Adds the needs of a built-in engine to the party: "cpu.simd32", "dla", "v4l2.capture".
/// `settings`: a JSON object with its numbers, or NULL. errno: EINVAL, ENOENT (no such engine).
int hal_attrs_set_engine(hal_attrs* attrs, const char* engine, const char* settings);
/// Allows to leave out the party if it causes a conflict; the lowest priority is left out first.
/// errno: EINVAL.
int hal_attrs_set_optional(hal_attrs* attrs, int priority);

// ---- What all agree on

#define HAL_RECONCILE_ALLOW_DROP 1u  // leaves out optional parties that cause a conflict
#define HAL_RECONCILE_NO_ANCHOR 2u   // this machine cannot keep a buffer attached to a device

/// Finds the buffer that serves all lists, 1..64. NULL: there is none. A `report` that is not NULL
/// then receives the reason as JSON, {"ok": false, "conflicts": [...]}, to release with free(), or
/// NULL if there is no report. errno: EINVAL (NULL, no list, no party states what the buffer holds,
/// an unknown flag), ENOTSUP (the parties disagree: hal_last_error() has the begin of the report),
/// ENOSPC (more than 64), and what engines report.
hal_reconciled* hal_reconcile(hal_attrs* const* lists, size_t count, unsigned flags, char** report);
void hal_reconciled_free(hal_reconciled* reconciled);
/// {"ok": true, "outputs": {"t.strides": [...], ...}, "explain": {...}}; release it with free().
/// errno: EINVAL.
char* hal_reconciled_json(const hal_reconciled* reconciled);
size_t hal_reconciled_size(const hal_reconciled* reconciled);   ///< bytes to allocate; NULL: 0
size_t hal_reconciled_count(const hal_reconciled* reconciled);  ///< number of buffers; NULL: 0

// ---- Memory

/// Allocates memory for the result. `party` is the party that this process acts for; NULL: all of
/// them. Filled with zeros, or with the padding value. errno: EINVAL, ENOENT (no such party),
/// ENOTSUP and EACCES (no kind of memory that all parties accept is available here:
/// hal_last_error() has the reason), ENOMEM.
hal_buffer* hal_reconciled_alloc(const hal_reconciled* reconciled, const char* party);
/// Makes pool `id`, whose hal_pool_alloc_frame() allocates such buffers in every process, at most
/// `count` at a time. errno: those of hal_pool_create(), ENOTSUP (not all parties can use shared
/// memory).
hal_pool* hal_reconciled_pool(const hal_reconciled* reconciled, uint32_t id, uint32_t count);
/// Allocates a frame of the pool's configuration; waits for free memory, with a negative timeout
/// for ever. errno: those of hal_pool_alloc_for(), ENOTSUP (the pool has no frames).
hal_tensor* hal_pool_alloc_frame(const hal_pool* pool, int64_t timeout_ns);
void hal_buffer_free(hal_buffer* buffer);

/// The buffer as a tensor and as an image, over the same bytes. errno: EINVAL, ENOTSUP (there is
/// none).
hal_tensor* hal_buffer_tensor(const hal_buffer* buffer);
hal_tensor* hal_buffer_image(const hal_buffer* buffer);
#define HAL_AXIS_ORDER_NCHW 0
#define HAL_AXIS_ORDER_NHWC 1
#define HAL_AXIS_ORDER_NC_HWX 2
/// The layout of the tensor in the buffer, outermost axis first: N, C, H, W; N, H, W, C; or N, C/x,
/// H, W, x.
struct hal_buffer_layout {
  int dtype;      ///< hal_dtype
  int order;      ///< channels in a block of HAL_AXIS_ORDER_NC_HWX; else 1
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
/// "none", "advisory", "hard": what prevents readers from writing; NULL for NULL.
const char* hal_buffer_enforcement(const hal_buffer* buffer);

// ---- Access

/// Returns the bytes when no operation is pending and no other lock conflicts: many readers or one
/// writer of this process. End the lock with hal_buffer_unlock() on this thread. `size` may be
/// NULL. A negative timeout: waits for ever. errno: EINVAL, EBUSY (this thread holds a lock
/// already), ETIMEDOUT, EACCES (more access than the party asked for), ENOTSUP (the CPU never maps
/// the buffer), ENOSPC (64 threads hold locks), and what system calls report.
void* hal_buffer_lock(const hal_buffer* buffer, enum HalCpuAccess access, int64_t timeout_ns,
                      size_t* size);
/// Ends the lock, also after an error of the device. errno: EINVAL (NULL, nobody holds a lock),
/// EACCES (only another thread does), and what the device reports if it could not be notified.
int hal_buffer_unlock(const hal_buffer* buffer);

/// Tells that an engine begins to use the buffer, until hal_operation_finish() or
/// hal_operation_fail(). An operation that is freed before that counts as failed with ECANCELED.
/// errno: EINVAL, EBUSY (locked, or an operation is pending).
hal_operation* hal_buffer_submit(const hal_buffer* buffer);
void hal_operation_finish(hal_operation* operation);
void hal_operation_fail(hal_operation* operation, int code);
void hal_operation_free(hal_operation* operation);
/// As above; the operation ends when `fence`, which is borrowed, becomes readable: a sync_file, an
/// eventfd. errno: EINVAL, EBADF, EBUSY.
int hal_buffer_submit_fence(const hal_buffer* buffer, int fence);

#define HAL_OPERATION_NONE 0
#define HAL_OPERATION_PENDING 1
#define HAL_OPERATION_DONE 2
#define HAL_OPERATION_FAILED 3
struct hal_operation_status {
  int state;             ///< HAL_OPERATION_*
  int code;              ///< from hal_operation_fail(), or the errno of the fence
  uint64_t duration_us;  ///< from begin to end; while pending: until now
  bool is_poisoned;      ///< an unlock failed: it is uncertain which bytes devices see
};
typedef struct hal_operation_status hal_operation_status;
/// Waits for the end of the latest operation; 0: does not wait; negative: waits for ever. errno:
/// EINVAL, ETIMEDOUT.
int hal_buffer_get_status(const hal_buffer* buffer, int64_t timeout_ns, hal_operation_status* out);

// ---- Other processes

/// The lists as bytes; release them with free(). errno: EINVAL, ENOSPC (more than 65536 bytes).
uint8_t* hal_attrs_encode(hal_attrs* const* lists, size_t count, size_t* size);
/// The lists in such bytes, which may be hostile; at most `capacity`. Returns their number. errno:
/// EINVAL, ENOSPC (more than fit), EPROTO (another version), EBADMSG (not such bytes), ENOTSUP.
int hal_attrs_decode(const uint8_t* bytes, size_t size, hal_attrs** out, size_t capacity);
/// Exports the buffer to the process of `party`: returns bytes, to release with free(), and a
/// descriptor, which the caller owns; send both. errno: EINVAL, ENOENT (no such party), ENOTSUP
/// (memory without a descriptor: set g.export), EACCES, ENOSPC.
uint8_t* hal_buffer_export(const hal_buffer* buffer, const char* party, size_t* size, int* fd);
/// The buffer of such bytes and a borrowed descriptor, both of which may be hostile. `lists` is
/// what this process needs, and may be NULL. errno: EINVAL, EBADMSG, EPROTO, EACCES (memory that
/// its owner can shrink), ENOTSUP (the buffer does not serve `lists`), ENOSPC (more than 2 GiB).
hal_buffer* hal_buffer_import(const uint8_t* bytes, size_t size, int fd, hal_attrs* const* lists,
                              size_t count);

HAL_END
