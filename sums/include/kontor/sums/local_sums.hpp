// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/device/compat.hpp>
#include <kontor/sums/accumulator.hpp>
#include <kontor/sums/detail/kernels.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace kontor::sums {

/// Whether such values can be added, to so many sums together.
template <class Values, int together>
constexpr bool are_added() {
  using T = std::remove_cvref_t<Values>;
  if constexpr (together == 1) {
    return std::is_same_v<T, double> || std::is_same_v<T, float>;
  } else if constexpr (requires(const T& values) { values[0]; }) {
    return are_added<decltype(std::declval<const T&>()[0]), 1>();
  } else {
    return false;
  }
}

/// Exact sums of this rank: made once for a number of sums, then added to and taken. Nothing is allocated in between,
/// and nothing waits on a device. `on_device`: by the kernels of a device.
template <class ExecutionSpace, bool on_device = !device::on_host<ExecutionSpace>>
class LocalSums {
 public:
  using execution_space = ExecutionSpace;                     ///< whose kernels add
  using memory_space = typename ExecutionSpace::memory_space; ///< of what is summed, and of the sums

  /// Local. So many sums, all 0.
  explicit LocalSums(int count, const ExecutionSpace& instance = {})
      : copies_(on_device ? 64 : std::max<int>(1, instance.concurrency())),
        accumulators_("comm/exact sums", count, copies_ * sums::length),
        carries_("comm/exact carries", count, sums::length) {}

  /// How many sums there are.
  int count() const { return static_cast<int>(carries_.extent(0)); }

  /// Local; queued on the instance. Adds value(i), a double or float, i from 0 to n, to sum k of those there are. With
  /// `together` above 1 value(i) is a Kokkos::Array of so many doubles, which are added to the sums from k on. Each is
  /// called once, so it may write as well.
  template <int together = 1, class Value>
  void add(const ExecutionSpace& instance, int k, std::int64_t n, const Value& value) {
    add_rows<together>(instance, k, 1, n, detail::OneRow<Value>{value});
  }

  /// Local; queued on the instance. The same of value(row, i) for all rows, and i from 0 to `length`.
  template <int together = 1, class Value>
  void add_rows(const ExecutionSpace& instance, int k, std::int64_t rows, std::int64_t length, const Value& value) {
    using Values = std::invoke_result_t<const Value&, std::int64_t, std::int64_t>;
    static_assert(are_added<Values, together>(),
                  "kontor::sums: exact sums are of functions whose value is a double or float, or a Kokkos::Array "
                  "of them for several sums together; convert other values, such as bool, to double");
    const std::int64_t size = rows * length;
    if (size <= 0) return;
    std::int64_t* const first = accumulators_.data() + std::int64_t{k} * copies_ * sums::length;
    const std::int64_t to_next = std::int64_t{copies_} * sums::length;
    if constexpr (on_device) {
      constexpr int team = device::on_host<ExecutionSpace> ? 1 : 256;
      static_assert(team * detail::tile_depth <= most_in_level);
      const std::int64_t tiles = (size + team * detail::tile_depth - 1) / (team * detail::tile_depth);
      make_room(instance, (tiles + copies_ - 1) / copies_);
      Kokkos::parallel_for("comm/exact sum",
                           Kokkos::TeamPolicy<ExecutionSpace>(instance, static_cast<int>(tiles), team),
                           detail::AddTiles<together, Value>{value, rows, length, first, to_next, copies_});
    } else {
      constexpr std::int64_t least = 4096; // values that are worth a thread
      const auto parts = std::clamp<std::int64_t>(size / least, 1, copies_);
      Kokkos::parallel_for("comm/exact sum",
                           Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>(instance, 0, parts),
                           detail::AddParts<together, Value>{value, rows, length, first, to_next, parts});
    }
  }

  /// Local; queued on the instance. `out`, an accumulator for each sum, one behind the other, = what has been added,
  /// and the sums are 0 again. Where `rounded_out` is not null, it gets them as doubles.
  void take(const ExecutionSpace& instance, std::int64_t* out, double* rounded_out = nullptr) {
    constexpr int team = device::on_host<ExecutionSpace> ? 1 : 64;
    Kokkos::parallel_for("comm/exact gather", Kokkos::TeamPolicy<ExecutionSpace>(instance, count(), team),
                         detail::Gather{accumulators_.data(), copies_, carries_.data(), out, rounded_out});
    most_tiles_ = 0;
  }

  /// Local; queued on the instance. All sums are 0.
  void clear(const ExecutionSpace& instance) {
    Kokkos::deep_copy(instance, accumulators_, std::int64_t{0});
    most_tiles_ = 0;
  }

 private:
  using Accumulators = Kokkos::View<std::int64_t**, Kokkos::LayoutRight, memory_space>;

  /// Of the digits, to which a tile adds less than 2^42 each.
  void make_room(const ExecutionSpace& instance, std::int64_t tiles_of_copy) {
    constexpr std::int64_t most = std::int64_t{1} << 20;
    most_tiles_ += tiles_of_copy;
    if (most_tiles_ <= most) return;
    Kokkos::parallel_for("comm/exact carry",
                         Kokkos::RangePolicy<ExecutionSpace>(instance, 0, std::int64_t{count()} * copies_),
                         detail::Carry{accumulators_.data()});
    most_tiles_ = tiles_of_copy;
  }

  int copies_; ///< of each sum, so that threads do not wait for each other
  Accumulators accumulators_;
  Accumulators carries_;
  std::int64_t most_tiles_ = 0; ///< that have been added to a copy since the last carry
};

} // namespace kontor::sums
