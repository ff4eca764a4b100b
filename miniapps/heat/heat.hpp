// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "common/mini_app.hpp"
#include "heat/agenda.hpp"
#include "heat/domain.hpp"
#include "heat/norms.hpp"
#include "heat/sweeper.hpp"

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

  void warm_up() override;
  void reset() override;
  void run() override;
  miniapp::Verification verify() override;
  std::vector<miniapp::FigureOfMerit> figures(double seconds, const miniapp::Calibration&) const override;
  nlohmann::ordered_json record() const override;
  double working_set() const override;
  std::vector<miniapp::Traffic> traffic() const override;
  std::optional<miniapp::FieldOutput> write_fields(output::File&) const override;

  const Domain<T>& domain() const { return domain_; }

 private:
  Agenda agenda() const;
  double target() const;
  int norms_together() const;
  bool fits_graph(const Agenda&, std::int64_t sweep) const;
  void add_norm();
  void sweep_by_graph();
  bool reached(double target, std::int64_t sweep);
  void settle();
  void write_snapshot();
  void hand_in_times();

  miniapp::RunContext context_;
  Domain<T> domain_;
  Sweeper<T> sweeper_;
  SweepNorm norm_;
  Norms<typename FieldView<T>::execution_space> norms_;
  std::string packing_; ///< what the deck's packing came to

  bool measured_ = false; ///< run() has been called
  std::int64_t sweeps_of_repeat_ = 0;
  std::vector<output::Snapshot> snapshots_;
  double reduce_seconds_ = 0;
  double settle_seconds_ = 0; ///< device: what it still had to do when all was queued
  double io_seconds_ = 0;
  std::int64_t reduces_ = 0;
};

extern template class Heat<float>;
extern template class Heat<double>;

} // namespace kontor::heat
