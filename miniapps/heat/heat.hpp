// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "common/mini_app.hpp"
#include "heat/domain.hpp"
#include "heat/halo.hpp"

#include <array>
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
  double sweep_once(SweepNorm norm);
  double global_norm(double part);
  void write_snapshot();
  void hand_in_times();

  miniapp::RunContext context_;
  Domain<T> domain_;
  std::array<Halo<T>, 2> halos_; ///< of field 0 and of field 1
  Regions regions_;
  bool streaming_;
  SweepNorm norm_;
  std::string packing_; ///< what the deck's packing came to

  bool measured_ = false; ///< run() has been called
  std::int64_t sweeps_of_repeat_ = 0;
  std::vector<std::int64_t> history_iteration_;
  std::vector<double> history_norm_;
  std::vector<output::Snapshot> snapshots_;
  double compute_seconds_ = 0;
  double reduce_seconds_ = 0;
  double io_seconds_ = 0;
  std::int64_t reduces_ = 0;
};

extern template class Heat<float>;
extern template class Heat<double>;

} // namespace kontor::heat
