// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Symmetric Gauss-Seidel in multicolour order by Kokkos Kernels, M = (D + U)^-1 D (D + L)^-1 of this rank's rows and
// columns: block Jacobi between the ranks, so without communication, and another M on other ranks.
#include "cg/preconditioner/preconditioner.hpp"

#if defined(KONTOR_CG_KOKKOS_KERNELS)

#include "stepping/row_sums.hpp"

#include <kontor/comm/collectives.hpp>

#include <KokkosKernels_Handle.hpp>
#include <KokkosSparse_gauss_seidel.hpp>

#include <string_view>

namespace kontor::cg {
namespace {

/// From 4.6 on the functions are in the namespace above.
#if KOKKOS_VERSION >= 40600
namespace sparse = KokkosSparse;
#else
namespace sparse = KokkosSparse::Experimental;
#endif

/// The types that libraries of Kokkos Kernels are usually compiled for.
using Offset = std::size_t;
using Memory = Vector::memory_space;
using Handle = KokkosKernels::Experimental::KokkosKernelsHandle<Offset, LocalIndex, double, Space, Memory, Memory>;

/// A colouring by one thread is a function of the matrix alone. Those by several threads differ from one setup to the
/// next, and a restart would continue with another preconditioner.
template <class H>
concept TakesColouring = requires(H& handle) {
  handle.create_gs_handle(KokkosSparse::GS_DEFAULT, KokkosGraph::COLORING_SERIAL);
};

template <class H>
void create_gs_handle(H& handle) {
  if constexpr (TakesColouring<H>)
    handle.create_gs_handle(KokkosSparse::GS_DEFAULT, KokkosGraph::COLORING_SERIAL);
  else
    handle.create_gs_handle(KokkosSparse::GS_DEFAULT); // serial in the serial space
}

/// Rows without their ghosts.
struct Square {
  Kokkos::View<Offset*> offsets;
  Rows columns;
  Kokkos::View<double*> values;
};

/// The number of entries in the columns of own rows, summed over the rows before.
struct CountOwn {
  CompressedRows a;
  Kokkos::View<Offset*> offsets;
  KOKKOS_FUNCTION void operator()(std::int64_t row, Offset& sum, bool last) const {
    if (last) offsets(row) = sum;
    if (row == a.offsets.extent_int(0) - 1) return;
    for (auto e = a.offsets(row); e < a.offsets(row + 1); ++e)
      if (static_cast<std::size_t>(a.columns(e)) + 1 < a.offsets.extent(0)) ++sum;
  }
};

struct CopyOwn {
  CompressedRows a;
  Square square;
  KOKKOS_FUNCTION void operator()(std::int64_t row) const {
    auto at = square.offsets(row);
    for (auto e = a.offsets(row); e < a.offsets(row + 1); ++e)
      if (static_cast<std::size_t>(a.columns(e)) + 1 < a.offsets.extent(0)) {
        square.columns(at) = a.columns(e);
        square.values(at++) = a.values(e);
      }
  }
};

Square own_square(const CompressedRows& rows) {
  const std::int64_t own = rows.rows();
  Square square{Kokkos::View<Offset*>("cg/gauss_seidel offsets", own + 1), {}, {}};
  if (own == 0) return square;
  Kokkos::parallel_scan("cg/gauss_seidel offsets", Policy(0, own + 1), CountOwn{rows, square.offsets});
  Offset entries = 0;
  Kokkos::deep_copy(entries, Kokkos::subview(square.offsets, own));
  square.columns = Rows(Kokkos::view_alloc("cg/gauss_seidel columns", Kokkos::WithoutInitializing), entries);
  square.values =
      Kokkos::View<double*>(Kokkos::view_alloc("cg/gauss_seidel values", Kokkos::WithoutInitializing), entries);
  for_rows("cg/gauss_seidel entries", Space(), own, CopyOwn{rows, square});
  return square;
}

class GaussSeidel final : public Preconditioner {
 public:
  GaussSeidel(const DistributedMatrix& a, const Execution& run)
      : own_(a.partition.own), square_(own_square(a.rows)),
        row_entries_(static_cast<double>(comm::allreduce(a.comm, static_cast<std::int64_t>(square_.values.extent(0)),
                                                         comm::ReduceOp::sum)) /
                     static_cast<double>(a.partition.rows)),
        definite_(inverse_diagonal(a.comm, a.rows).positive), timer_(run.timers["preconditioner"]) {
    if (own_ == 0 || !definite_) return;
    create_gs_handle(handle_);
    sparse::gauss_seidel_symbolic(&handle_, own_, own_, square_.offsets, square_.columns, true);
    sparse::gauss_seidel_numeric(&handle_, own_, own_, square_.offsets, square_.columns, square_.values, true);
  }
  ~GaussSeidel() override { handle_.destroy_gs_handle(); }
  GaussSeidel(const GaussSeidel&) = delete;
  GaussSeidel& operator=(const GaussSeidel&) = delete;

  /// On the default instance, which is compute().
  void apply(const Vector& r, const Vector& z) override {
    if (own_ == 0 || !definite_) return;
    const miniapp::ScopedTimer timed(timer_);
    sparse::symmetric_gauss_seidel_apply(&handle_, own_, own_, square_.offsets, square_.columns, square_.values, z, r,
                                         true, true, 1.0, 1);
  }
  /// Of sweeps there and back over a copy in the order of colours. In each a row reads x, y, the inverse diagonal, an
  /// offset and its entries, and writes x; between them and the caller's vectors y and x are copied by an index.
  Cost cost() const override { return {.updates = 2 * row_entries_, .reads = 11 + 3 * row_entries_, .writes = 5}; }
  bool definite() const override { return definite_; }
  std::optional<std::string> graph_refusal() const override {
    return "Kokkos Kernels may wait for the device in gauss_seidel";
  }

 private:
  LocalIndex own_;
  Square square_;
  double row_entries_; ///< of all ranks' squares
  bool definite_;
  Handle handle_;
  miniapp::Timer& timer_;
};

} // namespace

std::unique_ptr<Preconditioner> make_gauss_seidel(const DistributedMatrix& a, const Execution& run) {
  return std::make_unique<GaussSeidel>(a, run);
}
std::string gauss_seidel_needs() {
  if (TakesColouring<Handle> || Space::name() == std::string_view("Serial")) return {};
  return "Kokkos Kernels 3.6 or later, because an older one has other colours in each run";
}

} // namespace kontor::cg

#else

namespace kontor::cg {

std::unique_ptr<Preconditioner> make_gauss_seidel(const DistributedMatrix&, const Execution&) {
  return nullptr; // refused when the deck is read
}
std::string gauss_seidel_needs() { return "Kokkos Kernels"; }

} // namespace kontor::cg

#endif
