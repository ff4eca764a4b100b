// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "advection/options.hpp"
#include "advection/probes.hpp"
#include "grid/block.hpp"
#include "grid/field.hpp"
#include "grid/functions.hpp"
#include "grid/halo_pair.hpp"
#include "run/loop/stepped_app.hpp"
#include "stepping/step_graph.hpp"

#include <kontor/comm/communicator.hpp>

#include <Kokkos_Core.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kontor::advection {

/// u_t + a u_x = 0 on a periodic interval by the first-order upwind scheme, its cells divided among the
/// ranks.
class Advection final : public miniapp::SteppedApp, private miniapp::Steps {
 public:
  /// Collective. Throws AgreedError if the problem does not fit into memory, config::Error if a value at the
  /// start is not finite.
  Advection(const Options&, const miniapp::RunContext&);

  void warm_up() override;
  void reset() override;
  miniapp::Verification verify() override;
  std::vector<miniapp::FigureOfMerit> figures(double seconds, const miniapp::Calibration&) const override;
  miniapp::AppRecord record() const override;
  miniapp::CalibrationRequest calibration() const override;
  std::optional<miniapp::FieldOutput> write_fields(output::File&, const std::string& group) const override;
  void write_state(output::File&) const override;
  void read_state(const output::Reader&) override;

 private:
  using Space = grid::FieldView<double>::execution_space;
  /// A field and the gathering of its probes; two of them take turns.
  struct Level {
    grid::FieldView<double> field;
    Gathering probes;
  };
  static constexpr int graph_steps = 16; ///< an even number: they end in the field that they began in

  Steps& steps() override { return *this; }
  miniapp::StepPlan begin() override;
  std::int64_t advance(std::int64_t made, std::int64_t until) override;
  void drain() override;
  void finish(std::int64_t made) override;

  Level make_level(const std::string& label) const;
  grid::HaloPair<double> make_halos() const;
  template <class Exchange>
  void queue_step(int from, Exchange& halo);
  void gather(std::int64_t sample);
  std::int64_t next_sample(std::int64_t step) const;
  output::Block samples_block() const;
  const Level& now() const { return levels_[static_cast<std::size_t>(now_)]; }

  Options options_;
  comm::Communicator ring_;
  grid::Block block_;
  grid::DeckFunction initial_;
  stepping::Streams<Space> streams_;
  std::vector<std::int64_t> wanted_; ///< the cells that this rank asks for
  Probes probes_;
  Kokkos::View<double*> values_;   ///< of them, as they arrive
  Kokkos::View<double**> samples_; ///< of all gatherings of a run: (gathering, probe)
  std::array<Level, 2> levels_;
  grid::HaloPair<double> halos_;     ///< of the levels
  stepping::StepGraph<Space> graph_; // after what it uses
  double step_alone_ = 0;            ///< seconds of a step without its halo
  int now_ = 0;                      ///< the level that holds the field
  std::int64_t first_ = 0;           ///< steps made by another run
  std::int64_t made_ = 0;            ///< steps of the repeat
  miniapp::AppRecord record_;
  miniapp::Timer& compute_;
  miniapp::Timer& gather_;
};

} // namespace kontor::advection
