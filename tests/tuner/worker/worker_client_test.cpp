// SPDX-License-Identifier: Apache-2.0
#include "tuner/worker/worker_client.hpp"

#include <gmock/gmock.h>

#include "tests/tuner/worker/fake_worker.hpp"
#include "tuner/core/device.hpp"
#include "tuner/host/temporary_folder.hpp"

namespace autotune {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// Its worker says this, whatever it is asked.
class SayingClient {
 public:
  explicit SayingClient(const Json& answer)
      : client_({program_that_says({worker_greeting(), answer}, folder_.path()).string()}) {}

  double seconds() {
    return client_.call({{"do", "time"}}, {}, 60, "timing",
                        [](const Json& answer) -> double { return field(answer, "seconds"); });
  }

 private:
  const TemporaryFolder folder_;
  WorkerClient client_;
};

TEST(WorkerClient, ReturnsWhatIsReadFromTheAnswer) {
  EXPECT_EQ(SayingClient(Json{{"seconds", 2}}).seconds(), 2.0);
}

TEST(WorkerClient, AnAnswerOfOtherTypesIsACrashOfTheWorker) {
  for (const Json& answer :
       {Json{{"seconds", "two"}}, Json{{"second", 2}}, Json{{"failure", 99}, {"what", ""}},
        Json{{"failure", 3.5}, {"what", ""}}, Json{{"error", 1}}}) {
    try {
      SayingClient(answer).seconds();
      ADD_FAILURE() << answer.dump();
    } catch (const KernelFailure& failure) {
      EXPECT_EQ(failure.outcome(), Outcome::crash);
      EXPECT_THAT(failure.what(), HasSubstr("the worker was ended while timing: "));
    }
  }
}

TEST(WorkerClient, FiveSuchAnswersInARowAreAnUnhealthyDevice) {
  SayingClient client(Json{{"seconds", "two"}});
  for (int i = 1; i < WorkerClient::kMostFailures; ++i)
    EXPECT_THROW(client.seconds(), KernelFailure);
  EXPECT_THAT([&] { client.seconds(); },
              ::testing::ThrowsMessage<Error>(
                  AllOf(HasSubstr("unhealthy"), HasSubstr("\"two\" is not a number"))));
}

}  // namespace
}  // namespace autotune
