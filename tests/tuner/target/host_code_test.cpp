// SPDX-License-Identifier: Apache-2.0
#include "tuner/target/source_pieces.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <vector>

namespace autotune {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::vector<std::string> left_out(const std::string& source) {
  std::vector<std::string> names;
  for (const LeftOut& each : without_host_code(source).left_out) {
    names.push_back(each.name + ":" + std::to_string(each.line));
  }
  return names;
}

constexpr const char* kProgram = R"(#include <vector>
#define CHECK(call) do { if ((call) != cudaSuccess) exit(1); } while (0)
#define DEV __device__ __forceinline__
using namespace std;
struct Timer {
  cudaEvent_t start;
  Timer() { cudaEventCreate(&start); }
};
std::vector<float> data;
DEV float twice(float x) { return 2 * x; }  // } and "<<<"
inline float plus_one(float x) { return x + 1; }
namespace detail {
extern "C" {
__global__ void scale(const float* x, float* y) { y[0] = twice(plus_one(x[0])); }
}
void fill(float* x, int n = 3) { for (int i = 0; i < n; ++i) x[i] = rand(); }
}  // namespace detail
int run();
template <class T, int N = 4>
bool launch(T* x) {
  scale<<<1, N>>>(x, x);
  return true;
}
bool verify(const float* x) { return plus_one(x[0]) == 3; }
int run() { Timer timer; launch(new float[3]); return 0; }

int main(int argc, char** argv)
{
#ifdef SLOW
  printf("}");
#endif
  return run();
}
__device__ float after;
)";

TEST(HostCode, IsLeftOutWithWhatUsesIt) {
  EXPECT_THAT(left_out(kProgram),
              ElementsAre("fill:16", "launch:19", "verify:24", "run:25", "main:27"));
}

TEST(HostCode, LeavesKernelsTheirHelpersAndLines) {
  const std::string text = without_host_code(kProgram).text;
  EXPECT_EQ(std::ranges::count(text, '\n'), std::ranges::count(std::string(kProgram), '\n'));
  for (const char* kept :
       {"DEV float twice(float x) { return 2 * x; }", "plus_one(float x)", "__global__ void scale(",
        "#ifdef SLOW", "__device__ float after;", "using namespace std;", "#define CHECK(call)"}) {
    EXPECT_THAT(text, HasSubstr(kept));
  }
  for (const char* gone :
       {"<<<1", "Timer", "std::vector<float> data", "return run()", "int run()", "rand()"}) {
    EXPECT_THAT(text, Not(HasSubstr(gone)));
  }
}

TEST(HostCode, IsNotWhatAnIncludedKernelUses) {
  Words named;
  add_device_words("float only_on_host(float x);", named);
  EXPECT_THAT(named, IsEmpty());
  add_device_words("__global__ void k(float* x) { x[0] = helper(x[1]); }", named);
  const std::string source = "float helper(float x) { return x; }\nint main() { helper(1); }";
  EXPECT_THAT(without_host_code(source, named).text, HasSubstr("helper(float x)"));
  EXPECT_THAT(without_host_code(source).text, Not(HasSubstr("helper(float x)")));
}

TEST(HostCode, IsNotWhatOnlyLooksLikeIt) {
  for (const char* source :
       {"__global__ void f(cudaTextureObject_t t) {}",
        "float rand(int i) { return i; }\nfloat f(int i) { return rand(i); }",
        "float f(float x) { return sqrtf(x); }",
        "__device__ int operator==(const A& a, const A& b) { return 1; }\nint x = 3;",
        "const char* t = R\"(int main() { f<<<1, 1>>>(); })\";",
        "// int main() { f<<<1, 1>>>(); }\n/* cudaMalloc */ int i;",
        "int main() { f<<<1, 1>>>(); }}}"}) {  // braces do not match
    EXPECT_THAT(left_out(source), IsEmpty()) << source;
    EXPECT_EQ(without_host_code(source).text, source);
  }
}

}  // namespace
}  // namespace autotune
