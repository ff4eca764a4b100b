// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "common/mini_app.hpp"
#include "heat/agenda.hpp"
#include "heat/device.hpp"
#include "heat/device_sweep.hpp"
#include "heat/domain.hpp"
#include "heat/halo.hpp"
#include "heat/norms.hpp"
#include "heat/queues.hpp"
#include "heat/sweep_graph.hpp"

#include <array>
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
  std::vector<miniapp::Traffic> traffic() const override;
  std::optional<miniapp::FieldOutput> write_fields(output::File&) override;

  const Domain<T>& domain() const { return domain_; }

 private:
  using ExecutionSpace = typename FieldView<T>::execution_space;
  using Graph = SweepGraph<ExecutionSpace>;

  Agenda agenda() const;
  double target() const;
  void sweep_once(SweepNorm norm);
  double sweep_on_host(SweepNorm norm) requires(!on_device);
  void sweep_on_device(int from, SweepNorm norm) requires(on_device);
  void wrap_field(int from);
  std::optional<std::string> obstacle_to_graph(std::int64_t plain_sweeps) const;
  void choose_graph();
  void sweep_by_graph();
  void add_norm();
  bool reached(double target, std::int64_t sweep);
  void settle();
  void write_snapshot();
  void hand_in_times();

  miniapp::RunContext context_;
  Domain<T> domain_;
  Regions regions_;
  Queues<ExecutionSpace> queues_;
  std::array<Halo<T>, 2> halos_; ///< of field 0 and of field 1
  std::optional<DeviceSweep<T>> device_sweep_;
  Graph graph_;                       // after what it uses
  std::vector<double> graph_seconds_; ///< of Graph::sweeps sweeps one by one, and by the graph
  bool streaming_;
  SweepNorm norm_;
  Norms<ExecutionSpace> norms_;
  std::string packing_; ///< what the deck's packing came to

  bool measured_ = false; ///< run() has been called
  std::int64_t sweeps_of_repeat_ = 0;
  std::int64_t sweeps_by_graph_ = 0; ///< of them
  std::vector<output::Snapshot> snapshots_;
  double part_ = 0; ///< host: this rank's, of the norm of the last sweep
  double compute_seconds_ = 0;
  double reduce_seconds_ = 0;
  double graph_launch_seconds_ = 0;
  double settle_seconds_ = 0; ///< device: what it still had to do when all was queued
  double io_seconds_ = 0;
  std::int64_t reduces_ = 0;
};

extern template class Heat<float>;
extern template class Heat<double>;

} // namespace kontor::heat
