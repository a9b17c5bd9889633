// SPDX-License-Identifier: Apache-2.0
// Pools in C: tensors in memory that processes share, and the descriptors that name them. All of it
// is ours.
//
// A number identifies a pool. Each process allocates from memory that only it can write; the other
// processes map that memory for reading. When a process ends, in whatever way, its memory is free
// again. A tensor of a pool is a hal_tensor: every function accepts it, its slices and views share
// its slot, and hal_tensor_free() releases it. It can be written until it is sent
// (halyard/c/topic.h). Tensors of other processes are read-only: they are mapped only for reading.
//
// Threads may share a pool: its functions take it as const. A child of fork() can read the tensors
// that it holds. Its calls for the pools of its parent fail with ENOTSUP: it must open them again.
#pragma once

#include "halyard/c/base.h"

HAL_BEGIN

typedef struct hal_pool hal_pool;

// When the bytes of a freed tensor are set to zero. A new tensor may hold bytes of an earlier
// tensor of this process, but never bytes that another process wrote.
enum hal_scrub HAL_ENUM_INT {
  HAL_SCRUB_NEVER = 0,
  HAL_SCRUB_ON_HANDOVER = 1,  // when memory passes to another process; costs nothing
  HAL_SCRUB_ON_FREE = 2,      // by a thread of the library, before the memory is allocated again
};
typedef enum hal_scrub hal_scrub;

struct hal_pool_config {
  uint64_t pool_size;       ///< maximum bytes of all live tensors
  uint32_t max_slots;       ///< maximum count of live tensors, 1..1048576
  uint32_t slot_alignment;  ///< bytes, a power of two, 64..4096
  // The members below are this process's own choice. They are not compared with those of the pool.
  int scrub;         ///< hal_scrub
  bool prefault;     ///< touch memory when it is reserved: no frame waits for page faults
  bool lock_memory;  ///< keep it in RAM (RLIMIT_MEMLOCK)
  bool huge_pages;   ///< ask for transparent huge pages
  /// Bytes that the first allocation reserves; more are reserved when needed. 0 means all of
  /// pool_size with `prefault` or `lock_memory`, else the smaller of 16 MiB and pool_size.
  uint64_t first_bytes;
};
typedef struct hal_pool_config hal_pool_config;

// Counts over all processes of a pool. Exact if nobody allocates or frees during the call.
struct hal_pool_stats {
  uint32_t pool_id;
  uint32_t max_slots;
  uint64_t pool_size;  ///< bytes
  uint32_t allocated_slots;
  uint32_t processes;       ///< number of processes that have the pool open
  uint64_t total_refcount;  ///< handles, frames in topics' windows, and borrowing processes
  uint64_t used_bytes;
  uint64_t free_bytes;       ///< pool_size minus used_bytes
  uint64_t reserved_bytes;   ///< memory taken from the system
  uint64_t peak_used_bytes;  ///< sum of each process's maximum
  uint64_t failed_allocations;
};
typedef struct hal_pool_stats hal_pool_stats;

// Flags of a descriptor.
#define HAL_DESCRIPTOR_READ_ONLY 1   // it was sent: nobody writes the bytes
#define HAL_DESCRIPTOR_CONTIGUOUS 2  // no gaps between elements

// A tensor of a pool as 168 plain bytes, little endian, the same in every process and language
// (docs/shared-memory.md). A descriptor from another process may hold any bytes:
// hal_pool_validate() checks whether it names a tensor that is alive.
struct hal_tensor_descriptor {
  uint32_t pool_id;
  uint32_t slot_id;         ///< upper 8 bits: which process's part of the pool
  uint32_t generation_low;  ///< of the slot: odd while a tensor is in it
  uint32_t generation_high;
  uint64_t offset;      ///< of the first element in the memory of its part of the pool
  uint64_t size;        ///< bytes from `offset` to the end of the elements
  uint8_t dtype_code;   ///< f32 f64 f16 bf16 i8 i16 i32 i64 u8 u16 u32 u64 bool: 0..12
  uint8_t ndim;         ///< 0: a scalar
  uint8_t device_type;  ///< 0: the CPU
  uint8_t flags;        ///< HAL_DESCRIPTOR_*
  uint32_t device_id;
  uint64_t dims[8];
  uint64_t strides[8];  ///< bytes
};
typedef struct hal_tensor_descriptor hal_tensor_descriptor;

// What hal_collect_garbage() removed.
struct hal_garbage_report {
  uint32_t sockets;  ///< sockets of ended processes
  uint32_t members;  ///< entries of ended processes in pools and topics
  uint32_t files;    ///< temporary files that were never completed
  uint32_t entries;  ///< pools and topics that no process has open
  uint32_t skipped;  ///< entries that were skipped because another process was joining them
};
typedef struct hal_garbage_report hal_garbage_report;

// ---- Pools

/// 1 GiB, 1024 slots, alignment 64, HAL_SCRUB_ON_HANDOVER; all else is false or 0.
hal_pool_config hal_pool_config_default(void);
hal_pool_config hal_pool_config_small(void);  ///< the same with 64 MiB and 256 slots
hal_pool_config hal_pool_config_large(void);  ///< the same with 4 GiB and 4096 slots

/// Opens pool `id`, and makes it if no process has it open. `config` NULL: the default. errno:
/// EINVAL (a limit, not an enumerator), EEXIST (the pool has other limits; hal_last_error() has
/// those wanted and those found), ENOSPC (64 processes have it open), EACCES, ETIMEDOUT (a process
/// that has it open does not answer), ENOMEM, and what system calls report.
hal_pool* hal_pool_create(uint32_t id, const hal_pool_config* config);
/// Opens a pool that a process has open, with the limits of that pool. errno: ENOENT (no process
/// has it open), and as above.
hal_pool* hal_pool_open(uint32_t id);
/// This process's own pool with the default limits: no other process allocates from it. Every call
/// returns a handle to the same pool. errno: those of hal_pool_create().
hal_pool* hal_pool_default(void);
/// Releases the handle. The pool stays open as long as other handles, tensors or topics use it.
void hal_pool_free(hal_pool* pool);

uint32_t hal_pool_id(const hal_pool* pool);    ///< NULL: 0
bool hal_pool_is_owner(const hal_pool* pool);  ///< whether this process made it; NULL: false
/// errno: EINVAL (NULL).
int hal_pool_get_stats(const hal_pool* pool, hal_pool_stats* out);

// ---- Tensors

/// Allocates a C-contiguous tensor; its bytes are what the slot held before. Makes no system call
/// unless memory must be reserved. errno: EINVAL (NULL, not a dtype, ndim not 1..8, an extent of 0,
/// sizes that overflow), ENOSPC (no slot, or no free memory in the pool: hal_last_error() names
/// which), ENOMEM (the machine has no memory), ENOTSUP.
hal_tensor* hal_pool_alloc(const hal_pool* pool, hal_dtype dtype, const size_t* shape, size_t ndim);
/// As above, but waits for free memory; freeing in any process wakes it. A negative timeout: waits
/// for ever. errno: as above, but ETIMEDOUT if no memory became free in time; ENOSPC at once if the
/// pool can never hold the tensor.
hal_tensor* hal_pool_alloc_for(const hal_pool* pool, hal_dtype dtype, const size_t* shape,
                               size_t ndim, int64_t timeout_ns);
/// Allocates an image with the row pitch of hal_tensor_new_image(), or with `stride_bytes` if that
/// is not 0. errno: EINVAL (NULL, a side outside 1..65535, not an enumerator, a stride that is too
/// small for the rows), ENOTSUP (a dtype that the format does not have), and those of
/// hal_pool_alloc().
hal_tensor* hal_pool_alloc_image(const hal_pool* pool, size_t width, size_t height,
                                 hal_pixel_format format, hal_dtype dtype, size_t stride_bytes);

// ---- Descriptors

/// The name of the tensor for other processes, valid as long as somebody holds the tensor. errno:
/// EINVAL (NULL, memory that is not in a pool), ENOTSUP (a negative stride).
int hal_tensor_descriptor_of(const hal_tensor* tensor, hal_tensor_descriptor* out);
/// The tensor that a descriptor names, in any process of the pool; it is read-only. errno: EINVAL
/// (NULL, another pool), ENOENT (its tensor is gone), EBADMSG (a field that no tensor has, or
/// elements outside its slot), ENOTSUP, ETIMEDOUT (its process does not answer), ENOMEM.
hal_tensor* hal_pool_attach(const hal_pool* pool, const hal_tensor_descriptor* descriptor);
/// Whether hal_pool_attach() would return a tensor: 0, or -1 with its errno.
int hal_pool_validate(const hal_pool* pool, const hal_tensor_descriptor* descriptor);

// ---- Tensors without handles, for programs that count references themselves. They cost a third of
// tensors with handles.

/// Allocates a tensor with one reference, which hal_pool_release() returns. errno: those of
/// hal_pool_alloc().
int hal_pool_alloc_slot(const hal_pool* pool, hal_dtype dtype, const size_t* shape, size_t ndim,
                        hal_tensor_descriptor* out);
/// Adds or removes a reference to a tensor that this process allocated. The caller must hold a
/// reference. errno: EINVAL (NULL, another pool, another process's tensor: use hal_pool_attach()),
/// EBADMSG (no such slot), ENOENT (the tensor is gone).
int hal_pool_retain(const hal_pool* pool, const hal_tensor_descriptor* descriptor);
int hal_pool_release(const hal_pool* pool, const hal_tensor_descriptor* descriptor);
/// The bytes of such a tensor, to read and write, valid as long as somebody holds a reference.
/// `out_size` receives their number and may be NULL. errno: as above; EBADMSG also for elements
/// outside the slot.
void* hal_pool_bytes(const hal_pool* pool, const hal_tensor_descriptor* descriptor,
                     size_t* out_size);

// ---- What ended processes left

/// Removes files of pools and topics that processes left when they ended. Joining a pool or topic
/// does the same for that one. Files that live processes use are not touched. errno: EINVAL (NULL,
/// an environment variable), EACCES, ENOSPC, and what system calls report.
int hal_collect_garbage(hal_garbage_report* out);

HAL_END
