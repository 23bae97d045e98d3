// y = 2 x + 1 over N integers, unless `fault` is not 0: then an illegal address.
// One thread a block; grid N. All arguments are of the run: one compiled kernel serves for all.

extern "C" __global__ void hostile(const int* x, int* y, int n, int fault) {
  if (fault != 0) *reinterpret_cast<volatile int*>(0x10 + 4 * (n < 0)) = 1;
  const int i = blockIdx.x;
  if (i < n) y[i] = 2 * x[i] + 1;
}

extern "C" __global__ void hostile_reference(const int* x, int* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i] + 1;
}
