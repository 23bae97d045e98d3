// SPDX-License-Identifier: Apache-2.0
// C[N,N] = A[N,N] B[N,N], row-major f32, in tiles of ROWS x COLUMNS x DEPTH. A plain program:
//   product N CALLS A B C
// reads A and B, times CALLS products, prints the time of one, and writes C.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

using Matrix = std::vector<float>;

static Matrix read(const char* path, std::size_t n) {
  Matrix matrix(n * n);
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(matrix.data()), std::streamsize(n * n * sizeof(float)));
  if (!file) std::exit(1);
  return matrix;
}

static void multiply(const Matrix& a, const Matrix& b, Matrix& c, std::size_t n) {
  std::fill(c.begin(), c.end(), 0.0f);
  for (std::size_t i0 = 0; i0 < n; i0 += ROWS) {
    for (std::size_t k0 = 0; k0 < n; k0 += DEPTH) {
      for (std::size_t j0 = 0; j0 < n; j0 += COLUMNS) {
        const std::size_t j1 = std::min<std::size_t>(j0 + COLUMNS, n);
        for (std::size_t i = i0; i < std::min<std::size_t>(i0 + ROWS, n); ++i) {
          for (std::size_t k = k0; k < std::min<std::size_t>(k0 + DEPTH, n); ++k) {
            for (std::size_t j = j0; j < j1; ++j) c[i * n + j] += a[i * n + k] * b[k * n + j];
          }
        }
      }
    }
  }
}

int main(int, char** argv) {
  const std::size_t n = std::strtoul(argv[1], nullptr, 10);
  const int calls = std::atoi(argv[2]);
  const Matrix a = read(argv[3], n), b = read(argv[4], n);
  Matrix c(n * n);
  const auto start = std::chrono::steady_clock::now();
  for (int call = 0; call < calls; ++call) multiply(a, b, c, n);
  const std::chrono::duration<double> all = std::chrono::steady_clock::now() - start;
  std::printf("time %.9f\n", all.count() / calls);
  std::ofstream(argv[5], std::ios::binary)
      .write(reinterpret_cast<const char*>(c.data()), std::streamsize(n * n * sizeof(float)));
}
