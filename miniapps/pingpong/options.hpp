// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "run/options.hpp"
#include "timing/interleave.hpp"

#include <kontor/comm/options.hpp>
#include <kontor/config/deck.hpp>
#include <kontor/config/visitor.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kontor::pingpong {

using namespace timing;

enum class Measure { roundtrip, bcast, halo, collectives, model, strided, exchange, calls, device };
enum class ScalarName { of_int, of_double };
enum class Pairs { all, one };
enum class TooLarge { refuse, leave_out };

std::string_view name_of(Measure);
std::string_view name_of(ScalarName);
std::int64_t bytes_of(ScalarName);
/// Whether it is between ranks of pairs, and so asks for an even number of them.
bool pairs_ranks(Measure);

/// Whether it is of exchanges of one View between two ranks.
inline bool exchanges(Measure measure) { return measure == Measure::exchange || measure == Measure::device; }

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
    TooLarge too_large = TooLarge::refuse;
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
    config::Location from, to, backend;
  } locations;

  void describe(config::Visitor&);

  /// Refuses what cannot run, by deck.fail().
  void resolve(const config::Deck&, int ranks, const miniapp::RunOptions& = {});
};

} // namespace kontor::pingpong
