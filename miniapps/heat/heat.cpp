// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "heat/heat.hpp"

#include "heat/check.hpp"

#include <kontor/comm/collectives.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace kontor::heat {
namespace {

using comm::Region;
using miniapp::ScopedTime;

/// The process grid and its ends, slowest axis first, as Cartesian communicators number their ranks.
comm::Communicator make_cartesian(const Options& options, const comm::Communicator& comm) {
  std::vector<int> dims(options.process_grid.rbegin(), options.process_grid.rend());
  std::vector<bool> periodic;
  for (int axis = options.dimensions() - 1; axis >= 0; --axis)
    periodic.push_back(options.faces[2 * axis].condition == Condition::periodic);
  return {comm, dims, periodic};
}

/// Fields of a rank that are together larger than this are not found in cache again by the next sweep, so
/// stores go past it (docs/performance.md has the crossing measured). Processors tell the size of a cache but
/// not how many ranks share it, hence a constant.
constexpr std::size_t cached_bytes = 20 << 20;

double largest_over_ranks(const comm::Communicator& comm, double value) {
  return comm::allreduce(comm, value, comm::ReduceOp::max);
}

} // namespace

template <class T>
Heat<T>::Heat(const Options& options, const miniapp::RunContext& context)
    : options_(options), context_(context), cartesian_(make_cartesian(options, context.comm)),
      block_(make_block(options, cartesian_)),
      regions_(split(block_, Padding<T>::line)), fields_{make_field<T>("heat/u", block_),
                                                         make_field<T>("heat/v", block_)},
      halos_{make_halo(cartesian_, block_, fields_[0], "heat/halo of u"),
             make_halo(cartesian_, block_, fields_[1], "heat/halo of v")} {
  if (transient()) {
    const double longest = options.time_step.value_or(0.9 * options.stable_step());
    steps_ =
        std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(options.end_time / longest - 1e-9)));
    step_ = options.end_time / static_cast<double>(steps_);
  }
  const bool packs = comm::allreduce(cartesian_, halos_[0].packing() == comm::Packing::none ? 0 : 1,
                                     comm::ReduceOp::max) != 0;
  const bool by_datatype = context.comm.options().packing == comm::Packing::datatype;
  packing_ = !packs ? "none" : by_datatype ? "datatype" : "kernel";
  stencil_ = make_stencil<T>(options, block_, step_);
  streaming_ = options.stores == Stores::streaming ||
               (options.stores == Stores::automatic && 2 * fields_[0].span() * sizeof(T) > cached_bytes);
  for (int face = 0; face < 2 * block_.dimensions; ++face) {
    if (!block_.at_boundary(face)) continue;
    boundaries_.push_back({face, DeckFunction(fmt::format("problem.boundary.{}", face_names[face]),
                                              options_.faces[face].value)});
  }
  DeckFunction source("problem.source", options_.source);
  if (!source.function.constant() || source.function(0, 0, 0, 0) != 0) {
    source_ = CellView<T>("heat/source", block_.cells[2], block_.cells[1], block_.cells[0]);
    source_function_.emplace(std::move(source));
    fill_source(0);
  }
  const auto expected = transient() ? steps_ : options_.max_sweeps;
  if (options_.check_every > 0) {
    history_iteration_.reserve(static_cast<std::size_t>(expected / options_.check_every + 2));
    history_norm_.reserve(history_iteration_.capacity());
  }
  set_initial();
}

template <class T>
void Heat<T>::set_initial() {
  const Region region("heat/initial");
  const auto scratch = as_scratch(fields_[1], block_);
  FiniteCheck finite;
  fill_cells<T>(scratch, block_, DeckFunction("problem.initial", options_.initial), 0, finite);
  copy_cells(cells_of(fields_[0], block_, block_.all()), scratch);
  fill_boundaries(0, 0, false, finite);
  fill_boundaries(1, 0, false, finite);
  finite.agree(context_.comm);
  current_ = 0;
  sweeps_of_field_ = 0;
  time_ = 0;
}

template <class T>
void Heat<T>::fill_boundaries(int field, double t, bool time_dependent_only, FiniteCheck& finite) {
  for (const auto& [face, f] : boundaries_)
    if (!time_dependent_only || f.function.uses("t"))
      fill_boundary(fields_[field], block_, face, options_.faces[face], f, t, finite);
}

template <class T>
void Heat<T>::fill_source(double t) {
  FiniteCheck finite;
  fill_cells<T>(source_, block_, *source_function_, t, finite);
  finite.agree(context_.comm);
}

template <class T>
double Heat<T>::sweep_once(SweepNorm norm) {
  const Region region("heat/step");
  const typename FieldView<T>::execution_space instance;
  auto& halo = halos_[current_];
  if (transient()) {
    // A value that is not finite here shows in the field, and so in the verification.
    FiniteCheck finite;
    fill_boundaries(current_, time_, true, finite);
    if (source_depends_on_time()) fill_source(time_);
  }
  const auto in = input(current_);
  const auto& out = fields_[1 - current_];
  double result = 0;
  const auto compute = [&](const Box& box) {
    const ScopedTime timed(compute_seconds_);
    const double part = sweep(instance, in, out, box, norm, streaming_);
    result = norm == SweepNorm::max ? std::max(result, part) : result + part;
  };
  halo.start();
  if (context_.overlap) {
    compute(regions_.interior);
    halo.finish();
    for (const auto& strip : regions_.strips)
      if (!strip.empty()) compute(strip);
  } else {
    halo.finish();
    compute(block_.all());
  }
  current_ = 1 - current_;
  ++sweeps_of_field_;
  if (transient()) time_ = step_ * static_cast<double>(sweeps_of_field_);
  return result;
}

template <class T>
double Heat<T>::global_norm(double part) {
  const Region region("heat/norm");
  const ScopedTime timed(reduce_seconds_);
  ++reduces_;
  if (options_.norm == Norm::max) return comm::allreduce(cartesian_, part, comm::ReduceOp::max);
  return std::sqrt(comm::allreduce(cartesian_, part, comm::ReduceOp::sum));
}

template <class T>
void Heat<T>::warm_up() {
  const auto sweeps = std::min(options_.warm_up_sweeps, sweep_limit());
  for (std::int64_t n = 0; n < sweeps; ++n)
    sweep_once(options_.norm == Norm::max ? SweepNorm::max : SweepNorm::sum_of_squares);
  for (auto& halo : halos_) halo.reset_times();
  compute_seconds_ = 0;
  if (transient() || !fixed_sweeps()) set_initial();
}

/// A fixed number of sweeps goes on from where the field is: every repeat does the same work, and an exact
/// solution that knows the number of sweeps judges all of them.
template <class T>
void Heat<T>::reset() {
  if ((transient() || !fixed_sweeps()) && sweeps_of_field_ > 0) set_initial();
  history_iteration_.clear();
  history_norm_.clear();
  sweeps_of_repeat_ = 0;
}

template <class T>
void Heat<T>::run() {
  const Region region("heat/run");
  const auto limit = sweep_limit();
  const auto norm_kind = options_.norm == Norm::max ? SweepNorm::max : SweepNorm::sum_of_squares;
  const double target = transient() ? 0 : options_.tolerance;
  const double cells = static_cast<double>(block_.global[0] * block_.global[1] * block_.global[2]);
  const bool write_series = context_.snapshot_every > 0 && snapshots_.empty();
  bool converged = false;
  for (std::int64_t n = 1; n <= limit && !converged; ++n) {
    const bool due = options_.check_every > 0 && n % options_.check_every == 0;
    const bool check = due || (n == limit && (target > 0 || options_.check_every > 0));
    const double part = sweep_once(check ? norm_kind : SweepNorm::none);
    sweeps_of_repeat_ = n;
    if (check) {
      last_norm_ = global_norm(part);
      history_iteration_.push_back(n);
      history_norm_.push_back(last_norm_);
      converged = last_norm_ < target;
    }
    if (check || n % 64 == 0) context_.progress.update({n, limit, last_norm_, target, cells});
    if (write_series && n % context_.snapshot_every == 0) write_snapshot();
  }
  for (auto& halo : halos_) {
    context_.timers.add(halo.times());
    halo.reset_times();
  }
  context_.timers.add("compute", std::exchange(compute_seconds_, 0), sweeps_of_repeat_);
  context_.timers.add("reduce", std::exchange(reduce_seconds_, 0), std::exchange(reduces_, 0));
  if (write_series)
    context_.timers.add("io", std::exchange(io_seconds_, 0), static_cast<std::int64_t>(snapshots_.size()));
}

template <class T>
HostCells<T> Heat<T>::current_on_host() const {
  const auto scratch = as_scratch(fields_[1 - current_], block_);
  copy_cells(scratch, cells_of(fields_[current_], block_, block_.all()));
  comm::fence(typename FieldView<T>::execution_space(), "heat/gathered");
  return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), scratch);
}

/// When the field is: after how many sweeps, and, if there is time, at what time.
template <class T>
nlohmann::ordered_json Heat<T>::moment() const {
  nlohmann::ordered_json json{{"sweeps", sweeps_of_field_}};
  if (transient()) json["time"] = time_;
  return json;
}

template <class T>
void Heat<T>::write_snapshot() {
  const Region region("heat/io");
  const ScopedTime timed(io_seconds_);
  const auto name = fmt::format("/series/{:09}", sweeps_of_field_);
  write_field(*context_.file, name + "/temperature");
  context_.file->attributes(name, moment());
  snapshots_.push_back({transient() ? time_ : static_cast<double>(sweeps_of_field_),
                        {{"temperature", name + "/temperature"}}});
  FiniteCheck finite;
  fill_boundaries(1 - current_, time_, false, finite); // the other field has served as scratch
}

template <class T>
void Heat<T>::write_field(output::File& file, const std::string& name) const {
  const auto cells = current_on_host();
  output::Block place;
  for (int axis = block_.dimensions - 1; axis >= 0; --axis) {
    place.global.push_back(static_cast<std::uint64_t>(block_.global[axis]));
    place.offset.push_back(static_cast<std::uint64_t>(block_.offset[axis]));
    place.extent.push_back(static_cast<std::uint64_t>(block_.cells[axis]));
  }
  file.dataset(name, place, cells.data());
}

template <class T>
miniapp::FieldOutput Heat<T>::write_fields(output::File& file) {
  write_field(file, "/fields/temperature");
  file.attributes("/fields/temperature", moment());
  miniapp::FieldOutput out;
  for (int axis = 0; axis < block_.dimensions; ++axis) {
    out.image.cells[axis] = static_cast<std::uint64_t>(block_.global[axis]);
    out.image.origin[axis] = block_.lower[axis];
    out.image.spacing[axis] = block_.spacing[axis];
  }
  file.image_data(out.image, {{"temperature", "/fields/temperature"}});
  out.dimensions = block_.dimensions;
  out.precision = sizeof(T);
  out.snapshots = snapshots_;
  const double end = transient() ? time_ : static_cast<double>(sweeps_of_field_);
  if (snapshots_.empty() || snapshots_.back().time != end)
    out.snapshots.push_back({end, {{"temperature", "/fields/temperature"}}});
  return out;
}

template <class T>
std::map<std::string, double> Heat<T>::constants() const {
  return {{"nx", block_.global[0]},
          {"ny", block_.global[1]},
          {"nz", block_.global[2]},
          {"sweeps", sweeps_of_field_}};
}

template <class T>
miniapp::Verification Heat<T>::verify() {
  const Region region("heat/verify");
  return options_.exact ? verify_exact() : verify_residual();
}

template <class T>
miniapp::Verification Heat<T>::verify_exact() {
  const DeckFunction exact("problem.exact", *options_.exact, constants());
  FiniteCheck finite;
  const auto cells = current_on_host();
  double error = 0;
  double largest = 0;
  for_each_row(block_, exact, time_, finite,
               [&](std::int64_t j, std::int64_t k, const std::vector<double>& values) {
                 for (std::size_t i = 0; i < values.size(); ++i) {
                   error = std::max(error, detail::size_or_infinity(cells(k, j, i) - values[i]));
                   largest = std::max(largest, std::abs(values[i]));
                 }
               });
  finite.agree(context_.comm);
  error = largest_over_ranks(cartesian_, error);
  largest = largest_over_ranks(cartesian_, largest);
  return {"max |u - exact|", error, options_.verification_tolerance.value_or(default_tolerance(largest))};
}

/// See README.md, "What passes".
template <class T>
double Heat<T>::default_tolerance(double largest_exact) const {
  constexpr double epsilon = std::numeric_limits<T>::epsilon();
  double resolution = 0;
  double contraction = 0;
  double weights = 0;
  for (int axis = 0; axis < block_.dimensions; ++axis) {
    const double n = static_cast<double>(block_.global[axis]);
    const auto is_dirichlet = [&](int face) {
      return options_.faces[face].condition == Condition::dirichlet ? 1 : 0;
    };
    const int pinned = is_dirichlet(2 * axis) + is_dirichlet(2 * axis + 1);
    const double angle = pinned * std::acos(-1.0) / (2 * n);
    resolution += 1 / (n * n);
    contraction += stencil_.c[axis] * (1 - std::cos(angle));
    weights += stencil_.c[axis];
  }
  const double discretisation = 10 * resolution * largest_exact;
  if (fixed_sweeps()) return discretisation + static_cast<double>(sweeps_of_field_) * epsilon * largest_exact;
  return discretisation + (options_.tolerance + epsilon * largest_exact) * weights / contraction;
}

template <class T>
miniapp::Verification Heat<T>::verify_residual() {
  const bool last_step = fixed_sweeps();
  const int before = last_step ? 1 - current_ : current_;
  const double time_before = transient() ? time_ - step_ : 0;
  // By the baseline backend, whatever the run used.
  const comm::Communicator baseline(cartesian_.native(), comm::Options{});
  auto halo = make_halo(baseline, block_, fields_[before], "heat/halo for verification");
  halo.start();
  halo.finish();
  FiniteCheck finite;
  fill_boundaries(before, time_before, false, finite);
  if (source_depends_on_time()) fill_source(time_before);

  constexpr double epsilon = std::numeric_limits<T>::epsilon();
  if (last_step) {
    const auto defect = step_defect(input(before), fields_[current_]);
    const double scale = largest_over_ranks(cartesian_, defect.scale);
    return {"max defect of the last sweep", largest_over_ranks(cartesian_, defect.largest),
            options_.verification_tolerance.value_or(16 * epsilon * scale)};
  }
  const double left = largest_over_ranks(cartesian_, largest_update(input(before)));
  return {"max |residual| / diagonal", left, options_.verification_tolerance.value_or(options_.tolerance)};
}

template <class T>
std::vector<miniapp::FigureOfMerit> Heat<T>::figures(double seconds,
                                                     const miniapp::Calibration& machine) const {
  const double cells = static_cast<double>(block_.global[0] * block_.global[1] * block_.global[2]);
  const double updates = cells * static_cast<double>(sweeps_of_repeat_) / seconds;
  constexpr double bytes = 2 * sizeof(T);
  return {{"cell_updates", updates, "1/s", machine.triad_bandwidth / bytes},
          {"effective_bandwidth", bytes * updates, "B/s", machine.triad_bandwidth}};
}

template <class T>
nlohmann::ordered_json Heat<T>::record() const {
  const auto bytes = (fields_[0].span() + fields_[1].span() + source_.span()) * sizeof(T);
  nlohmann::ordered_json json{{"process_grid", fmt::format("{}", fmt::join(options_.process_grid, " x "))},
                              {"precision", sizeof(T) == sizeof(float) ? "float" : "double"},
                              {"cells", options_.cells},
                              {"sweeps", sweeps_of_repeat_},
                              {"packing", packing_},
                              {"stores", streaming_ ? "streaming" : "ordinary"},
                              {"field_memory", static_cast<std::int64_t>(bytes)}};
  if (transient()) json["time_step"] = step_;
  if (!history_norm_.empty()) json["history"] = {{"iteration", history_iteration_}, {"norm", history_norm_}};
  return json;
}

template <class T>
std::vector<miniapp::Traffic> Heat<T>::traffic() const {
  std::vector<miniapp::Traffic> table;
  for (const auto& slot : halos_[0].slots()) {
    if (slot.destination == comm::no_rank) continue;
    const auto same = [&](const miniapp::Traffic& t) { return t.neighbour == slot.destination; };
    auto entry = std::find_if(table.begin(), table.end(), same);
    if (entry == table.end()) entry = table.insert(entry, {cartesian_.rank(), slot.destination, 0, 0});
    ++entry->messages;
    entry->bytes += comm::element_count(slot.send.shape) * static_cast<std::int64_t>(sizeof(T));
  }
  return table;
}

template class Heat<float>;
template class Heat<double>;

} // namespace kontor::heat
