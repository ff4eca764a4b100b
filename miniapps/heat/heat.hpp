// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "common/mini_app.hpp"
#include "heat/functions.hpp"
#include "heat/halo.hpp"
#include "heat/options.hpp"
#include "heat/sweep.hpp"

#include <array>
#include <optional>
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
  miniapp::FieldOutput write_fields(output::File&) override;

  /// The field after the last sweep, ghost cells included, and the block it belongs to; for tests.
  const FieldView<T>& field() const { return fields_[current_]; }
  const Block& block() const { return block_; }
  std::int64_t sweeps() const { return sweeps_of_field_; }

 private:
  struct BoundaryFunction {
    int face;
    DeckFunction function;
  };

  bool transient() const { return options_.equation == Equation::transient; }
  bool fixed_sweeps() const { return transient() || options_.tolerance == 0; }
  std::int64_t sweep_limit() const { return transient() ? steps_ : options_.max_sweeps; }

  bool source_depends_on_time() const { return source_function_ && source_function_->function.uses("t"); }
  void set_initial();
  void fill_boundaries(int field, double t, bool time_dependent_only, FiniteCheck& finite);
  void fill_source(double t);
  double sweep_once(SweepNorm norm);
  double global_norm(double part);
  nlohmann::ordered_json moment() const;
  void write_snapshot();
  void write_field(output::File&, const std::string& name) const;
  SweepInput<T> input(int field) const { return {fields_[field], source_, stencil_, block_}; }
  /// The current field in one piece in host memory; spoils the other field.
  HostCells<T> current_on_host() const;

  miniapp::Verification verify_exact();
  miniapp::Verification verify_residual();
  double default_tolerance(double largest_exact) const;
  std::map<std::string, double> constants() const;

  Options options_;
  miniapp::RunContext context_;
  comm::Communicator cartesian_;
  Block block_;
  Regions regions_;
  std::array<FieldView<T>, 2> fields_;
  CellView<T> source_; ///< empty if there is none
  std::optional<DeckFunction> source_function_;
  std::vector<BoundaryFunction> boundaries_;
  std::array<Halo<T>, 2> halos_;
  Stencil<T> stencil_;
  std::string packing_; ///< what the deck's packing came to
  bool streaming_ = false;
  std::int64_t steps_ = 0; ///< transient
  double step_ = 0;        ///< transient: dt

  int current_ = 0;
  std::int64_t sweeps_of_field_ = 0; ///< since the initial value
  std::int64_t sweeps_of_repeat_ = 0;
  double time_ = 0;
  double last_norm_ = 0;
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
