// SPDX-License-Identifier: Apache-2.0
// The host's BLAS as a baseline, with libraries that are made here: the loader finds them ahead of
// the system's.
#include <cstdlib>
#include <thread>

#include "tests/cli/tool.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/plugin_builder.hpp"
#include "tuner/json/json.hpp"
#include "tuner/text/format.hpp"

namespace autotune::testing {
namespace {

namespace fs = std::filesystem;

/// What tells OpenBLAS from others, with `count` threads at most.
std::string like_openblas(int count) {
  return "static int threads = " + std::to_string(count) +
         ";\n"
         "const char* openblas_get_config(void) { return \"OpenBLAS 0.0 test\"; }\n"
         "int openblas_get_num_threads(void) { return threads; }\n"
         "void openblas_set_num_threads(int wanted) {\n"
         "  threads = wanted < 1 ? 1 : wanted > " +
         std::to_string(count) + " ? " + std::to_string(count) + " : wanted;\n}\n";
}

/// cblas_sgemm and cblas_dgemm; `first` is what a call does first.
std::string products(const std::string& first = "") {
  return R"(
#include <stdlib.h>
#define PRODUCT(name, T)                                                                      \
  void name(int order, int ta, int tb, int m, int n, int k, T alpha, const T* a, int lda,     \
            const T* b, int ldb, T beta, T* c, int ldc) {                                     \
    if (order != 101 || beta != 0) abort();                                                   \
    FIRST                                                                                     \
    for (int i = 0; i < m; ++i) {                                                             \
      for (int j = 0; j < n; ++j) {                                                           \
        double sum = 0;                                                                       \
        for (int l = 0; l < k; ++l) {                                                         \
          sum += (double)(ta == 112 ? a[l * lda + i] : a[i * lda + l]) *                      \
                 (double)(tb == 112 ? b[j * ldb + l] : b[l * ldb + j]);                       \
        }                                                                                     \
        c[i * ldc + j] = alpha * (T)sum;                                                      \
      }                                                                                       \
    }                                                                                         \
  }
#define FIRST )" +
         first + R"(
PRODUCT(cblas_sgemm, float)
PRODUCT(cblas_dgemm, double)
)";
}

class Blas : public ::testing::Test {
 protected:
  /// The only library that the plugin sees.
  void install(const std::string& source) {
    const fs::path built = workshop_.build("library", source, "cc", "-O2");
    const fs::path folder = workshop_.folder() / "found";
    fs::create_directories(folder);
    for (const char* const name : {"libopenblas.so.0", "libopenblas.so", "libblis.so.4",
                                   "libblis.so.3", "libblis.so", "libblas.so.3"}) {
      fs::copy_file(built, folder / name, fs::copy_options::overwrite_existing);
    }
    const char* const others = std::getenv("LD_LIBRARY_PATH");
    sandbox_.set("LD_LIBRARY_PATH", folder.string() + (others ? std::string(":") + others : ""));
  }

  Ended tune(const Words& more = {}) const {
    return sandbox_.run(Words("--target gemm --device host --sizes 8x12x10 --budget 1") + more);
  }

  /// The names of the library's candidates in the playoff.
  std::vector<std::string> candidates(std::vector<std::string> settings) const {
    Words words = "--json";
    for (const std::string& setting : settings) words += format("--set {}", setting);
    const Ended ended = tune(words);
    EXPECT_EQ(ended.status, 0) << ended.err;
    EXPECT_THAT(ended.err, Not(HasSubstr("baseline")));
    std::vector<std::string> names;
    const Json document = Json::parse(ended.out);
    for (const Json& one : document["problems"][0]["baselines"]) {
      EXPECT_EQ(one["plugin"], "blas");
      names.push_back(one["name"]);
    }
    return names;
  }

  PluginWorkshop workshop_;
  Sandbox sandbox_;
};

TEST_F(Blas, IsComparedWithTheBestInEveryVerb) {
  install(like_openblas(1) + products());
  const Ended ended = tune();
  ASSERT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("x blas cblas_sgemm (OpenBLAS, 1 thread) ("));
  EXPECT_THAT(sandbox_.run("query --target gemm").out,
              HasSubstr("blas cblas_sgemm (OpenBLAS, 1 thread)"));
  EXPECT_THAT(
      sandbox_.run("explain --target gemm --size 8x12x10").out,
      ContainsRegex("\nbaseline    .*x the best.*: blas cblas_sgemm .OpenBLAS, 1 thread.\n"));
  const std::string page = (sandbox_.folder() / "page.html").string();
  sandbox_.done(format("report --output {}", page));
  EXPECT_THAT(file_bytes(page), AllOf(HasSubstr("over blas"), HasSubstr("OpenBLAS, 1 thread")));
}

TEST_F(Blas, ComputesBothTypesInEveryLayoutWithPadsBatchesAndAlpha) {
  install(like_openblas(1) + products());
  for (const char* const layout : {"layout=NT", "layout=TN", "layout=TT"}) {
    EXPECT_THAT(candidates({layout, "pad=4"}), ElementsAre("cblas_sgemm (OpenBLAS, 1 thread)"))
        << layout;
  }
  EXPECT_THAT(candidates({"dtype=f64", "layout=TN", "scale=alpha"}),
              ElementsAre("cblas_dgemm (OpenBLAS, 1 thread)"));
}

TEST_F(Blas, OfOtherTypesAndEpiloguesDoesNotExist) {
  install(like_openblas(1) + products());
  EXPECT_THAT(candidates({"dtype=i32"}), IsEmpty());
  EXPECT_THAT(candidates({"scale=beta"}), IsEmpty());
  EXPECT_THAT(candidates({"epilogue=relu"}), IsEmpty());
}

TEST_F(Blas, IsTimedWithOneThreadAndWithThoseOfTheHost) {
  install(like_openblas(64) + products());
  const std::vector<std::string> names = candidates({});
  EXPECT_THAT(names, Each(StartsWith("cblas_sgemm (OpenBLAS, ")));
  const auto of_host = std::thread::hardware_concurrency();
  EXPECT_EQ(names.size(), of_host > 1 ? 2u : 1u);
  EXPECT_THAT(names, Contains("cblas_sgemm (OpenBLAS, 1 thread)"));
}

TEST_F(Blas, ThatIsNeitherOpenblasNorBlisIsNoneWithoutAWord) {
  install(products());
  EXPECT_THAT(candidates({}), IsEmpty());
}

TEST_F(Blas, WithoutItsCInterfaceIsLeftOutWithTheCure) {
  install(like_openblas(1));
  const Ended ended = tune();
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(ended.err, HasSubstr("baseline blas is left out: open(): libopenblas.so.0 has no "
                                   "cblas_sgemm and cblas_dgemm: install OpenBLAS or BLIS"));
}

TEST_F(Blas, ThatCrashesOrIsWrongEndsNoRun) {
  install(like_openblas(1) + products("abort();"));
  Ended ended = tune();
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("baseline blas is left out: cblas_sgemm (OpenBLAS, 1 thread): "
                                   "crash"));
  EXPECT_THAT(ended.out, HasSubstr("gemm M=8 N=12 K=10"));
  install(like_openblas(1) + products("alpha = alpha + 1;"));
  ended = tune("--retune");
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("baseline blas is left out: cblas_sgemm (OpenBLAS, 1 thread): "
                                   "wrong"));
}

TEST_F(Blas, TakesNoPartWhereBaselinesAreLeftOut) {
  install(like_openblas(1) + products());
  EXPECT_THAT(tune("--no-baseline").out, Not(HasSubstr("blas")));
}

}  // namespace
}  // namespace autotune::testing
