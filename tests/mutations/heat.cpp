// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Heat with mistakes that are none of communication:
//
//   elsewhere     a halo arrives in the ghosts of the opposite face
//   coefficient   the weight of the neighbours along x is 5 % off, in whatever takes it from the domain
//   boundary:F    the condition on face F is forgotten
#include "grid/halo.hpp"
#include "heat/problem/domain.hpp"
#include "mutation.hpp"

namespace kontor::mutations {
namespace {

/// What sweeps and whoever else asks the domain get.
template <class T>
void change(heat::Domain<T>& domain) {
  auto& stencil = const_cast<heat::Stencil<T>&>(domain.stencil());
  if (is("coefficient")) stencil.c[0] *= T(1.05);
  if (is("boundary")) stencil.adjust[number()] = 0;
}

/// Ghosts before the forgotten face hold what they held when they were allocated.
template <class T>
void forget_boundary(heat::Domain<T>& domain) {
  const auto& block = domain.block();
  if (!is("boundary") || number() >= 2 * block.dimensions || !block.at_boundary(number())) return;
  for (const int which : {0, 1})
    Kokkos::deep_copy(grid::view_of(domain.field(which), block, ghost_layer(block, grid::across(number()))), T(0));
}

} // namespace
} // namespace kontor::mutations

namespace {

using kontor::grid::HaloSlot;
using Slots = std::vector<HaloSlot>;
using Directions = std::vector<kontor::grid::Direction>;

} // namespace

// NOLINTBEGIN(bugprone-reserved-identifier): the linker's names
KONTOR_WRAPPED(Slots, halo_slots,
               "_ZN6kontor4grid10halo_slotsERKNS_4comm12CommunicatorERKNS0_"
               "5BlockERKSt6vectorISt5arrayIiLm3EESaISA_EENS0_"
               "8ToItselfE",
               const kontor::comm::Communicator&, const kontor::grid::Block&, const Directions&,
               kontor::grid::ToItself);
#define KONTOR_WRAPPED_DOMAIN(T, t)                                                                                    \
  KONTOR_WRAPPED(void, domain_##T, "_ZN6kontor4heat6DomainI" t "EC1ERKNS0_7OptionsERKNS_4comm12CommunicatorE",         \
                 kontor::heat::Domain<T>*, const kontor::heat::Options&, const kontor::comm::Communicator&);           \
  KONTOR_WRAPPED(void, initial_##T, "_ZN6kontor4heat6DomainI" t "E11set_initialEv", kontor::heat::Domain<T>*);         \
  void wrong_domain_##T(kontor::heat::Domain<T>* domain, const kontor::heat::Options& options,                         \
                        const kontor::comm::Communicator& comm) {                                                      \
    real_domain_##T(domain, options, comm);                                                                            \
    kontor::mutations::change(*domain);                                                                                \
  }                                                                                                                    \
  void wrong_initial_##T(kontor::heat::Domain<T>* domain) {                                                            \
    real_initial_##T(domain);                                                                                          \
    kontor::mutations::forget_boundary(*domain);                                                                       \
  }
KONTOR_WRAPPED_DOMAIN(float, "f")
KONTOR_WRAPPED_DOMAIN(double, "d")
// NOLINTEND(bugprone-reserved-identifier)

Slots wrong_halo_slots(const kontor::comm::Communicator& comm, const kontor::grid::Block& block,
                       const Directions& directions, kontor::grid::ToItself to_itself) {
  auto slots = real_halo_slots(comm, block, directions, to_itself);
  if (kontor::mutations::is("elsewhere"))
    for (std::size_t s = 0; s < slots.size(); ++s) slots[s].received = ghost_layer(block, directions[s]);
  return slots;
}
