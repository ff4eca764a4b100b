// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a step costs besides the messages: nothing.
#include "cost.hpp"
#include "views.hpp"

namespace kontor::comm::test {
namespace {

/// What plain MPI calls in one step with `slots` messages to the next rank and from the previous one.
MpiCalls calls_by_hand(const Options& method, int slots, bool sends, bool receives) {
  const int messages = slots * (sends + receives);
  MpiCalls calls;
  if (method.backend == "shm") return calls;
  switch (method.pattern) {
  case Pattern::blocking: calls = {{"MPI_Sendrecv", messages > 0 ? slots : 0}}; break;
  case Pattern::persistent: calls = {{"MPI_Startall", messages > 0}, {"MPI_Waitall", messages > 0}}; break;
  case Pattern::neighborhood: calls = {{"MPI_Ineighbor_alltoallw", 1}, {"MPI_Wait", 1}}; break;
  case Pattern::alltoall:
    calls = {{slots == 1 || (messages == 0 && world_size() == 1) ? "MPI_Ialltoallv" : "MPI_Ialltoallw", 1},
             {"MPI_Wait", 1}};
    break;
  case Pattern::two_hop: calls = {{"MPI_Ialltoallw", 2}, {"MPI_Wait", 2}}; break;
  case Pattern::rma:
    calls = {{"MPI_Win_post", receives},
             {"MPI_Win_wait", receives},
             {"MPI_Win_start", sends},
             {"MPI_Win_complete", sends},
             {"MPI_Put", slots * sends}};
    break;
  default: calls = {{"MPI_Irecv", slots * receives}, {"MPI_Isend", slots * sends}, {"MPI_Waitall", messages > 0}};
  }
  std::erase_if(calls, [](const auto& call) { return call.second == 0; });
  return calls;
}

/// What Kokkos and the threads below it take for any kernel: nothing with Serial; GCC's OpenMP takes some.
int allocations_of_a_kernel() {
  using Space = Doubles::execution_space;
  const Space instance;
  const auto kernel = [&] {
    Kokkos::parallel_for("test/empty", Kokkos::RangePolicy<Space>(instance, 0, 100), KOKKOS_LAMBDA(int){});
  };
  return cost_of(kernel).allocations;
}

enum class Messages { contiguous, strided, by_index };

/// Kernels of one step: each end of a strided message takes one, and so does each end that lies in memory of the
/// backend's own. What is sent by index arrives in place. One fence for a rank with messages; and memory that a peer
/// writes to is handed back once it has been read.
ToolsRecord expected_tools(const Options& method, Messages messages, bool sends, bool receives) {
  const bool by_kernel = messages != Messages::contiguous && method.packing != Packing::datatype;
  const bool shm = method.backend == "shm", own_memory = shm || method.pattern == Pattern::rma;
  ToolsRecord tools;
  if (sends && (by_kernel || shm)) tools.kernels = tools.regions = {"comm/pack"};
  tools.regions.insert(tools.regions.end(), {"comm/post", "comm/wait"});
  if (receives && ((by_kernel && messages == Messages::strided) || own_memory))
    for (auto* list : {&tools.kernels, &tools.regions}) list->push_back("comm/unpack");
  if (sends || receives) tools.fences = {"comm/packed"};
  if (receives && own_memory) tools.fences.push_back("comm/unpacked");
  return tools;
}

/// Two slots up the ranks, one of them from rows to columns where strided, or of rows by index to the last ones.
void expect_step_costs(const Options& options, Messages messages, bool periodic) {
  const Communicator comm(MPI_COMM_WORLD, options);
  const auto [previous, next] = ring_of(comm, periodic);
  const bool sends = next != no_rank;
  const bool receives = previous != no_rank;
  const Plane a("a", 4, 5), b("b", 4, 5), c("c", 4, 5);
  const Ints list("list", 3);
  list(1) = 3;
  Exchange<Doubles> exchange(comm, "counted");
  exchange.add(a, next, b, previous);
  if (messages == Messages::contiguous)
    exchange.add(a, next, c, previous);
  else if (messages == Messages::by_index)
    exchange.add(a, list, next, c, std::pair(1, 4), previous);
  else
    exchange.add(inside<double, Right>("d", Index<2>{4, 5}).view, next, inside<double, Left>("e", Index<2>{4, 5}).view,
                 previous);
  exchange.commit();

  for (int step = 0; step < 2; ++step) {
    SCOPED_TRACE(to_string(exchange.chosen()) + ", step " + std::to_string(step));
    auto cost = cost_of([&] { run_step(exchange); });
    if (exchange.chosen().backend == "shm") cost.mpi.erase("MPI_Iprobe"); // now and then while it waits
    EXPECT_EQ(cost.mpi, calls_by_hand(exchange.chosen(), 2, sends, receives));
    EXPECT_EQ(cost.allocations, static_cast<int>(cost.tools.kernels.size()) * allocations_of_a_kernel());
    const auto expected = expected_tools(exchange.chosen(), messages, sends, receives);
    EXPECT_EQ(cost.tools.allocations, List{});
    EXPECT_EQ(cost.tools.kernels, expected.kernels);
    EXPECT_EQ(cost.tools.fences, expected.fences);
    EXPECT_EQ(cost.tools.regions, expected.regions);
    EXPECT_EQ(cost.tools.open_regions, 0);
  }
}

/// Contiguous Views take no kernel, strided ones one an end, rows by index one where sent; closed ends no messages.
TEST(Counting, Steps) {
  for (const auto& method : methods(Contiguity::yes)) expect_step_costs(method, Messages::contiguous, true);
  for (const auto& method : methods()) {
    expect_step_costs(method, Messages::strided, true);
    expect_step_costs(method, Messages::by_index, true);
    expect_step_costs(method, Messages::strided, false);
  }
}

/// One kernel for all Views that are packed, and one message for those of one pair of ranks, whatever their scalars.
/// Views that lie in one piece at both ends travel alone.
TEST(Counting, ViewsOfAPairShareAMessage) {
  const Communicator comm(MPI_COMM_WORLD, {.packing = Packing::kernel});
  const auto [previous, next] = ring_of(comm);
  Exchange<Doubles> exchange(comm, "shared");
  for (int field = 0; field < 5; ++field) {
    exchange.add(inside<double, Right>("out", Index<2>{4, 5}).view, next,
                 inside<double, Left>("in", Index<2>{4, 5}).view, previous);
    exchange.add(inside<float, Right>("out", Index<2>{4, 5}).view, previous,
                 inside<float, Left>("in", Index<2>{4, 5}).view, next);
  }
  exchange.add(whole<double, Right>("out", Index<1>{9}).view, next, whole<double, Right>("in", Index<1>{9}).view,
               previous);
  exchange.commit();
  const auto cost = cost_of([&] { run_step(exchange); });
  EXPECT_EQ(cost.tools.kernels, (List{"comm/pack", "comm/unpack"}));
  const int shared = previous == next ? 1 : 2;
  EXPECT_EQ(cost.mpi, (MpiCalls{{"MPI_Irecv", shared + 1}, {"MPI_Isend", shared + 1}, {"MPI_Waitall", 1}}));
  EXPECT_EQ(static_cast<int>(exchange.sent().size()), shared + 1);
  std::int64_t bytes = 0;
  for (const auto& message : exchange.sent()) bytes += message.bytes;
  EXPECT_EQ(bytes, 5 * 20 * (8 + 4) + 9 * 8);
}

/// Whatever commit() makes as well has a label of ours, and types are freed.
TEST(Counting, CommitAndItsEnd) {
  with_options(methods(), [](const Communicator& comm) {
    const int previous = ring_of(comm).first, next = ring_of(comm).second;
    const auto out = inside<double, Right>("out", Index<3>{4, 5, 3});
    const auto in = inside<double, Left>("in", Index<3>{4, 5, 3});
    const auto rows = whole<double, Right>("rows", Index<2>{8, 2});
    const Ints list("list", 3);
    list(1) = 3;
    auto [calls, allocations, tools] = cost_of([&] {
      Exchange<Doubles> exchange(comm, "freed");
      exchange.add(out.view, next, in.view, previous);
      exchange.add(rows.view, list, next, rows.view, std::pair(5, 8), previous);
      exchange.commit();
      run_step(exchange);
    });
    EXPECT_GT(allocations, 0);
    EXPECT_EQ(tools.open_regions, 0);
    for (const auto* labels : {&tools.allocations, &tools.regions})
      for (const auto& label : *labels) EXPECT_TRUE(label.starts_with("comm/")) << label;
    for (const auto& label : tools.kernels) // and those by which Kokkos fills a View of ours
      EXPECT_TRUE(label.starts_with("comm/") || label.find("[comm/") != std::string::npos) << label;
    const bool by_datatype = comm.options().packing == Packing::datatype;
    EXPECT_EQ(calls["MPI_Type_contiguous"] + calls["MPI_Type_create_hvector"] +
                  calls["MPI_Type_create_hindexed_block"] + calls["MPI_Type_create_struct"],
              calls["MPI_Type_free"]);
    if (comm.options().packing != Packing::automatic) {
      const auto pattern = comm.options().pattern; // the other end of each hop has one type of all messages, too
      const int of_ranks = pattern == Pattern::two_hop ? 4 : pattern == Pattern::alltoall && by_datatype ? 2 : 0;
      EXPECT_EQ(calls["MPI_Type_commit"], 3 * by_datatype + of_ranks);
      EXPECT_EQ(calls["MPI_Type_create_hindexed_block"], by_datatype ? 1 : 0);
    }
  });
}

/// The counters count: a test that counts nothing would pass whatever happens.
TEST(Counting, CountersCount) {
  const auto cost = cost_of([] {
    delete new int;
    std::free(std::malloc(1));
    const Ints view("counted", 1);
    Kokkos::parallel_for("kernel", 1, KOKKOS_LAMBDA(int){});
    MPI_Barrier(MPI_COMM_WORLD);
  });
  EXPECT_GE(cost.allocations, 2);
  EXPECT_EQ(cost.tools.allocations, List{"counted"});
  EXPECT_EQ(cost.tools.kernels.back(), "kernel");
  EXPECT_EQ(cost.mpi, (MpiCalls{{"MPI_Barrier", 1}}));
}

} // namespace
} // namespace kontor::comm::test
