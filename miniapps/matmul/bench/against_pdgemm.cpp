// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kontor's product beside ScaLAPACK's pdgemm and beside the local product alone, in one job and in turn in
// each round, so that what else the machine does touches all alike. Medians over rounds, of the slowest rank.
//   matmul_against_pdgemm [--size 4096 4096 4096] [--grid 2 1] [--blocks 64 128 256] [--rounds 5]
//                         [--methods raw,nonblocking shm ...] [--algorithm cannon]
#include "machine/blas.hpp"
#include "machine/gemm.hpp"
#include "matmul/matmul.hpp"
#include "pdgemm.hpp"

#include <CLI/CLI.hpp>
#include <Kokkos_Core.hpp>
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace {

using namespace kontor;
using namespace kontor::matmul;

struct Settings {
  std::vector<int> size{4096, 4096, 4096}, grid, blocks{64, 128, 256};
  std::vector<std::string> methods{"raw,nonblocking"};
  std::string algorithm = "cannon";
  int rounds = 5;
};

struct Candidate {
  std::string name;
  double flops = 0; ///< of all ranks
  std::function<void()> prepare, work;
  std::vector<double> seconds = {};

  double median() {
    std::nth_element(seconds.begin(), seconds.begin() + seconds.size() / 2, seconds.end());
    return seconds[seconds.size() / 2];
  }
};

/// "shm", "raw,persistent", "raw,rma,alone": backend, pattern, and `alone` for no overlap.
struct Method {
  comm::Options options;
  bool overlap = true;

  explicit Method(const std::string& text) {
    const auto words = CLI::detail::split(text, ',');
    options.backend = words.at(0);
    for (std::size_t i = 1; i < words.size(); ++i) {
      const auto* const named =
          std::ranges::find(comm::pattern_names, words[i], &comm::NamedValue<comm::Pattern>::name);
      if (words[i] == "alone")
        overlap = false;
      else if (named != comm::pattern_names.end())
        options.pattern = named->value;
      else
        throw CLI::ValidationError("--methods", words[i] + " is no pattern");
    }
  }
};

/// Kontor's product, as a run makes it.
class Product {
 public:
  Product(const Options& options, const Method& method)
      : comm_(MPI_COMM_WORLD, method.options), app_(options, {comm_, method.overlap, timers_, progress_}) {
    app_.warm_up();
  }
  void reset() { app_.reset(); }
  void run() { app_.run(); }

 private:
  comm::Communicator comm_;
  miniapp::Timers timers_{"matmul"};
  miniapp::Progress progress_{miniapp::Progress::Style::silent};
  Matmul<double> app_;
};

void measure(std::vector<Candidate>& candidates, int rounds) {
  for (int round = -1; round < rounds; ++round)
    for (auto& candidate : candidates) {
      if (candidate.prepare) candidate.prepare();
      Kokkos::fence();
      MPI_Barrier(MPI_COMM_WORLD);
      const double begin = MPI_Wtime();
      candidate.work();
      Kokkos::fence();
      double seconds = MPI_Wtime() - begin;
      MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
      if (round >= 0) candidate.seconds.push_back(seconds);
    }
}

void compare(const Settings& settings) {
  int ranks = 1, rank = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const auto grid = settings.grid.size() == 2 ? settings.grid : std::vector<int>{ranks, 1};
  const int m = settings.size.at(0), n = settings.size.at(1), k = settings.size.at(2);

  Options options;
  options.size = {m, n, k};
  options.algorithm = settings.algorithm == "summa" ? Algorithm::summa : Algorithm::cannon;
  options.process_grid = {grid[0], grid[1]};
  const double flops = options.size.flops();

  std::vector<Candidate> candidates;
  std::list<Product> products;
  for (const auto& method : settings.methods) {
    auto& product = products.emplace_back(options, Method(method));
    candidates.push_back({"kontor " + settings.algorithm + ", " + method, flops, [&] { product.reset(); },
                          [&] { product.run(); }});
  }
  miniapp::set_blas_threads(1);
  std::list<Pdgemm> pdgemms;
  for (const int block : settings.blocks) {
    auto& pdgemm = pdgemms.emplace_back(PdgemmShape{m, n, k, grid[0], grid[1], block});
    candidates.push_back({fmt::format("pdgemm, blocks of {}", block), flops, {}, [&] { pdgemm.run(); }});
  }
  // The rank's share of C by one product of a panel of A and a panel of B, on all ranks at once.
  const miniapp::Matrix<double> a("bench/a", m / grid[0], k), b("bench/b", k, n / grid[1]),
      c("bench/c", m / grid[0], n / grid[1]);
  Kokkos::deep_copy(a, 0.5);
  Kokkos::deep_copy(b, 0.5);
  candidates.push_back({"local product alone", flops, {}, [&] { miniapp::gemm<double>({}, 1, a, b, 0, c); }});

  measure(candidates, settings.rounds);
  double best = 1e30;
  for (auto& candidate : candidates)
    if (candidate.name.starts_with("pdgemm")) best = std::min(best, candidate.median());
  const double local = candidates.back().median();
  if (rank != 0) return;
  fmt::print("{} x {} x {} on {} x {} ranks, {}, medians of {} rounds\n", m, n, k, grid[0], grid[1],
             miniapp::host_blas().name, settings.rounds);
  for (auto& candidate : candidates) {
    const auto [fastest, slowest] = std::ranges::minmax(candidate.seconds);
    fmt::print("  {:<36}{:>9.4f} s [{:.4f} .. {:.4f}]{:>9.1f} GFLOP/s{:>8.3f} of the local product",
               candidate.name, candidate.median(), fastest, slowest, 1e-9 * flops / candidate.median(),
               local / candidate.median());
    if (!settings.blocks.empty()) fmt::print("{:>8.3f} of the best pdgemm", best / candidate.median());
    fmt::print("\n");
  }
}

} // namespace

int main(int argc, char** argv) {
  Settings settings;
  CLI::App app("Kontor's matrix product beside ScaLAPACK's");
  app.add_option("--size", settings.size, "m, n, k")->expected(3);
  app.add_option("--grid", settings.grid, "rows and columns of ranks (default: all ranks in one column)")
      ->expected(2);
  app.add_option("--blocks", settings.blocks, "block sizes of pdgemm");
  app.add_option("--methods", settings.methods, "backend[,pattern][,alone] ...");
  app.add_option("--algorithm", settings.algorithm, "cannon or summa")
      ->check(CLI::IsMember({"cannon", "summa"}));
  app.add_option("--rounds", settings.rounds, "how often each takes its turn")->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);
  MPI_Init(&argc, &argv);
  Kokkos::initialize();
  compare(settings);
  Kokkos::finalize();
  MPI_Finalize();
}
