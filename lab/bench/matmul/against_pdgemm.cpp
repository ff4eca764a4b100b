// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kontor's product beside ScaLAPACK's pdgemm and beside the local product alone, in one job and in turn in
// each round, so that what else the machine does touches all alike. Medians over rounds, of the slowest rank.
//   matmul_against_pdgemm [--size 4096 4096 4096] [--grid 2 1] [--blocks 64 128 256] [--rounds 5]
//                         [--methods raw,nonblocking shm ...] [--algorithm cannon] [--passes]
#include "machine/blas.hpp"
#include "machine/gemm.hpp"
#include "matmul/matmul.hpp"
#include "matmul/problem/element.hpp"
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
#include <time.h>
#include <vector>

namespace {

using namespace kontor;
using namespace kontor::matmul;

struct Settings {
  std::vector<int> size{4096, 4096, 4096}, grid, blocks{64, 128, 256};
  std::vector<std::string> methods{"raw,nonblocking"};
  std::string algorithm = "cannon";
  int rounds = 5;
  bool passes = false;
};

/// What takes its turn in each round.
struct Candidate {
  std::string name;
  std::function<double()> run; ///< seconds of the slowest rank
  std::vector<double> seconds = {};

  double median() const { return miniapp::median(seconds); }
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

/// Of this process, where other work beside it is not to count.
bool by_cpu_time = false;

double now() {
  if (!by_cpu_time) return MPI_Wtime();
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double slowest(const std::function<void()>& work) {
  Kokkos::fence();
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = now();
  work();
  Kokkos::fence();
  double seconds = now() - begin;
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return seconds;
}

/// Kontor's product, as a run makes it.
class Product {
 public:
  Product(const Options& options, const Method& method)
      : comm_(MPI_COMM_WORLD, method.options), app_(options, {comm_, method.overlap, timers_, progress_}) {
    app_.warm_up();
  }
  double seconds() {
    app_.reset();
    return slowest([&] { app_.run(); });
  }
  double seconds_of(Pass pass) {
    app_.reset();
    if (!by_cpu_time) return app_.seconds_of_pass(pass);
    return slowest([&] { app_.seconds_of_pass(pass); });
  }

 private:
  comm::Communicator comm_;
  miniapp::Timers timers_{"matmul"};
  miniapp::Progress progress_{miniapp::Progress::Style::silent};
  Matmul<double> app_;
};

void measure(std::vector<Candidate>& candidates, int rounds) {
  for (int round = -1; round < rounds; ++round)
    for (auto& candidate : candidates) {
      const double seconds = candidate.run();
      if (round >= 0) candidate.seconds.push_back(seconds);
    }
}

/// Of the same round each, so that what else the machine does touches all alike.
void print_exposed(const Candidate& steps, const Candidate& products, const Candidate& transfers) {
  std::vector<double> exposed, hidden;
  for (std::size_t round = 0; round < steps.seconds.size(); ++round) {
    exposed.push_back(steps.seconds[round] - products.seconds[round]);
    hidden.push_back(1 - exposed.back() / transfers.seconds[round]);
  }
  const auto [least, most] = std::ranges::minmax(hidden);
  fmt::print("  {:<36}{:>9.4f} s exposed, {:.0f} % of the transfers hidden [{:.0f} .. {:.0f}]\n", "",
             miniapp::median(exposed), 100 * miniapp::median(hidden), 100 * least, 100 * most);
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
    const auto name = "kontor " + settings.algorithm + ", " + method;
    if (!settings.passes) {
      candidates.push_back({name, [&] { return product.seconds(); }});
      continue;
    }
    candidates.push_back({name + ": steps", [&] { return product.seconds_of(Pass::whole); }});
    candidates.push_back({"  products alone", [&] { return product.seconds_of(Pass::products); }});
    candidates.push_back({"  transfers alone", [&] { return product.seconds_of(Pass::transfers); }});
  }
  miniapp::set_blas_threads(1);
  std::list<Pdgemm> pdgemms;
  for (const int block : settings.blocks) {
    if (block == 0) continue;
    auto& pdgemm = pdgemms.emplace_back(PdgemmShape{m, n, k, grid[0], grid[1], block});
    candidates.push_back(
        {fmt::format("pdgemm, blocks of {}", block), [&] { return slowest([&] { pdgemm.run(); }); }});
  }
  // The rank's share of C by one product of a panel of A and a panel of B, on all ranks at once.
  const miniapp::Matrix<double> a("bench/a", m / grid[0], k), b("bench/b", k, n / grid[1]),
      c("bench/c", m / grid[0], n / grid[1]);
  for (const auto& matrix : {a, b}) // random: with numbers of few digits processors are faster
    for (std::size_t j = 0; j < matrix.extent(1); ++j)
      for (std::size_t i = 0; i < matrix.extent(0); ++i)
        matrix(i, j) =
            uniform<double>(bits_at(1, static_cast<std::int64_t>(i), static_cast<std::int64_t>(j)));
  candidates.push_back(
      {"local product alone", [&] { return slowest([&] { miniapp::gemm<double>({}, 1, a, b, 0, c); }); }});

  measure(candidates, settings.rounds);
  double best = 1e30;
  for (const auto& candidate : candidates)
    if (candidate.name.starts_with("pdgemm")) best = std::min(best, candidate.median());
  const double local = candidates.back().median();
  if (rank != 0) return;
  fmt::print("{} x {} x {} on {} x {} ranks, {}, medians of {} rounds\n", m, n, k, grid[0], grid[1],
             miniapp::host_blas().name, settings.rounds);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const auto& candidate = candidates[i];
    const auto [fastest, slowest] = std::ranges::minmax(candidate.seconds);
    fmt::print("  {:<36}{:>9.4f} s [{:.4f} .. {:.4f}]{:>9.1f} GFLOP/s{:>8.3f} of the local product",
               candidate.name, candidate.median(), fastest, slowest, 1e-9 * flops / candidate.median(),
               local / candidate.median());
    if (!pdgemms.empty()) fmt::print("{:>8.3f} of the best pdgemm", best / candidate.median());
    fmt::print("\n");
    if (candidate.name == "  transfers alone") print_exposed(candidates[i - 2], candidates[i - 1], candidate);
  }
}

} // namespace

int main(int argc, char** argv) {
  Settings settings;
  CLI::App app("Kontor's matrix product beside ScaLAPACK's");
  app.add_option("--size", settings.size, "m, n, k")->expected(3);
  app.add_option("--grid", settings.grid, "rows and columns of ranks (default: all ranks in one column)")
      ->expected(2);
  app.add_option("--blocks", settings.blocks, "block sizes of pdgemm; 0: none");
  app.add_option("--methods", settings.methods, "backend[,pattern][,alone] ...");
  app.add_option("--algorithm", settings.algorithm, "cannon or summa")
      ->check(CLI::IsMember({"cannon", "summa"}));
  app.add_flag("--passes", settings.passes, "how much of its transfers each method hides");
  app.add_flag("--cpu-time", by_cpu_time, "seconds of processor time, not of the clock");
  app.add_option("--rounds", settings.rounds, "how often each takes its turn")->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);
  MPI_Init(&argc, &argv);
  Kokkos::initialize();
  compare(settings);
  Kokkos::finalize();
  MPI_Finalize();
}
