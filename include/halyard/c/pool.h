// SPDX-License-Identifier: Apache-2.0
// Pools in C: tensors in memory that processes share, and the descriptors that name them. Ours, all
// of it.
//
// A pool is known by a number. Each process allocates from memory that it alone can write; the
// others map that memory for reading. What a process held is free again when the process ends,
// however it ends. A tensor of a pool is a hal_tensor: every function takes it, its slices and
// views share its slot, and hal_tensor_free() gives it back. It can be written until it is sent
// (hal_topic.h). Tensors of other processes are read-only: they are mapped for reading alone.
//
// Threads may share a pool: its functions take it as const. A child of fork() reads the tensors
// that it has; its calls for the pools of its parent fail with ENOTSUP, and it opens them anew.
#pragma once

#include "halyard/c/base.h"

HAL_BEGIN

typedef struct hal_pool hal_pool;

// When the bytes of a freed tensor are set to zero. A new tensor may hold what an earlier one of
// this process held, never what another process wrote.
enum hal_scrub HAL_ENUM_INT {
  HAL_SCRUB_NEVER = 0,
  HAL_SCRUB_ON_HANDOVER = 1,  // when memory passes to another process; costs nothing
  HAL_SCRUB_ON_FREE = 2,      // by a thread of the library, before it is given out again
};
typedef enum hal_scrub hal_scrub;

struct hal_pool_config {
  uint64_t pool_size;       ///< bytes of all tensors that are alive
  uint32_t max_slots;       ///< tensors that are alive, 1..1048576
  uint32_t slot_alignment;  ///< bytes, a power of two, 64..4096
  // What follows is this process's own choice, and not compared with what the pool was made with.
  int scrub;         ///< hal_scrub
  bool prefault;     ///< touch memory when it is reserved, so that no frame meets a page fault
  bool lock_memory;  ///< keep it in RAM (RLIMIT_MEMLOCK)
  bool huge_pages;   ///< ask for transparent huge pages
  /// Bytes that the first allocation reserves; more are reserved as they are needed. With
  /// `prefault` or `lock_memory` 0 means all of pool_size, else 16 MiB or pool_size.
  uint64_t first_bytes;
};
typedef struct hal_pool_config hal_pool_config;

// Counts over all processes of a pool. Exact when nobody allocates or frees meanwhile.
struct hal_pool_stats {
  uint32_t pool_id;
  uint32_t max_slots;
  uint64_t pool_size;  ///< bytes
  uint32_t allocated_slots;
  uint32_t processes;       ///< that have the pool open
  uint64_t total_refcount;  ///< handles, frames in topics' windows, and borrowing processes
  uint64_t used_bytes;
  uint64_t free_bytes;       ///< pool_size less used_bytes
  uint64_t reserved_bytes;   ///< memory taken from the system
  uint64_t peak_used_bytes;  ///< sum of what each process had at most
  uint64_t failed_allocations;
};
typedef struct hal_pool_stats hal_pool_stats;

// Flags of a descriptor.
#define HAL_DESCRIPTOR_READ_ONLY 1   // it was sent: nobody writes the bytes
#define HAL_DESCRIPTOR_CONTIGUOUS 2  // no gaps between elements

// A tensor of a pool as 168 plain bytes, little endian, the same in every process and language
// (docs/shared-memory.md). What came from elsewhere is any bytes: hal_pool_validate() says whether
// it names a tensor that is alive.
struct hal_tensor_descriptor {
  uint32_t pool_id;
  uint32_t slot_id;         ///< upper 8 bits: which process's part of the pool
  uint32_t generation_low;  ///< of the slot: odd while it has a tensor
  uint32_t generation_high;
  uint64_t offset;      ///< of the first element in the memory of its part of the pool
  uint64_t size;        ///< bytes that the elements reach from there
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
  uint32_t sockets;  ///< of processes that have ended
  uint32_t members;  ///< of pools and topics
  uint32_t files;    ///< that were never finished
  uint32_t entries;  ///< pools and topics that no process has open
  uint32_t skipped;  ///< entries left alone, because another process was entering them
};
typedef struct hal_garbage_report hal_garbage_report;

// ---- Pools

/// 1 GiB, 1024 slots, alignment 64, HAL_SCRUB_ON_HANDOVER, nothing else set.
hal_pool_config hal_pool_config_default(void);
hal_pool_config hal_pool_config_small(void);  ///< the same with 64 MiB and 256 slots
hal_pool_config hal_pool_config_large(void);  ///< the same with 4 GiB and 4096 slots

/// Opens pool `id`, which is made when no process has it. `config` NULL: the default. errno: EINVAL
/// (a limit, no enumerator), EEXIST (the pool has other limits; hal_last_error() says which are
/// wanted and which found), ENOSPC (64 processes have it open), EACCES, ETIMEDOUT (a process that
/// has it open does not answer), ENOMEM, and what system calls report.
hal_pool* hal_pool_create(uint32_t id, const hal_pool_config* config);
/// Opens a pool that a process has open, with the limits that it has. errno: ENOENT (no process
/// has it open), and as above.
hal_pool* hal_pool_open(uint32_t id);
/// This process's own pool with the default limits: no other process allocates from it. Every call
/// gives a handle to the same pool. errno: those of hal_pool_create().
hal_pool* hal_pool_default(void);
/// Gives up the handle. The pool stays open as long as other handles, tensors or topics use it.
void hal_pool_free(hal_pool* pool);

uint32_t hal_pool_id(const hal_pool* pool);    ///< NULL: 0
bool hal_pool_is_owner(const hal_pool* pool);  ///< whether this process made it; NULL: false
/// errno: EINVAL (NULL).
int hal_pool_get_stats(const hal_pool* pool, hal_pool_stats* out);

// ---- Tensors

/// A C-contiguous tensor, whose bytes are what the slot held before. No system call, unless memory
/// has to be reserved. errno: EINVAL (NULL, no dtype, ndim not 1..8, an extent of 0, sizes that
/// overflow), ENOSPC (no slot, or no room: hal_last_error() says which), ENOMEM (the machine has no
/// memory), ENOTSUP.
hal_tensor* hal_pool_alloc(const hal_pool* pool, hal_dtype dtype, const size_t* shape, size_t ndim);
/// Waits until there is room; freeing in any process wakes it. A negative timeout: for ever. errno:
/// as above, but ETIMEDOUT for no room in time; ENOSPC at once where the pool could never hold the
/// tensor.
hal_tensor* hal_pool_alloc_for(const hal_pool* pool, hal_dtype dtype, const size_t* shape,
                               size_t ndim, int64_t timeout_ns);
/// An image with the row pitch of hal_tensor_new_image(), or `stride_bytes` unless that is 0.
/// errno: EINVAL (NULL, a side outside 1..65535, no enumerator, a stride that the rows do not fit),
/// ENOTSUP (a dtype that the format does not have), and those of hal_pool_alloc().
hal_tensor* hal_pool_alloc_image(const hal_pool* pool, size_t width, size_t height,
                                 hal_pixel_format format, hal_dtype dtype, size_t stride_bytes);

// ---- Descriptors

/// What names the tensor to other processes, for as long as somebody has it. errno: EINVAL (NULL,
/// memory of no pool), ENOTSUP (a negative stride).
int hal_tensor_descriptor_of(const hal_tensor* tensor, hal_tensor_descriptor* out);
/// The tensor that a descriptor names, in any process of the pool: read-only. errno: EINVAL (NULL,
/// another pool), ENOENT (its tensor is gone), EBADMSG (a field that no tensor has, or elements
/// outside its slot), ENOTSUP, ETIMEDOUT (its process does not answer), ENOMEM.
hal_tensor* hal_pool_attach(const hal_pool* pool, const hal_tensor_descriptor* descriptor);
/// Whether hal_pool_attach() would give a tensor: 0, or -1 with its errno.
int hal_pool_validate(const hal_pool* pool, const hal_tensor_descriptor* descriptor);

// ---- Tensors without handles, for programs that count references themselves. They cost a third of
// those with handles.

/// A tensor with one reference, which ends with hal_pool_release(). errno: those of
/// hal_pool_alloc().
int hal_pool_alloc_slot(const hal_pool* pool, hal_dtype dtype, const size_t* shape, size_t ndim,
                        hal_tensor_descriptor* out);
/// One reference more, or less, to a tensor that this process allocated, by somebody who has a
/// reference. errno: EINVAL (NULL, another pool, another process's tensor: hal_pool_attach()
/// those), EBADMSG (no such slot), ENOENT (the tensor is gone).
int hal_pool_retain(const hal_pool* pool, const hal_tensor_descriptor* descriptor);
int hal_pool_release(const hal_pool* pool, const hal_tensor_descriptor* descriptor);
/// The bytes of such a tensor, to read and write, valid as long as somebody has a reference; their
/// count goes to `out_size`, which may be NULL. errno: as above; EBADMSG also for elements outside
/// the slot.
void* hal_pool_bytes(const hal_pool* pool, const hal_tensor_descriptor* descriptor,
                     size_t* out_size);

// ---- What ended processes left

/// Removes what ended processes left of pools and topics in the file system. Joining a pool or
/// topic does the same for that one. What living processes use is not touched. errno: EINVAL (NULL,
/// a variable of the environment), EACCES, ENOSPC, and what system calls report.
int hal_collect_garbage(hal_garbage_report* out);

HAL_END
