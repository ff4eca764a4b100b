// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace kontor::miniapp {

/// A box of indices of a global array, x first; unused axes have one index.
struct IndexBox {
  std::array<std::int64_t, 3> global{1, 1, 1}; ///< extents of the whole array
  std::array<std::int64_t, 3> offset{};        ///< of the box
  std::array<std::int64_t, 3> extents{1, 1, 1};
};

/// An index of a box, and where it lies.
struct Place {
  std::array<std::int64_t, 3> index{}; ///< in the box: 0 is its first
  std::string kind;                    ///< "inside", or ends such as "x_min y_cut_max": of the array, or cuts
};

/// Local. A sample of a rank's box: one random index of each kind that the box has (each face, edge and corner of the
/// array, each side where it is cut, and the inside), then `random` others. None of an empty box.
std::vector<Place> sample_places(const IndexBox&, int random, std::mt19937_64&);

/// Local. Random numbers below `count`, ascending, each once: `most` of them, or all.
std::vector<std::int64_t> sample_numbers(std::int64_t count, std::int64_t most, std::mt19937_64&);

/// Local. "all 40 cells", or "8 of 40 cells".
std::string words_of_sample(std::int64_t count, std::int64_t all, const std::string& things);

/// Local. The generator of this rank's places, of a run's seed.
std::mt19937_64 generator_of(std::uint64_t seed, int rank);

} // namespace kontor::miniapp
