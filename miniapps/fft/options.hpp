// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "grid/size_options.hpp"
#include "run/options.hpp"
#include "run/record/precision.hpp"
#include "stepping/launch.hpp"

#include <kontor/config/deck.hpp>
#include <kontor/config/visitor.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace kontor::fft {

/// What a step does: transforms forward, multiplies, and transforms back.
enum class Equation {
  round_trip, ///< by e^(-2 pi i k_x / n_x): the field moves by one cell along x, so that no step can be left out
  poisson,    ///< - Laplace u = f, solved in each step
  heat        ///< u_t = diffusion Laplace u, a step of time 1
};

enum class Values { complex, real };

/// Who transforms lines.
enum class Library { automatic, fftw, cufft, hipfft, plain };

/// How a line of the next axis comes to lie in one piece.
enum class Reorder {
  in_transfer, ///< the receiver puts each value where it belongs
  by_kernel,   ///< values travel in the sender's order; a kernel reorders them
  by_reading,  ///< a kernel of the receiver reads the sender's memory
  automatic    ///< the faster, by a trial
};

std::string_view name_of(Reorder);

/// The keys of a deck that are fft's own.
struct Options {
  Equation equation = Equation::round_trip;
  std::vector<std::int64_t> cells{64, 64, 64}; ///< along x, y, z
  grid::SizeOptions sizing;
  Values values = Values::complex;
  miniapp::Precision precision = miniapp::Precision::double_precision;
  double diffusion = 1e-4; ///< a mode of wave numbers k decays by e^(-diffusion k^2) a step
  std::int64_t seed = 1;   ///< of the start
  std::int64_t steps = 10;
  config::Chosen<stepping::Launch> launch = stepping::Launch::automatic;
  config::Chosen<Library> library = Library::automatic;
  config::Chosen<Reorder> reorder = Reorder::in_transfer;
  std::optional<std::int64_t> chunks = 1; ///< into which each transpose is cut; none: by a trial
  std::vector<std::int64_t> process_grid; ///< ranks along y, z of the field; empty: slabs where possible

  void describe(config::Visitor&);
  /// Collective. The cells of all ranks, where the deck gives those of one or a share of memory.
  void resolve_sizes(const config::Deck&, int ranks, const grid::FreeMemory&);
  /// Local. Rejects what cannot run on so many ranks.
  void resolve(const config::Deck&, int ranks, const miniapp::RunOptions& = {});

  /// What a trial in make_fft() chooses from: these options with each way to transpose that they leave open, the usual
  /// one first. `reading`: kernels reach the memory of other ranks.
  std::vector<Options> transposes(bool reading) const;
  bool real() const { return values == Values::real; }
  /// Of all values.
  double count() const {
    return static_cast<double>(cells[0]) * static_cast<double>(cells[1]) * static_cast<double>(cells[2]);
  }
  /// Coefficients along x: of real values half of them say all.
  std::int64_t modes_x() const { return real() ? cells[0] / 2 + 1 : cells[0]; }
  /// Arrays of a rank, each of as many bytes as the largest of its pencils.
  double bytes_of_rank(const std::vector<std::int64_t>& process_grid) const;
};

} // namespace kontor::fft
