// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "matmul/algorithm/cannon.hpp"
#include "matmul/check/elements.hpp"
#include "matmul/check/verification.hpp"
#include "matmul/options.hpp"
#include "run/loop/stepped_app.hpp"
#include "stepping/streams.hpp"

namespace kontor::matmul {

/// A product of dense matrices, distributed over the ranks.
template <class T>
class Matmul final : public miniapp::SteppedApp, private miniapp::Steps {
 public:
  /// Collective. Makes A and B. Throws AgreedError if they do not fit into memory, config::Error for what the deck can
  /// mend. Tests go the device's way on a host too.
  Matmul(const Options&, const miniapp::RunContext&, bool as_on_device = stepping::on_device);

  void warm_up() override;
  void reset() override;
  miniapp::Verification verify() override;
  miniapp::Verification verify_start() override;
  std::optional<miniapp::StepCounts> counts() const override;
  std::vector<miniapp::FileValue> file_values() const override { return file_values_; }
  std::vector<miniapp::FigureOfMerit> figures(double seconds, const miniapp::Calibration&) const override;
  nlohmann::ordered_json record() const override;
  std::string table() const override;
  miniapp::CalibrationRequest calibration() const override;
  std::optional<miniapp::FieldOutput> write_fields(output::File&, const std::string& group) const override;
  void write_state(output::File&) const override;
  void read_state(const output::Reader&) override;

  void reset_blocks();
  /// Collective; after reset_blocks(). A pass of the multiplication; the seconds of its steps, of the slowest rank.
  double seconds_of_pass(Pass);

  /// Local. This rank's parts.
  LocalMatrix<T> a() const { return cannon_->a(); }
  LocalMatrix<T> b() const { return cannon_->b(); }
  LocalMatrix<T> c() const { return cannon_->c(); }

 private:
  miniapp::Launches& launches() override { return launches_; }
  const miniapp::Launches& launches() const override { return launches_; }
  bool begin_alone() override { return false; } // warm_up() has timed products alone
  miniapp::StepPlan plan() const override;
  miniapp::LaunchTerms launch_terms() override { return {}; } // steps of a repeat differ: no launches to choose from
  void begin(miniapp::Launch) override { cannon_->begin(Pass::whole, steps_made_ = first_step_); }
  int queue(int state, const miniapp::Pass& pass) override;
  void account(const miniapp::Pass& pass) override { steps_made_ = pass.after + 1; }
  void drain() override { streams_.fence(); }
  void finish(std::int64_t made) override;

  /// The part of the products that this run makes in a repeat.
  double share_made() const;
  double median_of_steps() const;
  double exposed() const;

  Options options_;
  comm::Communicator grid_; ///< Cartesian: rows and columns of ranks, which are rings
  ChosenMethod method_;
  stepping::Streams<Space> streams_;
  std::optional<Cannon<T>> cannon_;
  std::optional<Verifier<T>> verifier_; ///< none: nothing moves
  std::optional<ElementCheck<T>> elements_;
  std::vector<miniapp::FileValue> file_values_; ///< of the C that was verified
  miniapp::Verification earlier_;               ///< of repeats before the last
  bool complete_ = false;                       ///< C is that of a repeat
  std::int64_t first_step_ = 0;                 ///< those before have been made by another run
  std::int64_t steps_made_ = 0;                 ///< of the repeat, so far
  double products_alone_ = 0;                   ///< seconds of the steps without transfers, of the slowest rank
  double transfers_alone_ = 0;                  ///< and of transfers without products
  std::vector<double> seconds_;                 ///< of the steps of each repeat, of the slowest rank
  nlohmann::ordered_json record_;
  miniapp::Launches launches_{*this, this->context().timers}; ///< after the exchanges that its graphs use
};

extern template class Matmul<float>;
extern template class Matmul<double>;

} // namespace kontor::matmul
