// SPDX-License-Identifier: Apache-2.0
// Of exported kernels that take tensor maps.
/// A TMA descriptor of memory at `address`. Looks the driver's function up, so nothing links to
/// the driver.
cudaError_t encode(CUtensorMap* map, void* address, CUtensorMapDataType type, unsigned rank,
                   const cuuint64_t* dims, const cuuint64_t* strides, const cuuint32_t* box,
                   CUtensorMapSwizzle swizzle) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
  const cudaError_t status = cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function,
                                                              12000, cudaEnableDefault, &found);
  if (status != cudaSuccess) return status;
  if (found != cudaDriverEntryPointSuccess) return cudaErrorNotSupported;
  const cuuint32_t steps[5] = {1, 1, 1, 1, 1};
  const CUresult result = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(function)(
      map, type, rank, address, dims, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
      CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return result == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue;
}
