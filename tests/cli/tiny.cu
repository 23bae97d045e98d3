// y = 2 x + 1 over N integers. A thread makes STEP elements; grid ceil(N / (BLOCK STEP)).
// STEP is an argument, so that a compiled kernel serves for each. Macros: tiny.target.toml.

extern "C" __global__ void tiny(const int* x, int* y, int step, int n) {
  const int first = (blockIdx.x * BLOCK + threadIdx.x) * step;
#ifdef SPOILT
#error this kernel does not compile
#endif
  for (int i = first; i < first + step && i < n; ++i) y[i] = 2 * x[i] + 1;
}

extern "C" __global__ void tiny_reference(const int* x, int* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i] + 1;
}
