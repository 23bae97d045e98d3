// SPDX-License-Identifier: Apache-2.0
#include "tuner/ranks/member_tuner.hpp"

#include <gmock/gmock.h>

#include <thread>

#include "tests/tuner/ranks/fake_job.hpp"
#include "tests/tuner/session/toy.hpp"
#include "tuner/core/error.hpp"
#include "tuner/worker/worker_process.hpp"

namespace autotune {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// The test speaks for rank 0.
class MemberTunerTest : public ::testing::Test {
 protected:
  MemberTunerTest() {
    options_.prepare = [this] {
      return std::make_unique<testing::FakeJob>(target_, request_, bowl);
    };
  }
  void start() {
    thread_ = std::jthread([this] { tuner_.run(); });
  }
  ~MemberTunerTest() override { tuner_.stop(); }

  /// The next packet to rank 0.
  Message packet() {
    for (;;) {
      if (const auto one = tuner_.poll()) return *unpacked(*one);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  std::string next() { return packet().header["say"]; }
  void tell(const Json& header) { tuner_.take(*unpacked(packed(header))); }

  const Target target_ = two_parameters();
  const TuningRequest request_ = request_for(target_, {64, 32}, 6);
  MemberOptions options_;
  MemberTuner tuner_{options_};
  std::jthread thread_;
};

TEST_F(MemberTunerTest, SaysWhatItsDeviceIs) {
  start();
  const auto hello = content_of<Hello>(packet().header);
  EXPECT_EQ(hello.build, worker_version());
  EXPECT_EQ(hello.device.name, "fake");
  EXPECT_EQ(hello.problems, problems_hash(target_, request_));
  EXPECT_EQ(hello.threads, 2);
}

TEST_F(MemberTunerTest, AnOrderBecomesRowsAndAReport) {
  start();
  next();
  EXPECT_THAT(tuner_.facts(), IsEmpty());
  Order order;
  order.number = 1;
  order.threads = 1;
  tell(wire_of(order));
  const Message message = packet();
  const auto done = content_of<Done>(message.header);
  EXPECT_EQ(done.number, 1u);
  EXPECT_TRUE(done.report.decision.best);
  EXPECT_EQ(learned_of(message.bytes).size(), 6u);
  EXPECT_THAT(tuner_.facts(), HasSubstr("N=32"));
  EXPECT_THAT(tuner_.facts(), IsEmpty()) << "they are sent once";
}

TEST_F(MemberTunerTest, AWrongRequestIsFatalForAll) {
  options_.prepare = []() -> std::unique_ptr<MemberJob> { throw UsageError("no such device"); };
  start();
  const auto failed = content_of<Failed>(packet().header);
  EXPECT_EQ(failed.what, "no such device");
  EXPECT_TRUE(failed.fatal);
  EXPECT_TRUE(failed.usage);
  thread_.join();
  EXPECT_FALSE(tuner_.is_busy()) << "so the process can end in order";
}

TEST_F(MemberTunerTest, StoppedBeforeItBeginsItReportsWhatThereIs) {
  start();
  next();
  tell({{"say", say::kStop}});
  tell(wire_of(Order{}));
  for (std::string what = next(); what != say::kDone;) what = next();
}

}  // namespace
}  // namespace autotune
