// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "advection/options.hpp"
#include "advection/probes.hpp"
#include "grid/block.hpp"
#include "grid/field.hpp"
#include "grid/functions.hpp"
#include "grid/halo.hpp"
#include "run/mini_app.hpp"

#include <kontor/comm/communicator.hpp>
#include <kontor/output/xdmf.hpp>

#include <Kokkos_Core.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kontor::advection {

/// u_t + a u_x = 0 on a periodic interval by the first-order upwind scheme, its cells divided among the
/// ranks.
class Advection final : public miniapp::MiniApp {
 public:
  /// Collective. Throws AgreedError if the problem does not fit into memory, config::Error if a value at the
  /// start is not finite.
  Advection(const Options&, const miniapp::RunContext&);

  void warm_up() override;
  void reset() override;
  void run() override;
  miniapp::Verification verify() override;
  std::vector<miniapp::FigureOfMerit> figures(double seconds, const miniapp::Calibration&) const override;
  miniapp::AppRecord record() const override;
  miniapp::CalibrationRequest calibration() const override;
  miniapp::ProgressWords progress_words() const override { return {.step = "step", .work = "cell updates"}; }
  std::optional<miniapp::FieldOutput> write_fields(output::File&) const override;

 private:
  /// A field and what travels of it; two of them take turns.
  struct Level {
    grid::FieldView<double> field;
    grid::Halo<double> halo;
    Gathering probes;
  };
  static void require_memory(const Options&, const miniapp::RunContext&, const grid::Block&);
  Level make_level(const comm::Communicator& halo_comm, const std::string& label) const;
  void step();
  void gather(std::int64_t sample);
  void write_snapshot(std::int64_t step);
  output::MeshField write_field(output::File&, const std::string& group, std::int64_t step) const;
  Level& now() { return levels_[static_cast<std::size_t>(now_)]; }
  const Level& now() const { return levels_[static_cast<std::size_t>(now_)]; }

  Options options_;
  miniapp::RunContext context_;
  comm::Communicator ring_;
  grid::Block block_;
  grid::DeckFunction initial_;
  std::vector<std::int64_t> wanted_; ///< the cells that this rank asks for
  Probes probes_;
  Kokkos::View<double*> values_;   ///< of them, as they arrive
  Kokkos::View<double**> samples_; ///< of all gatherings of a run: (gathering, probe)
  std::vector<Level> levels_;
  int now_ = 0; ///< the level that holds the field
  miniapp::AppRecord record_;
  miniapp::Timer& compute_;
  miniapp::Timer& gather_;
  std::vector<output::Snapshot> series_; ///< of the first repeat
  bool series_done_ = false;
};

} // namespace kontor::advection
