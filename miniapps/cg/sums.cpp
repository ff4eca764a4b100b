// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cg/sums.hpp"

#include "cg/reduce.hpp"

namespace kontor::cg {
namespace {

struct Product {
  Vector x, y;
  KOKKOS_FUNCTION SumsOf<1> operator()(std::int64_t i) const {
    SumsOf<1> sum;
    sum[0] = x(i) * y(i);
    return sum;
  }
};

} // namespace

void Sums::dot(const Space& instance, int k, const Vector& x, const Vector& y) const {
  for_rows_with_sums<1>("cg/dot", instance, static_cast<std::int64_t>(y.extent(0)), Product{x, y},
                        sums_at<1>(local(k)));
}

} // namespace kontor::cg
