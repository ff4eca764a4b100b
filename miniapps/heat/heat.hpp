// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "heat/algorithm/sweeper.hpp"
#include "heat/problem/domain.hpp"
#include "run/mini_app.hpp"
#include "stepping/deferred_norms.hpp"
#include "stepping/schedule.hpp"

#include <optional>
#include <string>
#include <vector>

namespace kontor::heat {

/// The heat equation on the cells of a box: alpha lap(u) + source = 0 by Jacobi sweeps, or = du/dt by steps
/// of explicit Euler. T is float or double.
template <class T>
class Heat final : public miniapp::MiniApp {
 public:
  /// Collective over the context's communicator. Options are resolved.
  Heat(const Options&, const miniapp::RunContext&);
  ~Heat() override; // with the kernels that it may launch, which are compiled in heat.cpp

  void warm_up() override;
  void reset() override;
  void run() override;
  miniapp::Verification verify() override;
  std::vector<miniapp::FigureOfMerit> figures(double seconds, const miniapp::Calibration&) const override;
  miniapp::AppRecord record() const override;
  miniapp::CalibrationRequest calibration() const override;
  miniapp::ProgressWords progress_words() const override { return {"sweep", "cell updates", "norm"}; }
  std::optional<miniapp::FieldOutput> write_fields(output::File&) const override;
  void write_state(output::File&) const override;
  void read_state(const output::Reader&) override;

  const Domain<T>& domain() const { return domain_; }

 private:
  stepping::StepSchedule schedule() const;
  double target() const;
  int norms_together() const;
  bool fits_graph(const stepping::StepSchedule&, std::int64_t sweep) const;
  void add_norm();
  void sweep_by_graph();
  void read_norms(std::int64_t sweep);
  bool converged() const;
  void undo_later_sweeps();
  void drain();
  void write_snapshot();
  double field_bytes() const;
  miniapp::BytesMoved moved_by(double updates) const;
  std::vector<miniapp::Traffic> traffic() const;

  miniapp::RunContext context_;
  Domain<T> domain_;
  Sweeper<T> sweeper_;
  Norm norm_;
  stepping::DeferredNorms<typename FieldView<T>::execution_space> norms_;
  std::string packing_; ///< what the deck's packing came to

  bool measured_ = false; ///< run() has been called
  std::int64_t sweeps_of_repeat_ = 0;
  std::int64_t first_sweep_ = 0;   ///< of the repeat: as many were made before, by another run
  miniapp::History earlier_norms_; ///< of the sweeps before
  std::vector<output::Snapshot> snapshots_;
  miniapp::Timer& reduce_timer_;
};

extern template class Heat<float>;
extern template class Heat<double>;

} // namespace kontor::heat
