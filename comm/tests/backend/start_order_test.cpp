// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What backends `nccl` and `ipc` notice of ranks that start their exchanges in another order.
#include "backend/start_order.hpp"
#include "comm_test.hpp"

namespace kontor::comm::test {
namespace {

class StartOrder : public OnRing {
 protected:
  mpi::StartOrder order{{comm.native(), comm.options()}};
  std::uint32_t one = order.enroll("one"), two = order.enroll("two");

  /// On how many ranks the start of a plan is an error, which names both.
  int errors(std::uint32_t plan, const std::string& here, const std::string& there) {
    const auto text = text_of<Error>([&] { order.start(plan); });
    if (text != "no error") expect_facts(text, {"'" + here + "' is started here", "started exchange '" + there + "'"});
    return allreduce(comm, text == "no error" ? 0 : 1, ReduceOp::sum);
  }
};

TEST_F(StartOrder, OfOneRankIsAnother) {
  for (int step = 0; step < 200; ++step)
    for (const auto plan : {one, two, two}) EXPECT_EQ(errors(plan, "", ""), 0);
  const int found = errors(is_last ? two : one, is_last ? "two" : "one", is_last ? "one" : "two");
  EXPECT_EQ(found > 0, ranks > 1) << found;
}

TEST_F(StartOrder, IsNotKnownOfWhatIsCaptured) {
  order.start(is_last ? two : one, is_last);
  for (int step = 0; step < 3; ++step) EXPECT_EQ(errors(is_last ? two : one, "", ""), 0);
}

} // namespace
} // namespace kontor::comm::test
