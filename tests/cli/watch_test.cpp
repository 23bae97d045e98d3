// SPDX-License-Identifier: Apache-2.0
// autotune watch as a process: from an empty start over a growing database to its end.
#include <httplib.h>
#include <signal.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "tests/cli/sentences.hpp"
#include "tests/support/matchers.hpp"
#include "tuner/text/format.hpp"

namespace autotune::testing {
namespace {

namespace fs = std::filesystem;

/// A running `autotune watch` and a client.
class Watch : public ::testing::Test {
 protected:
  void start(const Words& more = {}) {
    Words arguments = format("watch --db {}", database().string());
    arguments += more;
    tool_ = sandbox_.start(arguments);
    for (int i = 0; i < 6000 && url_.empty() && !tool_->ended(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      url_ = first_line();
    }
    ASSERT_THAT(url_, ::testing::StartsWith("http://127.0.0.1:"));
  }

  fs::path database() const { return sandbox_.folder() / "grows.db"; }

  /// The body of `/content`, or the status if that is not 200.
  std::string content() {
    httplib::Client client(url_.substr(0, url_.find("/?")));
    client.set_read_timeout(60);
    const auto answer = client.Get("/content" + url_.substr(url_.find("/?") + 1));
    return !answer                 ? "no answer"
           : answer->status != 200 ? std::to_string(answer->status)
                                   : answer->body;
  }

  /// The content as soon as it has this text; else what it is after a minute.
  std::string content_with(const std::string& text) {
    std::string now = content();
    for (int i = 0; i < 600 && now.find(text) == std::string::npos; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      now = content();
    }
    return now;
  }

  void tune_size(const char* size) {
    sandbox_.done(tune("tiny", size, format("--budget 3 --db {}", database().string())));
  }

  Sandbox sandbox_;
  std::unique_ptr<Running> tool_;
  std::string url_;

 private:
  /// Of stdout, once it is whole.
  std::string first_line() const {
    for (const auto& entry : fs::directory_iterator(sandbox_.folder())) {
      if (!entry.path().filename().string().starts_with("stdout_")) continue;
      std::ifstream file(entry.path());
      std::string line;
      if (std::getline(file, line) && !file.eof()) return line;
    }
    return "";
  }
};

TEST_F(Watch, ShowsADatabaseFromBeforeItIsThereUntilItIsDamaged) {
  start();
  EXPECT_THAT(content(), HasSubstr("not there yet: this page waits"));
  tune_size("100");
  EXPECT_THAT(content_with("N=100"), HasSubstr("<h3>tiny on "));
  tune_size("200");
  EXPECT_THAT(content_with("N=200"), HasSubstr("N=100"));
  std::ofstream(database(), std::ios::trunc) << std::string(5000, 'x');
  const std::string damaged = content_with("not a database");
  EXPECT_THAT(damaged, HasSubstr("class=\"notice\""));
  EXPECT_THAT(damaged, HasSubstr("N=200"));  // the last that could be read
  fs::remove(database());
  tune_size("300");
  EXPECT_THAT(content_with("N=300"), ::testing::Not(HasSubstr("class=\"notice\"")));

  tool_->signal(SIGTERM);
  const Ended ended = tool_->wait();
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_EQ(ended.out, url_ + "\n");
  EXPECT_THAT(ended.err, HasSubstr("not a database"));
  EXPECT_THAT(ended.err, ::testing::Not(HasSubstr("not there yet"))) << "waiting is no fault";
}

TEST_F(Watch, EndsOnCtrlC) {
  start("--port 0");
  tool_->signal(SIGINT);
  EXPECT_EQ(tool_->wait().status, 0);
}

TEST_F(Watch, RefusesWhatCanNeverBeShown) {
  const std::string other = sandbox_.write("text.db", "no database, but some longer text").string();
  expect_refused(sandbox_.run(format("watch --db {}", other)), 1, {"text.db", "not a database"});
  expect_refused(sandbox_.run("watch --size 100"), 2, {"watch needs --target"});
  expect_refused(sandbox_.run("watch --port 70000"), 2, {"--port"});
}

}  // namespace
}  // namespace autotune::testing
