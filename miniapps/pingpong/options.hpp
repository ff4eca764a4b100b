// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "run/options.hpp"
#include "timing/interleave.hpp"

#include <kontor/comm/communicator.hpp>
#include <kontor/comm/options.hpp>
#include <kontor/config/deck.hpp>
#include <kontor/config/visitor.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kontor::pingpong {

using namespace timing;

enum class Measure { roundtrip, halo, collectives, model, exchange, calls, device };
enum class ScalarName { of_int, of_double };
enum class Pairs { all, one };

std::string_view name_of(Measure);
std::string_view name_of(ScalarName);
/// Whether one View goes there and back by exchanges.
inline bool exchanges(Measure measure) { return measure == Measure::exchange || measure == Measure::device; }
/// Whether it compares the methods that the deck lists. Its Views lie where kernels work; those of the others lie in
/// host memory, which one-shot calls take.
inline bool compares_methods(Measure measure) { return measure == Measure::halo || exchanges(measure); }
/// Whether it is between the two ranks of a pair.
inline bool pairs_ranks(Measure measure) {
  return measure == Measure::roundtrip || measure == Measure::calls || exchanges(measure);
}

/// The section problem of a pingpong deck.
struct Options {
  config::Chosen<Measure> measure = Measure::roundtrip;
  std::vector<std::int64_t> dimensions{1};
  std::vector<ScalarName> scalars{ScalarName::of_int, ScalarName::of_double};
  struct Sizes {
    std::int64_t from = 64;
    std::int64_t to = 32768;
    std::int64_t factor = 2;
    std::optional<std::int64_t> memory; ///< bytes of a rank's Views; none: its share of what its host has free
  } sizes;
  Pairs pairs = Pairs::all;
  std::int64_t fields = 1;           ///< whose halos one exchange carries
  std::vector<std::string> backends; ///< of halo and exchange; empty: all of the build
  std::vector<comm::Pattern> patterns;
  std::vector<comm::Packing> packings;
  std::vector<comm::Path> paths;
  Sampling sampling;

  /// Of what measures may refuse; set by resolve().
  struct Locations {
    config::Location from;
  } locations;

  void describe(config::Visitor&);

  /// Refuses what cannot run, by deck.fail().
  void resolve(const config::Deck&, int ranks, const miniapp::RunOptions& = {});
};

/// Collective. Bytes that each rank may take: nine tenths of the free memory of its host, or of its GPU for Views that
/// lie where kernels work, divided by the ranks there. The least of all ranks.
double memory_of_rank(const comm::Communicator&, bool of_kernels);

/// The width of the planes whose columns `exchange` sends: a cache line of doubles holds one element of a column.
inline constexpr std::int64_t width_of_plane = 8;

/// Local. Bytes that the Views of a rank take.
double bytes_of_views(const Options&, int ranks, int dimensions, ScalarName, std::int64_t size);

/// One curve.
struct Case {
  int dimensions;
  ScalarName scalar;
  std::vector<std::int64_t> sizes;
};

/// Local. The sizes of each curve whose Views fit in `memory` bytes; `notes` names larger ones. If none fits,
/// config::Location::fail() rejects them.
std::vector<Case> cases(const Options&, int ranks, double memory, std::vector<std::string>& notes);

} // namespace kontor::pingpong
