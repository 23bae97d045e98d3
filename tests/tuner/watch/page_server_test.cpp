// SPDX-License-Identifier: Apache-2.0
#include "tuner/watch/page_server.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <httplib.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <fstream>
#include <vector>

#include "tests/db/sample.hpp"
#include "tests/support/matchers.hpp"
#include "tuner/core/error.hpp"

namespace autotune::watch {
namespace {

Pages hello() {
  return {[] {
            return Content{"\"7\"", "<p>hello</p>"};
          },
          [](const Content& content) { return "page around " + content.html; }};
}

class PageServerTest : public ::testing::Test {
 protected:
  std::string token() const {
    const std::string url = server_.url();
    return url.substr(url.find("token="));
  }
  httplib::Result get(const std::string& path, const httplib::Headers& headers = {}) {
    return client_.Get(path, headers);
  }

  PageServer server_{0, hello()};
  httplib::Client client_{"127.0.0.1", server_.port()};
};

TEST_F(PageServerTest, GivesThePageToWhoKnowsTheToken) {
  EXPECT_THAT(server_.url(), StartsWith("http://127.0.0.1:" + std::to_string(server_.port())));
  const auto page = get("/?" + token());
  ASSERT_TRUE(page);
  EXPECT_EQ(page->status, 200);
  EXPECT_EQ(page->body, "page around <p>hello</p>");
  EXPECT_EQ(page->get_header_value("Cache-Control"), "no-store");
  EXPECT_EQ(get("/content?" + token())->body, "<p>hello</p>");
  EXPECT_EQ(get("/other?" + token())->status, 404);
}

TEST_F(PageServerTest, RefusesWhoDoesNotKnowTheToken) {
  std::string wrong = token();
  wrong.back() = wrong.back() == '0' ? '1' : '0';
  for (const std::string& query :
       {std::string(), "?" + wrong, std::string("?token="), "?" + token() + "0"}) {
    for (const char* path : {"/", "/content", "/other"}) {
      const auto answer = get(path + query);
      ASSERT_TRUE(answer) << path << query;
      EXPECT_EQ(answer->status, 403) << path << query;
      EXPECT_THAT(answer->body, Not(HasSubstr("hello")));
    }
  }
  EXPECT_EQ(client_.Post("/?token=", "body", "text/plain")->status, 403);
}

TEST_F(PageServerTest, RefusesANameOfAnotherSiteThatLeadsHere) {
  for (const char* host :
       {"evil.example", "evil.example:80", "127.0.0.1.evil.example", "localhost.evil", ""}) {
    const auto answer = get("/?" + token(), {{"Host", host}});
    ASSERT_TRUE(answer) << host;
    EXPECT_EQ(answer->status, 403) << host;
  }
  for (const char* host : {"localhost", "localhost:8000", "127.0.0.1:8000"}) {  // a tunnel's port
    EXPECT_EQ(get("/?" + token(), {{"Host", host}})->status, 200) << host;
  }
}

TEST_F(PageServerTest, AKnownVersionIsNotSentAgain) {
  EXPECT_EQ(get("/content?" + token())->get_header_value("ETag"), "\"7\"");
  const auto known = get("/content?" + token(), {{"If-None-Match", "\"7\""}});
  EXPECT_EQ(known->status, 304);
  EXPECT_EQ(known->body, "");
  EXPECT_EQ(get("/content?" + token(), {{"If-None-Match", "\"6\""}})->status, 200);
}

TEST_F(PageServerTest, APortIsForOneServer) {
  EXPECT_THAT(
      [&] { const PageServer second(server_.port(), hello()); },
      ThrowsMessage<Error>(AllOf(HasSubstr(std::to_string(server_.port())), HasSubstr("--port"))));
}

TEST(PageServer, AFreedPortCanBeUsedAgain) {
  auto first = std::make_unique<PageServer>(0, hello());
  const int port = first->port();
  const std::string url = first->url();
  first.reset();
  EXPECT_FALSE(httplib::Client("127.0.0.1", port).Get("/"));
  const PageServer second(port, hello());
  EXPECT_NE(second.url(), url);  // the token
}

/// A connection to the server, without a request.
int connected(const PageServer& server) {
  const int connection = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(server.port()));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(connect(connection, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  return connection;
}

TEST(PageServer, ASilentConnectionDoesNotHoldTheEnd) {
  auto server = std::make_unique<PageServer>(0, hello());
  const int connection = connected(*server);
  server.reset();  // the test's time limit ends it otherwise
  close(connection);
}

TEST_F(PageServerTest, ManyConnectionsWithHalfARequestKeepNobodyWaiting) {
  std::vector<int> slow;
  for (int i = 0; i < 100; ++i) {
    slow.push_back(connected(server_));
    EXPECT_EQ(write(slow.back(), "G", 1), 1);
  }
  client_.set_read_timeout(5);  // seconds; eight threads would take 12 to be rid of the others
  const auto page = get("/?" + token());
  ASSERT_TRUE(page);
  EXPECT_EQ(page->status, 200);
  for (const int connection : slow) close(connection);
}

TEST_F(PageServerTest, ARequestThatComesByteByByteIsGivenUp) {
  const int slow = connected(server_);
  timeval wait{0, 200'000};
  setsockopt(slow, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
  char answer = 0;
  int sent = 0;
  // Until the server closes: a client that is never silent for long.
  while (send(slow, "G", 1, MSG_NOSIGNAL) == 1 && recv(slow, &answer, 1, 0) < 0) ++sent;
  EXPECT_GT(sent, 5) << "a second is not enough";
  EXPECT_LT(sent, 50) << "10 s are too many";
  close(slow);
}

/// Content that counts how often it is made. Making takes `cost` seconds of a clock that the test
/// turns.
class LiveContentTest : public ::testing::Test {
 protected:
  void write(const std::string& text) { std::ofstream(folder_ / "file") << text; }

  Made make() {
    now_ += cost_;
    return {std::to_string(++made_), is_whole_};
  }

  db::TemporaryFolder folder_;
  int made_ = 0;
  double now_ = 0, cost_ = 0;
  bool is_whole_ = true;
  LiveContent live_{folder_ / "file", [this] { return make(); }, [this] { return now_; }};
};

TEST_F(LiveContentTest, IsMadeAgainWhenTheFileHasChangedOnly) {
  write("a");
  const Content first = live_.content();
  EXPECT_EQ(first.html, "1");
  EXPECT_EQ(live_.content().version, first.version);
  write("b");
  EXPECT_EQ(live_.content().html, "2");
  EXPECT_NE(live_.content().version, first.version);
}

TEST_F(LiveContentTest, AMissingFileMayCome) {
  is_whole_ = false;
  EXPECT_EQ(live_.content().html, "1");
  EXPECT_EQ(live_.content().html, "2");  // tried again
  is_whole_ = true;
  write("a");
  EXPECT_EQ(live_.content().html, "3");
  EXPECT_EQ(live_.content().html, "3");
}

TEST_F(LiveContentTest, WhoHasWaitedForALockIsNotLateAfterIt) {
  cost_ = 20;
  is_whole_ = false;
  write("a");
  EXPECT_EQ(live_.content().html, "1");
  is_whole_ = true;
  EXPECT_EQ(live_.content().html, "2");
}

TEST_F(LiveContentTest, MakingTakesATenthOfTheTimeAtMost) {
  cost_ = 1;
  write("a");
  EXPECT_EQ(live_.content().html, "1");
  write("b");
  now_ += 8;
  EXPECT_EQ(live_.content().html, "1");
  now_ += 1;
  EXPECT_EQ(live_.content().html, "2");
}

}  // namespace
}  // namespace autotune::watch
