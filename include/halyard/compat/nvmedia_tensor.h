// SPDX-License-Identifier: Apache-2.0
// Long: this header alone is what such programs include.
//
// For programs written from the public documentation of NvMedia Tensor and NvSciBuf, on any
// machine: the same sequence of calls, on Halyard's negotiated buffers. Written from the facts in
// that documentation; not affiliated with, endorsed by or derived from software of NVIDIA, which
// owns its names. Differences: docs/negotiation.md.
//
// attribute list -> fill -> reconcile and allocate -> create tensor -> lock -> status -> unlock ->
// destroy. The numbers of enumerators are those of the documentation. After a failed call
// hal_last_error() has the reason. C11 and C++; functions are inline. Lists and tensors belong to
// one thread at a time.
#pragma once

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "halyard/c/negotiate.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- Results

typedef enum {
  NvSciError_Success = 0,
  NvSciError_NotSupported = 0x11,
  NvSciError_InvalidState = 0x22,
  NvSciError_InsufficientMemory = 0x30,
  NvSciError_ResourceError = 0x32,
  NvSciError_BadParameter = 0x100,
  NvSciError_Overflow = 0x103,
  NvSciError_AccessDenied = 0x104,
  NvSciError_ReconciliationFailed = 0x10100
} NvSciError;

typedef enum {
  NVMEDIA_STATUS_OK = 0,
  NVMEDIA_STATUS_BAD_PARAMETER = 1,
  NVMEDIA_STATUS_TIMED_OUT = 3,
  NVMEDIA_STATUS_OUT_OF_MEMORY = 4,
  NVMEDIA_STATUS_NOT_INITIALIZED = 5,
  NVMEDIA_STATUS_NOT_SUPPORTED = 6,
  NVMEDIA_STATUS_ERROR = 7,
  NVMEDIA_STATUS_NONE_PENDING = 8,
  NVMEDIA_STATUS_INVALID_STATE = 15
} NvMediaStatus;

static inline NvSciError halyard_nv_sci_error(void) {
  switch (errno) {
    case ENOTSUP:
      return NvSciError_ReconciliationFailed;
    case ENOMEM:
    case ENOSPC:
      return NvSciError_InsufficientMemory;
    case EACCES:
      return NvSciError_AccessDenied;
    case EINVAL:
    case EEXIST:
    case ENOENT:
      return NvSciError_BadParameter;
    default:
      return NvSciError_ResourceError;
  }
}

static inline NvMediaStatus halyard_nv_status(void) {
  switch (errno) {
    case EINVAL:
    case EEXIST:
      return NVMEDIA_STATUS_BAD_PARAMETER;
    case ETIMEDOUT:
      return NVMEDIA_STATUS_TIMED_OUT;
    case ENOMEM:
      return NVMEDIA_STATUS_OUT_OF_MEMORY;
    case ENOTSUP:
    case EACCES:
      return NVMEDIA_STATUS_NOT_SUPPORTED;
    case EBUSY:
      return NVMEDIA_STATUS_INVALID_STATE;
    default:
      return NVMEDIA_STATUS_ERROR;
  }
}

// ---- Versions

/// The versions that these functions follow: the documentation of DRIVE OS 6.0.5.
#define NVMEDIA_TENSOR_VERSION_MAJOR (1u)
#define NVMEDIA_TENSOR_VERSION_MINOR (13u)
#define NVMEDIA_TENSOR_VERSION_PATCH (0u)
#define NVMEDIA_TENSOR_NVSCIBUF_VERSION_MAJOR (1u)
#define NVMEDIA_TENSOR_NVSCIBUF_VERSION_MINOR (7u)
#define NVMEDIA_TENSOR_NVSCIBUF_VERSION_PATCH (0u)

typedef struct {
  uint8_t major;
  uint8_t minor;
  uint8_t patch;
} NvMediaVersion;

static inline NvMediaStatus NvMediaTensorGetVersion(NvMediaVersion* version) {
  if (version == NULL) return NVMEDIA_STATUS_BAD_PARAMETER;
  version->major = NVMEDIA_TENSOR_VERSION_MAJOR;
  version->minor = NVMEDIA_TENSOR_VERSION_MINOR;
  version->patch = NVMEDIA_TENSOR_VERSION_PATCH;
  return NVMEDIA_STATUS_OK;
}

static inline NvMediaStatus NvMediaTensorNvSciBufGetVersion(NvMediaVersion* version) {
  if (version == NULL) return NVMEDIA_STATUS_BAD_PARAMETER;
  version->major = NVMEDIA_TENSOR_NVSCIBUF_VERSION_MAJOR;
  version->minor = NVMEDIA_TENSOR_NVSCIBUF_VERSION_MINOR;
  version->patch = NVMEDIA_TENSOR_NVSCIBUF_VERSION_PATCH;
  return NVMEDIA_STATUS_OK;
}

// ---- Attributes of tensors

typedef enum {
  NVM_TENSOR_ATTR_DATA_TYPE = 0,
  NVM_TENSOR_ATTR_BITS_PER_ELEMENT = 1,
  NVM_TENSOR_ATTR_DIMENSION_ORDER = 2,
  NVM_TENSOR_ATTR_CPU_ACCESS = 3,
  NVM_TENSOR_ATTR_ALLOC_TYPE = 4,
  NVM_TENSOR_ATTR_4D_N = 5,
  NVM_TENSOR_ATTR_4D_C = 6,
  NVM_TENSOR_ATTR_4D_H = 7,
  NVM_TENSOR_ATTR_4D_W = 8,
  NVM_TENSOR_ATTR_4D_X = 9,
  NVM_TENSOR_ATTR_MAX = 10
} NvMediaTensorAttrType;

#define NVM_TENSOR_ATTR_DATA_TYPE_UINT 1u
#define NVM_TENSOR_ATTR_DATA_TYPE_INT 2u
#define NVM_TENSOR_ATTR_DATA_TYPE_FLOAT 3u
#define NVM_TENSOR_ATTR_BITS_PER_ELEMENT_8 8u
#define NVM_TENSOR_ATTR_BITS_PER_ELEMENT_16 16u
#define NVM_TENSOR_ATTR_BITS_PER_ELEMENT_32 32u
#define NVM_TENSOR_ATTR_BITS_PER_ELEMENT_64 64u
#define NVM_TENSOR_ATTR_DIMENSION_ORDER_NHWC 1u
#define NVM_TENSOR_ATTR_DIMENSION_ORDER_NCHW 2u
#define NVM_TENSOR_ATTR_DIMENSION_ORDER_NCxHWx 3u
#define NVM_TENSOR_ATTR_CPU_ACCESS_UNCACHED 1u
#define NVM_TENSOR_ATTR_CPU_ACCESS_CACHED 2u
#define NVM_TENSOR_ATTR_CPU_ACCESS_UNMAPPED 3u
#define NVM_TENSOR_ATTR_ALLOC_TYPE_NONE 0u
#define NVM_TENSOR_ATTR_ALLOC_TYPE_RESERVED 0x10u

typedef struct {
  NvMediaTensorAttrType type;
  uint32_t value;
} NvMediaTensorAttr;

/// Defines an array of attributes, set to zero. Attributes are found by their type, in any order.
#define NVM_TENSOR_DEFINE_ATTR(name) \
  NvMediaTensorAttr name[NVM_TENSOR_ATTR_MAX] = {{(NvMediaTensorAttrType)0, 0}}
#define HALYARD_NV_ATTR(attrs, index, what, number) \
  do {                                              \
    (attrs)[index].type = NVM_TENSOR_ATTR_##what;   \
    (attrs)[index].value = (uint32_t)(number);      \
  } while (0)
/// Sets all ten: NVM_TENSOR_SET_ATTR_4D(attrs, 1, 3, 480, 640, NCHW, INT, 8, UNCACHED, NONE, 1).
#define NVM_TENSOR_SET_ATTR_4D(attrs, n, c, h, w, order, datatype, bits, access, alloc, x) \
  do {                                                                                     \
    HALYARD_NV_ATTR(attrs, 0, DATA_TYPE, NVM_TENSOR_ATTR_DATA_TYPE_##datatype);            \
    HALYARD_NV_ATTR(attrs, 1, 4D_N, n);                                                    \
    HALYARD_NV_ATTR(attrs, 2, 4D_C, c);                                                    \
    HALYARD_NV_ATTR(attrs, 3, 4D_H, h);                                                    \
    HALYARD_NV_ATTR(attrs, 4, 4D_W, w);                                                    \
    HALYARD_NV_ATTR(attrs, 5, 4D_X, x);                                                    \
    HALYARD_NV_ATTR(attrs, 6, BITS_PER_ELEMENT, NVM_TENSOR_ATTR_BITS_PER_ELEMENT_##bits);  \
    HALYARD_NV_ATTR(attrs, 7, DIMENSION_ORDER, NVM_TENSOR_ATTR_DIMENSION_ORDER_##order);   \
    HALYARD_NV_ATTR(attrs, 8, CPU_ACCESS, NVM_TENSOR_ATTR_CPU_ACCESS_##access);            \
    HALYARD_NV_ATTR(attrs, 9, ALLOC_TYPE, NVM_TENSOR_ATTR_ALLOC_TYPE_##alloc);             \
  } while (0)

// ---- Modules, lists, objects

struct halyard_nv_module {
  unsigned parties;  // lists that have got a name; the next name's number
};
struct halyard_nv_list {
  struct halyard_nv_module* module;
  hal_attrs* attrs;            // of an unreconciled list
  hal_reconciled* reconciled;  // of a reconciled one
  char* report;                // of a conflict
};
struct halyard_nv_object {
  hal_buffer* buffer;
  unsigned references;
};
struct halyard_nv_tensor {
  struct halyard_nv_object* object;
};

typedef struct halyard_nv_module* NvSciBufModule;
typedef struct halyard_nv_list* NvSciBufAttrList;
typedef struct halyard_nv_object* NvSciBufObj;
typedef struct halyard_nv_tensor NvMediaTensor;
typedef struct {
  int unused;
} NvMediaDevice;

typedef enum {
  NvSciBufGeneralAttrKey_Types = 0,
  NvSciBufGeneralAttrKey_NeedCpuAccess = 1,
  NvSciBufGeneralAttrKey_RequiredPerm = 2,
  NvSciBufGeneralAttrKey_EnableCpuCache = 3
} NvSciBufAttrKey;
typedef enum {
  NvSciBufType_General = 0,
  NvSciBufType_RawBuffer = 1,
  NvSciBufType_Image = 2,
  NvSciBufType_Tensor = 3,
  NvSciBufType_Array = 4,
  NvSciBufType_Pyramid = 5
} NvSciBufType;
typedef enum {
  NvSciBufAccessPerm_Readonly = 1,
  NvSciBufAccessPerm_ReadWrite = 3
} NvSciBufAttrValAccessPerm;
typedef struct {
  NvSciBufAttrKey key;
  const void* value;
  size_t len;
} NvSciBufAttrKeyValuePair;

static inline NvSciError NvSciBufModuleOpen(NvSciBufModule* module) {
  if (module == NULL) return NvSciError_BadParameter;
  *module = (NvSciBufModule)calloc(1, sizeof(**module));
  return *module != NULL ? NvSciError_Success : NvSciError_InsufficientMemory;
}
static inline void NvSciBufModuleClose(NvSciBufModule module) {
  free(module);
}

static inline NvMediaDevice* NvMediaDeviceCreate(void) {
  return (NvMediaDevice*)calloc(1, sizeof(NvMediaDevice));
}
static inline void NvMediaDeviceDestroy(NvMediaDevice* device) {
  free(device);
}

static inline NvSciError NvSciBufAttrListCreate(NvSciBufModule module, NvSciBufAttrList* list) {
  char name[32];
  if (module == NULL || list == NULL) return NvSciError_BadParameter;
  *list = (NvSciBufAttrList)calloc(1, sizeof(**list));
  if (*list == NULL) return NvSciError_InsufficientMemory;
  snprintf(name, sizeof name, "list%u", module->parties++);
  (*list)->module = module;
  (*list)->attrs = hal_attrs_new(name);
  if ((*list)->attrs != NULL) return NvSciError_Success;
  free(*list);
  *list = NULL;
  return halyard_nv_sci_error();
}

static inline void NvSciBufAttrListFree(NvSciBufAttrList list) {
  if (list == NULL) return;
  hal_attrs_free(list->attrs);
  hal_reconciled_free(list->reconciled);
  free(list->report);
  free(list);
}

static inline char* halyard_nv_copy(const char* text) {
  char* const copy = (char*)malloc(strlen(text) + 1);
  if (copy != NULL) memcpy(copy, text, strlen(text) + 1);
  return copy;
}

/// The content of the list for people: the report of a conflict, or a result as JSON; release it
/// with free(). `length` counts the bytes before the NUL.
static inline NvSciError NvSciBufAttrListDebugDump(NvSciBufAttrList list, void** text,
                                                   size_t* length) {
  if (list == NULL || text == NULL || length == NULL) return NvSciError_BadParameter;
  *text = list->report != NULL       ? halyard_nv_copy(list->report)
          : list->reconciled != NULL ? hal_reconciled_json(list->reconciled)
                                     : halyard_nv_copy("unreconciled");
  if (*text == NULL) return NvSciError_InsufficientMemory;
  *length = strlen((const char*)*text);
  return NvSciError_Success;
}

/// Whether the value has the length of the key's type.
static inline int halyard_nv_has_length(const NvSciBufAttrKeyValuePair* pair) {
  if (pair->value == NULL) return 0;
  switch (pair->key) {
    case NvSciBufGeneralAttrKey_RequiredPerm:
      return pair->len == sizeof(NvSciBufAttrValAccessPerm);
    case NvSciBufGeneralAttrKey_NeedCpuAccess:
    case NvSciBufGeneralAttrKey_EnableCpuCache:
      return pair->len == sizeof(bool);
    case NvSciBufGeneralAttrKey_Types:
      return pair->len != 0 && pair->len % sizeof(NvSciBufType) == 0;
  }
  return 0;
}

static inline int halyard_nv_set_perm(hal_attrs* attrs, const void* value) {
  int perm = 0;
  memcpy(&perm, value, sizeof perm);
  if (perm == NvSciBufAccessPerm_ReadWrite) return hal_attrs_set(attrs, "g.perm", "\"read_write\"");
  if (perm == NvSciBufAccessPerm_Readonly) return hal_attrs_set(attrs, "g.perm", "\"read\"");
  errno = EINVAL;
  return -1;
}

static inline int halyard_nv_set_one(NvSciBufAttrList list, const NvSciBufAttrKeyValuePair* pair) {
  if (!halyard_nv_has_length(pair)) {
    errno = EINVAL;
    return -1;
  }
  switch (pair->key) {
    case NvSciBufGeneralAttrKey_RequiredPerm:
      return halyard_nv_set_perm(list->attrs, pair->value);
    case NvSciBufGeneralAttrKey_NeedCpuAccess:
      return hal_attrs_set(list->attrs, "g.cpu",
                           *(const bool*)pair->value ? "\"read_write\"" : "\"none\"");
    case NvSciBufGeneralAttrKey_EnableCpuCache:
      return hal_attrs_set(list->attrs, "g.policy",
                           *(const bool*)pair->value ? "\"cached\"" : "\"uncached\"");
    case NvSciBufGeneralAttrKey_Types:
      return 0;  // follows from the attributes that are filled
  }
  errno = EINVAL;
  return -1;
}

/// Sets each key once, with a value of the length of its type. NvMediaTensorFillNvSciBufAttrs()
/// sets the keys NeedCpuAccess and EnableCpuCache too: use only one of the two for these.
static inline NvSciError NvSciBufAttrListSetAttrs(NvSciBufAttrList list,
                                                  const NvSciBufAttrKeyValuePair* pairs,
                                                  size_t count) {
  if (list == NULL || list->attrs == NULL || pairs == NULL || count == 0)
    return NvSciError_BadParameter;
  for (size_t k = 0; k < count; ++k)
    if (halyard_nv_set_one(list, &pairs[k]) != 0) return halyard_nv_sci_error();
  return NvSciError_Success;
}

/// Returns the reconciled list, or, with NvSciError_ReconciliationFailed, a list with the report.
/// Free both with NvSciBufAttrListFree().
static inline NvSciError NvSciBufAttrListReconcile(const NvSciBufAttrList lists[], size_t count,
                                                   NvSciBufAttrList* reconciled,
                                                   NvSciBufAttrList* conflict) {
  hal_attrs* attrs[64];
  NvSciBufAttrList made = NULL;
  if (lists == NULL || count == 0 || count > 64 || reconciled == NULL || conflict == NULL)
    return NvSciError_BadParameter;
  *reconciled = *conflict = NULL;
  for (size_t k = 0; k < count; ++k) {
    if (lists[k] == NULL || lists[k]->attrs == NULL || lists[k]->module != lists[0]->module)
      return NvSciError_BadParameter;
    attrs[k] = lists[k]->attrs;
  }
  made = (NvSciBufAttrList)calloc(1, sizeof(*made));
  if (made == NULL) return NvSciError_InsufficientMemory;
  made->module = lists[0]->module;
  made->reconciled = hal_reconcile(attrs, count, 0, &made->report);
  *(made->reconciled != NULL ? reconciled : conflict) = made;
  return made->reconciled != NULL ? NvSciError_Success : halyard_nv_sci_error();
}

static inline NvSciError NvSciBufObjAlloc(NvSciBufAttrList reconciled, NvSciBufObj* object) {
  if (reconciled == NULL || reconciled->reconciled == NULL || object == NULL)
    return NvSciError_BadParameter;
  *object = (NvSciBufObj)calloc(1, sizeof(**object));
  if (*object == NULL) return NvSciError_InsufficientMemory;
  (*object)->references = 1;
  (*object)->buffer = hal_reconciled_alloc(reconciled->reconciled, NULL);
  if ((*object)->buffer != NULL) return NvSciError_Success;
  free(*object);
  *object = NULL;
  return errno == ENOTSUP ? NvSciError_NotSupported : halyard_nv_sci_error();
}

static inline void NvSciBufObjFree(NvSciBufObj object) {
  if (object == NULL || --object->references != 0) return;
  hal_buffer_free(object->buffer);
  free(object);
}

static inline NvSciError NvSciBufAttrListReconcileAndObjAlloc(const NvSciBufAttrList lists[],
                                                              size_t count, NvSciBufObj* object,
                                                              NvSciBufAttrList* conflict) {
  NvSciBufAttrList reconciled = NULL;
  NvSciError error = NvSciBufAttrListReconcile(lists, count, &reconciled, conflict);
  if (error == NvSciError_Success) error = NvSciBufObjAlloc(reconciled, object);
  NvSciBufAttrListFree(reconciled);
  return error;
}

// ---- Tensors

static inline NvMediaStatus NvMediaTensorNvSciBufInit(void) {
  return NVMEDIA_STATUS_OK;
}
static inline void NvMediaTensorNvSciBufDeinit(void) {}

/// The name of the element type, or NULL.
static inline const char* halyard_nv_dtype(uint32_t type, uint32_t bits) {
  static const char* const names[3][4] = {{"\"u8\"", "\"u16\"", "\"u32\"", "\"u64\""},
                                          {"\"i8\"", "\"i16\"", "\"i32\"", "\"i64\""},
                                          {NULL, "\"f16\"", "\"f32\"", "\"f64\""}};
  const int column = bits == 8 ? 0 : bits == 16 ? 1 : bits == 32 ? 2 : bits == 64 ? 3 : -1;
  return type < 1 || type > 3 || column < 0 ? NULL : names[type - 1][column];
}

static inline int halyard_nv_fill(hal_attrs* attrs, const uint32_t* values) {
  char text[96];
  const char* const dtype =
      halyard_nv_dtype(values[NVM_TENSOR_ATTR_DATA_TYPE], values[NVM_TENSOR_ATTR_BITS_PER_ELEMENT]);
  const uint32_t order = values[NVM_TENSOR_ATTR_DIMENSION_ORDER];
  const uint32_t access = values[NVM_TENSOR_ATTR_CPU_ACCESS];
  if (dtype == NULL || order < 1 || order > 3 || access > 3 ||
      (order == 3 && (values[NVM_TENSOR_ATTR_4D_X] < 1 || values[NVM_TENSOR_ATTR_4D_X] > 1024)) ||
      values[NVM_TENSOR_ATTR_4D_N] > 65536 || values[NVM_TENSOR_ATTR_4D_C] > 8192 ||
      values[NVM_TENSOR_ATTR_4D_H] > 8192 || values[NVM_TENSOR_ATTR_4D_W] > 8192) {
    errno = EINVAL;
    return -1;
  }
  snprintf(text, sizeof text, "[%u, %u, %u, %u]", (unsigned)values[NVM_TENSOR_ATTR_4D_N],
           (unsigned)values[NVM_TENSOR_ATTR_4D_C], (unsigned)values[NVM_TENSOR_ATTR_4D_H],
           (unsigned)values[NVM_TENSOR_ATTR_4D_W]);
  if (hal_attrs_set(attrs, "t.dtype", dtype) != 0 || hal_attrs_set(attrs, "t.shape", text) != 0)
    return -1;
  snprintf(text, sizeof text,
           order == 3   ? "NCxHWx%u"
           : order == 1 ? "NHWC"
                        : "NCHW",
           (unsigned)values[NVM_TENSOR_ATTR_4D_X]);
  if (hal_attrs_accept(attrs, text, 0) != 0) return -1;
  if (hal_attrs_set(attrs, "g.policy",
                    access == 3   ? "\"unmapped\""
                    : access == 2 ? "\"cached\""
                                  : "\"uncached\"") != 0)
    return -1;
  if (hal_attrs_set(attrs, "g.cpu", access == 3 ? "\"none\"" : "\"read_write\"") != 0) return -1;
  if (hal_attrs_set(attrs, "g.size_max", "4294967295") != 0) return -1;
  return hal_attrs_set(attrs, "g.base_align", "512");
}

/// Sets in `list` what a tensor needs. Without NVM_TENSOR_ATTR_CPU_ACCESS it is uncached. Required:
/// data type, bits, order, N, C, H and W, and X for NCxHWx.
static inline NvMediaStatus NvMediaTensorFillNvSciBufAttrs(const NvMediaDevice* device,
                                                           const NvMediaTensorAttr* attrs,
                                                           uint32_t count, uint32_t flags,
                                                           NvSciBufAttrList list) {
  uint32_t values[NVM_TENSOR_ATTR_MAX] = {0};
  (void)device;
  if (attrs == NULL || count == 0 || count > NVM_TENSOR_ATTR_MAX || flags != 0 || list == NULL ||
      list->attrs == NULL)
    return NVMEDIA_STATUS_BAD_PARAMETER;
  values[NVM_TENSOR_ATTR_CPU_ACCESS] = NVM_TENSOR_ATTR_CPU_ACCESS_UNCACHED;
  for (uint32_t k = 0; k < count; ++k) {
    if ((unsigned)attrs[k].type >= NVM_TENSOR_ATTR_MAX) return NVMEDIA_STATUS_BAD_PARAMETER;
    values[attrs[k].type] = attrs[k].value;
  }
  if (values[NVM_TENSOR_ATTR_ALLOC_TYPE] != NVM_TENSOR_ATTR_ALLOC_TYPE_NONE)
    return NVMEDIA_STATUS_NOT_SUPPORTED;  // such memory does not exist here
  return halyard_nv_fill(list->attrs, values) == 0 ? NVMEDIA_STATUS_OK : halyard_nv_status();
}

static inline NvMediaStatus NvMediaTensorCreateFromNvSciBuf(const NvMediaDevice* device,
                                                            NvSciBufObj object,
                                                            NvMediaTensor** tensor) {
  hal_buffer_layout layout;
  (void)device;
  if (object == NULL || tensor == NULL) return NVMEDIA_STATUS_BAD_PARAMETER;
  if (hal_buffer_get_layout(object->buffer, &layout) != 0) return halyard_nv_status();
  *tensor = (NvMediaTensor*)calloc(1, sizeof(**tensor));
  if (*tensor == NULL) return NVMEDIA_STATUS_OUT_OF_MEMORY;
  ++object->references;
  (*tensor)->object = object;
  return NVMEDIA_STATUS_OK;
}

static inline void NvMediaTensorDestroy(NvMediaTensor* tensor) {
  if (tensor == NULL) return;
  NvSciBufObjFree(tensor->object);
  free(tensor);
}

/// The buffer, for every other function of Halyard: as a hal_tensor, for engines, for other
/// processes.
static inline hal_buffer* halyard_nv_buffer(const NvMediaTensor* tensor) {
  return tensor != NULL ? tensor->object->buffer : NULL;
}

typedef struct {
  uint32_t dimsNum;        // 4, or 5 for NCxHWx
  uint32_t dimSizes[8];    // the innermost axis first
  uint32_t dimstrides[8];  // bytes
  uint32_t dimensionOrder, bitsPerElement, dataType;
  uint32_t N, C, H, W, X;
} NvMediaTensorMetaData;

static inline uint32_t halyard_nv_bits(int dtype) {
  static const uint8_t bits[] = {8, 8, 16, 16, 32, 32, 64, 64, 16, 32, 64, 16, 8};
  return dtype >= 0 && (size_t)dtype < sizeof bits ? bits[dtype] : 0;
}

static inline NvMediaStatus NvMediaTensorGetMetaData(const NvMediaTensor* tensor,
                                                     NvMediaTensorMetaData* out) {
  static const uint8_t place[3][4] = {{0, 1, 2, 3}, {0, 3, 1, 2}, {0, 1, 2, 3}};  // N, C, H, W
  hal_buffer_layout layout;
  if (tensor == NULL || out == NULL) return NVMEDIA_STATUS_BAD_PARAMETER;
  if (hal_buffer_get_layout(tensor->object->buffer, &layout) != 0) return halyard_nv_status();
  memset(out, 0, sizeof *out);
  out->dimsNum = layout.ndim;
  for (uint32_t k = 0; k < layout.ndim; ++k) {
    out->dimSizes[k] = (uint32_t)layout.dims[layout.ndim - 1 - k];
    out->dimstrides[k] = (uint32_t)layout.strides[layout.ndim - 1 - k];
  }
  out->dimensionOrder = layout.order == HAL_AXIS_ORDER_NHWC ? NVM_TENSOR_ATTR_DIMENSION_ORDER_NHWC
                        : layout.order == HAL_AXIS_ORDER_NCHW
                            ? NVM_TENSOR_ATTR_DIMENSION_ORDER_NCHW
                            : NVM_TENSOR_ATTR_DIMENSION_ORDER_NCxHWx;
  out->bitsPerElement = halyard_nv_bits(layout.dtype);
  out->dataType = layout.dtype >= HAL_DTYPE_F16 ? NVM_TENSOR_ATTR_DATA_TYPE_FLOAT
                  : layout.dtype % 2 == 0       ? NVM_TENSOR_ATTR_DATA_TYPE_UINT
                                                : NVM_TENSOR_ATTR_DATA_TYPE_INT;
  out->N = (uint32_t)layout.dims[place[layout.order][0]];
  out->C = (uint32_t)layout.dims[place[layout.order][1]] *
           (layout.order == HAL_AXIS_ORDER_NC_HWX ? layout.x : 1);
  out->H = (uint32_t)layout.dims[place[layout.order][2]];
  out->W = (uint32_t)layout.dims[place[layout.order][3]];
  out->X = layout.x;
  return NVMEDIA_STATUS_OK;
}

// ---- Access

#define NVMEDIA_TENSOR_ACCESS_READ 1u
#define NVMEDIA_TENSOR_ACCESS_WRITE 2u
#define NVMEDIA_TENSOR_ACCESS_READ_WRITE 3u
#define NVMEDIA_TENSOR_TIMEOUT_INFINITE 0xFFFFFFFFu

typedef struct {
  uint32_t size;  // bytes of the buffer; rows may be padded, see NvMediaTensorGetMetaData()
  void* mapping;
} NvMediaTensorSurfaceMap;

/// Waits for engines, then returns the bytes. The calling thread must not hold a lock of the
/// tensor.
static inline NvMediaStatus NvMediaTensorLock(NvMediaTensor* tensor, uint32_t access,
                                              NvMediaTensorSurfaceMap* map) {
  size_t size = 0;
  if (tensor == NULL || map == NULL || access < 1 || access > 3)
    return NVMEDIA_STATUS_BAD_PARAMETER;
  map->mapping = hal_buffer_lock(tensor->object->buffer, (enum HalCpuAccess)access, -1, &size);
  map->size = (uint32_t)size;
  return map->mapping != NULL ? NVMEDIA_STATUS_OK : halyard_nv_status();
}

/// NVMEDIA_STATUS_ERROR: devices could not be notified of the writes.
static inline NvMediaStatus NvMediaTensorUnlock(NvMediaTensor* tensor) {
  if (tensor == NULL) return NVMEDIA_STATUS_BAD_PARAMETER;
  if (hal_buffer_unlock(tensor->object->buffer) == 0) return NVMEDIA_STATUS_OK;
  return errno == EINVAL ? NVMEDIA_STATUS_INVALID_STATE : halyard_nv_status();
}

typedef struct {
  NvMediaStatus status;          // of the latest operation
  uint32_t operationDurationUs;  // 0: there was no operation
} NvMediaTensorTaskStatus;

/// Waits up to `timeout_ms` for the latest operation (hal_buffer_submit() on halyard_nv_buffer()).
/// NVMEDIA_STATUS_TIMED_OUT: it is still running.
static inline NvMediaStatus NvMediaTensorGetStatus(NvMediaTensor* tensor, uint32_t timeout_ms,
                                                   NvMediaTensorTaskStatus* out) {
  hal_operation_status status;
  const int64_t timeout =
      timeout_ms == NVMEDIA_TENSOR_TIMEOUT_INFINITE ? -1 : (int64_t)timeout_ms * 1000000;
  if (tensor == NULL || out == NULL) return NVMEDIA_STATUS_BAD_PARAMETER;
  if (hal_buffer_get_status(tensor->object->buffer, timeout, &status) != 0)
    return halyard_nv_status();
  if (status.state == HAL_OPERATION_PENDING) return NVMEDIA_STATUS_TIMED_OUT;
  out->status = status.state == HAL_OPERATION_FAILED ? NVMEDIA_STATUS_ERROR
                : status.state == HAL_OPERATION_NONE ? NVMEDIA_STATUS_NONE_PENDING
                                                     : NVMEDIA_STATUS_OK;
  out->operationDurationUs = (uint32_t)status.duration_us;
  return NVMEDIA_STATUS_OK;
}

#ifdef __cplusplus
}
#endif
