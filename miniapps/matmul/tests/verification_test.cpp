// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the verification finds: one wrong element, and each message that is spoilt on its way.
#include "allocation_counter.hpp"
#include "run_product.hpp"

namespace {

/// The message of this rank that is spoilt, of those since `sent` was 0; -1: none.
int spoilt = -1;
int sent = 0;
std::vector<double> spoilt_message;

} // namespace

extern "C" int MPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                         MPI_Request* request) {
#if !defined(KOKKOS_ENABLE_CUDA) // allocation_test.cpp is compiled
  const kontor::comm::test::NotCounted inside_mpi;
#endif
  if (type == MPI_DOUBLE && count > 0 && sent++ == spoilt) { // in host memory: path staged
    const auto* const values = static_cast<const double*>(data);
    spoilt_message.assign(values, values + count);
    spoilt_message[0] += 1; // of the first column and row
    data = spoilt_message.data();
  }
  return PMPI_Isend(data, count, type, to, tag, comm, request);
}

namespace kontor::matmul::test {
namespace {

/// Adds to element (i, j) of the whole matrix, on the rank that has it.
void add_to(const LocalMatrix<double>& matrix, std::int64_t i, std::int64_t j, double value) {
  for (std::int64_t n = 0; n < matrix.columns.size(); ++n)
    for (std::int64_t m = 0; m < matrix.rows.size(); ++m) {
      if (matrix.rows.begin + m != i || matrix.columns.begin + n != j) continue;
      const auto element = Kokkos::subview(matrix.elements, m, n);
      const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), element);
      host() += value;
      Kokkos::deep_copy(element, host);
    }
}

TEST(Verification, FindsEachSpoiltMessage) {
  const int ranks = world().size();
  auto o = on_grid(integers(24, 24, 24), ranks % 2 == 0 ? GridShape{2, ranks / 2} : GridShape{1, ranks});
  for (const auto kind : {MatrixKind::integers, MatrixKind::random}) {
    o.a.kind = o.b.kind = kind;
    App<> made(o);
    auto& app = made.app;
    sent = 0;
    app.run();
    const int messages = sent; // skew, shifts, restore
    EXPECT_TRUE(app.verify().passed());
    for (int r = 0; r < ranks; ++r) {
      int of_rank = messages;
      MPI_Bcast(&of_rank, 1, MPI_INT, r, world().native());
      for (int message = 0; message < of_rank; ++message) {
        App<> fresh(o); // A and B are wrong afterwards
        sent = 0;
        spoilt = world().rank() == r ? message : -1;
        fresh.app.run();
        spoilt = -1;
        const auto verification = fresh.app.verify();
        EXPECT_FALSE(verification.passed())
            << "message " << message << " of rank " << r << ": " << verification.measure;
      }
    }
  }
}

TEST(Verification, FindsOneWrongElementOfAThousandSquared) {
  Options o;
  o.size = {1000, 1000, 1000};
  App<> made(on_grid(o, grids(world().size()).back()));
  auto& app = made.app;
  app.run();
  EXPECT_TRUE(app.verify().passed());
  const auto c = app.c();
  for (const std::int64_t wanted : {0, 567, 999}) {
    add_to(c, 999 - wanted, wanted, 1e-5);
    EXPECT_FALSE(app.verify().passed()) << wanted;
    add_to(c, 999 - wanted, wanted, -1e-5);
    EXPECT_TRUE(app.verify().passed()) << wanted;
  }
  add_to(c, 3, 4, std::nan(""));
  EXPECT_FALSE(app.verify().passed());
}

/// Products of floats may lose digits below the smallest normal number, or be 0; that is no error of C, but C of zeros
/// would do as well.
TEST(Verification, IsInconclusiveBelowTheSmallestNumbers) {
  auto o = on_grid(integers(), grids(world().size()).back());
  o.a.kind = o.b.kind = MatrixKind::expression;
  for (const char* text : {"1e-20*(i+1)", "1e-22*(j+1)", "1e-30"}) {
    o.a.expression = o.b.expression = config::Expression(text);
    const auto verification = run_product<float>(world(), o).verification;
    EXPECT_FALSE(verification.conclusive) << text << ": " << verification.error;
  }
  o = on_grid(integers(), grids(world().size()).back());
  o.alpha = 0; // a BLAS skips it
  EXPECT_FALSE(run_product<double>(world(), o).verification.conclusive);
}

TEST(Verification, ComparesElementsWithTheDeck) {
  for (const auto kind : {MatrixKind::integers, MatrixKind::random, MatrixKind::expression}) {
    auto o = on_grid(integers(), grids(world().size()).back());
    o.a.kind = o.b.kind = o.c.kind = kind;
    o.a.expression = o.b.expression = o.c.expression = config::Expression("1/(1+i+2*j)");
    o.beta = 2;
    o.precision = miniapp::Precision::single_precision;
    if (kind == MatrixKind::random) o.op_a = o.op_b = Operation::transpose;
    App<float> made(o);
    EXPECT_TRUE(made.app.verify_start().passed());
    made.app.run();
    EXPECT_FALSE(made.app.verify_start().passed()); // C is the product
    EXPECT_TRUE(made.app.verify().passed());
    EXPECT_TRUE(miniapp::verify_counts(*made.app.counts()).passed());
    made.app.reset();
    Kokkos::deep_copy(made.app.b().elements, 1);
    EXPECT_FALSE(made.app.verify_start().passed());
  }
}

TEST(Verification, SaysThatCIsNotFinite) {
  auto o = on_grid(integers(), grids(world().size()).back());
  o.a.kind = MatrixKind::random;
  o.alpha = 1e308;
  const auto verification = run_product<double>(world(), o).verification;
  EXPECT_FALSE(verification.passed());
  EXPECT_NE(verification.remark.find("not finite"), std::string::npos) << verification.remark;
}

TEST(Verification, FindsABlockThatDidNotComeBack) {
  const auto o = on_grid(integers(), {1, world().size()});
  App<> made(o);
  made.app.run();
  EXPECT_TRUE(made.app.verify().passed());
  add_to(made.app.a(), 22, 30, 1); // after C was computed
  const auto verification = made.app.verify();
  EXPECT_FALSE(verification.passed());
  EXPECT_NE(verification.remark.find("did not come back"), std::string::npos) << verification.remark;
}

} // namespace
} // namespace kontor::matmul::test
