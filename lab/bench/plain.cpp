// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The textbook kernels of the mini-apps, and the reference kernels of `kernels`, against the same loops in C, by one
// thread. Each repetition times both; the ratio is the median of those of the repetitions: above 1 where the kernel is
// the faster one. Results of both must have the same bits.
#include "advection/kernels/plain.hpp"

#include "cg/matrix/matrix.hpp"
#include "heat/kernels/plain.hpp"
#include "heat/tests/scrambled.hpp"
#include "matmul/kernels/plain.hpp"
#include "run/tests/loan.hpp"

// NOLINTBEGIN(bugprone-suspicious-include): their ways are taken by a Bench::time() of this program
#include "kernels/gradient.cpp"
#include "kernels/mdrange.cpp"
#include "kernels/reductions.cpp"
#include "kernels/spmv.cpp"
// NOLINTEND(bugprone-suspicious-include)

#include <cstdio>
#include <cstring>
#include <ctime>

namespace kontor {
namespace {

using Index = std::int64_t;
bool all_equal = true;

/// Of the processor, so that other programs take no part.
double now() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double seconds_of(const std::function<void()>& run, int executions) {
  const double begin = now();
  for (int i = 0; i < executions; ++i) run();
  return (now() - begin) / executions;
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

void compare(const std::string& kernel, Index size, double items, const std::function<void()>& plain,
             const std::function<void()>& loop) {
  plain(), loop();
  const int executions = static_cast<int>(std::clamp(4e-3 / seconds_of(loop, 1), 1.0, 1e4));
  std::vector<double> of_plain, of_loop, ratios;
  for (int repetition = 0; repetition < 31; ++repetition) {
    of_plain.push_back(seconds_of(plain, executions));
    of_loop.push_back(seconds_of(loop, executions));
    ratios.push_back(of_loop.back() / of_plain.back());
  }
  std::printf("%s,%lld,%.0f,%.0f,%.2f\n", kernel.c_str(), static_cast<long long>(size), items / median(of_plain) / 1e6,
              items / median(of_loop) / 1e6, median(ratios));
  std::fflush(stdout);
}

template <class View>
void expect_equal(const char* kernel, const View& a, const View& b) {
  if (std::memcmp(a.data(), b.data(), a.span() * sizeof(typename View::value_type)) == 0) return;
  std::printf("%s: the loop in C has other results\n", kernel);
  all_equal = false;
}

template <class T>
struct Grid {
  Index nx, ny, nz, row, plane; ///< 2-D: plane 0
  T c[3], gain;
};

template <int dimensions, heat::Norm norm, class T>
[[gnu::noinline]] double heat_loop(const T* __restrict__ u, T* __restrict__ out, Grid<T> g) {
  double part = 0;
  for (Index k = 0; k < g.nz; ++k)
    for (Index j = 0; j < g.ny; ++j)
      for (Index i = 0; i < g.nx; ++i) {
        const T* at = u + k * g.plane + j * g.row + i;
        T sum = g.c[0] * (at[-1] + at[1]) + g.c[1] * (at[-g.row] + at[g.row]);
        if (dimensions == 3) sum += g.c[2] * (at[-g.plane] + at[g.plane]);
        const T value = 0 * at[0] + g.gain * sum;
        out[k * g.plane + j * g.row + i] = value;
        const double change = value - at[0];
        if (norm == heat::Norm::max) part = std::max(part, std::abs(change));
        if (norm == heat::Norm::l2) part += change * change;
      }
  return part;
}

template <class T, int dimensions, heat::Norm norm>
void compare_heat(const char* kernel, Index n) {
  const auto block = heat::test::make_test_block(dimensions, {n, n, dimensions == 3 ? n : 1});
  auto in = heat::test::make_input<T>(block, false, 0);
  std::fill_n(in.stencil.adjust, 6, T(0));
  const auto plain = grid::make_field<T>("heat/plain", block), loop = grid::make_field<T>("heat/loop", block);
  const auto& s = in.stencil;
  const Grid<T> g{n,
                  n,
                  block.extents[2],
                  static_cast<Index>(in.u.stride(1)),
                  static_cast<Index>(in.u.stride(0)),
                  {s.c[0], s.c[1], s.c[2]},
                  s.weights(0, 0, 0).gain};
  double of_plain = 0, of_loop = 0;
  compare(
      kernel, n, static_cast<double>(block.all().size()),
      [&] { heat::plain_sweep(Kokkos::DefaultExecutionSpace(), in, plain, block.all(), norm, &of_plain); },
      [&] {
        of_loop = heat_loop<dimensions, norm>(grid::own_cell(in.u, dimensions), grid::own_cell(loop, dimensions), g);
      });
  expect_equal(kernel, plain, loop);
  if (of_plain != of_loop && dimensions == 2)
    std::printf("%s: norms %.17g and %.17g\n", kernel, of_plain, of_loop), all_equal = false;
}

template <class Offset, class Column>
[[gnu::noinline]] void rows_loop(const Offset* begin, const Column* column, const double* a, const double* x,
                                 double* __restrict__ y, Index rows) {
  for (Index i = 0; i < rows; ++i) {
    double sum = 0;
    for (Index e = begin[i]; e < begin[i + 1]; ++e) sum += a[e] * x[column[e]];
    y[i] = sum;
  }
}

/// Of `points` entries a row that lie as those of a cube of n points an edge.
void compare_cg(const char* kernel, int n, int points) {
  std::vector<std::int64_t> offsets{0};
  std::vector<std::int32_t> columns;
  for (int row = 0; row < n * n * n; ++row) {
    for (int o = 0; o < 27; ++o) {
      const int x = o % 3 - 1, y = o / 3 % 3 - 1, z = o / 9 - 1;
      if (points == 7 && std::abs(x) + std::abs(y) + std::abs(z) > 1) continue;
      const int to = kernels::point_at(row % n + x, row / n % n + y, row / n / n + z, n);
      if (to >= 0) columns.push_back(to);
    }
    offsets.push_back(static_cast<std::int64_t>(columns.size()));
  }
  const Index rows = n * n * n;
  const cg::CompressedRows a{cg::Offsets("cg/offsets", offsets.size()), cg::Rows("cg/columns", columns.size()),
                             cg::Vector("cg/values", columns.size())};
  std::copy(offsets.begin(), offsets.end(), a.offsets.data());
  std::copy(columns.begin(), columns.end(), a.columns.data());
  heat::test::scramble(a.values);
  const cg::Vector x("cg/x", rows), plain("cg/plain", rows), loop("cg/loop", rows);
  heat::test::scramble(x);
  const auto matrix = cg::make_csr(a, a.rows());
  compare(
      kernel, n, static_cast<double>(rows), [&] { matrix->multiply(cg::Space(), cg::Part::all, x, plain); },
      [&] { rows_loop(a.offsets.data(), a.columns.data(), a.values.data(), x.data(), loop.data(), rows); });
  expect_equal(kernel, plain, loop);
}

[[gnu::noinline]] void matmul_loop(const double* a, const double* b, double* __restrict__ c, Index n) {
  for (Index j = 0; j < n; ++j)
    for (Index i = 0; i < n; ++i) {
      double sum = 0;
      for (Index l = 0; l < n; ++l) sum += a[i + l * n] * b[l + j * n];
      c[i + j * n] = sum;
    }
}

void compare_matmul(const char* kernel, Index n) {
  using Matrix = miniapp::Matrix<double>;
  const Matrix a("a", n, n), b("b", n, n), plain("plain", n, n), loop("loop", n, n);
  heat::test::scramble(a);
  heat::test::scramble(b);
  compare(
      kernel, n, 2.0 * static_cast<double>(n * n * n), [&] { matmul::plain_gemm<double>({}, 1, a, b, 0, plain); },
      [&] { matmul_loop(a.data(), b.data(), loop.data(), n); });
  expect_equal(kernel, plain, loop);
}

[[gnu::noinline]] void upwind_loop(const double* from, double* __restrict__ to, double x, double y, Index n,
                                   Index row) {
  for (Index j = 0; j < n; ++j)
    for (Index i = j * row; i < j * row + n; ++i)
      to[i] = from[i] - x * (from[i] - from[i - 1]) - y * (from[i] - from[i - row]);
}

void compare_advection(const char* kernel, Index n) {
  const auto block = grid::largest_block({.extents = {n, n}, .lower = {}, .spacing = {}}, {1, 1});
  const auto from = grid::make_field<double>("from", block), plain = grid::make_field<double>("plain", block),
             loop = grid::make_field<double>("loop", block);
  heat::test::scramble(from);
  compare(
      kernel, n, static_cast<double>(n * n),
      [&] {
        advection::plain_step({}, block, from, plain, block.all(), {0.3, -1}, {0.2, -1});
      },
      [&] { upwind_loop(grid::own_cell(from, 2), grid::own_cell(loop, 2), 0.3, 0.2, n, from.stride(1)); });
  expect_equal(kernel, plain, loop);
}

} // namespace

namespace kernels {
namespace {

[[gnu::noinline]] void add_loop(double* __restrict__ a, const double* b, Index n) {
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j)
      for (Index k = 0; k < n; ++k) a[(i * n + j) * n + k] += b[(i * n + j) * n + k];
}

[[gnu::noinline]] double sum_loop(const double* numbers, Index n, double& least) {
  double sum = 0;
  for (Index i = 0; i < n; ++i)
    if (numbers[i] < least) least = numbers[i];
  for (Index i = 0; i < n; ++i) sum += numbers[i];
  return sum;
}

[[gnu::noinline]] void gradient_loop(const double (*x)[3][8], double (*__restrict__ b)[3][8], Index n) {
  for (Index e = 0; e < n; ++e)
    for (int axis = 0; axis < 3; ++axis)
      volume_derivatives<double>(x[e][(axis + 1) % 3], x[e][(axis + 2) % 3], b[e][axis]);
}

} // namespace

/// Compares each way with a loop in C on values of its own, of the same sizes.
void Bench::time(const Work& work, std::span<const Way> ways, const Check&) {
  const Index n = work.size, elements = static_cast<Index>(work.elements);
  std::vector<double> a(static_cast<std::size_t>(24 * elements), 0.5), b(a);
  std::vector<int> begin{0}, column;
  double least = 0;
  std::function<void()> loop;
  if (work.curve == "a += b") loop = [&] { add_loop(a.data(), b.data(), n); };
  if (work.curve == "gradient")
    loop = [&] {
      gradient_loop(reinterpret_cast<const double(*)[3][8]>(a.data()), reinterpret_cast<double(*)[3][8]>(b.data()), n);
    };
  if (work.curve == "min and sum") loop = [&] { b[0] = sum_loop(a.data(), n, least); };
  if (work.curve == "27 points") {
    for (int row = 0; row < elements; ++row) {
      const int edge = static_cast<int>(n);
      for (int o = 0; o < 27; ++o)
        if (const int to = point_at(row % edge + o % 3 - 1, row / edge % edge + o / 3 % 3 - 1,
                                    row / edge / edge + o / 9 - 1, edge);
            to >= 0)
          column.push_back(to);
      begin.push_back(static_cast<int>(column.size()));
    }
    a.resize(column.size());
    loop = [&] { rows_loop(begin.data(), column.data(), a.data(), b.data(), b.data() + elements, elements); };
  }
  for (const auto& way : ways)
    compare(
        fmt::format("kernels {}: {}", work.curve, way.name), n, work.elements, [&] { way.run(1); }, loop);
}

} // namespace kernels
} // namespace kontor

int main(int argc, char** argv) {
  using namespace kontor;
  MPI_Init(&argc, &argv);
  {
    const Kokkos::ScopeGuard scope(argc, argv);
    if (Kokkos::DefaultExecutionSpace().concurrency() != 1) {
      std::printf("a loop in C has one thread: set OMP_NUM_THREADS=1\n");
      return 2;
    }
    std::printf("kernel,size,kernel (M/s),C (M/s),kernel / C\n");
    for (const Index n : {128, 512, 1024, 2048}) {
      compare_heat<double, 2, heat::Norm::none>("heat 2-D", n);
      compare_heat<double, 2, heat::Norm::max>("heat 2-D with largest change", n);
      compare_heat<double, 2, heat::Norm::l2>("heat 2-D with squares", n);
      compare_heat<float, 2, heat::Norm::none>("heat 2-D float", n);
    }
    for (const Index n : {64, 256}) compare_heat<double, 3, heat::Norm::none>("heat 3-D", n);
    for (const int n : {16, 64}) {
      compare_cg("cg 7 points", n, 7);
      compare_cg("cg 27 points", n, 27);
    }
    for (const Index n : {64, 256, 512}) compare_matmul("matmul", n);
    for (const Index n : {100, 1000, 4000}) compare_advection("advection", n);
    miniapp::test::Loan loan("kernels");
    kernels::Bench bench{{}, loan.context()};
    for (const Index n : {32, 256}) kernels::measure_mdrange(bench, n);
    for (const Index n : {16, 64}) kernels::measure_spmv(bench, n);
    for (const Index n : {1000, 1'000'000}) kernels::measure_reductions(bench, n);
    for (const Index n : {1000, 100'000}) kernels::measure_gradient(bench, n);
  }
  MPI_Finalize();
  return kontor::all_equal ? 0 : 1;
}
