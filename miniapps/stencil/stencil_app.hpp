// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "grid/field.hpp"
#include "grid/halo_pair.hpp"
#include "grid/regions.hpp"
#include "run/loop/stepped_app.hpp"
#include "run/record/sampled_exchange.hpp"
#include "stencil/options.hpp"

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace kontor::stencil {

using Field = grid::FieldView<double>;
using Space = Field::execution_space;

/// What a stencil app says of its problem.
struct Problem {
  std::string app;                              ///< its name, of kernels: "advection"
  std::string field;                            ///< name of the field in files
  std::vector<double> spacing;                  ///< of cells along x, y[, z], from the origin on
  double time_step = 1;                         ///< length of a step
  std::vector<grid::Direction> directions = {}; ///< in which values travel; empty: across all faces
  bool two_levels = false; ///< a step also reads the field that it overwrites: that of the step before
};

/// An app whose step makes the field of all cells of a periodic box from that of the step before, of which it reads one
/// neighbour along each axis. Two fields take turns. The app gives start(), step() and the checks of MiniApp: verify(),
/// verify_start(). Here are halo, overlap, launches, counts, figures, record, files and checkpoints.
class StencilApp : public miniapp::SteppedApp, private miniapp::Steps {
 public:
  /// Collective. Options are resolved. Throws AgreedError if the fields do not fit into memory.
  StencilApp(Problem, const Options&, const miniapp::RunContext&);

  void warm_up() final;
  void reset() final;
  miniapp::Verification verify_launches() final;
  std::optional<miniapp::StepCounts> counts() const final;
  std::vector<miniapp::FileValue> file_values() const final;
  std::vector<miniapp::FigureOfMerit> figures(double seconds, const miniapp::Calibration&) const final;
  nlohmann::ordered_json record() const final;
  miniapp::CalibrationRequest calibration() const final;
  std::optional<miniapp::FieldOutput> write_fields(output::File&, const std::string& group) const final;
  void write_state(output::File&) const final;
  void read_state(const output::Reader&) final;

 protected:
  /// Local; waits. Own cells of the field at the start, and with two levels of the step before it (grid::set_values()).
  virtual void start(const Field& now, const Field& before) = 0;
  /// Local; queued on `instance`. The cells of a box of block() in `to` from those of `from`. The same bits for a cell
  /// in any box.
  virtual void step(const Space& instance, const Field& from, const Field& to, const grid::Box& box) = 0;

  const comm::Communicator& comm() const { return comm_; } ///< the process grid
  const grid::Block& block() const { return block_; }
  const Field& field() const { return fields_[now_]; } ///< after the last step

 private:
  miniapp::Launches& launches() final { return launches_; }
  const miniapp::Launches& launches() const final { return launches_; }
  miniapp::StepPlan plan() const final;
  miniapp::LaunchTerms launch_terms() final;
  void begin(miniapp::Launch) final { made_ = first_; }
  int queue(int state, const miniapp::Pass&) final;
  int current_state() const final { return now_; }
  void moved(const miniapp::Pass&) final { now_ = 1 - now_; }
  void account(const miniapp::Pass& pass) final { made_ = pass.after + pass.steps; }
  void poll() final { halos_.poll(); }
  void drain() final { streams_.fence(); }
  void finish(std::int64_t made) final;

  template <class Exchange>
  void queue_step(int from, Exchange&);
  double updates(std::int64_t steps) const;

  Problem problem_;
  Options options_;
  comm::Communicator comm_;
  grid::Block block_;
  grid::Regions regions_;
  stepping::Streams<Space> streams_;
  std::array<Field, 2> fields_;
  grid::HaloPair<double> halos_;
  int now_ = 0;            ///< the field that holds the solution
  std::int64_t first_ = 0; ///< steps made by another run
  std::int64_t made_ = 0;  ///< steps of the repeat
  nlohmann::ordered_json record_;
  miniapp::Timer& compute_;
  miniapp::ExchangeSamples exchanges_;
  miniapp::Launches launches_{*this, context().timers}; ///< after the exchanges that its graphs use
};

} // namespace kontor::stencil
