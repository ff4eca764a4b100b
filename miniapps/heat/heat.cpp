// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "heat/heat.hpp"

#include "grid/block_output.hpp"
#include "heat/algorithm/choose_shape.hpp"
#include "heat/algorithm/plain_sweeps.hpp"
#include "heat/check/places.hpp"
#include "heat/check/verification.hpp"
#include "run/checkpoint/state.hpp"
#include "run/record/exchange_record.hpp"

#include <kontor/config/error.hpp>

#include <fmt/format.h>

namespace kontor::heat {
namespace {

using device::Region;
using miniapp::ScopedTimer;

} // namespace

template <class T>
Heat<T>::Heat(const Options& options, const miniapp::RunContext& context, stepping::Trial of_pass_lengths)
    : SteppedApp(context), of_pass_lengths_(std::move(of_pass_lengths)), domain_(options, context.comm),
      sweeper_(domain_, context.overlap, context.timers), norm_(options.norm),
      norms_(domain_.comm(), norm_, options.sums), of_halo_(miniapp::record_of(domain_.comm(), sweeper_.halo())),
      reduce_timer_(context.timers.communication("reduce")) {
  context.progress.describe({.step = "sweep"});
  for (int sweep = 1; sweep < options.sweeps_of_pass(); ++sweep)
    margin_updates_ +=
        grid::with_margin(domain_.deep_block(), options.sweeps_of_pass() - sweep).size() - domain_.block().all().size();
  margin_updates_ = comm::allreduce(domain_.comm(), margin_updates_, comm::ReduceOp::sum);
  probe_exact(domain_);
}

template <class T>
Heat<T>::~Heat() = default;

/// The first sweep whose norm is below the tolerance, as far as norms are known. Those of a checkpoint do not count,
/// with another tolerance than now, unless it is the norm of its field.
template <class T>
std::optional<std::int64_t> Heat<T>::converged() {
  for (const auto& norms = norms_.values(); asked_ < norms.size(); ++asked_)
    if (norms_.steps()[asked_] >= std::max<std::int64_t>(1, first_sweep_) && norms[asked_] < domain_.tolerance())
      return norms_.steps()[asked_];
  return std::nullopt;
}

template <class T>
void Heat<T>::warm_up() {
  const auto sweeps = std::min(domain_.options().warm_up_sweeps, domain_.sweep_limit());
  begin(Launch::per_kernel);
  for (std::int64_t sweep = 0; sweep < sweeps; ++sweep) {
    const miniapp::Pass pass{sweep, 1, true};
    queue(current_state(), pass);
    moved(pass);
    account(pass);
  }
  drain();
  const bool with_norms = domain_.options().check_every == 1 && domain_.options().sweeps_of_pass() == 1;
  of_shapes_ = choose_shape(sweeper_, domain_, with_norms ? norm_ : Norm::none);
  this->choose_launches();
  sweeper_.forget_halo_times();
  measured_ = false;
}

/// A launch of several sweeps, or a tuned kernel, must have the bits of as many plain sweeps from the start.
template <class T>
miniapp::Verification Heat<T>::verify_launches() {
  auto result = this->launches().verify({.restart = [this] { domain_.set_initial(); },
                                         .digest = [this] { return digest(domain_); },
                                         .plainly = [this](std::int64_t sweeps) { sweep_plainly(domain_, sweeps); }});
  sweeper_.forget_halo_times();
  measured_ = false;
  return result;
}

/// Functions of time are not asked for other times than the deck's.
template <class T>
bool Heat<T>::begin_alone() {
  return !goes_on() && !domain_.depends_on_time();
}

/// A fixed number of steady sweeps is repeated from where the field is: every repeat does the same work, and an exact
/// solution that knows the number of sweeps judges all of them.
template <class T>
void Heat<T>::reset() {
  if (!goes_on() && domain_.sweeps() > 0) domain_.set_initial();
  sweeps_of_repeat_ = first_sweep_ = 0;
  earlier_steps_.clear();
  earlier_norms_.clear();
}

/// Norms are those of the sweeps up to here: drain() comes first.
template <class T>
void Heat<T>::write_state(output::File& file) const {
  write_fields(file, "/state");
  file.record("/state/numbers",
              {{"sweeps", domain_.sweeps()}, {"sweeps_of_repeat", sweeps_of_repeat_}, {"time_step", domain_.step()}});
  const auto comm = domain_.comm().native();
  miniapp::write_values(file, comm, "/state/history/iteration", norms_.steps());
  miniapp::write_values(file, comm, "/state/history/norm", norms_.values());
}

template <class T>
void Heat<T>::read_state(const output::Reader& reader) {
  const auto made = reader.record("/state/numbers");
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
  earlier_steps_ = miniapp::read_values<std::int64_t>(reader, "/state/history/iteration");
  earlier_norms_ = miniapp::read_values<double>(reader, "/state/history/norm");
}

template <class T>
miniapp::StepPlan Heat<T>::plan() const {
  return {.first = first_sweep_,
          .limit = domain_.sweep_limit(),
          .target = domain_.tolerance(),
          .value_every = domain_.options().check_every,
          .stops = domain_.tolerance() > 0,
          .together = domain_.options().sweeps_of_pass(),
          .last_alone = true}; // the fields before and after it are verified
}

template <class T>
miniapp::LaunchTerms Heat<T>::launch_terms() {
  const auto& options = domain_.options();
  miniapp::LaunchTerms terms{.wanted = options.launch,
                             .comm = &domain_.comm(),
                             .streams = &sweeper_.streams(),
                             .states = 2,
                             .graph_refusal = stepping::graph_refusal(domain_.comm(), sweeper_.halo()),
                             .kernel_refusal = PersistentLaunch<T>::refusal(domain_)};
  const bool exact = sweeper_.has_exact_norms();
  if (domain_.depends_on_time()) terms.graph_refusal = "the deck's boundary values or source depend on time";
  if (options.kernel == SweepKernel::plain) terms.graph_refusal = "solver.kernel is plain, which has its own launches";
  if (exact && options.check_every == 1)
    terms.kernel_refusal = "each sweep has a norm of reproducible sums, which is made by kernels of its own";
  // The host waits for each kernel that may end sweeps. One without norms, but for its last sweep, is faster.
  constexpr int most = PersistentLaunch<T>::most_norms;
  const auto of_repeat = plan();
  const bool ends = of_repeat.stops && of_repeat.value_every > 0 && !exact;
  const auto least =
      !ends || of_repeat.value_every >= most ? most : std::min<std::int64_t>(4, of_repeat.value_every) * most;
  kernel_pattern_ = of_repeat.pattern(static_cast<int>(least), 2, ends);
  if (exact) kernel_pattern_.value_every = 0;
  terms.kernel_steps = kernel_pattern_.steps;
  terms.kernel_ends = ends;
  return terms;
}

/// Norms travel one by one if the host stops sweeps by them, else in batches that a graph's norms fill, so that they
/// are the same with a graph and without.
template <class T>
void Heat<T>::begin(Launch launch) {
  measured_ = true;
  kernel_waits_ = false;
  sweeper_.begin();
  const int of_graph = std::max(1, plan().pattern(16, 2).values()), most = norms_.most_together;
  const bool host_stops = domain_.tolerance() > 0 && launch != Launch::persistent;
  norms_.begin(host_stops ? 1 : most - most % of_graph, sweeper_.streams());
  norms_.go_on_after(earlier_steps_, earlier_norms_);
  asked_ = 0;
  sweeper_.streams().fence();
  sweeps_of_repeat_ = first_sweep_;
  sweeps_before_ = domain_.sweeps() - first_sweep_;
}

template <class T>
int Heat<T>::queue(int state, const miniapp::Pass& pass) {
  const auto norm = pass.value ? norm_ : Norm::none;
  kernel_waits_ = false;
  const int after =
      pass.exchanges ? sweeper_.queue(state, pass.steps, norm) : sweeper_.queue_alone(state, pass.steps, norm);
  if (pass.value && norms_.in_slots()) sweeper_.leave_norm_part(state, norm, norms_.slots());
  return after;
}

template <class T>
void Heat<T>::moved(const miniapp::Pass& pass) {
  pass.steps == 1 ? domain_.advance() : sweeper_.moved(pass.steps);
}

template <class T>
void Heat<T>::account(const miniapp::Pass& pass) {
  sweeps_of_repeat_ = pass.after + pass.steps;
  if (!pass.value) return;
  const Region region("heat/norm");
  const ScopedTimer timed(reduce_timer_);
  if (norms_.in_slots())
    norms_.add(sweeps_of_repeat_, sweeper_.streams());
  else
    norms_.add(sweeps_of_repeat_, sweeper_.norm_part());
}

template <class T>
void Heat<T>::use_kernel(bool use) {
  kernel_.reset();
  if (use) kernel_.emplace(domain_);
}

template <class T>
int Heat<T>::kernel_length(std::int64_t made, std::int64_t until) const {
  return static_cast<int>(std::min<std::int64_t>(until - made, plan().alike_after(made, kernel_pattern_)));
}

/// With a tolerance the kernel ends the sweeps, and the host waits for it.
template <class T>
int Heat<T>::launch_kernel(std::int64_t /*made*/, int sweeps, bool exchanges, bool may_end) {
  const Region region("heat/persistent");
  auto& streams = sweeper_.streams();
  const int from = domain_.current();
  const SweepNorms norms{norm_, kernel_pattern_.value_every, norms_.slots()};
  kernel_waits_ = may_end && domain_.tolerance() > 0 && norms.every > 0;
  streams.compute_waits();
  sweeper_.wrap(from);
  if (kernel_waits_)
    sweeps = kernel_->sweep_until(streams.compute(), from, sweeps, norms, domain_.tolerance());
  else
    kernel_->queue(streams.compute(), from, sweeps, norms, exchanges);
  streams.exchange_follows();
  return sweeps;
}

template <class T>
std::optional<std::int64_t> Heat<T>::ended(std::int64_t made, bool wait) {
  if (domain_.tolerance() == 0) return std::nullopt;
  if (!norms_.all_read()) {
    const ScopedTimer timed(reduce_timer_, 0);
    norms_.read(wait || kernel_waits_ ? made : made - norms_.lag, sweeper_.streams());
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
  sweeper_.streams().fence();
  if (kernel_) kernel_->check();
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
nlohmann::ordered_json Heat<T>::record() const {
  const auto& options = domain_.options();
  const auto& shape = sweeper_.shape();
  auto record = of_halo_;
  record.update({{"process_grid", options.process_grid},
                 {"precision", miniapp::name_of_scalar<T>},
                 {"field_memory", static_cast<std::int64_t>(field_bytes())},
                 {"cells", options.cells},
                 {"sweeps", sweeps_of_repeat_},
                 {"kernel", sweeper_.kernel()},
                 {"steps_per_pass", options.sweeps_of_pass()},
                 {"margin_updates", margin_updates_},
                 {"queues", sweeper_.streams().count()},
                 {"sums", options.sums == SumKind::reproducible ? "reproducible" : "any_order"},
                 {"norm_batch", norms_.batch()},
                 {"stores", shape.streaming ? "streaming" : "ordinary"},
                 {"prefetch", shape.prefetch},
                 {"tile_bytes", shape.cache},
                 {"sweeps_per_kernel", shape.of_kernel},
                 {"rows_per_team", shape.rows}});
  record.update(launches_.record());
  if (!norms_.values().empty()) record["history"] = {{"iteration", norms_.steps()}, {"norm", norms_.values()}};
  if (!of_shapes_.candidates.empty()) record["pass_trial"] = of_shapes_.record();
  if (!of_pass_lengths_.candidates.empty()) record["steps_per_pass_trial"] = of_pass_lengths_.record();
  if (domain_.transient()) record["time_step"] = domain_.step();
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
