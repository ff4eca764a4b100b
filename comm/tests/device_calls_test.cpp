// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Messages, collectives and reductions of Views in device memory. Where there is no device, a memory space of
// which Kokkos says that the host does not reach it stands in for one.
#include "host_collectives.hpp"
#include "methods.hpp"

#include <kontor/comm/comm.hpp>
#include <kontor/comm/detail/pinned_pool.hpp>
#include <kontor/comm/gpu_awareness.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>

namespace kontor::comm::test {
namespace {

using Space = Kokkos::DefaultExecutionSpace;
constexpr bool has_device = !on_host<Space>;

#if KOKKOS_VERSION < 40000
struct StandIn {
  static constexpr const char* get_name() { return "StandIn"; }
};
using Memory = std::conditional_t<
    has_device, Space::memory_space,
    Kokkos::Experimental::LogicalMemorySpace<
        Kokkos::HostSpace, Space, StandIn, Kokkos::Experimental::LogicalSpaceSharesAccess::no_shared_access>>;
constexpr bool tested = true;
#else // which has nothing to stand in for a device
using Memory = Space::memory_space;
constexpr bool tested = has_device;
#endif
using OnDevice = Kokkos::Device<Space, Memory>;
using Row = Kokkos::View<double*, OnDevice>;
using Block = Kokkos::View<double**, Kokkos::LayoutRight, OnDevice>;
using Column = Kokkos::View<double*, Kokkos::LayoutStride, OnDevice>;
using Host = Kokkos::View<double*, Kokkos::HostSpace>;
static_assert(!tested || memory_of<Row>() == MemoryKind::device);

/// Element i is first + step * i.
template <class View>
void set(const View& view, double first, double step = 1, const Space& instance = {}) {
  double* const data = view.data();
  const auto stride = static_cast<std::int64_t>(view.stride(0));
  Kokkos::parallel_for(
      Kokkos::RangePolicy<Space>(instance, 0, view.extent(0)),
      KOKKOS_LAMBDA(int i) { data[i * stride] = first + step * i; });
}

/// Every element becomes one more, in the order of the instance.
void add_one(const Row& view, const Space& instance) {
  double* const data = view.data();
  Kokkos::parallel_for(
      Kokkos::RangePolicy<Space>(instance, 0, view.extent(0)), KOKKOS_LAMBDA(int i) { data[i] += 1; });
}

/// The elements of one are added to those of the other.
void add(const Row& from, const Row& to, const Space& instance) {
  const double* const more = from.data();
  double* const data = to.data();
  Kokkos::parallel_for(
      Kokkos::RangePolicy<Space>(instance, 0, to.extent(0)), KOKKOS_LAMBDA(int i) { data[i] += more[i]; });
}

template <class View>
int wrong(const View& view, double first, double step = 1, const Space& instance = {}) {
  const double* const data = view.data();
  const auto stride = static_cast<std::int64_t>(view.stride(0));
  int count = 0;
  Kokkos::parallel_reduce(
      Kokkos::RangePolicy<Space>(instance, 0, view.extent(0)),
      KOKKOS_LAMBDA(int i, int& sum) { sum += data[i * stride] != first + step * i; }, count);
  return count;
}

/// The methods of this machine, or both paths of the stand-in.
std::vector<Options> all_methods() {
  if (!tested) return {};
  if (has_device) return device_methods();
  setenv("KONTOR_GPU_AWARE_MPI", "1", 1); // which it is of the stand-in
  std::vector<Options> result(3);
  result[0].path = Path::staged;
  result[1].path = Path::direct;
  result[2].check = CheckLevel::cross_rank;
  return result;
}

template <class Test>
void with_each_method(const Test& test) {
  for (const auto& options : all_methods()) {
    SCOPED_TRACE(to_string(options));
    test(Communicator(MPI_COMM_WORLD, options));
  }
  if (!has_device) unsetenv("KONTOR_GPU_AWARE_MPI");
}

constexpr int n = 7;

/// A View in one piece and one that is strided.
template <class Test>
void with_each_view(const Test& test) {
  test(Row("in", n), Row("out", n));
  const Block in("in", n, 3), out("out", n, 3);
  test(Column(Kokkos::subview(in, Kokkos::ALL(), 1)), Column(Kokkos::subview(out, Kokkos::ALL(), 1)));
}

TEST(DeviceCalls, PointToPoint) {
  with_each_method([](const Communicator& comm) {
    with_each_view([&](const auto& out, const auto& in) {
      const auto [previous, next] = ring_of(comm);
      const double mine = 100 * comm.rank();
      const double theirs = 100 * previous;
      const auto expect = [&](const char* call) {
        EXPECT_EQ(wrong(in, theirs), 0) << call;
        set(in, -1, 0);
      };
      const OwnedStream<Space> stream;
      set(out, mine);
      sendrecv(comm, out, next, in, previous);
      expect("sendrecv");
      set(out, mine, 1, stream.get());
      sendrecv({comm, stream.get()}, out, next, in, previous);
      expect("sendrecv on an instance");
      auto sent = isend(comm, out, next);
      recv(comm, in, previous);
      sent.wait();
      expect("isend, recv");
      auto received = irecv(comm, in, previous);
      send(comm, out, next);
      received.wait();
      expect("irecv, send");
      isendrecv(comm, out, next, in, previous).wait();
      expect("isendrecv");
      auto to_host = irecv(comm, Host("host", n), previous);
      send(comm, out, next);
      const auto host = to_host.wait();
      EXPECT_EQ(host(n - 1), theirs + n - 1);
      if (comm.size() == 1) return; // a message to itself would wait for its receive
      if (comm.rank() % 2 == 0) send_with_extents({comm, stream.get()}, out, next);
      const auto made = recv_with_extents<Row>(comm, previous);
      if (comm.rank() % 2 != 0) send_with_extents(comm, out, next);
      EXPECT_EQ(made.size(), n);
      EXPECT_EQ(wrong(made, theirs), 0);
    });
  });
}

TEST(DeviceCalls, Reductions) {
  with_each_method([](const Communicator& comm) {
    with_each_view([&](const auto& in, const auto& out) {
      const int ranks = comm.size();
      const int rank = comm.rank();
      const auto sum = ReduceOp::sum;
      const auto plus = commutative([](const double& a, const double& b) { return a + b; });
      const auto expect = [&](const auto& view, double first, double step, const char* call) {
        EXPECT_EQ(wrong(view, first, step), 0) << call;
        set(in, 1);
        set(out, -1, 0);
      };
      const OwnedStream<Space> stream;
      set(in, 1);
      allreduce(comm, in, out, sum);
      expect(out, ranks, ranks, "allreduce");
      set(in, 1, 1, stream.get());
      allreduce({comm, stream.get()}, in, sum);
      EXPECT_EQ(wrong(in, ranks, ranks, stream.get()), 0);
      set(in, 1);
      allreduce(comm, in, out, plus);
      expect(out, ranks, ranks, "allreduce by a functor");
      iallreduce(comm, in, out, sum).wait();
      expect(out, ranks, ranks, "iallreduce");
      scan(comm, in, out, sum);
      expect(out, rank + 1, rank + 1, "scan");
      exscan(comm, in, out, sum);
      if (rank > 0) {
        EXPECT_EQ(wrong(out, rank, rank), 0) << "exscan";
      }
      set(out, -1, 0);
      for (int root = 0; root < ranks; ++root) {
        const bool here = rank == root;
        reduce(comm, in, out, sum, root);
        expect(out, here ? ranks : -1, here ? ranks : 0, "reduce");
        reduce(comm, in, sum, root);
        expect(in, here ? ranks : 1, here ? ranks : 1, "reduce in place");
        ireduce(comm, in, out, sum, root).wait();
        expect(out, here ? ranks : -1, here ? ranks : 0, "ireduce");
      }
    });
  });
}

TEST(DeviceCalls, Collectives) {
  with_each_method([](const Communicator& comm) {
    const int ranks = comm.size();
    const int rank = comm.rank();
    const Row part("part", n), whole("whole", n * ranks), other("other", n * ranks);
    const auto own = Kokkos::subview(whole, std::pair(n * rank, n * rank + n));
    const Counts counts(std::vector<int>(ranks, n));
    const auto reset = [&] {
      set(part, n * rank);
      set(whole, -1, 0);
      set(other, -1, 0);
    };
    const auto expect = [&](const Row& view, double first, double step, const char* call) {
      EXPECT_EQ(wrong(view, first, step), 0) << call;
      reset();
    };
    reset();
    for (int root = 0; root < ranks; ++root) {
      bcast(comm, part, root);
      expect(part, n * root, 1, "bcast");
      ibcast(comm, part, root).wait();
      expect(part, n * root, 1, "ibcast");
      const bool here = rank == root;
      gather(comm, part, whole, root);
      expect(whole, here ? 0 : -1, here ? 1 : 0, "gather");
      gatherv(comm, part, whole, counts, root);
      expect(whole, here ? 0 : -1, here ? 1 : 0, "gatherv");
      set(whole, 1);
      scatter(comm, whole, part, root);
      expect(part, 1 + n * rank, 1, "scatter");
      set(whole, 1);
      iscatterv(comm, whole, counts, part, root).wait();
      expect(part, 1 + n * rank, 1, "iscatterv");
    }
    allgather(comm, part, whole);
    expect(whole, 0, 1, "allgather");
    set(own, n * rank);
    allgather(comm, whole);
    expect(whole, 0, 1, "allgather in place");
    iallgather(comm, part, whole).wait();
    expect(whole, 0, 1, "iallgather");
    allgatherv(comm, part, whole, counts);
    expect(whole, 0, 1, "allgatherv");
    const auto gathered = allgatherv(comm, part);
    EXPECT_EQ(gathered.data(n * ranks - 1), n * ranks - 1);
    set(whole, rank, 0);
    alltoall(comm, whole, other);
    const auto from_last = Kokkos::subview(other, std::pair(n * (ranks - 1), n * ranks));
    EXPECT_EQ(wrong(from_last, ranks - 1, 0), 0);
    alltoall(comm, whole);
    EXPECT_EQ(wrong(Kokkos::subview(whole, std::pair(0, n)), 0, 0), 0);
    set(whole, rank, 0);
    set(other, -1, 0);
    alltoallv(comm, whole, counts, other, counts);
    EXPECT_EQ(wrong(from_last, ranks - 1, 0), 0);
  });
}

TEST(DeviceCalls, ReductionPlans) {
  using Pinned = Kokkos::View<double*, PinnedSpace>;
  with_each_method([](const Communicator& comm) {
    const OwnedStream<Space> beside;
    with_each_view([&](const auto& in, const auto& out) {
      Reduction reduction(comm, "sums", in, out, ReduceOp::sum, beside.get());
      Reduction in_place(comm, "in place", in, ReduceOp::max);
      for (int step = 0; step < 3; ++step) {
        const Space instance;
        set(in, step);
        reduction.start(instance);
        reduction.progress();
        reduction.finish(instance);
        EXPECT_EQ(wrong(out, comm.size() * step, comm.size()), 0);
        set(in, comm.rank() + step);
        in_place.start();
        in_place.finish();
        EXPECT_EQ(wrong(in, comm.size() - 1 + step), 0);
      }
    });
    if constexpr (has_device) { // the stand-in cannot write there
      const Row in("in", n);
      const Pinned out("out", n);
      Reduction reduction(comm, "to the host", in, out, ReduceOp::sum);
      set(in, 1);
      reduction.start();
      reduction.finish();
      Kokkos::fence();
      EXPECT_EQ(out(n - 1), n * comm.size());
    }
  });
}

template <class T>
KOKKOS_INLINE_FUNCTION T given(int rank, int i) {
  return static_cast<T>(1 + (rank + i) % 3);
}

template <class T>
using Numbers = Kokkos::View<T*, OnDevice>;

template <class T>
void give(const Numbers<T>& view, int rank, const Space& instance) {
  T* const data = view.data();
  Kokkos::parallel_for(
      Kokkos::RangePolicy<Space>(instance, 0, view.extent(0)),
      KOKKOS_LAMBDA(int i) { data[i] = given<T>(rank, i); });
}

/// Elements that are not what comes of given() of so many ranks.
template <class T>
int wrong_combinations(const Numbers<T>& view, int ranks, ReduceOp op, const Space& instance) {
  const T* const data = view.data();
  int count = 0;
  Kokkos::parallel_reduce(
      Kokkos::RangePolicy<Space>(instance, 0, view.extent(0)),
      KOKKOS_LAMBDA(int i, int& sum) {
        T all = given<T>(0, i);
        for (int r = 1; r < ranks; ++r) {
          const T one = given<T>(r, i);
          if (op == ReduceOp::sum)
            all = static_cast<T>(all + one);
          else if (op == ReduceOp::product)
            all = static_cast<T>(all * one);
          else if (op == ReduceOp::min)
            all = one < all ? one : all;
          else
            all = all < one ? one : all;
        }
        sum += data[i] != all;
      },
      count);
  return count;
}

/// Whether backends of devices have reductions of so many bytes by themselves.
bool reduces_by_itself(const Communicator& comm, std::size_t bytes) {
  if (!comm.capabilities().stream_collectives) return false;
  return comm.options().backend != "ipc" || bytes <= 32768;
}

template <class T>
void expect_numbers(const Communicator& comm, int count) {
  for (const auto op : {ReduceOp::sum, ReduceOp::product, ReduceOp::min, ReduceOp::max}) {
    SCOPED_TRACE(comm::to_string(scalar_of<T>()) + ", " + to_string(op) + ", " + std::to_string(count));
    const OwnedStream<Space> stream;
    const auto& instance = stream.get();
    const Numbers<T> in("in", count), out("out", count);
    Kokkos::fence();
    Reduction reduction(comm, "numbers", in, out, op, instance);
    if (sizeof(T) != 2) { // not all backends have these
      EXPECT_EQ(reduction.stream_ordered(), reduces_by_itself(comm, count * sizeof(T)));
    }
    give(in, comm.rank(), instance);
    for (int step = 0; step < 2; ++step) {
      reduction.start(instance);
      reduction.finish(instance);
    }
    EXPECT_EQ(wrong_combinations(out, comm.size(), op, instance), 0);
  }
}

TEST(DeviceCalls, ReductionsOfAllNumbers) {
  with_each_method([](const Communicator& comm) {
    if (has_device && !comm.capabilities().stream_collectives) return; // MPI's
    for (const int count : {1, 5}) {
      expect_numbers<std::int8_t>(comm, count);
      expect_numbers<std::uint8_t>(comm, count);
      expect_numbers<std::int16_t>(comm, count);
      expect_numbers<std::uint16_t>(comm, count);
      expect_numbers<std::int32_t>(comm, count);
      expect_numbers<std::uint32_t>(comm, count);
      expect_numbers<std::int64_t>(comm, count);
      expect_numbers<std::uint64_t>(comm, count);
      expect_numbers<float>(comm, count);
      expect_numbers<double>(comm, count);
    }
    const Kokkos::View<Kokkos::complex<float>*, OnDevice> pairs("pairs", 3);
    const Numbers<float> parts(reinterpret_cast<float*>(pairs.data()), 6);
    Reduction reduction(comm, "pairs", pairs, ReduceOp::sum);
    give(parts, comm.rank(), Space());
    reduction.start();
    reduction.finish();
    EXPECT_EQ(wrong_combinations(parts, comm.size(), ReduceOp::sum, Space()), 0);
  });
}

/// Up to what a backend takes by itself and beyond.
TEST(DeviceCalls, ReductionsOfAllSizes) {
  if (!has_device) GTEST_SKIP() << "only devices have reductions of their own";
  with_each_method([](const Communicator& comm) {
    if (!comm.capabilities().stream_collectives) return; // MPI's
    for (const int count : {0, 2, 31, 64, 65, 511, 513, 1000, 4095, 4096, 4097, 10000})
      expect_numbers<double>(comm, count);
    for (const int count : {4099, 32767, 32768, 32769}) expect_numbers<std::int8_t>(comm, count);
  });
}

/// Ranks are late in turns, and none waits on the host. Two reductions, of two instances, take place beside
/// each other.
TEST(DeviceCalls, ManyReductionsOfSkewedRanks) {
  if (!has_device) GTEST_SKIP() << "only devices have reductions of their own";
  with_each_method([](const Communicator& comm) {
    if (!comm.capabilities().stream_collectives) return; // MPI's
    const OwnedStream<Space> stream, beside;
    const auto& instance = stream.get();
    const Row in("in", n), out("out", n), other("other", 1), sums("sums", n), all("all", 1);
    Kokkos::fence();
    Reduction first(comm, "first", in, out, ReduceOp::sum, instance);
    Reduction second(comm, "second", other, ReduceOp::max, beside.get());
    constexpr int steps = 300;
    for (int step = 1; step <= steps; ++step) {
      if (step % 10 == 0 && step / 10 % comm.size() == comm.rank())
        std::this_thread::sleep_for(std::chrono::microseconds(200));
      add_one(in, instance);
      first.start(instance);
      set(other, comm.rank() + step, 1, beside.get());
      second.start(beside.get());
      first.finish(instance);
      second.finish(beside.get());
      add(out, sums, instance);
      add(other, all, beside.get());
    }
    constexpr double steps_sum = steps * (steps + 1) / 2;
    EXPECT_EQ(wrong(sums, comm.size() * steps_sum, 0, instance), 0);
    EXPECT_EQ(wrong(all, steps * (comm.size() - 1) + steps_sum, 0, beside.get()), 0);
  });
}

/// The memory of one that is gone serves the next, also where ranks end theirs at different times.
TEST(DeviceCalls, ReductionsOneAfterTheOther) {
  with_each_method([](const Communicator& comm) {
    if (has_device && !comm.capabilities().stream_collectives) return; // MPI's
    const Row values("values", n);
    std::optional<Reduction<Row>> kept;
    for (int turn = 0; turn < 6; ++turn) {
      Reduction reduction(comm, "one of many", values, ReduceOp::sum);
      for (int step = 0; step <= turn; ++step) {
        set(values, turn);
        reduction.start();
        reduction.finish();
        EXPECT_EQ(wrong(values, comm.size() * turn, comm.size()), 0);
      }
      if (turn % 2 == comm.rank() % 2) kept.emplace(std::move(reduction));
    }
  });
}

/// `auto` is about exchanges: a trial must not decide in which order a sum is made.
TEST(DeviceCalls, ReductionsOfAutoAreMpis) {
  if (!tested) GTEST_SKIP() << "no memory that the host does not reach";
  const Communicator comm(MPI_COMM_WORLD, {.backend = automatic_backend});
  const Row values("values", n);
  set(values, 1, 0);
  Reduction reduction(comm, "by MPI", values, ReduceOp::sum);
  EXPECT_FALSE(reduction.stream_ordered());
  EXPECT_EQ(detail::internals(comm).backend().stream_collectives(), nullptr);
  reduction.start();
  reduction.finish();
  EXPECT_EQ(wrong(values, comm.size(), 0), 0);
}

/// Steps that only queue work are captured once and replayed; what they reduce changes from one to the next.
TEST(DeviceCalls, ReductionInACapturedGraph) {
  if (!has_device) GTEST_SKIP() << "graphs are captured on devices";
  int captured = 0;
  with_each_method([&](const Communicator& comm) {
    const OwnedStream<Space> stream;
    const auto& instance = stream.get();
    const Row in("in", n), out("out", n);
    Kokkos::fence();
    Reduction reduction(comm, "captured", in, out, ReduceOp::sum, instance);
    if (!reduction.stream_ordered()) return; // it waits on the host
    const auto step = [&] {
      add_one(in, instance);
      reduction.start(instance);
      reduction.finish(instance);
    };
    step(); // memory is taken and ranks are connected before a capture
    const CapturedGraph<Space> graph(instance, step);
    for (int replays = 1; replays <= 3; ++replays) {
      graph.replay(instance);
      reduction.poll();
      EXPECT_EQ(wrong(out, comm.size() * (1 + replays), 0, instance), 0);
    }
    ++captured;
  });
  if (captured == 0) GTEST_SKIP() << "no backend of this build reduces on a stream";
}

/// What a backend does on a stream, here on the host.
TEST(DeviceCalls, ByTheBackend) {
  if (has_device) GTEST_SKIP() << "the backends of devices are tried by the others";
  const Communicator comm(MPI_COMM_WORLD);
  const int ranks = comm.size();
  const int rank = comm.rank();
  HostCollectives backend(comm.native());
  const Row part("part", n), whole("whole", n * ranks), other("other", n * ranks);
  const On<Row> on(comm);
  const detail::Reducer sum{.named = ReduceOp::sum};
  const auto queue = [&](const auto& collective, const auto&... used) {
    EXPECT_TRUE(detail::queue(on, &backend, collective, used...));
  };
  set(part, 1);
  queue(detail::Allreduce{sum}, detail::in_place(part));
  EXPECT_EQ(wrong(part, ranks, ranks), 0);
  set(part, 1);
  queue(detail::Reduce{sum, ranks - 1}, detail::in_place_at(comm, ranks - 1, part));
  EXPECT_EQ(wrong(part, rank == ranks - 1 ? ranks : 1, rank == ranks - 1 ? ranks : 1), 0);
  set(part, rank);
  queue(detail::Broadcast{ranks - 1}, detail::broadcast(comm, ranks - 1, part));
  EXPECT_EQ(wrong(part, ranks - 1), 0);
  set(part, n * rank);
  queue(detail::Allgather{}, detail::read(part), detail::written(whole));
  EXPECT_EQ(wrong(whole, 0), 0);
  set(whole, -1, 0);
  set(Kokkos::subview(whole, std::pair(n * rank, n * rank + n)), n * rank);
  queue(detail::Allgather{}, detail::in_place(whole));
  EXPECT_EQ(wrong(whole, 0), 0);
  set(whole, rank, 0);
  queue(detail::Alltoall{}, detail::read(whole), detail::written(other));
  EXPECT_EQ(wrong(Kokkos::subview(other, std::pair(n * (ranks - 1), n * ranks)), ranks - 1, 0), 0);
  EXPECT_FALSE(detail::queue(on, &backend, detail::Alltoall{}, detail::in_place(whole)));

  FewCollectives few(comm.native());
  const Row most("most", FewCollectives::most);
  set(most, 1);
  EXPECT_TRUE(detail::queue(on, &few, detail::Allreduce{sum}, detail::in_place(most)));
  EXPECT_EQ(wrong(most, ranks, ranks), 0);
  EXPECT_FALSE(detail::queue(on, &few, detail::Allreduce{sum}, detail::in_place(part)));
  EXPECT_FALSE(detail::queue(on, &few, detail::Reduce{sum, 0}, detail::read(part), detail::written(other)));
  EXPECT_FALSE(detail::queue(on, &few, detail::Broadcast{0}, detail::broadcast(comm, 0, most)));
  EXPECT_FALSE(detail::queue(on, &few, detail::Allgather{}, detail::in_place(whole)));
  EXPECT_FALSE(detail::queue(on, &few, detail::Alltoall{}, detail::read(whole), detail::written(other)));
}

TEST(PinnedPool, BlocksAreUsedAgain) {
  detail::PinnedPool pool;
  const void* first = nullptr;
  {
    const auto block = pool.take(5000);
    first = block.data();
    EXPECT_GE(block.size(), 5000u);
    const auto second = pool.take(100);
    EXPECT_NE(second.data(), first);
  }
  const auto large = pool.take(6000);
  EXPECT_EQ(large.data(), first);
  const auto small = pool.take(1);
  EXPECT_NE(small.data(), first);
  EXPECT_GE(pool.take(100000).size(), 100000u);
}

} // namespace
} // namespace kontor::comm::test
