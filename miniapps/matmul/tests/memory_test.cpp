// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The memory that a product takes at most, against the derivation in docs/apps/matmul.md: five blocks, what the skew
// packs, and the verification's vectors.
#include "run/tests/view_bytes.hpp"
#include "run_product.hpp"

#include <kontor/comm/collectives.hpp>

#include <cstdlib>
#include <fstream>
#include <string_view>

namespace kontor::matmul::test {
namespace {

/// As the page says it, of a rank.
double derived(const Options& o, const GridShape& grid) {
  const auto part = [](std::int64_t n, int parts) { return static_cast<double>((n + parts - 1) / parts); };
  const auto [m, n, k] = std::array{o.size.m, o.size.n, o.size.k};
  const double a = part(m, grid.rows) * part(k, grid.columns), b = part(k, grid.rows) * part(n, grid.columns);
  const double c = part(m, grid.rows) * part(n, grid.columns);
  const bool packs = grid.rows > 1 && grid.rows % grid.columns != 0;
  const double blocks = (grid.columns > 1 ? 2 : 1) * a + (packs ? 6 : grid.rows > 1 ? 2 : 1) * b + c;
  return sizeof(double) * blocks + 64 * static_cast<double>(2 * m + n + 3 * k);
}

double of_all(double mine, MPI_Op op = MPI_SUM) {
  MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_DOUBLE, op, world().native());
  return mine;
}

/// All that a run does.
nlohmann::ordered_json run_whole(const Options& o) {
  App<> made(o);
  made.app.warm_up();
  made.app.reset();
  made.app.run();
  EXPECT_TRUE(made.app.verify().passed());
  return made.app.record();
}

TEST(Memory, OfViewsIsAsDerivedAtMost) {
  if (!device::kernels_on_host) GTEST_SKIP() << "Views in pinned memory would be counted, too";
  for (const auto& size : {ProductSize{603, 517, 569}, ProductSize{1201, 307, 701}})
    for (const auto& grid : grids(world().size())) {
      const auto o = on_grid(integers(size.m, size.n, size.k), grid);
      SCOPED_TRACE(testing::Message() << size.m << " x " << size.n << " x " << size.k << " on " << grid.rows << " x "
                                      << grid.columns << " ranks");
      nlohmann::ordered_json record;
      const double most = miniapp::test::most_view_bytes([&] { record = run_whole(o); });
      const double expected = derived(o, grid);
      EXPECT_NEAR(of_all(most, MPI_MAX), expected, 0.1 * expected);
      const double views = of_all(record.at("field_memory").get<double>());
      EXPECT_NEAR(of_all(most), views, 0.1 * views);
    }
}

/// Of /proc/self/status, in bytes.
double bytes_of(std::string_view name) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(name)) return 1024 * std::stod(line.substr(name.size()));
  return 0;
}

/// Sanitizers and valgrind have memory of their own for each byte.
bool memory_is_watched() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return true;
#else
  const char* const preloaded = std::getenv("LD_PRELOAD");
  return preloaded && std::string_view(preloaded).find("vgpreload") != std::string_view::npos;
#endif
}

/// 80 MB and more a rank, because OpenBLAS and MPI have some of their own.
TEST(Memory, OfProcessesIsAsDerivedAtMost) {
  if (memory_is_watched()) GTEST_SKIP() << "the process has memory for what watches it";
  if (!device::kernels_on_host) GTEST_SKIP() << "matrices are in the memory of the device";
  const int ranks = world().size();
  if (ranks > 2) GTEST_SKIP() << "fewer ranks tell the same";
  run_whole(on_grid(integers(257, 255, 256), {ranks, 1})); // MPI and OpenBLAS have begun
  const auto grid = grids(ranks)[grids(ranks).size() / 2];
  const auto o = on_grid(integers(4001 * ranks, 151, grid.columns > 1 ? 1499 : 2999), grid);
  comm::barrier(world());
  std::ofstream("/proc/self/clear_refs") << 5; // the largest size so far is the present one
  const double before = of_all(bytes_of("VmRSS:"));
  const double views = of_all(run_whole(o).at("field_memory").get<double>());
  const double most = of_all(bytes_of("VmHWM:")) - before;
  EXPECT_NEAR(views, of_all(derived(o, grid)), 0.1 * views);
  EXPECT_NEAR(most, views, 0.1 * views);
}

} // namespace
} // namespace kontor::matmul::test
