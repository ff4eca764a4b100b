// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every run tells whether its matrix and its preconditioner are symmetric, and one that has others fails.
#include "cg/check/symmetry.hpp"
#include "cg/preconditioner/preconditioner.hpp"
#include "small_system.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <string>
#include <utility>
#include <vector>

namespace kontor::cg::test {
namespace {

/// Of the matrix, and of M if there is one.
std::vector<double> asymmetries(MPI_Comm native, const SmallSystem& system, const SolverOptions& options) {
  const comm::Communicator comm(native);
  Bench bench(comm, system, options);
  const auto work = bench.workspace();
  const auto& partition = bench.system().partition;
  const auto own = std::pair<LocalIndex, LocalIndex>(0, partition.own);
  std::vector<double> found{asymmetry(comm, partition, Space(), [&](const Vector& v, const Vector& av) {
    work.matrix.multiply(Space(), Part::all, v, av);
  })};
  if (const auto m = make_preconditioner(work))
    found.push_back(asymmetry(comm, partition, Space(),
                              [&](const Vector& v, const Vector& mv) { m->apply(Kokkos::subview(v, own), mv); }));
  return found;
}

TEST(Symmetry, IsThereButForRounding) {
  for (const auto& system : {irregular(61), line(40), line(2), diagonal({3})})
    for (const auto preconditioner : preconditioners()) {
      const auto found = asymmetries(MPI_COMM_WORLD, system, {.preconditioner = preconditioner});
      for (const double departure : found) EXPECT_LT(departure, 1e-3 * symmetry_tolerance);
      if (preconditioner == PreconditionerKind::gauss_seidel) continue; // another one on other ranks
      EXPECT_EQ(found, asymmetries(MPI_COMM_SELF, system, {.preconditioner = preconditioner}));
    }
}

/// The identity and a part of the row before.
class Skew final : public Preconditioner {
 public:
  explicit Skew(double part) : part_(part) {}
  void apply(const Vector& r, const Vector& z) override {
    const auto from = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), r);
    const auto to = Kokkos::create_mirror_view(z);
    for (std::size_t i = 0; i < from.extent(0); ++i) to(i) = from(i) + (i > 0 ? part_ * from(i - 1) : 0);
    Kokkos::deep_copy(z, to);
  }
  Cost cost() const override { return {}; }

 private:
  double part_;
};

TEST(Symmetry, MissingFailsARun) {
  Skew identity(0), skew(1e-3);
  const SolverOptions options{.tolerance = 1e-3};
  SolvedOnce solved(irregular(61), options);
  const auto right = solved.verified(&identity);
  EXPECT_TRUE(right.passed());
  ASSERT_EQ(right.more.size(), 4u);
  EXPECT_EQ(right.more[0].first, "matrix_asymmetry");
  EXPECT_EQ(right.more[1].first, "preconditioner_asymmetry");
  EXPECT_NE(right.remark.find("asymmetry of the matrix"), std::string::npos) << right.remark;

  auto system = irregular(61);
  system.matrix[40][41] *= 1 + 1e-5; // one of a few hundred; it converges all the same
  const auto wrong_matrix = SolvedOnce(system, options).verified(&identity);
  EXPECT_TRUE(wrong_matrix.failed());
  EXPECT_NE(wrong_matrix.measure.find("asymmetry of the matrix"), std::string::npos) << wrong_matrix.measure;
  EXPECT_EQ(wrong_matrix.error, wrong_matrix.more[0].second);
  EXPECT_GT(wrong_matrix.error, 100 * symmetry_tolerance);

  const auto wrong_preconditioner = solved.verified(&skew);
  EXPECT_TRUE(wrong_preconditioner.failed());
  EXPECT_NE(wrong_preconditioner.measure.find("asymmetry of the preconditioner"), std::string::npos)
      << wrong_preconditioner.measure;
}

} // namespace
} // namespace kontor::cg::test
