// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions of Views in device memory that are made once and then repeated.
#include "collective_forms.hpp"
#include "device_views.hpp"

#include <chrono>
#include <thread>

namespace kontor::comm::test::on_device {
namespace {

/// Adds a number, and what another View holds.
void add(const Row& to, double number, const Row& from, const Space& instance) {
  const double* const more = from.data();
  double* const data = to.data();
  Kokkos::parallel_for(
      Kokkos::RangePolicy<Space>(instance, 0, to.extent(0)), KOKKOS_LAMBDA(int i) { data[i] += number + more[i]; });
}

/// Whether backends of devices have reductions of so many bytes by themselves.
bool reduces_by_itself(const Communicator& comm, std::size_t bytes) {
  return comm.capabilities().stream_collectives && (comm.options().backend != "ipc" || bytes <= 32768);
}

/// Two steps give what MPI's reduction of the same numbers gives.
template <class T>
void expect_steps(const Communicator& comm, std::size_t size, ReduceOp op = ReduceOp::sum, bool strided = false) {
  SCOPED_TRACE(fmt::format("{}, {}, {} numbers", comm::to_string(scalar_of<T>()), to_string(op), size));
  const device::OwnedStream<Space> stream;
  const auto make = [&](const char* label) {
    return strided ? inside<T, Left>(label, Index<1>{size}) : whole<T, Left>(label, Index<1>{size});
  };
  DeviceViews place;
  const auto in = make("in"), out = make("out");
  Reduction reduction(comm, "numbers", place.view(in), place.view(out), op, stream.get());
  if (sizeof(T) != 2 && !strided) { // not all backends have these
    EXPECT_EQ(reduction.stream_ordered(), reduces_by_itself(comm, size * sizeof(T)));
  }
  Watched given = watched(in), result = watched(out);
  for (int step = 0; step < 2; ++step) {
    given.fill_small<T>(comm.rank() + step);
    result.fill_small<T>(comm.rank());
    auto expected = given.elements();
    MPI_Allreduce(MPI_IN_PLACE, expected.data(), given.count(), mpi::element(scalar_of<T>()).type,
                  mpi::reduction(op, scalar_of<T>()), comm.native());
    place.load();
    reduction.start(stream.get());
    reduction.progress();
    reduction.finish(stream.get());
    place.store();
    result.expect(expected, "result");
    given.expect_unchanged("given");
  }
}

/// Of sizes up to what a backend takes by itself and beyond.
template <bool by_itself>
void expect_numbers(const Communicator& comm) {
  const auto expect_ops = [&]<class... Ts>(std::tuple<Ts...>, std::initializer_list<std::size_t> sizes) {
    for (const auto op : {ReduceOp::sum, ReduceOp::product, ReduceOp::min, ReduceOp::max})
      for (const auto size : sizes) (expect_steps<Ts>(comm, size, op), ...);
  };
  if constexpr (by_itself) {
    expect_ops(std::tuple<double>(), {0, 2, 31, 64, 65, 511, 513, 1000, 4095, 4096, 4097, 10000});
    expect_ops(std::tuple<std::int8_t>(), {4099, 32767, 32768, 32769});
    expect_ops(std::tuple<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t, std::uint32_t,
                          std::int64_t, std::uint64_t, float, double>(),
               {1, 5});
    expect_steps<Kokkos::complex<float>>(comm, 3);
  }
}

TEST(DeviceCalls, ReductionPlans) {
  with_each_method([](const Communicator& comm) {
    for (const bool strided : {false, true}) expect_steps<double>(comm, n, ReduceOp::sum, strided);
    if (comm.capabilities().stream_collectives) expect_numbers<has_device>(comm); // others are MPI's
    const Row in("in", n);
    set(in, comm.rank());
    Reduction in_place(comm, "in place", in, ReduceOp::max);
    run_step(in_place);
    EXPECT_EQ(wrong(in, comm.size() - 1), 0);
    if constexpr (has_device) { // the stand-in cannot write there
      const Kokkos::View<double*, device::PinnedSpace> out("out", n);
      Reduction reduction(comm, "to the host", in, out, ReduceOp::sum);
      set(in, 1);
      run_step(reduction);
      Kokkos::fence();
      EXPECT_EQ(out(n - 1), n * comm.size());
    }
  });
}

/// Ranks are late in turns, and none waits on the host. Two reductions, of two instances, take place beside each other.
/// The memory of one that is gone serves the next, also where ranks end theirs at different times.
TEST(DeviceCalls, ManyReductionsOfSkewedRanks) {
  with_each_method([](const Communicator& comm) {
    if (has_device && !comm.capabilities().stream_collectives) return; // MPI's
    const device::OwnedStream<Space> stream, beside;
    const auto& instance = stream.get();
    const Row in("in", n), out("out", n), other("other", 1), sums("sums", n), all("all", 1), zero("zero", n);
    Kokkos::fence();
    std::optional<Reduction<Row>> kept;
    constexpr int turns = 6, steps = has_device ? 50 : 3;
    for (int turn = 0, total = 1; turn < turns; ++turn) {
      Reduction first(comm, "first", in, out, ReduceOp::sum, instance);
      Reduction second(comm, "second", other, ReduceOp::max, beside.get());
      for (int step = 0; step < steps; ++step, ++total) {
        if (total % 10 == 0 && total / 10 % comm.size() == comm.rank())
          std::this_thread::sleep_for(std::chrono::microseconds(200));
        add(in, 1, zero, instance);
        first.start(instance);
        set(other, comm.rank() + total, 1, beside.get());
        second.start(beside.get());
        first.finish(instance);
        second.finish(beside.get());
        add(sums, 0, out, instance);
        add(all, 0, other, beside.get());
      }
      if (turn % 2 == comm.rank() % 2) kept.emplace(std::move(second));
    }
    constexpr double steps_sum = turns * steps * (turns * steps + 1) / 2;
    EXPECT_EQ(wrong(sums, comm.size() * steps_sum, 0, instance), 0);
    EXPECT_EQ(wrong(all, turns * steps * (comm.size() - 1) + steps_sum, 0, beside.get()), 0);
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
  with_each_method([&](const Communicator& comm) {
    const device::OwnedStream<Space> stream;
    const auto& instance = stream.get();
    const Row in("in", n), out("out", n), zero("zero", n);
    Kokkos::fence();
    Reduction reduction(comm, "captured", in, out, ReduceOp::sum, instance);
    if (!reduction.stream_ordered()) return; // it waits on the host
    const auto step = [&] {
      add(in, 1, zero, instance);
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
  });
}

} // namespace
} // namespace kontor::comm::test::on_device
