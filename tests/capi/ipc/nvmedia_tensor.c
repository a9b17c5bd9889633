// SPDX-License-Identifier: Apache-2.0
// The sequence of the documentation of NvMedia Tensor, from one header, in C and in C++; and what
// wrong calls get.
#include "halyard/compat/nvmedia_tensor.h"

#include "capi/check.h"

static NvSciBufAttrList new_list(NvSciBufModule module, const NvMediaTensorAttr* attrs) {
  NvSciBufAttrValAccessPerm perm = NvSciBufAccessPerm_ReadWrite;
  NvSciBufAttrKeyValuePair pair = {NvSciBufGeneralAttrKey_RequiredPerm, &perm, sizeof perm};
  NvSciBufAttrList list = NULL;
  CHECK(NvSciBufAttrListCreate(module, &list) == NvSciError_Success);
  CHECK(NvSciBufAttrListSetAttrs(list, &pair, 1) == NvSciError_Success);
  CHECK(NvMediaTensorFillNvSciBufAttrs(NULL, attrs, NVM_TENSOR_ATTR_MAX, 0, list) ==
        NVMEDIA_STATUS_OK);
  return list;
}

// The tensor that the list alone describes; ends the list.
static NvMediaTensor* new_tensor(NvMediaDevice* device, NvSciBufAttrList list) {
  NvSciBufAttrList conflict = NULL;
  NvSciBufObj object = NULL;
  NvMediaTensor* tensor = NULL;
  CHECK(NvSciBufAttrListReconcileAndObjAlloc(&list, 1, &object, &conflict) == NvSciError_Success);
  CHECK(conflict == NULL);
  CHECK(NvMediaTensorCreateFromNvSciBuf(device, object, &tensor) == NVMEDIA_STATUS_OK);
  NvSciBufAttrListFree(list);
  NvSciBufObjFree(object);  // the tensor has its own share
  return tensor;
}

static void use(NvMediaTensor* tensor) {
  NvMediaTensorSurfaceMap map;
  NvMediaTensorTaskStatus task;
  hal_operation* operation = NULL;
  CHECK(NvMediaTensorLock(tensor, NVMEDIA_TENSOR_ACCESS_WRITE, &map) == NVMEDIA_STATUS_OK);
  CHECK(map.size >= 2 * 3 * 7 * 13);
  memset(map.mapping, 5, map.size);
  CHECK(NvMediaTensorLock(tensor, NVMEDIA_TENSOR_ACCESS_READ, &map) ==
        NVMEDIA_STATUS_INVALID_STATE);
  CHECK(NvMediaTensorUnlock(tensor) == NVMEDIA_STATUS_OK);
  CHECK(NvMediaTensorUnlock(tensor) == NVMEDIA_STATUS_INVALID_STATE);
  CHECK(NvMediaTensorGetStatus(tensor, 0, &task) == NVMEDIA_STATUS_OK);
  CHECK(task.status == NVMEDIA_STATUS_NONE_PENDING);
  operation = hal_buffer_submit(halyard_nv_buffer(tensor));
  CHECK(NvMediaTensorGetStatus(tensor, 5, &task) == NVMEDIA_STATUS_TIMED_OUT);
  hal_operation_finish(operation);
  hal_operation_free(operation);
  CHECK(NvMediaTensorGetStatus(tensor, NVMEDIA_TENSOR_TIMEOUT_INFINITE, &task) ==
        NVMEDIA_STATUS_OK);
  CHECK(task.status == NVMEDIA_STATUS_OK && task.operationDurationUs >= 5000);
  CHECK(NvMediaTensorLock(tensor, NVMEDIA_TENSOR_ACCESS_READ, &map) == NVMEDIA_STATUS_OK);
  CHECK(((const unsigned char*)map.mapping)[100] == 5);
  CHECK(NvMediaTensorUnlock(tensor) == NVMEDIA_STATUS_OK);
}

static void whole_sequence(NvSciBufModule module) {
  NvMediaDevice* device = NvMediaDeviceCreate();
  NvMediaTensor* tensor = NULL;
  NvMediaTensorMetaData metadata;
  NVM_TENSOR_DEFINE_ATTR(attrs);
  CHECK(NvMediaTensorNvSciBufInit() == NVMEDIA_STATUS_OK);
  NVM_TENSOR_SET_ATTR_4D(attrs, 2, 3, 7, 13, NCHW, INT, 8, UNCACHED, NONE, 1);
  tensor = new_tensor(device, new_list(module, attrs));
  CHECK(NvMediaTensorGetMetaData(tensor, &metadata) == NVMEDIA_STATUS_OK);
  CHECK(metadata.dimsNum == 4 && metadata.dimSizes[0] == 13 && metadata.dimstrides[0] == 1);
  CHECK(metadata.N == 2 && metadata.C == 3 && metadata.H == 7 && metadata.W == 13);
  CHECK(metadata.dimensionOrder == NVM_TENSOR_ATTR_DIMENSION_ORDER_NCHW);
  CHECK(metadata.bitsPerElement == 8 && metadata.dataType == NVM_TENSOR_ATTR_DATA_TYPE_INT);
  use(tensor);
  NvMediaTensorDestroy(tensor);
  NvMediaTensorNvSciBufDeinit();
  NvMediaDeviceDestroy(device);
}

static void blocks_of_channels(NvSciBufModule module) {
  NvMediaTensor* tensor = NULL;
  NvMediaTensorMetaData metadata;
  NVM_TENSOR_DEFINE_ATTR(attrs);
  NVM_TENSOR_SET_ATTR_4D(attrs, 1, 48, 10, 13, NCxHWx, FLOAT, 16, CACHED, NONE, 16);
  tensor = new_tensor(NULL, new_list(module, attrs));
  CHECK(NvMediaTensorGetMetaData(tensor, &metadata) == NVMEDIA_STATUS_OK);
  CHECK(metadata.dimsNum == 5 && metadata.dimSizes[0] == 16 && metadata.dimSizes[3] == 3);
  CHECK(metadata.X == 16 && metadata.C == 48 && metadata.W == 13 && metadata.H == 10);
  CHECK(metadata.dataType == NVM_TENSOR_ATTR_DATA_TYPE_FLOAT && metadata.bitsPerElement == 16);
  CHECK(metadata.dimstrides[1] == 32);
  NvMediaTensorDestroy(tensor);
}

static void conflicts_are_told(NvSciBufModule module) {
  NvSciBufAttrList lists[2];
  NvSciBufAttrList conflict = NULL;
  NvSciBufObj object = NULL;
  void* text = NULL;
  size_t length = 0;
  NVM_TENSOR_DEFINE_ATTR(attrs);
  NVM_TENSOR_SET_ATTR_4D(attrs, 1, 3, 7, 13, NCHW, INT, 8, UNCACHED, NONE, 1);
  lists[0] = new_list(module, attrs);
  NVM_TENSOR_SET_ATTR_4D(attrs, 1, 3, 7, 14, NCHW, INT, 8, UNCACHED, NONE, 1);
  lists[1] = new_list(module, attrs);
  CHECK(NvSciBufAttrListReconcileAndObjAlloc(lists, 2, &object, &conflict) ==
        NvSciError_ReconciliationFailed);
  CHECK(object == NULL && conflict != NULL);
  CHECK(NvSciBufAttrListDebugDump(conflict, &text, &length) == NvSciError_Success);
  CHECK(strstr((const char*)text, "t.shape") != NULL && strlen((const char*)text) == length);
  free(text);
  NvSciBufAttrListFree(conflict);
  NvSciBufAttrListFree(lists[0]);
  NvSciBufAttrListFree(lists[1]);
}

static void unmapped_is_not_locked(NvSciBufModule module) {
  NvMediaTensor* tensor = NULL;
  NvMediaTensorSurfaceMap map;
  NVM_TENSOR_DEFINE_ATTR(attrs);
  NVM_TENSOR_SET_ATTR_4D(attrs, 1, 3, 7, 13, NHWC, UINT, 8, UNMAPPED, NONE, 1);
  tensor = new_tensor(NULL, new_list(module, attrs));
  CHECK(NvMediaTensorLock(tensor, NVMEDIA_TENSOR_ACCESS_READ, &map) ==
        NVMEDIA_STATUS_NOT_SUPPORTED);
  NvMediaTensorDestroy(tensor);
}

static void versions_are_told(void) {
  NvMediaVersion version = {0, 0, 9};
  CHECK(NvMediaTensorGetVersion(&version) == NVMEDIA_STATUS_OK);
  CHECK(version.major == 1 && version.minor == 13 && version.patch == 0);
  CHECK(NvMediaTensorNvSciBufGetVersion(&version) == NVMEDIA_STATUS_OK);
  CHECK(version.major == 1 && version.minor == 7 && version.patch == 0);
  CHECK(NvMediaTensorGetVersion(NULL) == NVMEDIA_STATUS_BAD_PARAMETER);
  CHECK(NvMediaTensorNvSciBufGetVersion(NULL) == NVMEDIA_STATUS_BAD_PARAMETER);
}

static NvSciError set_one(NvSciBufAttrList list, NvSciBufAttrKey key, const void* value,
                          size_t length) {
  NvSciBufAttrKeyValuePair pair;
  pair.key = key;
  pair.value = value;
  pair.len = length;
  return NvSciBufAttrListSetAttrs(list, &pair, 1);
}

static bool takes(NvSciBufAttrList list, NvSciBufAttrKey key, const void* value, size_t length) {
  return set_one(list, key, value, length) == NvSciError_Success;
}

static bool refuses(NvSciBufAttrList list, NvSciBufAttrKey key, const void* value, size_t length) {
  return set_one(list, key, value, length) == NvSciError_BadParameter;
}

/// Values with spare bytes behind them, so that no length here reads astray; what is refused leaves
/// the key to be set.
static void lengths_are_checked(NvSciBufModule module) {
  const bool flags[2] = {true, true};
  const NvSciBufAttrValAccessPerm perms[2] = {NvSciBufAccessPerm_ReadWrite,
                                              NvSciBufAccessPerm_ReadWrite};
  const int no_perm = 2;
  const NvSciBufType types[2] = {NvSciBufType_Tensor, NvSciBufType_Image};
  NvSciBufAttrList list = NULL;
  CHECK(NvSciBufAttrListCreate(module, &list) == NvSciError_Success);
  for (size_t wrong = 0; wrong <= 2; wrong += 2) {
    CHECK(refuses(list, NvSciBufGeneralAttrKey_NeedCpuAccess, flags, wrong * sizeof(bool)));
    CHECK(refuses(list, NvSciBufGeneralAttrKey_EnableCpuCache, flags, wrong * sizeof(bool)));
    CHECK(refuses(list, NvSciBufGeneralAttrKey_RequiredPerm, perms, wrong * sizeof perms[0]));
  }
  CHECK(refuses(list, NvSciBufGeneralAttrKey_RequiredPerm, perms, 1));
  CHECK(refuses(list, NvSciBufGeneralAttrKey_RequiredPerm, &no_perm, sizeof no_perm));
  CHECK(refuses(list, NvSciBufGeneralAttrKey_Types, types, 0));
  CHECK(refuses(list, NvSciBufGeneralAttrKey_Types, types, sizeof types[0] + 1));
  CHECK(refuses(list, NvSciBufGeneralAttrKey_NeedCpuAccess, NULL, sizeof(bool)));
  CHECK(takes(list, NvSciBufGeneralAttrKey_NeedCpuAccess, flags, sizeof(bool)));
  CHECK(takes(list, NvSciBufGeneralAttrKey_EnableCpuCache, flags, sizeof(bool)));
  CHECK(takes(list, NvSciBufGeneralAttrKey_RequiredPerm, perms, sizeof perms[0]));
  CHECK(takes(list, NvSciBufGeneralAttrKey_Types, types, sizeof types));
  NvSciBufAttrListFree(list);
}

static void wrong_calls(NvSciBufModule module) {
  NvSciBufAttrValAccessPerm perm = NvSciBufAccessPerm_Readonly;
  NvSciBufAttrKeyValuePair pair = {NvSciBufGeneralAttrKey_RequiredPerm, &perm, sizeof perm};
  NvSciBufAttrList list = NULL;
  NvSciBufAttrList conflict = NULL;
  NvSciBufObj object = NULL;
  NVM_TENSOR_DEFINE_ATTR(attrs);
  NVM_TENSOR_SET_ATTR_4D(attrs, 1, 3, 7, 13, NCHW, FLOAT, 8, UNCACHED, NONE, 1);
  CHECK(NvSciBufModuleOpen(NULL) == NvSciError_BadParameter);
  CHECK(NvSciBufAttrListCreate(NULL, &list) == NvSciError_BadParameter);
  CHECK(NvSciBufAttrListCreate(module, &list) == NvSciError_Success);
  CHECK(NvMediaTensorFillNvSciBufAttrs(NULL, attrs, 10, 0, list) == NVMEDIA_STATUS_BAD_PARAMETER);
  CHECK(NvMediaTensorFillNvSciBufAttrs(NULL, NULL, 10, 0, list) == NVMEDIA_STATUS_BAD_PARAMETER);
  CHECK(NvMediaTensorFillNvSciBufAttrs(NULL, attrs, 11, 0, list) == NVMEDIA_STATUS_BAD_PARAMETER);
  NVM_TENSOR_SET_ATTR_4D(attrs, 1, 8193, 7, 13, NCHW, INT, 8, UNCACHED, NONE, 1);
  CHECK(NvMediaTensorFillNvSciBufAttrs(NULL, attrs, 10, 0, list) == NVMEDIA_STATUS_BAD_PARAMETER);
  NVM_TENSOR_SET_ATTR_4D(attrs, 1, 3, 7, 13, NCHW, INT, 8, UNCACHED, RESERVED, 1);
  CHECK(NvMediaTensorFillNvSciBufAttrs(NULL, attrs, 10, 0, list) == NVMEDIA_STATUS_NOT_SUPPORTED);
  CHECK(NvSciBufAttrListSetAttrs(list, &pair, 1) == NvSciError_Success);
  CHECK(NvSciBufAttrListSetAttrs(list, &pair, 1) == NvSciError_BadParameter);
  CHECK(NvSciBufAttrListReconcileAndObjAlloc(&list, 1, &object, &conflict) ==
        NvSciError_BadParameter);
  NvSciBufAttrListFree(conflict);
  CHECK(NvMediaTensorCreateFromNvSciBuf(NULL, NULL, NULL) == NVMEDIA_STATUS_BAD_PARAMETER);
  CHECK(NvMediaTensorLock(NULL, 1, NULL) == NVMEDIA_STATUS_BAD_PARAMETER);
  CHECK(NvMediaTensorUnlock(NULL) == NVMEDIA_STATUS_BAD_PARAMETER);
  CHECK(NvMediaTensorGetStatus(NULL, 0, NULL) == NVMEDIA_STATUS_BAD_PARAMETER);
  NvMediaTensorDestroy(NULL);
  NvSciBufObjFree(NULL);
  NvSciBufAttrListFree(list);
}

int main(void) {
  NvSciBufModule module = NULL;
  CHECK(NvSciBufModuleOpen(&module) == NvSciError_Success);
  whole_sequence(module);
  blocks_of_channels(module);
  conflicts_are_told(module);
  unmapped_is_not_locked(module);
  versions_are_told();
  lengths_are_checked(module);
  wrong_calls(module);
  NvSciBufModuleClose(module);
  return failures;
}
