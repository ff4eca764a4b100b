// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cg/matrix/matrix.hpp"

#ifdef KONTOR_CG_KOKKOS_KERNELS
#include "cg/matrix/dot_apart.hpp"

#include <KokkosKernels_config.h>
#include <KokkosSparse_CrsMatrix.hpp>
#include <KokkosSparse_spmv.hpp>

#include <cstdint>
#include <limits>
#include <utility>
#endif

namespace kontor::cg {

#ifdef KONTOR_CG_KOKKOS_KERNELS
namespace {

using Device = Kokkos::Device<Space, Vector::memory_space>;

/// Own rows of one part. Offsets are 32-bit where they fit: cuSPARSE takes them as wide as columns.
template <class Offset>
class PartOfRows {
 public:
  using Crs = KokkosSparse::CrsMatrix<double, LocalIndex, Device, void, Offset>;

  PartOfRows(const CompressedRows& from, RowRange range, LocalIndex columns) : range_(range) {
    if (range.count() == 0) return;
    const auto rows = static_cast<std::size_t>(range.count());
    const auto offsets = Kokkos::create_mirror_view_and_copy(
        Kokkos::HostSpace(), Kokkos::subview(from.offsets, std::pair(range.begin, range.end + 1)));
    typename Crs::row_map_type::non_const_type row_map("cg/offsets for Kokkos Kernels", rows + 1);
    const auto on_host = Kokkos::create_mirror_view(row_map);
    const auto first = offsets(0), end = offsets(rows);
    for (std::size_t row = 0; row <= rows; ++row) on_host(row) = static_cast<Offset>(offsets(row) - first);
    Kokkos::deep_copy(row_map, on_host);
    matrix_ = Crs("cg/Kokkos Kernels", static_cast<LocalIndex>(rows), columns, static_cast<Offset>(end - first),
                  Kokkos::subview(from.values, std::pair(first, end)), row_map,
                  Kokkos::subview(from.columns, std::pair(first, end)));
  }

  void multiply(const Space& instance, const Vector& x, const Vector& all_y) const {
    if (range_.count() == 0) return;
    const Vector y = Kokkos::subview(all_y, std::pair(range_.begin, range_.end)); // the type that the handle knows
#if KOKKOSKERNELS_VERSION >= 40300
    KokkosSparse::spmv(instance, &handle_, KokkosSparse::NoTranspose, 1.0, matrix_, x, 0.0, y);
#else // the default instance
    static_cast<void>(instance);
    KokkosSparse::spmv("N", 1.0, matrix_, x, 0.0, y);
#endif
  }

 private:
  RowRange range_;
  Crs matrix_;
#if KOKKOSKERNELS_VERSION >= 40300
  mutable KokkosSparse::SPMVHandle<Space, Crs, Vector, Vector> handle_; // what cuSPARSE has prepared
#endif
};

template <class Offset>
class KokkosKernels final : public DotApart {
 public:
  KokkosKernels(const CompressedRows& rows, LocalIndex interior, LocalIndex columns)
      : DotApart("cg/dot beside Kokkos Kernels", rows.rows(), interior), rows_(rows.rows()), entries_(rows.entries()),
        interior_(rows, range_of(Part::interior), columns), boundary_(rows, range_of(Part::boundary), columns) {}

  void multiply(const Space& instance, Part part, const Vector& x, const Vector& y) const override {
    if (part != Part::boundary) interior_.multiply(instance, x, y);
    if (part != Part::interior) boundary_.multiply(instance, x, y);
  }

  double bytes() const override {
    return static_cast<double>(entries_) * (sizeof(double) + sizeof(LocalIndex)) +
           static_cast<double>(rows_) * (sizeof(Offset) + 2 * sizeof(double));
  }

 private:
  LocalIndex rows_;
  std::int64_t entries_;
  PartOfRows<Offset> interior_, boundary_;
};

} // namespace

bool has_kokkos_kernels() { return true; }

std::unique_ptr<Matrix> make_kokkos_kernels(const CompressedRows& rows, LocalIndex interior, LocalIndex columns) {
  if (rows.entries() <= std::numeric_limits<int>::max())
    return std::make_unique<KokkosKernels<int>>(rows, interior, columns);
  return std::make_unique<KokkosKernels<std::size_t>>(rows, interior, columns);
}

#else

bool has_kokkos_kernels() { return false; }

std::unique_ptr<Matrix> make_kokkos_kernels(const CompressedRows&, LocalIndex, LocalIndex) { return nullptr; }

#endif

} // namespace kontor::cg
