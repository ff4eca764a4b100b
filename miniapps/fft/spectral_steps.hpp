// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "fft/algorithm/transform.hpp"
#include "fft/check/exact.hpp"
#include "fft/kernels/multiply.hpp"
#include "fft/options.hpp"
#include "fft/problem/start.hpp"
#include "grid/block.hpp"
#include "run/loop/stepped_app.hpp"
#include "stepping/trial.hpp"

namespace kontor::fft {

/// A field whose steps are made by its coefficients: transform, multiply, transform back.
template <class T>
class SpectralSteps final : public miniapp::SteppedApp, private miniapp::Steps {
 public:
  /// The trial has chosen what the options say of transposes, or is empty.
  SpectralSteps(const Options&, const miniapp::RunContext&, const stepping::Trial& = {});

  void warm_up() override;
  void reset() override;
  miniapp::Verification verify_launches() override;
  miniapp::Verification verify_start() override;
  miniapp::Verification verify() override;
  std::optional<miniapp::StepCounts> counts() const override;
  std::vector<miniapp::FileValue> file_values() const override;
  std::vector<miniapp::FigureOfMerit> figures(double seconds, const miniapp::Calibration&) const override;
  nlohmann::ordered_json record() const override;
  std::string table() const override;
  miniapp::CalibrationRequest calibration() const override;
  std::optional<miniapp::FieldOutput> write_fields(output::File&, const std::string& group) const override;
  void write_state(output::File&) const override;
  void read_state(const output::Reader&) override;

 private:
  miniapp::Launches& launches() override { return launches_; }
  const miniapp::Launches& launches() const override { return launches_; }
  miniapp::StepPlan plan() const override { return {.first = first_, .limit = options_.steps}; }
  miniapp::LaunchTerms launch_terms() override;
  void begin(miniapp::Launch) override { made_ = first_; }
  int queue(int state, const miniapp::Pass&) override;
  void account(const miniapp::Pass& pass) override { made_ = pass.after + pass.steps; }
  void poll() override { transform_.poll(); }
  void drain() override {
    streams_.fence();
    transform_.check();
  }
  void finish(std::int64_t) override { transform_.add_times(context().timers); }

  void multiply(const AxisRange& x);
  double flops() const;
  double seconds_of_alltoall() const;
  using Line = Kokkos::View<T*, Space::memory_space, Kokkos::MemoryUnmanaged>;
  /// The field as it lies.
  Line all_values() const;
  /// One of the parts of which values consist: real values, or real and imaginary parts.
  template <class Visit>
  void each_part(const Visit&) const;

  Options options_;
  std::vector<std::array<Along, 3>> start_; ///< products whose sum a repeat begins with
  comm::Communicator grid_;                 ///< z, y, x
  grid::Block block_;                       ///< of the field
  miniapp::ChosenMethod method_;
  stepping::Streams<Space> streams_;
  Transform<T> transform_;
  Kokkos::View<T*> real_;   ///< the field, of real values
  Kokkos::View<T*> source_; ///< the right-hand side of poisson
  T* field_;                ///< real_, or in transform_
  PerAxis<T> factors_;      ///< of coefficients, or squares of wave numbers
  Exact exact_;
  std::int64_t first_ = 0; ///< steps made by another run
  std::int64_t made_ = 0;  ///< steps of the repeat
  double lines_ = 0;       ///< seconds of the lines of a step in a cache; 0: on a device
  double alltoall_ = 0;    ///< bytes/s that all ranks send to others by MPI_Alltoall of as many; 0: nothing is sent
  nlohmann::ordered_json record_;
  miniapp::Launches launches_{*this, context().timers}; ///< after the exchanges that its graphs use
};

} // namespace kontor::fft
