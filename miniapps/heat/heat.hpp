// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "heat/algorithm/persistent_launch.hpp"
#include "heat/algorithm/sweeper.hpp"
#include "heat/problem/domain.hpp"
#include "run/loop/stepped_app.hpp"
#include "stepping/deferred_norms.hpp"

namespace kontor::heat {

/// The heat equation on the cells of a box: alpha lap(u) + source = 0 by Jacobi sweeps, or = du/dt by steps of explicit
/// Euler. T is float or double.
template <class T>
class Heat final : public miniapp::SteppedApp, private miniapp::Steps {
 public:
  /// Collective over the context's communicator. Options are resolved; a trial may have chosen steps_per_pass.
  Heat(const Options&, const miniapp::RunContext&, stepping::Trial of_pass_lengths = {});
  ~Heat() override; // with the kernels that it may launch, which are compiled in heat.cpp

  void warm_up() override;
  miniapp::Verification verify_launches() override;
  void reset() override;
  miniapp::Verification verify_start() override;
  std::optional<miniapp::StepCounts> counts() const override;
  std::vector<miniapp::FileValue> file_values() const override;
  miniapp::Verification verify() override;
  std::vector<miniapp::FigureOfMerit> figures(double seconds, const miniapp::Calibration&) const override;
  nlohmann::ordered_json record() const override;
  miniapp::CalibrationRequest calibration() const override;
  std::optional<miniapp::FieldOutput> write_fields(output::File&, const std::string& group) const override;
  void write_state(output::File&) const override;
  void read_state(const output::Reader&) override;

  const Domain<T>& domain() const { return domain_; }

 private:
  miniapp::Launches& launches() override { return launches_; }
  const miniapp::Launches& launches() const override { return launches_; }
  miniapp::StepPlan plan() const override;
  miniapp::LaunchTerms launch_terms() override;
  void begin(Launch) override;
  int queue(int state, const miniapp::Pass&) override;
  int current_state() const override { return domain_.current(); }
  void moved(const miniapp::Pass&) override;
  void account(const miniapp::Pass&) override;
  void make_room(int values) override { norms_.make_room(values, sweeper_.streams()); }
  void poll() override { sweeper_.poll(); }
  void use_kernel(bool) override;
  int kernel_length(std::int64_t made, std::int64_t until) const override;
  int launch_kernel(std::int64_t made, int sweeps, bool exchanges, bool may_end) override;
  std::optional<std::int64_t> ended(std::int64_t made, bool wait) override;
  bool value_open() const override { return domain_.tolerance() > 0 && !norms_.all_read(); }
  void step_back() override;
  void drain() override;
  double value() const override { return norms_.latest(); }
  bool begin_alone() override;
  void finish(std::int64_t made) override;

  std::optional<std::int64_t> converged();
  std::int64_t counted_sweeps() const { return sweeps_of_repeat_ - first_sweep_; }
  bool goes_on() const { return measured_ && domain_.fixed_sweeps() && !domain_.transient(); }
  double field_bytes() const;

  stepping::Trial of_pass_lengths_, of_shapes_;
  Domain<T> domain_;
  Sweeper<T> sweeper_;
  Norm norm_;
  stepping::DeferredNorms<typename FieldView<T>::execution_space> norms_;
  nlohmann::ordered_json of_halo_; ///< for the record

  bool measured_ = false;           ///< a repeat has been made
  std::int64_t margin_updates_ = 0; ///< of a pass: updates of cells that other ranks update, too
  std::int64_t sweeps_of_repeat_ = 0;
  std::optional<PersistentLaunch<T>> kernel_; ///< of several sweeps; none: not in use
  miniapp::LaunchPattern kernel_pattern_;
  bool kernel_waits_ = false;               ///< the last launch was a kernel that ends sweeps, whose norms are there
  std::int64_t first_sweep_ = 0;            ///< of the repeat: as many were made before, by another run
  std::int64_t sweeps_before_ = 0;          ///< of the field, when the repeat began
  std::size_t asked_ = 0;                   ///< norms that have not ended the repeat
  std::vector<std::int64_t> earlier_steps_; ///< with norms, before a restart
  std::vector<double> earlier_norms_;       ///< theirs
  miniapp::Timer& reduce_timer_;
  miniapp::Launches launches_{*this, this->context().timers}; ///< after the exchanges that its graphs use
};

extern template class Heat<float>;
extern template class Heat<double>;

} // namespace kontor::heat
