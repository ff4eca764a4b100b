// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "heat/heat.hpp"

#include "grid/block_output.hpp"
#include "heat/algorithm/plain_sweeps.hpp"
#include "heat/check/places.hpp"
#include "heat/check/verification.hpp"
#include "machine/simulation.hpp"
#include "run/checkpoint/state.hpp"
#include "run/record/exchange_record.hpp"
#include "stepping/seconds_alone.hpp"

#include <kontor/config/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kontor::heat {
namespace {

using device::Region;
using miniapp::ScopedTimer;

/// For the record.
nlohmann::ordered_json as_json(const PassShape& shape) {
  return {{"stores", shape.streaming ? "streaming" : "ordinary"},
          {"prefetch", shape.prefetch},
          {"tile_bytes", shape.cache},
          {"sweeps_per_kernel", shape.of_kernel},
          {"rows_per_team", shape.rows}};
}

} // namespace

template <class T>
Heat<T>::Heat(const Options& options, const miniapp::RunContext& context, PassLengths tried)
    : SteppedApp(context), tried_(std::move(tried)), domain_(options, context.comm),
      sweeper_(domain_, context.overlap, context.timers), norm_(options.norm),
      norms_(domain_.comm(), norm_, options.sums), packing_(miniapp::packing_used(domain_.comm(), sweeper_.halo())),
      reduce_timer_(context.timers.communication("reduce")) {
  context.progress.describe({"sweep", "cell updates", "norm"});
  for (int sweep = 1; sweep < options.sweeps_of_pass(); ++sweep)
    margin_updates_ +=
        grid::with_margin(domain_.deep_block(), options.sweeps_of_pass() - sweep).size() - domain_.block().all().size();
  margin_updates_ = comm::allreduce(domain_.comm(), margin_updates_, comm::ReduceOp::sum);
  probe_exact(domain_);
}

template <class T>
Heat<T>::~Heat() = default;

/// Collective. Takes in the norm of the sweep just made.
template <class T>
void Heat<T>::add_norm() {
  const Region region("heat/norm");
  if (norms_.in_slots()) sweeper_.leave_norm_part(1 - domain_.current(), norm_, norms_.slots());
  const ScopedTimer timed(reduce_timer_);
  if (norms_.in_slots())
    norms_.add(sweeps_of_repeat_, sweeper_.streams());
  else
    norms_.add(sweeps_of_repeat_, sweeper_.norm_part());
}

/// Collective. The sweeps of a graph, and the norms that they leave.
template <class T>
void Heat<T>::sweep_by_graph() {
  const auto& shape = sweeper_.graph_shape();
  norms_.make_room(shape.norms(), sweeper_.streams());
  sweeper_.sweep_by_graph();
  const ScopedTimer timed(reduce_timer_, shape.norms());
  for (int i = 1; i <= shape.steps; ++i) {
    ++sweeps_of_repeat_;
    if (!shape.norm(i)) continue;
    norms_.add(sweeps_of_repeat_, sweeper_.streams());
  }
}

/// The first sweep whose norm is below the tolerance, as far as norms are known. Those of a checkpoint do not count,
/// with another tolerance than now, unless it is the norm of its field.
template <class T>
std::optional<std::int64_t> Heat<T>::converged() {
  if (miniapp::compute_time_is_simulated()) return std::nullopt; // there are no norms
  for (const auto& norms = norms_.values(); asked_ < norms.size(); ++asked_)
    if (norms_.steps()[asked_] >= std::max<std::int64_t>(1, first_sweep_) && norms[asked_] < domain_.tolerance())
      return norms_.steps()[asked_];
  return std::nullopt;
}

/// Collective. Every kind of launch of a repeat, from the current field, so that the first one that is measured makes
/// none for the first time.
template <class T>
void Heat<T>::rehearse() {
  const auto longest = std::max(sweeper_.is_persistent() ? sweeper_.persistent_shape().steps : 0,
                                sweeper_.has_graph() ? sweeper_.graph_shape().steps : 0);
  const auto until = std::min<std::int64_t>(domain_.sweep_limit(), longest + domain_.options().sweeps_of_pass() + 2);
  begin();
  for (std::int64_t made = 0; made < until && !ended(made, false);) made += advance(made, until);
  drain();
  measured_ = false;
}

template <class T>
void Heat<T>::warm_up() {
  const auto sweeps = std::min(domain_.options().warm_up_sweeps, domain_.sweep_limit());
  sweeper_.begin();
  norms_.begin(norms_together(), sweeper_.streams());
  sweeper_.streams().fence();
  for (sweeps_of_repeat_ = 1; sweeps_of_repeat_ <= sweeps; ++sweeps_of_repeat_) {
    sweeper_.sweep(norm_);
    if (norms_.in_slots()) add_norm();
  }
  norms_.read(sweeps, sweeper_.streams());
  sweeper_.streams().fence();
  sweeper_.choose_shape(domain_.options().check_every == 1 && domain_.options().sweeps_of_pass() == 1 ? norm_
                                                                                                      : Norm::none);
  sweeper_.choose_launch(schedule(), norm_, norms_.slots());
  if (on_device && !domain_.depends_on_time()) rehearse();
  sweeper_.forget_halo_times();
}

/// A launch of several sweeps, or a tuned kernel, must have the bits of as many plain sweeps from the start.
template <class T>
miniapp::Verification Heat<T>::verify_launches() {
  domain_.set_initial();
  rehearse();
  const auto sweeps = domain_.sweeps();
  const auto fast = digest(domain_);
  domain_.set_initial();
  sweep_plainly(domain_, sweeps);
  const double differs = digest(domain_) == fast ? 0 : 1;
  domain_.set_initial();
  sweeper_.forget_halo_times();
  return {.measure = "ranks with other bits after the first launches than after as many plain sweeps",
          .error = comm::allreduce(domain_.comm(), differs, comm::ReduceOp::sum),
          .judged = {fmt::format("the first {} sweeps against plain ones, bit for bit", sweeps)}};
}

/// Norms that are further apart than this are left out.
template <class T>
void Heat<T>::time_alone() {
  if (goes_on() || domain_.depends_on_time() || miniapp::compute_time_is_simulated()) return;
  constexpr int rare = 16;
  const auto every = domain_.options().check_every;
  stepping::sample_alone(
      domain_.comm(), alone_,
      [&] { return sweeper_.sweep_alone(every > rare ? 0 : static_cast<int>(every), norm_, norms_.slots()); },
      [&] { sweeper_.fence(); });
}

/// A fixed number of steady sweeps is repeated from where the field is: every repeat does the same work, and an exact
/// solution that knows the number of sweeps judges all of them.
template <class T>
void Heat<T>::reset() {
  if (!goes_on() && domain_.sweeps() > 0) domain_.set_initial();
  sweeps_of_repeat_ = first_sweep_ = 0;
  earlier_norms_ = {};
}

/// Norms are those of the sweeps up to here: drain() comes first.
template <class T>
void Heat<T>::write_state(output::File& file) const {
  write_fields(file, "/state");
  file.attributes("/state", {{"sweeps_of_repeat", sweeps_of_repeat_}, {"time_step", domain_.step()}});
  const auto comm = domain_.comm().native();
  miniapp::write_values(file, comm, "/state/history/iteration", norms_.steps());
  miniapp::write_values(file, comm, "/state/history/norm", norms_.values());
}

template <class T>
void Heat<T>::read_state(const output::Reader& reader) {
  const auto made = reader.attributes("/state");
  const auto step = made.at("time_step").template get<double>();
  first_sweep_ = made.at("sweeps_of_repeat").template get<std::int64_t>();
  if (step != domain_.step())
    throw config::Error({fmt::format("restart: the time step is {}; in {} it is {}, and a restart cannot "
                                     "change it: choose time.end and time.step so that it stays",
                                     domain_.step(), reader.path().string(), step)},
                        "E-CHECKPOINT-DECK");
  if (first_sweep_ >= domain_.sweep_limit())
    throw config::Error({fmt::format("restart: {} sweeps are to be made, and those in {} are {} already; give "
                                     "more by solver.max_sweeps, or of a transient run by time.end",
                                     domain_.sweep_limit(), reader.path().string(), first_sweep_)},
                        "E-CHECKPOINT-DECK");
  grid::read_field(reader, "/state/temperature", domain_.block(), domain_.field(0));
  domain_.set_sweeps(made.at("sweeps").template get<std::int64_t>());
  earlier_norms_ = {miniapp::read_values<std::int64_t>(reader, "/state/history/iteration"),
                    miniapp::read_values<double>(reader, "/state/history/norm")};
}

template <class T>
stepping::StepSchedule Heat<T>::schedule() const {
  return {domain_.sweep_limit(), domain_.options().check_every, this->context().series_every(),
          domain_.tolerance() > 0};
}

template <class T>
miniapp::StepPlan Heat<T>::begin() {
  measured_ = true;
  sweeper_.begin();
  schedule_ = schedule();
  norms_.begin(norms_together(), sweeper_.streams());
  norms_.go_on_after(earlier_norms_.iterations, earlier_norms_.values);
  asked_ = 0;
  sweeper_.streams().fence();
  sweeps_of_repeat_ = first_sweep_;
  sweeps_before_ = domain_.sweeps() - first_sweep_;
  sweeps_by_ = {};
  return {first_sweep_, domain_.sweep_limit(), domain_.cells(), domain_.tolerance()};
}

/// How many norms travel together: one by one if the host stops sweeps by them, else in batches that a graph's norms
/// fill, so that they are the same with a graph and without.
template <class T>
int Heat<T>::norms_together() const {
  if (domain_.tolerance() > 0 && !sweeper_.is_persistent()) return 1;
  const int most = norms_.most_together;
  return most - most % std::max(1, schedule().graph().norms());
}

/// Whether the next sweeps are those of the graph. The last of all is not in a pass with others.
template <class T>
bool Heat<T>::fits_graph(std::int64_t made, std::int64_t until) const {
  const auto& shape = sweeper_.graph_shape();
  return sweeper_.has_graph() && made + shape.steps <= until && schedule_.alike_after(made, shape) == shape.steps &&
         (domain_.options().sweeps_of_pass() == 1 || !schedule_.last(made + shape.steps) || shape.norm(shape.steps));
}

/// How many of the next sweeps one kernel makes; 0: it makes none.
template <class T>
int Heat<T>::persistent_length(std::int64_t made, std::int64_t until) const {
  if (!sweeper_.is_persistent() || value_open()) return 0;
  return static_cast<int>(
      std::min<std::int64_t>(until - made, schedule_.alike_after(made, sweeper_.persistent_shape())));
}

/// Collective. So many sweeps by one kernel, unless a norm ends them, and the norms that they leave. Returns how many.
template <class T>
int Heat<T>::sweep_persistently(int sweeps) {
  const auto& shape = sweeper_.persistent_shape();
  norms_.make_room(shape.norm_every > 0 ? sweeps / shape.norm_every : 0, sweeper_.streams());
  sweeps = sweeper_.sweep_persistently(sweeps, {norm_, shape.norm_every, norms_.slots()}, domain_.tolerance());
  const ScopedTimer timed(reduce_timer_, 0);
  for (int i = 1; i <= sweeps; ++i) {
    ++sweeps_of_repeat_;
    if (shape.norm(i)) norms_.add(sweeps_of_repeat_, sweeper_.streams());
  }
  if (domain_.tolerance() > 0) norms_.read(sweeps_of_repeat_, sweeper_.streams());
  return sweeps;
}

/// How many of the next sweeps one pass makes: a sweep with a norm is alone, and the last one, whose fields before and
/// after it are verified.
template <class T>
int Heat<T>::pass_length(std::int64_t made, std::int64_t until) const {
  return stepping::steps_together(domain_.options().sweeps_of_pass(), [&](int n) {
    const auto sweep = made + n;
    return sweep > until || schedule_.check(sweep) || schedule_.last(sweep);
  });
}

template <class T>
std::int64_t Heat<T>::advance(std::int64_t made, std::int64_t until) {
  const auto by = [this](Launch launch, std::int64_t sweeps) {
    sweeps_by_[static_cast<std::size_t>(launch)] += sweeps;
    return sweeps;
  };
  if (const int sweeps = persistent_length(made, until); sweeps > 0)
    return by(Launch::persistent, sweep_persistently(sweeps));
  if (fits_graph(made, until)) {
    sweep_by_graph();
    return by(Launch::graph, sweeper_.graph_shape().steps);
  }
  if (const int sweeps = pass_length(made, until); sweeps > 1) {
    sweeper_.pass(sweeps);
    sweeps_of_repeat_ += sweeps;
    return by(Launch::each, sweeps);
  }
  const bool check = schedule_.check(++sweeps_of_repeat_);
  sweeper_.sweep(check ? norm_ : Norm::none);
  if (check) add_norm();
  return by(Launch::each, 1);
}

template <class T>
std::optional<std::int64_t> Heat<T>::ended(std::int64_t made, bool wait) {
  if (domain_.tolerance() == 0) return std::nullopt;
  if (!norms_.all_read()) {
    const ScopedTimer timed(reduce_timer_, 0);
    norms_.read(wait ? made : made - norms_.lag, sweeper_.streams());
  }
  const auto end = converged();
  if (end) norms_.forget_after(*end);
  return end;
}

template <class T>
void Heat<T>::step_back() {
  domain_.step_back();
  --sweeps_of_repeat_;
}

template <class T>
void Heat<T>::drain() {
  std::optional<ScopedTimer> timed; // a host has nothing left to do, but may have a norm to read
  if (on_device)
    timed.emplace(this->context().timers["device"]);
  else if (!norms_.all_read())
    timed.emplace(reduce_timer_, 0);
  norms_.read(sweeps_of_repeat_, sweeper_.streams());
  sweeper_.fence();
}

template <class T>
void Heat<T>::finish(std::int64_t /*made*/) {
  sweeper_.hand_in_halo_times();
}

template <class T>
std::optional<miniapp::FieldOutput> Heat<T>::write_fields(output::File& file, const std::string& group) const {
  const Region region("heat/io");
  const auto& block = domain_.block();
  const auto name = group + "/temperature";
  const double moment = domain_.transient() ? domain_.now() : static_cast<double>(domain_.sweeps());
  grid::write_field(file, name, block, domain_.field(domain_.current()));
  nlohmann::ordered_json when{{"sweeps", domain_.sweeps()}};
  if (domain_.transient()) when["time"] = moment;
  file.attributes(group, when);
  return miniapp::FieldOutput{grid::image_of(block), {moment, {grid::mesh_field<T>(block, "temperature", name)}}};
}

template <class T>
miniapp::Verification Heat<T>::verify() {
  const bool of_last_sweep = !norms_.values().empty() && norms_.latest_step() == sweeps_of_repeat_;
  return heat::verify(domain_, norms_.latest(), of_last_sweep, this->context().seed);
}

template <class T>
miniapp::Verification Heat<T>::verify_start() {
  if (goes_on()) return {};
  return heat::verify_start(domain_, this->context().seed);
}

template <class T>
std::optional<miniapp::StepCounts> Heat<T>::counts() const {
  miniapp::StepCounts counts{.unit = "sweeps",
                             .of_deck = sweeps_of_deck(domain_.options()),
                             .of_loop = this->last_step(),
                             .of_figure = first_sweep_ + counted_sweeps(),
                             .of_field = domain_.sweeps() - sweeps_before_};
  if (domain_.transient()) counts.end_of_deck = domain_.options().end_time;
  counts.end_of_field = domain_.now();
  counts.work = work_of_deck(domain_.options(), counts.of_loop - first_sweep_);
  return counts;
}

template <class T>
std::vector<miniapp::FileValue> Heat<T>::file_values() const {
  return values_of_file(domain_, this->context().seed, "/fields/temperature");
}

template <class T>
std::vector<miniapp::FigureOfMerit> Heat<T>::figures(double seconds, const miniapp::Calibration& machine) const {
  const double updates = domain_.cells() * static_cast<double>(counted_sweeps());
  const double with_source = domain_.source().size() > 0 ? 2 : 1;
  miniapp::BytesMoved moved{with_source * sizeof(T) * updates, sizeof(T) * updates};
  // An exact sum of squares has a pass of its own over both fields.
  if (stepping::exactly_summed(norm_, domain_.options().sums))
    moved.read += 2 * sizeof(T) * domain_.cells() *
                  static_cast<double>(
                      std::ranges::count_if(norms_.steps(), [&](std::int64_t step) { return step > first_sweep_; }));
  auto figures = miniapp::figures_of_cells(updates, sizeof(T), seconds, moved, machine);
  for (auto& figure : figures) figure.reuse = domain_.options().sweeps_of_pass();
  return figures;
}

template <class T>
miniapp::AppRecord Heat<T>::record() const {
  const auto& options = domain_.options();
  const auto& halo = sweeper_.halo();
  miniapp::AppRecord record;
  record.process_grid = options.process_grid;
  record.precision = miniapp::name_of_scalar<T>;
  record.field_memory = static_cast<std::int64_t>(field_bytes());
  record.exchange = miniapp::ExchangeChoice{halo.chosen(), halo.timed_methods(), packing_};
  record.history = {norms_.steps(), norms_.values()};
  record.computing = stepping::times(alone_, counted_sweeps());
  record.traffic = miniapp::traffic_of(domain_.comm().rank(), halo);
  record.extras = {{"cells", options.cells},
                   {"sweeps", sweeps_of_repeat_},
                   {"kernel", sweeper_.kernel()},
                   {"steps_per_pass", options.sweeps_of_pass()},
                   {"margin_updates", margin_updates_},
                   {"queues", sweeper_.streams().count()},
                   {"sums", options.sums == SumKind::reproducible ? "reproducible" : "fast"},
                   {"norm_batch", norms_.batch()}};
  record.extras.update(as_json(sweeper_.shape()));
  record.extras.update(sweeper_.launch_record());
  if (const auto most = std::ranges::max_element(sweeps_by_); *most > 0)
    record.extras["launch"] = stepping::all_launch_names[static_cast<std::size_t>(most - sweeps_by_.begin())].name;
  if (!sweeper_.trial().empty()) record.extras["pass_trial"] = nlohmann::ordered_json::array();
  for (const auto& [shape, seconds] : sweeper_.trial()) {
    record.extras["pass_trial"].push_back(as_json(shape));
    record.extras["pass_trial"].back()["seconds"] = seconds;
  }
  if (!tried_.empty()) record.extras["steps_per_pass_trial"] = nlohmann::ordered_json::array();
  for (const auto& [sweeps, seconds] : tried_)
    record.extras["steps_per_pass_trial"].push_back({{"steps_per_pass", sweeps}, {"seconds", seconds}});
  if (domain_.transient()) record.extras["time_step"] = domain_.step();
  return record;
}

template <class T>
double Heat<T>::field_bytes() const {
  const auto values = domain_.field(0).span() + domain_.field(1).span() + domain_.source().span();
  return static_cast<double>(values * sizeof(T));
}

template <class T>
miniapp::CalibrationRequest Heat<T>::calibration() const {
  return {.working_set = field_bytes()};
}

template class Heat<float>;
template class Heat<double>;

} // namespace kontor::heat
