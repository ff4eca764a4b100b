// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "heat/heat.hpp"

#include "heat/field_output.hpp"
#include "heat/verification.hpp"
#include "run/options.hpp"

#include <kontor/comm/collectives.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

namespace kontor::heat {
namespace {

using comm::Region;
using miniapp::ScopedTimer;

/// Collective. What the deck's packing came to, over all ranks.
template <class T>
std::string packing_used(const comm::Communicator& comm, const Halo<T>& halo) {
  const int packs = halo.packing() == comm::Packing::none ? 0 : 1;
  if (comm::allreduce(comm, packs, comm::ReduceOp::max) == 0) return "none";
  return std::string(miniapp::name_of(halo.chosen().packing));
}

} // namespace

template <class T>
Heat<T>::Heat(const Options& options, const miniapp::RunContext& context)
    : context_(context), domain_(options, context.comm), sweeper_(domain_, context.overlap),
      norm_(options.norm == Norm::max ? SweepNorm::max : SweepNorm::sum_of_squares),
      norms_(domain_.comm(), norm_), packing_(packing_used(domain_.comm(), sweeper_.halo())),
      reduce_timer_(context_.timers["reduce"]) {
  probe_exact(domain_);
}

/// Collective. Takes in the norm of the sweep just made.
template <class T>
void Heat<T>::add_norm() {
  const Region region("heat/norm");
  if constexpr (on_device) sweeper_.leave_norm_part(norm_, norms_.slots());
  const ScopedTimer timed(reduce_timer_);
  if constexpr (on_device)
    norms_.add(sweeps_of_repeat_, sweeper_.queues());
  else
    norms_.add(sweeps_of_repeat_, sweeper_.norm_part());
}

/// Collective. The sweeps of a graph, and the norms that they leave.
template <class T>
void Heat<T>::sweep_by_graph() {
  const auto& shape = sweeper_.graph_shape();
  norms_.make_room(shape.norms(), sweeper_.queues());
  sweeper_.sweep_by_graph();
  const ScopedTimer timed(reduce_timer_, shape.norms());
  for (int i = 1; i <= shape.sweeps; ++i) {
    ++sweeps_of_repeat_;
    if (!shape.norm(i)) continue;
    norms_.add(sweeps_of_repeat_, sweeper_.queues());
  }
}

/// Collective. Stops at the first sweep, up to that number of the repeat, whose norm is below the target:
/// undoes the sweeps that were made since. False if there is none.
template <class T>
bool Heat<T>::stop_at(double target, std::int64_t sweep) {
  {
    const ScopedTimer timed(reduce_timer_, 0);
    norms_.read(sweep, sweeper_.queues());
  }
  if (norms_.values().empty() || !(norms_.latest() < target)) return false;
  for (const auto enough = norms_.iterations()[norms_.values().size() - 1]; sweeps_of_repeat_ > enough;
       --sweeps_of_repeat_)
    domain_.step_back();
  norms_.forget_after(sweeps_of_repeat_);
  return true;
}

template <class T>
void Heat<T>::warm_up() {
  const auto sweeps = std::min(domain_.options().warm_up_sweeps, domain_.sweep_limit());
  norms_.begin(norms_together());
  sweeper_.queues().settle();
  for (sweeps_of_repeat_ = 1; sweeps_of_repeat_ <= sweeps; ++sweeps_of_repeat_) {
    sweeper_.sweep(norm_);
    if (on_device) add_norm();
  }
  norms_.read(sweeps, sweeper_.queues());
  sweeper_.queues().settle();
  sweeper_.choose_graph(agenda(), norm_, norms_.slots());
  sweeper_.forget_times();
}

/// A fixed number of steady sweeps is repeated from where the field is: every repeat does the same work, and
/// an exact solution that knows the number of sweeps judges all of them.
template <class T>
void Heat<T>::reset() {
  const bool goes_on = measured_ && domain_.fixed_sweeps() && !domain_.transient();
  if (!goes_on && domain_.sweeps() > 0) domain_.set_initial();
  sweeps_of_repeat_ = 0;
}

template <class T>
Agenda Heat<T>::agenda() const {
  const auto& options = domain_.options();
  const bool writes_series = context_.snapshot_every > 0 && snapshots_.empty();
  return {domain_.sweep_limit(), options.check_every, writes_series ? context_.snapshot_every : 0,
          target() > 0};
}

/// The norm at which sweeps stop; 0: they do not.
template <class T>
double Heat<T>::target() const {
  return domain_.tolerance();
}

/// How many norms travel together: one by one if sweeps stop by them, else in batches that a graph's norms
/// fill, so that they are the same with a graph and without.
template <class T>
int Heat<T>::norms_together() const {
  if (target() > 0) return 1;
  const int most = norms_.most_together;
  return most - most % std::max(1, agenda().graph().norms());
}

/// Whether the sweeps that come after this one are those of the graph.
template <class T>
bool Heat<T>::fits_graph(const Agenda& agenda, std::int64_t sweep) const {
  const auto& shape = sweeper_.graph_shape();
  return sweeper_.has_graph() && agenda.alike_after(sweep, shape) == shape.sweeps &&
         (target() == 0 || norms_.all_read());
}

template <class T>
void Heat<T>::run() {
  const Region region("heat/run");
  measured_ = true;
  const auto agenda = this->agenda();
  const auto progress = [&](std::int64_t n) {
    context_.progress.update({n, agenda.limit, norms_.latest(), target(), domain_.cells()});
  };
  norms_.begin(norms_together());
  sweeper_.queues().settle();
  auto& n = sweeps_of_repeat_;
  for (n = 0; n < agenda.limit;) {
    if (fits_graph(agenda, n)) {
      sweep_by_graph();
      progress(n);
      continue;
    }
    const bool check = agenda.check(++n);
    sweeper_.sweep(check ? norm_ : SweepNorm::none);
    if (check) add_norm();
    if (check || n % 64 == 0) progress(n);
    const bool snapshot = agenda.snapshot(n);
    if (target() > 0 && stop_at(target(), agenda.last(n) || snapshot ? n : n - norms_.lag)) break;
    if (snapshot) write_snapshot();
  }
  drain();
  sweeper_.hand_in_times(context_.timers);
}

/// Collective. All sweeps are made and their norms known.
template <class T>
void Heat<T>::drain() {
  std::optional<ScopedTimer> timed; // a host has nothing left to do
  if (on_device) timed.emplace(context_.timers["device"]);
  norms_.read(sweeps_of_repeat_, sweeper_.queues());
  sweeper_.queues().settle();
}

/// The last field of a series is the final one, which write_fields() writes.
template <class T>
void Heat<T>::write_snapshot() {
  drain();
  const ScopedTimer timed(context_.timers["io"]);
  const auto group = fmt::format("/series/{:09}", domain_.sweeps());
  snapshots_.push_back(write_field(domain_, *context_.file, group, group));
  domain_.refill_boundaries(1 - domain_.current(), domain_.now());
}

template <class T>
std::optional<miniapp::FieldOutput> Heat<T>::write_fields(output::File& file) {
  const std::string dataset = "/fields/temperature";
  auto out = describe_grid(domain_);
  out.snapshots = snapshots_;
  out.snapshots.push_back(write_field(domain_, file, "/fields", dataset));
  file.image_data(out.image, {{"temperature", dataset}});
  return out;
}

template <class T>
miniapp::Verification Heat<T>::verify() {
  return heat::verify(domain_, norms_.latest());
}

template <class T>
std::vector<miniapp::FigureOfMerit> Heat<T>::figures(double seconds,
                                                     const miniapp::Calibration& machine) const {
  const double updates = domain_.cells() * static_cast<double>(sweeps_of_repeat_) / seconds;
  constexpr double bytes = 2 * sizeof(T);
  return {{"cell_updates", updates, "1/s", machine.attainable_bandwidth() / bytes},
          {"effective_bandwidth", bytes * updates, "B/s", machine.attainable_bandwidth()}};
}

template <class T>
miniapp::AppRecord Heat<T>::record() const {
  const auto& options = domain_.options();
  const auto& halo = sweeper_.halo();
  miniapp::AppRecord record;
  record.process_grid = options.process_grid;
  record.precision = sizeof(T) == sizeof(float) ? "float" : "double";
  record.field_memory = static_cast<std::int64_t>(field_bytes());
  record.exchange = miniapp::ExchangeChoice{halo.chosen(), halo.candidates(), packing_};
  record.history = {norms_.iterations(), norms_.values()};
  record.traffic = traffic();
  record.extras = {{"cells", options.cells},
                   {"sweeps", sweeps_of_repeat_},
                   {"kernel", on_device ? "march" : "rows"},
                   {"stores", sweeper_.streaming() ? "streaming" : "ordinary"},
                   {"queues", sweeper_.queues().count()},
                   {"graph", sweeper_.has_graph() ? "on" : "off"},
                   {"norm_batch", norms_.batch()}};
  if (const auto& tried = sweeper_.graph_seconds(); !tried.empty())
    record.extras["graph_trial"] = {
        {"sweeps", sweeper_.graph_shape().sweeps}, {"off", tried[0]}, {"on", tried[1]}};
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

template <class T>
std::vector<miniapp::Traffic> Heat<T>::traffic() const {
  std::vector<miniapp::Traffic> table;
  for (const auto& slot : sweeper_.halo().slots()) {
    if (slot.destination == comm::no_rank) continue;
    const auto same = [&](const miniapp::Traffic& t) { return t.neighbour == slot.destination; };
    auto entry = std::find_if(table.begin(), table.end(), same);
    if (entry == table.end()) entry = table.insert(entry, {domain_.comm().rank(), slot.destination, 0, 0});
    ++entry->messages;
    entry->bytes += comm::element_count(slot.send.shape) * static_cast<std::int64_t>(sizeof(T));
  }
  return table;
}

template class Heat<float>;
template class Heat<double>;

} // namespace kontor::heat
