// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether Views of this Kokkos work when they are made, assigned, copied and handed over.
#include <Kokkos_Core.hpp>

using Field = Kokkos::View<double***, Kokkos::LayoutRight>;

struct Pair {
  Field fields[2];
};

[[gnu::noinline]] Field second(Pair pair) { return pair.fields[1]; }

int main() {
  Kokkos::initialize();
  bool right = false;
  {
    Pair pair{{Field("a", 2, 3, 4), Field()}};
    pair.fields[1] = pair.fields[0];
    Kokkos::deep_copy(pair.fields[0], 2.0);
    const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), second(pair));
    right = host.extent(2) == 4 && host(1, 2, 3) == 2.0;
  }
  Kokkos::finalize();
  return right ? 0 : 1;
}
