// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "grid/halo.hpp"

namespace kontor::grid {

/// The halos of two fields that take turns. Both go the way that `auto` chooses for the first, so that steps from
/// either field take the same time.
template <class T>
class HaloPair {
 public:
  /// Collective over `cartesian`, of which the slots are. Commits both halos, on `instance`.
  HaloPair(const comm::Communicator& cartesian, const std::vector<HaloSlot>& slots, const Block& block,
           const std::array<FieldView<T>, 2>& fields, const std::array<std::string, 2>& labels,
           const typename Halo<T>::execution_space& instance = {})
      : first_(make_halo(cartesian, slots, block, fields[0], labels[0], instance)),
        second_(make_halo(as_chosen(cartesian), slots, block, fields[1], labels[1], instance)) {}

  /// Of field 0 or 1.
  Halo<T>& operator[](int field) { return field == 0 ? first_ : second_; }
  const Halo<T>& operator[](int field) const { return field == 0 ? first_ : second_; }

  /// Local. Phases are timed from here on.
  void measure_times() {
    first_.measure_times();
    second_.measure_times();
  }
  /// Local. The phases of both halos together.
  comm::PhaseTimes times() const {
    auto sum = first_.times();
    sum += second_.times();
    return sum;
  }
  /// Local. Errors of exchanges that a graph replays.
  void poll() {
    first_.poll();
    second_.poll();
  }
  void reset_times() {
    first_.reset_times();
    second_.reset_times();
  }

 private:
  /// The same communicator, unless its options leave a choice: GPU libraries have memory for each.
  comm::Communicator as_chosen(const comm::Communicator& cartesian) const {
    if (to_string(first_.chosen()) == to_string(cartesian.options())) return cartesian.share();
    return comm::Communicator(cartesian.native(), first_.chosen());
  }

  Halo<T> first_, second_;
};

} // namespace kontor::grid
