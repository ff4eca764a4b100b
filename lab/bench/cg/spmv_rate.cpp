// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How fast the formats multiply, beside the triad's rate. Everything is measured in turn in each round, so
// that all of it sees the same weather; medians over rounds. Under mpirun each rank multiplies a matrix of
// its own, and the slowest counts.
//   cg_spmv_rate [--points 100 100 100] [--size 27] [--rounds 15] [--products 2] [--formats csr,sell...]
//                [--team 256 128...] [--staged 2048 1024...] [--same-order] [--rounds-of-teams 2]
//                [--chunk 32 16...] [--teams] [--cpu-time]
// Without a setting it is what cg takes.
#include "cg/matrix/matrix.hpp"
#include "cg/matrix/matrix_free.hpp"
#include "cg/names.hpp"
#include "cg/options.hpp"
#include "cg/problem/box_rows.hpp"
#include "cg/problem/problem.hpp"
#include "cg/solver/global_dots.hpp"
#include "machine/huge_pages.hpp"
#include "stepping/row_sums.hpp"

#include <kontor/comm/communicator.hpp>
#include <kontor/device/compat.hpp>

#include <CLI/CLI.hpp>
#include <Kokkos_Core.hpp>
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <ctime>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace {

using namespace kontor;
using namespace kontor::cg;

struct Settings {
  std::vector<std::int64_t> points{100, 100, 100};
  int size = 27, rounds = 15, products = 2;
  std::vector<std::string> formats{"csr", "sell", "kokkos_kernels", "matrix_free"};
  std::vector<int> teams, staged, chunks;
  int rounds_of_teams = 0;
  bool same_order = false, as_on_device = false, cpu_time = false, huge_pages = false;
};

struct Candidate {
  std::string name;
  double bytes = 0;
  std::function<void()> work;
  std::vector<double> seconds = {};

  double median() {
    std::nth_element(seconds.begin(), seconds.begin() + seconds.size() / 2, seconds.end());
    return seconds[seconds.size() / 2];
  }
};

double now(bool cpu_time) {
  if (!cpu_time) return MPI_Wtime();
  std::timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

struct Triad {
  Vector a, b, c;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { a(i) += b(i) + 3.0 * c(i); }
};
struct UpdateDirection {
  Vector x, p, r;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const double direction = p(i);
    x(i) += 1e-9 * direction;
    p(i) = r(i) + 0.5 * direction;
  }
};
struct UpdateResidual {
  Vector r, q;
  KOKKOS_FUNCTION PartialSums<1> operator()(std::int64_t i) const {
    PartialSums<1> sum;
    const double value = r(i) - 1e-9 * q(i);
    r(i) = value;
    sum[0] = value * value;
    return sum;
  }
};
struct Dot {
  Vector x, y;
  KOKKOS_FUNCTION PartialSums<1> operator()(std::int64_t i) const {
    PartialSums<1> sum;
    sum[0] = x(i) * y(i);
    return sum;
  }
};

std::vector<int> given(const std::vector<int>& values, int otherwise) {
  return values.empty() ? std::vector<int>{otherwise} : values;
}

class Bench {
 public:
  Bench(const Settings& settings, const comm::Communicator& comm, const Options& options,
        const miniapp::RunContext& context)
      : settings_(settings), problem_(make_problem(options, context)), system_(problem_->build()),
        rows_(system_.partition.own), x_("cg/x", rows_), y_("cg/y", rows_), z_("cg/z", rows_),
        sum_("cg/sum", 1) {
    static_cast<void>(comm);
    if (settings.huge_pages) {
      for (const auto& vector : {x_, y_, z_, system_.matrix.values}) miniapp::use_huge_pages(vector);
      miniapp::use_huge_pages(system_.matrix.columns);
      miniapp::use_huge_pages(system_.matrix.offsets);
    }
    Kokkos::deep_copy(x_, system_.exact.value_or(system_.rhs));
    add_vectors();
    for (const auto& format : settings.formats) add(format);
  }

  void measure() {
    for (int round = -1; round < settings_.rounds; ++round)
      for (auto& candidate : candidates_) {
        Kokkos::fence();
        MPI_Barrier(MPI_COMM_WORLD);
        const double begin = now(settings_.cpu_time);
        for (int i = 0; i < settings_.products; ++i) candidate.work();
        Kokkos::fence();
        double seconds = (now(settings_.cpu_time) - begin) / settings_.products;
        MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        if (round >= 0) candidate.seconds.push_back(seconds);
      }
  }

  void print() {
    fmt::print("{} rows, {} entries a rank\n", rows_, system_.matrix.entries());
    const double triad = candidates_.front().bytes / candidates_.front().median();
    for (auto& candidate : candidates_) {
      const double seconds = candidate.median();
      fmt::print("  {:<44}{:>9.4f} ms{:>8.1f} MB{:>9.1f} GB/s a rank{:>7.3f} of triad\n", candidate.name,
                 1e3 * seconds, 1e-6 * candidate.bytes, 1e-9 * candidate.bytes / seconds,
                 candidate.bytes / seconds / triad);
    }
  }

 private:
  void add_vectors() {
    // As many bytes as the matrix has.
    const auto n = std::max<std::int64_t>(system_.matrix.entries() * 12 / 24, 1);
    const Triad triad{Vector("cg/a", n), Vector("cg/b", n), Vector("cg/c", n)};
    if (settings_.huge_pages)
      for (const auto& vector : {triad.a, triad.b, triad.c}) miniapp::use_huge_pages(vector);
    const auto bytes = [](double streams, std::int64_t count) {
      return streams * sizeof(double) * static_cast<double>(count);
    };
    candidates_.push_back(
        {"triad", bytes(4, n), [=] { Kokkos::parallel_for("cg/triad", Policy(0, n), triad); }});
    // What a core can read, as a product by a matrix does; the triad writes, too.
    candidates_.push_back(
        {"dot of the triad's vectors", bytes(2, n), [=, this] {
           for_rows_with_sums<1>("cg/dot", {}, n, Dot{triad.b, triad.c}, parts_, StoreTo<1>{sum_.data()});
         }});
    const UpdateDirection direction{z_, x_, y_};
    candidates_.push_back({"update direction (x, p)", bytes(5, rows_),
                           [=, rows = rows_] { for_rows("cg/direction", {}, rows, direction); }});
    const UpdateResidual residual{z_, y_};
    candidates_.push_back({"update residual (r, r.r)", bytes(3, rows_), [=, this] {
                             for_rows_with_sums<1>("cg/residual", {}, rows_, residual, parts_,
                                                   StoreTo<1>{sum_.data()});
                           }});
    candidates_.push_back(
        {"dot", bytes(2, rows_), [=, this] {
           for_rows_with_sums<1>("cg/dot", {}, rows_, Dot{x_, y_}, parts_, StoreTo<1>{sum_.data()});
         }});
  }

  void add(const std::string& format) {
    const auto& matrix = system_.matrix;
    const auto interior = system_.partition.interior;
    const ProductTuning usual;
    for (const int team : given(settings_.teams, usual.team)) {
      ProductTuning tuning;
      tuning.team = team;
      tuning.rounds = settings_.rounds_of_teams;
      tuning.teams = tuning.teams || settings_.as_on_device;
      tuning.alternate = !settings_.same_order;
      if (format == "csr") {
        for (const int staged : given(settings_.staged, usual.staged)) {
          tuning.staged = staged;
          add(fmt::format("csr team {} staged {}", team, staged), make_csr(matrix, interior, tuning));
        }
      } else if (format == "sell") {
        for (const int chunk : given(settings_.chunks, usual.chunk)) {
          tuning.chunk = chunk;
          add(fmt::format("sell team {} chunk {}", team, chunk), make_sell(matrix, interior, rows_, tuning));
        }
      } else if (format == "matrix_free") {
        add(fmt::format("matrix_free team {}", team), problem_->matrix_free(tuning));
      } else if (team == given(settings_.teams, usual.team).front()) {
        add(format, make_kokkos_kernels(matrix, interior, rows_));
      }
    }
  }

  void add(const std::string& name, std::shared_ptr<Matrix> matrix) {
    if (!matrix) return;
    const double bytes = matrix->bytes();
    candidates_.push_back({name, bytes, [=, this] { matrix->multiply({}, Part::all, x_, y_); }});
    candidates_.push_back({name + " + dot", bytes,
                           [=, this] { matrix->multiply_and_dot({}, Part::all, x_, y_, sum_.data()); }});
  }

  Settings settings_;
  std::unique_ptr<Problem> problem_;
  LinearSystem system_;
  LocalIndex rows_;
  Vector x_, y_, z_, sum_;
  TeamParts parts_ = parts_of_rows(1);
  std::vector<Candidate> candidates_;
};

} // namespace

int main(int argc, char** argv) {
  Settings settings;
  CLI::App app("Rates of sparse matrix-vector products");
  app.add_option("--points", settings.points, "Points along x, y and z of each rank's box")->expected(3);
  app.add_option("--size", settings.size, "Points of the stencil: 7 or 27");
  app.add_option("--rounds", settings.rounds, "Over which the median is taken");
  app.add_option("--products", settings.products, "In one timing");
  app.add_option("--formats", settings.formats, "csr, sell, kokkos_kernels, matrix_free")->delimiter(',');
  app.add_option("--team", settings.teams, "Threads of a team; several are tried");
  app.add_option("--rounds-of-teams", settings.rounds_of_teams,
                 "Teams beside those that a device runs at once");
  app.add_option("--staged", settings.staged, "csr: entries that a team stages; several are tried");
  app.add_flag("--same-order", settings.same_order, "Every product begins with the first rows");
  app.add_option("--chunk", settings.chunks, "sell: rows of a chunk, 8, 16 or 32; several are tried");
  app.add_flag("--teams", settings.as_on_device, "On a processor, too: the kernels of a device");
  app.add_flag("--cpu-time", settings.cpu_time, "The thread's time, for a machine that others use");
  app.add_flag("--huge-pages", settings.huge_pages, "Compressed rows and vectors in huge pages");
  CLI11_PARSE(app, argc, argv);
  MPI_Init(&argc, &argv);
  {
    const Kokkos::ScopeGuard kokkos;
    const comm::Communicator self(MPI_COMM_SELF);
    Options options;
    options.stencil.points = settings.points;
    options.stencil.size = settings.size;
    options.process_grid = {1, 1, 1};
    options.stencil.exact = config::Expression("1 + 0.5 * sin(0.1 * x + 0.2 * y + 0.3 * z)");
    miniapp::Timers timers;
    miniapp::Progress progress(miniapp::Progress::Style::silent);
    Bench bench(settings, self, options, {self, true, timers, progress});
    bench.measure();
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) bench.print();
  }
  MPI_Finalize();
}
