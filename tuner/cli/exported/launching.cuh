// SPDX-License-Identifier: Apache-2.0
// Of exported kernels: how each is launched.
/// One launch. With `early`, its blocks may start before the previous kernel has ended; the
/// kernel itself waits for it. With `cooperative`, all blocks must be resident at once.
cudaError_t start(const void* kernel, dim3 grid, dim3 block, dim3 cluster, size_t shared,
                  bool early, bool cooperative, void** arguments, cudaStream_t stream) {
  cudaError_t status = cudaSuccess;
  if (shared > 0) {
    status = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(shared));
  }
  if (status == cudaSuccess && cluster.x * cluster.y * cluster.z > 8) {
    status = cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
  }
  if (status != cudaSuccess) return status;
  cudaLaunchAttribute attributes[3] = {};
  cudaLaunchConfig_t config = {};
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = shared;
  config.stream = stream;
  config.attrs = attributes;
  if (cluster.x * cluster.y * cluster.z > 1) {
    cudaLaunchAttribute& attribute = attributes[config.numAttrs++];
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = cluster.x;
    attribute.val.clusterDim.y = cluster.y;
    attribute.val.clusterDim.z = cluster.z;
  }
  if (cooperative) {
    cudaLaunchAttribute& attribute = attributes[config.numAttrs++];
    attribute.id = cudaLaunchAttributeCooperative;
    attribute.val.cooperative = 1;
  }
  if (early) {
    cudaLaunchAttribute& attribute = attributes[config.numAttrs++];
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
  }
  return cudaLaunchKernelExC(&config, kernel, arguments);
}
