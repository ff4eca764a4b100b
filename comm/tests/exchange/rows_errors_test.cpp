// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows that are not there, or that receive twice: the same error on every rank.
#include "comm_test.hpp"

namespace kontor::comm::test {
namespace {

/// The last rank does it differently.
class RowErrors : public OnRing {
 protected:
  Doubles x{"x", 20};

  static Ints list(const std::vector<int>& indices) {
    const Ints made("list", indices.size());
    for (std::size_t i = 0; i < indices.size(); ++i) made(i) = indices[i];
    return made;
  }

  template <class E = AgreedError, class Sent, class Received>
  std::string text(const Sent& sent, const Received& received, const Communicator& with) {
    Exchange<Doubles> exchange(with, "rows");
    exchange.add(x, sent, next, x, received, previous);
    return text_of<E>([&] { exchange.commit(); });
  }
  template <class Sent, class Received>
  std::string text(const Sent& sent, const Received& received) {
    return text(sent, received, comm);
  }

  std::string place() const { return fmt::format("exchange 'rows', slot 0: on rank {}, View 'x'", last); }

  void TearDown() override { expect_usable(comm); }
};

TEST_F(RowErrors, IndexBeyondTheView) {
  for (const int wrong : {20, -1}) {
    expect_facts(text(list({3, 1, is_last ? wrong : 5}), std::pair(10, 13)),
                 {place(), fmt::format("is sent to rank {}", 0), "index list 'list'",
                  fmt::format("{} at position 2", wrong), "20 rows", "0 to 19"});
    expect_facts(text(std::pair(0, 3), list({12, is_last ? wrong : 17, 11})),
                 {place(), fmt::format("receives from rank {}", last == 0 ? 0 : last - 1), "index list 'list'",
                  fmt::format("{} at position 1", wrong), "0 to 19"});
  }
  // As good as contiguous, but for the last one.
  expect_facts(text(is_last ? list({18, 19, 20}) : list({1, 2, 3}), std::pair(10, 13)), {place(), "20 at position 2"});
}

TEST_F(RowErrors, RangeBeyondTheView) {
  expect_facts(text(std::pair(0, 3), is_last ? std::pair(18, 21) : std::pair(17, 20)),
               {place(), "receives from", "from 18 to before 21", "20"});
  expect_facts(text(is_last ? std::pair(3, 0) : std::pair(0, 3), std::pair(17, 20)),
               {place(), "is sent to", "from 3 to before 0"});
}

TEST_F(RowErrors, RowReceivedTwice) {
  expect_facts(text(std::pair(0, 4), is_last ? list({11, 17, 13, 17}) : list({11, 17, 13, 18})),
               {place(), "receives from", "index list 'list'", "17 at positions 1 and 3", "20"});
  EXPECT_EQ(text(list({5, 7, 5, 5}), std::pair(10, 14)), "no error"); // sent twice
}

TEST_F(RowErrors, ByPair) {
  Exchange<Doubles> exchange(comm, "rows");
  exchange.add_send(x, list({4, 2}), next);
  exchange.add_receive(x, std::pair(8, 10), previous);
  exchange.add_send(x, is_last ? list({4, 22}) : list({4, 2}), next);
  exchange.add_receive(x, std::pair(10, 12), previous);
  expect_facts(text_of<AgreedError>([&] { exchange.commit(); }),
               {fmt::format("exchange 'rows', message 2 to rank 0: on rank {}", last), "22 at position 1"});
}

TEST_F(RowErrors, SharedCells) {
  const auto text_of_commit = [&](const auto& add) {
    Exchange<Doubles> exchange(comm, "rows");
    add(exchange);
    return text_of<AgreedError>([&] { exchange.commit(); });
  };
  expect_facts(text_of_commit([&](auto& exchange) {
                 exchange.add(x, list({1, 0}), next, x, list({15, 12}), previous);
                 exchange.add(x, list({4, 2}), next, x, is_last ? list({12, 14}) : list({11, 14}), previous);
               }),
               {fmt::format("on rank {}", last), "they share cells", "index list 'list'", "receives from"});
  expect_facts(text_of_commit([&](auto& exchange) {
                 exchange.add(x, list({is_last ? 13 : 3, 0}), next, x, std::pair(12, 14), previous);
               }),
               {fmt::format("on rank {}", last), "they share cells", "is sent to", "receives from"});
  EXPECT_EQ(text_of_commit([&](auto& exchange) { // interleaved
              exchange.add(x, list({1, 5}), next, x, list({4, 0}), previous);
              exchange.add(x, list({5, 1}), next, x, list({6, 2}), previous);
            }),
            "no error");
}

TEST_F(RowErrors, UnequalNumbersOfRows) {
  expect_facts(
      text(list({3, 1, 5}), is_last ? std::pair(10, 14) : std::pair(10, 13)),
      {"exchange 'rows', slot 0", "(3) double", "rows by index", fmt::format("rank {} receives", last), "(4) double"});
}

TEST_F(RowErrors, PackingNone) {
  comm = Communicator(MPI_COMM_WORLD, method("raw", Packing::none));
  expect_facts(text<UsageError>(is_last ? list({3, 1}) : list({3, 4}), std::pair(10, 12), comm),
               {fmt::format("on rank {}, View 'x', (2) double, to rank 0", last), "packing is 'none'"});
}

/// Lists are not looked at, ranges are.
TEST_F(RowErrors, Unchecked) {
  const Communicator unchecked(MPI_COMM_WORLD, {.check = CheckLevel::off});
  EXPECT_EQ(text(std::pair(0, 3), list({12, 11, 11}), unchecked), "no error");
  expect_facts(text(std::pair(0, 3), std::pair(18, 21), unchecked), {"from 18 to before 21"});
}

} // namespace
} // namespace kontor::comm::test
