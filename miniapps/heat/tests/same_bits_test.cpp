// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The field and the norms of its sweeps, of kind l2 with reproducible sums, are the same to the last bit for any number
// of ranks, process grid, backend, pattern, packing, overlap and kind of store, by graphs and without, by the plain
// kernel as by the tuned ones. The reference is the whole grid on one rank, which every rank computes for itself.
#include "heat/kernels/bands.hpp"
#include "heat/make_heat.hpp"
#include "machine/device.hpp"
#include "methods.hpp"
#include "run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <map>

namespace kontor::heat::test {
namespace {

constexpr const char* steady_3d = R"deck(
app: heat
problem:
  cells: [29, 17, 19]
  initial: "cos(3*x)*y + z"
  source: "x*z"
  boundary: {x_min: periodic, x_max: periodic, y_min: {dirichlet: "1 + x"}, y_max: {neumann: "z"},
    z_min: {dirichlet: "x"}, z_max: {dirichlet: 0}}
solver: {tolerance: 0, max_sweeps: 23}
)deck";

/// Every process grid of that many ranks over the axes of the deck's cells.
std::vector<std::vector<std::int64_t>> process_grids(int ranks, std::size_t axes) {
  std::vector<std::vector<std::int64_t>> grids;
  for (int x = 1; x <= ranks; ++x)
    for (int y = 1; x * y <= ranks; ++y) {
      if (ranks % (x * y) != 0) continue;
      if (axes == 3)
        grids.push_back({x, y, ranks / (x * y)});
      else if (x * y == ranks)
        grids.push_back({x, y});
    }
  return grids;
}

/// The own cells of `part` are, bit by bit, the cells of `whole` in the same places.
template <class T>
bool same_bits(const Domain<T>& part, const Domain<T>& whole) {
  const auto& block = part.block();
  const auto cells = part.current_on_host();
  const auto all = whole.current_on_host();
  for (std::int64_t k = 0; k < block.extents[2]; ++k)
    for (std::int64_t j = 0; j < block.extents[1]; ++j)
      if (std::memcmp(&cells(k, j, 0), &all(k + block.offset[2], j + block.offset[1], block.offset[0]),
                      static_cast<std::size_t>(block.extents[0]) * sizeof(T)) != 0)
        return false;
  return true;
}

/// The norms of a run, by sweep.
template <class T>
std::map<std::int64_t, double> history(const Heat<T>& heat) {
  auto table = heat.record()["history"];
  std::map<std::int64_t, double> norms;
  for (std::size_t n = 0; n < table["norm"].size(); ++n) norms[table["iteration"][n]] = table["norm"][n];
  return norms;
}

template <class T>
class SameBits : public testing::Test {
  class Whole;

 protected:
  /// Half of the combinations, in which any two choices meet.
  static void check_all(const std::string& deck) {
    auto options = read_options(deck, 1);
    options.launch = Launch::per_kernel;
    options.check_every = 1;
    const Whole launched(options, 1);
    const Whole replayed(options, repeats_by_graph);
    constexpr bool in_host_memory = device::kernels_on_host;
    const auto methods = in_host_memory ? comm::test::methods() : comm::test::device_methods();
    options.check_every = options.equation == Equation::transient ? 5 : 21;
    int grids = 0;
    for (const auto& grid : process_grids(world_size(), options.cells.size())) {
      if (world_size() > 4 && std::ranges::count(grid, 1) > 0) continue; // fewer ranks have such grids
      options.process_grid = grid;
      int turn = grids++ + static_cast<int>(sizeof(T) / sizeof(float));
      for (const auto& method : methods) {
        ++turn;
        for (const bool overlap : {false, true}) {
          const auto chosen = [&](bool graph) { return (turn + overlap + graph) % 2 == 0; };
          set_norm(options, (turn / 2 + overlap) % 2 == 0);
          if (chosen(false)) check_one(options, method, overlap, launched);
          if (!chosen(true) || !can_have_graph(options, method)) continue;
          auto by_graph = options;
          by_graph.launch = Launch::graph;
          by_graph.check_every = turn / 2 % 2 == 0 ? 3 : 21; // with norms in the graph, and without
          check_one(by_graph, method, overlap, replayed);
        }
      }
      options.stores = Stores::streaming;
      set_norm(options, turn % 2 == 0);
      check_one(options, {}, turn / 2 % 2 == 0, launched);
      options.stores = Stores::automatic;
      options.kernel = SweepKernel::plain;
      set_norm(options, turn % 2 == 1);
      check_one(options, {}, turn / 2 % 2 == 1, launched);
      options.kernel = SweepKernel::tuned;
      options.stores = Stores::ordinary;
      check_passes(options, methods, turn, launched);
      check_persistent(options, turn, replayed);
    }
  }

  /// Of every process grid, by the usual method.
  static void check_passes(const std::string& deck) {
    auto options = read_options(deck, 1);
    options.launch = Launch::per_kernel;
    options.check_every = 1;
    const Whole whole(options, 1), repeated(options, repeats_by_graph);
    int turn = 0;
    for (const auto& grid : process_grids(world_size(), options.cells.size())) {
      options.process_grid = grid;
      check_passes(options, {{}, {}}, turn++, whole);
      check_persistent(options, turn, repeated);
    }
  }

  /// By kernels that keep plates in registers, of one and more warps and teams. A thread of a host has a plate alone.
  static void check_plates() {
    auto options = read_options(steady_2d, 1);
    options.launch = Launch::per_kernel;
    options.check_every = 1;
    for (const auto& cells : device::kernels_on_host
                                 ? Sizes{{3, rows_in_registers() - 1}, {4, rows_in_registers()}}
                                 : Sizes{{5, 400}, {128, 70}, {258, 190}, {1023, 300}, {2046, 64}}) {
      options.cells = cells;
      options.process_grid = {1, 1};
      const Whole repeated(options, repeats_by_graph);
      options.process_grid = {1, world_size()};
      for (const int turn : {0, 1}) check_persistent(options, turn, repeated);
    }
  }

  /// Sweeps that end by their norm, by one kernel of each rank: in registers and in memory.
  static void check_ends() {
    for (const auto& cells : device::kernels_on_host ? Sizes{{3, rows_in_registers() - 1}, {37, 23}}
                                                     : Sizes{{5, 400}, {258, 190}, {4100, 23}}) {
      auto options = read_options(steady_2d, 1);
      options.cells = cells;
      check_ends(options);
    }
    check_ends(read_options(steady_3d, 1));
  }

 private:
  using Sizes = std::vector<std::vector<std::int64_t>>;

  /// Of a plate on a host, where a rank has one thread.
  static std::int64_t rows_in_registers() { return std::int64_t{register_rows<T>} * world_size(); }

  /// After as many sweeps as those that the host ends, with the same norms and bits.
  static void check_ends(Options options) {
    options.norm = Norm::max;
    options.max_sweeps = 150;
    options.check_every = 1;
    options.launch = Launch::per_kernel;
    options.tolerance = 0;
    const Problem<T> all(options, MPI_COMM_SELF);
    run(*all.heat, 1);
    const auto norms = history(*all.heat);
    for (const int every : {0, 1, 3, 70})
      for (const int end : {1, 2, 66, 71, 140, 150}) {
        options.check_every = every;
        options.tolerance = (end < 150 ? 1.0001 : 1e-3) * norms.at(end);
        options.launch = Launch::per_kernel;
        options.process_grid = one_rank(options);
        const Problem<T> whole(options, MPI_COMM_SELF);
        run(*whole.heat, 1);
        options.launch = Launch::persistent;
        options.process_grid.back() = world_size();
        const comm::Options method{.backend = device::kernels_on_host ? "shm" : "ipc"};
        Problem<T> part(options, comm::test::cached_communicator(method).share());
        for (int repeat = 0; repeat < 2; ++repeat) run(*part.heat, 1);
        SCOPED_TRACE(fmt::format("cells {}, check_every {}, end {}", fmt::join(options.cells, " x "), every, end));
        EXPECT_EQ(part.heat->domain().sweeps(), whole.heat->domain().sweeps());
        EXPECT_TRUE(same_bits(part.heat->domain(), whole.heat->domain()));
        EXPECT_EQ(history(*part.heat), history(*whole.heat));
        EXPECT_EQ(part.heat->verify().measure, whole.heat->verify().measure);
        part.timers.reset();
        part.heat->reset();
        part.heat->run();
        EXPECT_LE(part.timers["compute"].calls, 5) << "sweeps are not made by one kernel";
      }
  }

  /// Several sweeps by one exchange: as many as fit between norms and in the smallest block. Not of
  /// boundary values that change.
  static void check_passes(Options options, const std::vector<comm::Options>& methods, int turn, const Whole& whole) {
    if (options.equation == Equation::transient) return;
    std::int64_t most = 20;
    for (std::size_t axis = 0; axis < options.cells.size(); ++axis)
      most = std::min(most, options.cells[axis] / options.process_grid[axis]);
    options.norm = Norm::max;
    options.check_every = 21;
    for (const auto& method : methods) {
      options.steps_per_pass = 2 + turn++ % (most - 1);
      options.stores = turn % 3 == 0 ? Stores::streaming : Stores::ordinary;
      check_one(options, method, turn % 2 == 0, whole);
    }
  }

  /// All sweeps by one kernel, which waits for those of other ranks, where kernels reach their memory.
  static void check_persistent(Options options, int turn, const Whole& whole) {
    if (!on_device || options.equation == Equation::transient) return;
    auto uncut = options.process_grid;
    uncut.back() = 1;
    if (uncut != one_rank(options)) return;
    options.launch = Launch::persistent;
    for (const bool exact : {false, true}) {
      set_norm(options, exact);
      options.check_every = turn++ % 2 == 0 ? 3 : 21;
      check_one(options, {.backend = device::kernels_on_host ? "shm" : "ipc"}, turn % 4 < 2, whole);
    }
  }

  static void set_norm(Options& options, bool exact) {
    options.norm = exact ? Norm::l2 : Norm::max;
    options.sums = exact ? SumKind::reproducible : SumKind::any_order;
  }

  /// The reference, with either norm.
  class Whole {
   public:
    Whole(Options options, int repeats) {
      for (const bool exact : {false, true}) {
        set_norm(options, exact);
        problems_.emplace_back(std::make_unique<Problem<T>>(options, MPI_COMM_SELF));
        run(*problems_.back()->heat, repeats);
      }
      options.sums = SumKind::any_order; // differs by rounding
      const Problem<T> fast(options, MPI_COMM_SELF);
      run(*fast.heat, repeats);
      const auto exact = history(*problems_[1]->heat);
      for (const auto& [sweep, norm] : history(*fast.heat)) EXPECT_NEAR(norm, exact.at(sweep), 1e-5 * norm);
    }
    const Heat<T>& with(Norm norm) const { return *problems_[norm == Norm::l2 ? 1 : 0]->heat; }

   private:
    std::vector<std::unique_ptr<Problem<T>>> problems_;
  };

  static bool can_have_graph(const Options& options, const comm::Options& method) {
    if (!on_device || options.equation == Equation::transient) return false;
    return method.backend == "nccl" || method.backend == "ipc" || options.process_grid == one_rank(options);
  }
  static std::vector<std::int64_t> one_rank(const Options& options) {
    return std::vector<std::int64_t>(options.cells.size(), 1);
  }

  static constexpr int repeats_by_graph = 2; // of an odd number of sweeps: graphs begin from both fields

  static void run(Heat<T>& heat, int repeats) {
    heat.warm_up();
    for (int r = 0; r < repeats; ++r) {
      heat.reset();
      heat.run();
    }
  }

  static void check_one(const Options& options, const comm::Options& method, bool overlap, const Whole& wholes) {
    const auto& whole = wholes.with(options.norm);
    Problem<T> part(options, comm::test::cached_communicator(method).share(), overlap);
    run(*part.heat, options.launch != Launch::per_kernel ? repeats_by_graph : 1);
    const auto launch = part.heat->record()["launch"];
    EXPECT_EQ(launch, stepping::all_launch_names[static_cast<std::size_t>(options.launch.value)].name);
    if (options.kernel == SweepKernel::plain) {
      EXPECT_EQ(part.heat->record()["kernel"], "plain");
    }
    const auto choice = fmt::format("process grid {}, {}, overlap {}, streaming {}, launch {}, check_every {}, norm "
                                    "{}, plain {}, steps_per_pass {}",
                                    fmt::join(options.process_grid, " x "), comm::to_string(method), overlap,
                                    options.stores == Stores::streaming, launch.dump(), options.check_every,
                                    options.norm == Norm::l2 ? "l2" : "max", options.kernel == SweepKernel::plain,
                                    options.sweeps_of_pass());
    EXPECT_TRUE(same_bits(part.heat->domain(), whole.domain())) << choice;
    if (options.launch == Launch::persistent) {
      EXPECT_TRUE(part.heat->verify().passed()) << choice;
    }
    const auto expected = history(whole);
    for (const auto& [sweep, norm] : history(*part.heat))
      EXPECT_EQ(norm, expected.at(sweep)) << choice << ", sweep " << sweep;
  }
};

using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(SameBits, Scalars);

TYPED_TEST(SameBits, Steady2d) { this->check_all(steady_2d); }
TYPED_TEST(SameBits, Transient3d) { this->check_all(transient_3d); }
TYPED_TEST(SameBits, Passes3d) { this->check_passes(steady_3d); }
TYPED_TEST(SameBits, Plates) { this->check_plates(); }
TYPED_TEST(SameBits, EndsByNorms) {
  if (on_device) this->check_ends();
}

} // namespace
} // namespace kontor::heat::test
