// SPDX-License-Identifier: Apache-2.0
#include "tuner/ranks/fact_inbox.hpp"

#include <SQLiteCpp/Database.h>
#include <gmock/gmock.h>

#include <sstream>

#include "db/exchange.hpp"
#include "tests/tuner/session/toy.hpp"
#include "tuner/host/temporary_folder.hpp"

namespace autotune {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class FactInboxTest : public StoreTest {
 protected:
  /// What a rank has stored about a problem.
  static std::string rows() {
    const TemporaryFolder folder;
    db::TunedStore store(folder.path() / "rank.db");
    testing::FakeDevice device(bowl);
    const Target target = two_parameters();
    tune(target, device, &store, request_for(target, {64}, 6));
    std::ostringstream lines;
    db::export_json_lines(store, lines);
    return std::move(lines).str();
  }

  std::vector<std::string> warnings_;
  db::TunedStore store_ = open_store();
  FactInbox inbox_{store_, [this](const std::string& text) { warnings_.push_back(text); }};
};

TEST_F(FactInboxTest, RowsAreStoredTogetherATenthOfASecondAfterTheFirst) {
  const std::string lines = rows();
  const std::size_t middle = lines.find('\n', lines.size() / 2) + 1;
  inbox_.add(lines.substr(0, middle), 7);
  inbox_.add(lines.substr(middle), 7.09);
  inbox_.store_due(7.09);
  EXPECT_THAT(store_.tuned({}), IsEmpty());
  inbox_.store_due(7.11);
  EXPECT_THAT(store_.tuned({}), SizeIs(1));
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(FactInboxTest, ManyRowsDoNotWait) {
  inbox_.add(rows(), 7);
  inbox_.add(std::string(std::size_t{4} << 20, '\n'), 7);
  inbox_.store_due(7);
  EXPECT_THAT(store_.tuned({}), SizeIs(1));
}

TEST_F(FactInboxTest, RowsThatCannotBeStoredAreKeptForTheNextAttempt) {
  SQLite::Database other(store_.path().string(), SQLite::OPEN_READWRITE);
  inbox_.add(rows(), 7);
  other.exec("ALTER TABLE session RENAME TO away");
  EXPECT_THROW(inbox_.store_all(), db::StoreError);
  other.exec("ALTER TABLE away RENAME TO session");
  inbox_.store_all();
  EXPECT_THAT(store_.tuned({}), SizeIs(1));
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(FactInboxTest, ARefusedRowIsAWarning) {
  inbox_.add("{\"table\":\"trial\"}\n", 7);
  inbox_.store_all();
  ASSERT_THAT(warnings_, SizeIs(1));
  EXPECT_THAT(warnings_[0], HasSubstr("results of another rank"));
}

}  // namespace
}  // namespace autotune
