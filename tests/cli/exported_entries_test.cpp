// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/db_export.hpp"

#include <gmock/gmock.h>

#include "tests/db/sample.hpp"
#include "tuner/cli/verb.hpp"
#include "tuner/core/error.hpp"

namespace autotune::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

/// gemm as it was tuned is the target that is here.
class ExportedEntries : public ::testing::Test {
 protected:
  ExportedEntries() {
    target_.name = "gemm";
    target_.fingerprint = "f1";
    target_.sizes = {"M", "N", "K"};
    target_.settings = {{"dtype", {Value("f32")}}};
    target_.parameters = {{"BM", {Value(1), Value(2), Value(3), Value(4)}, {}}};
    target_.default_configuration = parse_named_values("BM=4");
  }
  void tuned(const std::string& policy, const std::string& configuration) {
    sample_.key.policy = policy;
    store_.add_decision(sample_.decision(configuration, 20000));
  }
  std::vector<std::string> exported(std::vector<std::string> words) {
    words.insert(words.end(), {"--db", store_.path().string()});
    const Arguments arguments(verb_called("db"), words);
    AnswerJudge judge(arguments, [&](const std::string&) { return target_; });
    std::vector<std::string> configurations;
    Databases databases(arguments, judge);
    for (const db::TunedEntry& entry : exported_entries(arguments, databases, judge)) {
      configurations.push_back(entry.best.configuration);
    }
    return configurations;
  }

  Target target_;
  db::TemporaryFolder folder_;
  db::TunedStore store_{folder_ / "t.db"};
  db::Sample sample_{store_};
};

TEST_F(ExportedEntries, AreThoseOfTheDefaultPolicy) {
  tuned("l2=cold launch=graph", "BM=1");
  EXPECT_THAT(exported({"export", "--target", "gemm"}), ElementsAre("BM=1")) << "else the first";
  tuned("l2=hot launch=graph", "BM=2");
  EXPECT_THAT(exported({"export", "--target", "gemm"}), ElementsAre("BM=2"));
  tuned("l2=hot launch=graph context=between", "BM=3");
  EXPECT_THAT(exported({"export", "--target", "gemm"}), ElementsAre("BM=3"));
  EXPECT_THAT(exported({"export", "--target", "gemm", "--context", "chain"}), ElementsAre("BM=2"));
}

TEST_F(ExportedEntries, AreOfGpusAndOfTheKernelThatIsHere) {
  tuned("l2=hot launch=graph", "BM=2");
  target_.fingerprint = "f2";
  EXPECT_THAT(
      [&] {
        exported({"export", "--target", "gemm"});
      },
      ThrowsMessage<Error>(HasSubstr("none of its answers fits the kernels")));
  target_.fingerprint = "f1";
  db::DeviceRow host = db::h200();
  host.name = "a CPU";
  host.kind = "host";
  host.compute_capability = 0;
  sample_.key.device = store_.add_device(host);
  tuned("l2=hot launch=graph", "BM=4");
  EXPECT_THAT(exported({"export", "--target", "gemm"}), ElementsAre("BM=2"));
  EXPECT_THAT(
      [&] {
        exported({"export", "--target", "gemm", "--device", "a CPU"});
      },
      ThrowsMessage<Error>(HasSubstr("nothing is tuned there on a GPU")));
}

TEST_F(ExportedEntries, ASizeThatIsNotTunedIsRefused) {
  tuned("l2=hot launch=graph", "BM=2");
  EXPECT_THAT(exported({"export", "--target", "gemm", "--size", "512"}), ElementsAre("BM=2"));
  EXPECT_THAT(
      [&] {
        exported({"export", "--target", "gemm", "--size", "64"});
      },
      ThrowsMessage<Error>(HasSubstr("gemm of size 64 is not tuned")));
}

TEST(IdentifierOf, IsAValidNameInCpp) {
  EXPECT_EQ(identifier_of("gemm_tf32"), "gemm_tf32");
  EXPECT_EQ(identifier_of("my-kernel.v2"), "my_kernel_v2");
  EXPECT_EQ(identifier_of("2d"), "_2d");
}

}  // namespace
}  // namespace autotune::cli
