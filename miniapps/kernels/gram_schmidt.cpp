// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernels/bench.hpp"
#include "stepping/launch_refusal.hpp"
#include "stepping/streams.hpp"
#include "stepping/trial.hpp"

#include <kontor/comm/mpi_check.hpp>

#include <fmt/format.h>

/// A = Q R, the rows of A and Q divided among ranks (G. H. Golub, C. F. Van Loan, Matrix Computations, 5.2.8).
namespace kontor::kernels {

/// Collective. The largest entry of Q'Q - I and of A - QR, by loops and a call of MPI.
static double factorisation_error(MPI_Comm comm, const Matrix& a, const Matrix& q_on_device,
                                  const Matrix& r_on_device) {
  const auto q = on_host(q_on_device), r = on_host(r_on_device);
  const auto gram = filled(decltype(q)("kernels/Q'Q", r.extent(0), r.extent(1)), [&](auto j, auto k, auto) {
    double sum = 0;
    for (std::size_t i = 0; i < q.extent(0); ++i) sum += q(i, j) * q(i, k);
    return sum;
  });
  comm::mpi::check(MPI_Allreduce(MPI_IN_PLACE, gram.data(), static_cast<int>(gram.size()), MPI_DOUBLE, MPI_SUM, comm),
                   "MPI_Allreduce");
  const auto product = [&](auto i, auto j, auto) {
    double sum = 0;
    for (std::int64_t k = 0; k <= j; ++k) sum += q(i, k) * r(k, j);
    return sum;
  };
  return worse(largest_error(gram, [](auto j, auto k, auto) { return j == k; }), largest_error(a, product));
}

void modified_gram_schmidt(const Space& instance, const Matrix& q, const Matrix& r, stepping::GlobalDots& dots) {
  const auto rows = q.extent(0);
  const auto range = [&](int first, auto end) { return stepping::by_value_at_launch(Range(instance, first, end)); };
  const auto column = [&](int j) { return Vector(Kokkos::subview(q, Kokkos::ALL, j)); };
  const auto dot = [&](int j, int k) {
    dots.dot(instance, 0, column(j), column(k));
    dots.start(instance);
    dots.finish(instance);
    return dots.local();
  };
  const int columns = static_cast<int>(q.extent(1));
  for (int j = 0; j < columns; ++j) {
    const Vector q_j = column(j);
    const double* square = dot(j, j);
    Kokkos::parallel_for(
        "kernels/normalise", range(0, rows), KOKKOS_LAMBDA(const std::int64_t i) {
          const double norm = sqrt(*square);
          if (i == 0) r(j, j) = norm;
          q_j(i) /= norm;
        });
    for (int k = j + 1; k < columns; ++k) {
      const Vector a = column(k);
      const double* sum = dot(j, k);
      Kokkos::parallel_for(
          "kernels/subtract", range(0, rows), KOKKOS_LAMBDA(const std::int64_t i) {
            if (i == 0) r(j, k) = *sum;
            a(i) -= *sum * q_j(i);
          });
    }
  }
}

void measure_gram_schmidt(Bench& bench, std::int64_t n) {
  const auto& comm = bench.context.comm;
  const auto& options = bench.options;
  const auto first = n * comm.rank() / comm.size(), rows = n * (comm.rank() + 1) / comm.size() - first;
  const auto a = filled(Matrix("kernels/A", rows, options.columns),
                        [=](auto i, auto j, auto) { return random_number(first + i, j); });
  const Matrix q("kernels/Q", rows, options.columns), r("kernels/R", options.columns, options.columns);
  stepping::Streams<Space> streams(false);
  stepping::GlobalDots dots(comm, "dots", 1, streams.compute(), options.sums);
  const auto clear = [&] {
    Kokkos::deep_copy(q, a);
    Kokkos::deep_copy(r, 0.0);
  };
  const auto queue = [&] { modified_gram_schmidt(streams.compute(), q, r, dots); };
  const comm::Communicator self(MPI_COMM_SELF);
  stepping::GlobalDots own(self, "dots", 1, streams.compute(), options.sums);
  std::optional<std::string> refusal;
  if (!dots.stream_ordered())
    refusal = fmt::format("the host takes part in each sum by backend '{}'", comm.options().backend);
  if (!stepping::on_device) refusal = "kernels run on the host";
  const auto& wanted = options.launch;
  if (wanted == stepping::Launch::graph && refusal)
    wanted.location.fail(fmt::format("is graph, but {}; choose auto or per_kernel", *refusal));
  if (wanted == stepping::Launch::per_kernel) refusal = "the deck chooses another";
  if (!refusal && wanted == stepping::Launch::automatic && stepping::tool_listens(comm))
    refusal = "a profiling tool would see its kernels once";
  stepping::Trial launches{{{"per_kernel"}, {"graph", refusal}}};
  if (wanted == stepping::Launch::graph) launches.candidates[0].refusal = "the deck chooses another";
  clear();
  queue(); // what is allocated or loaded with the first kernels cannot be captured
  streams.fence();
  std::optional<device::CapturedGraph<Space>> graph;
  if (!refusal) stepping::capture_on_all(comm, wanted.location, [&] { graph.emplace(streams.capture(queue)); });
  launches.choose(comm, 1, [&](std::size_t by_graph, int count) {
    comm::Stopwatch watch;
    double seconds = 0;
    for (int i = 0; i < count; ++i) by_graph == 1 ? streams.replay(*graph) : queue();
    streams.fence();
    watch.lap(seconds);
    return seconds / count;
  });
  if (launches.chosen == 0) graph.reset();
  bench.findings.record["launch"] = launches.candidates[launches.chosen].name;
  if (launches.tried()) bench.findings.record["launch_trial"] = launches.record();
  const auto& sums = stepping::sum_kind_names[static_cast<std::size_t>(options.sums)].name;
  const auto factor = [&] { graph ? streams.replay(*graph) : queue(); };
  const auto alone = [&] { modified_gram_schmidt(streams.compute(), q, r, own); };
  const Way ways[] = {way(std::string(sums), factor), way("without_messages", alone, false)};
  const double k = static_cast<double>(options.columns), m = static_cast<double>(n) / comm.size();
  const Figures counts{{"flops", (2 * k + 1) * m * k, "flop/s"}, {"sums", k * (k + 1) / 2 / comm.size(), "1/s"}};
  const auto error = [&] { return factorisation_error(comm.native(), a, q, r); };
  bench.time({"QR", n, m * k, {16 * m * k * k, 4 * m * k * (k + 1)}, counts},
             std::span(ways).first(comm.size() > 1 ? 2 : 1),
             {clear, error, 8 * (std::sqrt(static_cast<double>(n)) + k) * epsilon<>});
  dots.poll();
}

} // namespace kontor::kernels
