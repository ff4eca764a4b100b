// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernels/bench.hpp"
#include "stepping/step_graph.hpp"

#include <kontor/comm/mpi_check.hpp>

#include <fmt/format.h>

/// A = Q R, the rows of A and Q divided among ranks (G. H. Golub, C. F. Van Loan, Matrix Computations, 5.2.8).
namespace kontor::kernels {
namespace {

std::optional<std::string> refusal_of_graph(const comm::Communicator& comm, const stepping::GlobalDots& dots) {
  if (!stepping::on_device) return "kernels run on the host";
  if (!dots.stream_ordered())
    return fmt::format("the host takes part in each sum by backend '{}'", comm.options().backend);
  return std::nullopt;
}

/// Collective. The largest entry of Q'Q - I and of A - QR, by loops and a call of MPI.
template <class Entry>
double factorisation_error(MPI_Comm comm, const Matrix& q_on_device, const Matrix& r_on_device, const Entry& a) {
  const auto q = on_host(q_on_device), r = on_host(r_on_device);
  const auto rows = q.extent(0), columns = q.extent(1);
  std::vector<double> product(columns * columns);
  for (std::size_t j = 0; j < columns; ++j)
    for (std::size_t k = 0; k < columns; ++k)
      for (std::size_t i = 0; i < rows; ++i) product[j * columns + k] += q(i, j) * q(i, k);
  comm::mpi::check(
      MPI_Allreduce(MPI_IN_PLACE, product.data(), static_cast<int>(product.size()), MPI_DOUBLE, MPI_SUM, comm),
      "MPI_Allreduce");
  double error = 0;
  for (std::size_t j = 0; j < columns; ++j) {
    for (std::size_t k = 0; k < columns; ++k) error = worse(error, std::abs(product[j * columns + k] - (j == k)));
    for (std::size_t i = 0; i < rows; ++i) {
      double rest = a(i, j, 0);
      for (std::size_t k = 0; k <= j; ++k) rest -= q(i, k) * r(k, j);
      error = worse(error, std::abs(rest));
    }
  }
  return error;
}

} // namespace

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
  const auto entry = [=](auto i, auto j, auto) { return random_number(first + static_cast<std::int64_t>(i), j); };
  const auto a = filled(Matrix("kernels/A", rows, options.columns), entry);
  const Matrix q("kernels/Q", rows, options.columns), r("kernels/R", options.columns, options.columns);
  stepping::Streams<Space> streams(false);
  stepping::GlobalDots dots(comm, "dots", 1, streams.compute(), options.sums);
  const auto clear = [&] {
    Kokkos::deep_copy(q, a);
    Kokkos::deep_copy(r, 0.0);
  };
  const auto queue = [&](int = 0) { modified_gram_schmidt(streams.compute(), q, r, dots); };
  const comm::Communicator self(MPI_COMM_SELF);
  stepping::GlobalDots own(self, "dots", 1, streams.compute(), options.sums);
  stepping::StepGraph<Space> graph;
  clear();
  queue(); // what is allocated or loaded with the first kernels cannot be captured
  streams.fence();
  graph.choose(
      comm, streams, options.graph, refusal_of_graph(comm, dots), 1, queue, [] { return 0; }, [] {});
  bench.findings.record.update(graph.record("factorisations", 1));
  const Way ways[] = {way(std::string(stepping::sum_kind_names[static_cast<std::size_t>(options.sums)].name),
                          [&] { graph ? graph.replay(streams, 0) : queue(); }),
                      way(
                          "without_messages", [&] { modified_gram_schmidt(streams.compute(), q, r, own); }, false)};
  const double k = static_cast<double>(options.columns), m = static_cast<double>(n) / comm.size();
  bench.time({"QR",
              n,
              m * k,
              {8 * m * k * 2 * k, 8 * m * k * (k + 1) / 2},
              {{"flops", (2 * k + 1) * m * k, "flop/s"}, {"sums", k * (k + 1) / 2 / comm.size(), "1/s"}}},
             std::span(ways).first(comm.size() > 1 ? 2 : 1),
             {clear, [&] { return factorisation_error(comm.native(), q, r, entry); },
              8 * (std::sqrt(static_cast<double>(n)) + k) * epsilon<>});
  dots.poll();
}

} // namespace kontor::kernels
