// y = 2 x over N elements, with a fault of one's choice. Grid ceil(N / 128), block 128.
// FAULT is the fault; VARIANT only makes configurations differ. Macros: faults.target.toml.

extern "C" __global__ void faults(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
#if FAULT == FAULT_COMPILER_ERROR
#error this fault is one of the compiler
#elif FAULT == FAULT_INFINITE_LOOP
  while (*static_cast<const volatile float*>(x) < 1e30f) {
  }
#elif FAULT == FAULT_ILLEGAL_ADDRESS
  *reinterpret_cast<volatile float*>(0x10 + 4 * (n < 0)) = 1;
#elif FAULT == FAULT_MISALIGNED
  if (i == 0) *reinterpret_cast<float4*>(y + 1) = make_float4(x[0], x[1], x[2], x[3]);
#elif FAULT == FAULT_RACE
  __shared__ float tile[128];
  for (volatile int wait = 0; threadIdx.x >= 64 && wait < 1000;) wait = wait + 1;
  tile[threadIdx.x] = i < n ? x[i] : 0;
  const float other = static_cast<volatile float*>(tile)[127 - threadIdx.x];  // no barrier
  const int mirrored = blockIdx.x * blockDim.x + 127 - threadIdx.x;
  if (mirrored < n) y[mirrored] = 2 * other;
#elif FAULT == FAULT_TOO_MUCH_SHARED
  extern __shared__ float tile[];
  tile[threadIdx.x] = x[0];
#elif FAULT == FAULT_PAST_THE_END
  if (i == 0) y[n] = 1;
#endif

#if FAULT == FAULT_NAN_OUTPUT
  if (i < n) y[i] = i == 5 ? (x[i] - x[i]) / (x[i] - x[i]) : 2 * x[i];
#elif FAULT != FAULT_WRITES_NOTHING && FAULT != FAULT_RACE
  if (i < n) y[i] = (2 + 0 * VARIANT) * x[i];
#endif
}

extern "C" __global__ void faults_reference(const float* x, double* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2.0 * x[i];
}
