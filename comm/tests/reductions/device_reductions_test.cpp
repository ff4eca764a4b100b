// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions of Views in device memory that are made once and then repeated.
#include "device_views.hpp"

#include <kontor/comm/mailboxes.hpp>
#include <kontor/comm/views/pinned_pool.hpp>

#include <chrono>
#include <thread>

namespace kontor::comm::test::on_device {
namespace {

void add_one(const Row& view, const Space& instance) {
  double* const data = view.data();
  Kokkos::parallel_for(
      Kokkos::RangePolicy<Space>(instance, 0, view.extent(0)), KOKKOS_LAMBDA(int i) { data[i] += 1; });
}

void add(const Row& from, const Row& to, const Space& instance) {
  const double* const more = from.data();
  double* const data = to.data();
  Kokkos::parallel_for(
      Kokkos::RangePolicy<Space>(instance, 0, to.extent(0)), KOKKOS_LAMBDA(int i) { data[i] += more[i]; });
}

TEST(DeviceCalls, ReductionPlans) {
  using Pinned = Kokkos::View<double*, device::PinnedSpace>;
  with_each_method([](const Communicator& comm) {
    const device::OwnedStream<Space> beside;
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
        run_step(in_place);
        EXPECT_EQ(wrong(in, comm.size() - 1 + step), 0);
      }
    });
    if constexpr (has_device) { // the stand-in cannot write there
      const Row in("in", n);
      const Pinned out("out", n);
      Reduction reduction(comm, "to the host", in, out, ReduceOp::sum);
      set(in, 1);
      run_step(reduction);
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
      Kokkos::RangePolicy<Space>(instance, 0, view.extent(0)), KOKKOS_LAMBDA(int i) { data[i] = given<T>(rank, i); });
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
        for (int r = 1; r < ranks; ++r) all = combined(op, all, given<T>(r, i)); // which has tests of its own
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

template <class T, class... Others>
void expect_numbers(const Communicator& comm, int count) {
  for (const auto op : {ReduceOp::sum, ReduceOp::product, ReduceOp::min, ReduceOp::max}) {
    SCOPED_TRACE(comm::to_string(scalar_of<T>()) + ", " + to_string(op) + ", " + std::to_string(count));
    const device::OwnedStream<Space> stream;
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
  if constexpr (sizeof...(Others) > 0) expect_numbers<Others...>(comm, count);
}

/// Of sizes up to what a backend takes by itself and beyond.
TEST(DeviceCalls, ReductionsOfAllNumbersAndSizes) {
  with_each_method([](const Communicator& comm) {
    if (has_device && !comm.capabilities().stream_collectives) return; // MPI's
    for (const int count : {0, 2, 31, 64, 65, 511, 513, 1000, 4095, 4096, 4097, 10000})
      if (has_device) expect_numbers<double>(comm, count); // only these have reductions of their own
    for (const int count : {4099, 32767, 32768, 32769})
      if (has_device) expect_numbers<std::int8_t>(comm, count);
    for (const int count : {1, 5})
      expect_numbers<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t, std::uint32_t, std::int64_t,
                     std::uint64_t, float, double>(comm, count);
    const Kokkos::View<Kokkos::complex<float>*, OnDevice> pairs("pairs", 3);
    const Numbers<float> parts(reinterpret_cast<float*>(pairs.data()), 6);
    Reduction reduction(comm, "pairs", pairs, ReduceOp::sum);
    give(parts, comm.rank(), Space());
    run_step(reduction);
    EXPECT_EQ(wrong_combinations(parts, comm.size(), ReduceOp::sum, Space()), 0);
  });
}

/// Ranks are late in turns, and none waits on the host. Two reductions, of two instances, take place beside each other.
TEST(DeviceCalls, ManyReductionsOfSkewedRanks) {
  if (!has_device) GTEST_SKIP() << "only devices have reductions of their own";
  with_each_method([](const Communicator& comm) {
    if (!comm.capabilities().stream_collectives) return; // MPI's
    const device::OwnedStream<Space> stream, beside;
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
        run_step(reduction);
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
  EXPECT_EQ(detail::stream_collectives(comm), nullptr);
  run_step(reduction);
  EXPECT_EQ(wrong(values, comm.size(), 0), 0);
}

/// Steps that only queue work are captured once and replayed; what they reduce changes from one to the next.
TEST(DeviceCalls, ReductionInACapturedGraph) {
  if (!has_device) GTEST_SKIP() << "graphs are captured on devices";
  int captured = 0;
  with_each_method([&](const Communicator& comm) {
    const device::OwnedStream<Space> stream;
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
    const device::CapturedGraph<Space> graph(instance, step);
    for (int replays = 1; replays <= 3; ++replays) {
      graph.replay(instance);
      reduction.poll();
      EXPECT_EQ(wrong(out, comm.size() * (1 + replays), 0, instance), 0);
    }
    ++captured;
  });
  if (captured == 0) GTEST_SKIP() << "no backend of this build reduces on a stream";
}

} // namespace
} // namespace kontor::comm::test::on_device
