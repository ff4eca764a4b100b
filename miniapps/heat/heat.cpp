// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "heat/heat.hpp"

#include "common/options.hpp"
#include "common/record.hpp"
#include "heat/field_output.hpp"
#include "heat/verification.hpp"
#include "heat/wrap.hpp"

#include <kontor/comm/collectives.hpp>
#include <kontor/comm/trial.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace kontor::heat {
namespace {

using comm::Region;
using miniapp::ScopedTime;

/// Fields of a rank that are together larger than this are not found in cache again by the next sweep, so
/// stores go past it (docs/performance.md has the crossing measured). Processors tell the size of a cache but
/// not how many ranks share it, hence a constant.
constexpr std::size_t cached_bytes = 20 << 20;

bool pays_to_stream(Stores stores, std::size_t bytes_of_fields) {
  return stores == Stores::streaming || (stores == Stores::automatic && bytes_of_fields > cached_bytes);
}

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
    : context_(context), domain_(options, context.comm), regions_(split(domain_.block(), Padding<T>::line)),
      queues_(context.overlap && regions_.any_strips()),
      halos_{make_halo(domain_.comm(), domain_.block(), domain_.field(0), "heat/halo of u", queues_.halo()),
             make_halo(domain_.comm(), domain_.block(), domain_.field(1), "heat/halo of v", queues_.halo())},
      streaming_(!on_device && pays_to_stream(options.stores, 2 * domain_.field(0).span() * sizeof(T))),
      norm_(options.norm == Norm::max ? SweepNorm::max : SweepNorm::sum_of_squares),
      norms_(domain_.comm(), norm_), packing_(packing_used(domain_.comm(), halos_[0])) {
  if constexpr (on_device) device_sweep_.emplace(domain_.block(), regions_);
}

/// A sweep or step, with its norm if there is to be one.
template <class T>
void Heat<T>::sweep_once(SweepNorm norm) {
  const Region region("heat/step");
  if (domain_.transient()) domain_.set_time_dependent();
  if constexpr (on_device) {
    sweep_on_device(domain_.current(), norm);
    if (norm != SweepNorm::none) {
      const ScopedTime timed(compute_seconds_);
      device_sweep_->leave_norm(queues_.interior(), norm, norms_.slot());
    }
  } else {
    part_ = sweep_on_host(norm);
  }
  domain_.advance();
}

template <class T>
void Heat<T>::wrap_field(int from) {
  const ScopedTime timed(compute_seconds_);
  wrap(queues_.interior(), domain_.field(from), domain_.block());
}

/// Returns the norm's part of this rank.
template <class T>
double Heat<T>::sweep_on_host(SweepNorm norm) requires(!on_device) {
  wrap_field(domain_.current());
  const auto in = domain_.input(domain_.current());
  const auto& out = domain_.field(1 - domain_.current());
  double result = 0;
  const auto compute = [&](const Box& box) {
    const ScopedTime timed(compute_seconds_);
    const double part = sweep_in_rows(queues_.interior(), in, out, box, norm, streaming_);
    result = norm == SweepNorm::max ? std::max(result, part) : result + part;
  };
  auto& halo = halos_[domain_.current()];
  halo.start();
  if (context_.overlap) {
    if (!regions_.interior.empty()) compute(regions_.interior);
    halo.finish();
    for (const auto& strip : regions_.strips)
      if (!strip.empty()) compute(strip);
  } else {
    halo.finish();
    compute(domain_.block().all());
  }
  return result;
}

/// The same from the field given, queued, with the norm's parts left on the device: nothing here waits but an
/// exchange that is not ordered by the device. Strips come after the ghost cells that they read, and after
/// the interior of the sweep before; the next interior comes after the strips.
template <class T>
void Heat<T>::sweep_on_device(int from, SweepNorm norm) requires(on_device) {
  wrap_field(from);
  const auto in = domain_.input(from);
  const auto& out = domain_.field(1 - from);
  auto& halo = halos_[from];
  const auto compute = [&](auto boxes, const ExecutionSpace& instance) {
    const ScopedTime timed(compute_seconds_);
    ((*device_sweep_).*boxes)(instance, in, out, norm);
  };
  if (context_.overlap) {
    queues_.mark_interior();
    if (halo.stream_ordered()) halo.start(); // what is queued first can go first
    compute(&DeviceSweep<T>::interior, queues_.interior());
    if (!halo.stream_ordered()) halo.start(); // waits, and so does the host
    halo.finish();
    queues_.halo_waits();
    compute(&DeviceSweep<T>::strips, queues_.halo());
    queues_.interior_waits();
  } else {
    halo.start();
    halo.finish();
    compute(&DeviceSweep<T>::all, queues_.interior());
  }
}

/// Why sweeps cannot be made by graphs, equal on all ranks; `plain_sweeps` are in a row without norm.
template <class T>
std::optional<std::string> Heat<T>::obstacle_to_graph(std::int64_t plain_sweeps) const {
  if (!on_device) return "sweeps are made on the host";
  if (domain_.depends_on_time()) return "the deck's boundary values or source depend on time";
  if (plain_sweeps < Graph::sweeps)
    return fmt::format("a graph makes {} sweeps in a row without norm or snapshot, and there are {}",
                       Graph::sweeps, plain_sweeps);
  if (domain_.comm().size() == 1) return std::nullopt; // no messages
  const auto& way = halos_[0].chosen();
  if (!halos_[0].stream_ordered())
    return fmt::format("the host takes part in each message by backend '{}'", way.backend);
  if (way.check == comm::CheckLevel::cross_rank)
    return std::string("with comm.check cross_rank the host compares the ranks in each step");
  return std::nullopt;
}

/// Collective. Records the graph if the deck wants it or, where it leaves the choice, if it is faster. Sweeps
/// as it likes. Throws config::Error on all ranks if the deck wants what cannot be. Tools would see the
/// kernels of a graph once, when it is recorded.
template <class T>
void Heat<T>::choose_graph() {
  const auto& options = domain_.options();
  if (options.graph == Graphs::off) return;
  if (const auto obstacle = obstacle_to_graph(agenda().plain_after(0))) {
    if (options.graph == Graphs::automatic) return;
    options.deck.value().fail("solver.graph", fmt::format("is on, but {}; choose auto or off", *obstacle));
  }
  if (options.graph == Graphs::automatic && Kokkos::Profiling::profileLibraryLoaded()) return;
  if constexpr (on_device) {
    const Region region("heat/graph");
    graph_.record(queues_, [this](int from) { sweep_on_device(from, SweepNorm::none); });
    if (options.graph == Graphs::on) return;
    graph_seconds_ = comm::try_in_turns(domain_.comm(), 2, [&](std::size_t by_graph, int count) {
      comm::Stopwatch watch;
      double seconds = 0;
      for (int i = 0; i < count; ++i) {
        if (by_graph == 1)
          sweep_by_graph();
        else
          for (int sweep = 0; sweep < Graph::sweeps; ++sweep) sweep_once(SweepNorm::none);
      }
      queues_.settle();
      watch.lap(seconds);
      return seconds / count;
    });
    if (comm::choose(graph_seconds_) == 0) graph_.forget();
  }
}

/// Graph::sweeps sweeps without norm.
template <class T>
void Heat<T>::sweep_by_graph() {
  const Region region("heat/graph");
  const ScopedTime timed(graph_launch_seconds_);
  for (auto& halo : halos_) halo.poll();
  graph_.replay(queues_, domain_.current());
  domain_.advance(Graph::sweeps);
}

/// Collective. Takes in the norm of the sweep just made.
template <class T>
void Heat<T>::add_norm() {
  const Region region("heat/norm");
  const ScopedTime timed(reduce_seconds_);
  ++reduces_;
  if constexpr (on_device)
    norms_.add(sweeps_of_repeat_, queues_);
  else
    norms_.add(sweeps_of_repeat_, part_);
}

/// Collective. Whether the norm of a sweep, up to that number of the repeat, is below the target. A sweep
/// that has been made since is undone.
template <class T>
bool Heat<T>::reached(double target, std::int64_t sweep) {
  {
    const ScopedTime timed(reduce_seconds_);
    norms_.read(sweep, queues_);
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
  norms_.begin(false);
  queues_.settle();
  for (sweeps_of_repeat_ = 1; sweeps_of_repeat_ <= sweeps; ++sweeps_of_repeat_) {
    sweep_once(norm_);
    if (on_device) add_norm();
  }
  norms_.read(sweeps, queues_);
  queues_.settle();
  choose_graph();
  for (auto& halo : halos_) halo.reset_times();
  compute_seconds_ = reduce_seconds_ = graph_launch_seconds_ = 0;
  reduces_ = 0;
}

/// A fixed number of steady sweeps is repeated from where the field is: every repeat does the same work, and
/// an exact solution that knows the number of sweeps judges all of them.
template <class T>
void Heat<T>::reset() {
  const bool goes_on = measured_ && domain_.fixed_sweeps() && !domain_.transient();
  if (!goes_on && domain_.sweeps() > 0) domain_.set_initial();
  sweeps_of_repeat_ = sweeps_by_graph_ = 0;
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
  return domain_.transient() ? 0 : domain_.options().tolerance;
}

template <class T>
void Heat<T>::run() {
  const Region region("heat/run");
  measured_ = true;
  const auto agenda = this->agenda();
  const auto progress = [&](std::int64_t n) {
    context_.progress.update({n, agenda.limit, norms_.latest(), target(), domain_.cells()});
  };
  norms_.begin(target() > 0);
  queues_.settle();
  for (std::int64_t n = 0; n < agenda.limit;) {
    if (graph_ && agenda.plain_after(n) >= Graph::sweeps && (target() == 0 || norms_.all_read())) {
      sweep_by_graph();
      sweeps_of_repeat_ = n += Graph::sweeps;
      sweeps_by_graph_ += Graph::sweeps;
      progress(n);
      continue;
    }
    const bool check = agenda.check(++n);
    sweep_once(check ? norm_ : SweepNorm::none);
    sweeps_of_repeat_ = n;
    if (check) add_norm();
    if (check || n % 64 == 0) progress(n);
    const bool snapshot = agenda.snapshot(n);
    if (target() > 0 && reached(target(), agenda.last(n) || snapshot ? n : n - norms_.lag)) break;
    if (snapshot) write_snapshot();
  }
  settle();
  hand_in_times();
}

/// Collective. All sweeps are made and their norms known.
template <class T>
void Heat<T>::settle() {
  const ScopedTime timed(settle_seconds_);
  norms_.read(sweeps_of_repeat_, queues_);
  queues_.settle();
}

template <class T>
void Heat<T>::hand_in_times() {
  auto& timers = context_.timers;
  for (auto& halo : halos_) {
    timers.add(halo.times());
    halo.reset_times();
  }
  timers.add("compute", std::exchange(compute_seconds_, 0), sweeps_of_repeat_ - sweeps_by_graph_);
  if (graph_) timers.add("graph", std::exchange(graph_launch_seconds_, 0), sweeps_by_graph_ / Graph::sweeps);
  timers.add("reduce", std::exchange(reduce_seconds_, 0), std::exchange(reduces_, 0));
  if (on_device) timers.add("device", std::exchange(settle_seconds_, 0));
  if (io_seconds_ > 0)
    timers.add("io", std::exchange(io_seconds_, 0), static_cast<std::int64_t>(snapshots_.size()));
}

/// The last field of a series is the final one, which write_fields() writes.
template <class T>
void Heat<T>::write_snapshot() {
  settle();
  const ScopedTime timed(io_seconds_);
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
  return heat::verify(domain_);
}

template <class T>
std::vector<miniapp::FigureOfMerit> Heat<T>::figures(double seconds,
                                                     const miniapp::Calibration& machine) const {
  const double updates = domain_.cells() * static_cast<double>(sweeps_of_repeat_) / seconds;
  constexpr double bytes = 2 * sizeof(T);
  return {{"cell_updates", updates, "1/s", machine.memory_bandwidth() / bytes},
          {"effective_bandwidth", bytes * updates, "B/s", machine.memory_bandwidth()}};
}

template <class T>
nlohmann::ordered_json Heat<T>::record() const {
  const auto& options = domain_.options();
  const auto values = domain_.field(0).span() + domain_.field(1).span() + domain_.source().span();
  nlohmann::ordered_json json{{"process_grid", fmt::format("{}", fmt::join(options.process_grid, " x "))},
                              {"precision", sizeof(T) == sizeof(float) ? "float" : "double"},
                              {"cells", options.cells},
                              {"sweeps", sweeps_of_repeat_},
                              {"kernel", on_device ? "march" : "rows"},
                              {"stores", streaming_ ? "streaming" : "ordinary"},
                              {"queues", queues_.count()},
                              {"graph", graph_ ? "on" : "off"},
                              {"norm_batch", norms_.batch()},
                              {"field_memory", static_cast<std::int64_t>(values * sizeof(T))}};
  miniapp::record_choice(json, halos_[0].chosen(), halos_[0].candidates());
  json["packing"] = packing_;
  if (!graph_seconds_.empty())
    json["graph_trial"] = {{"sweeps", Graph::sweeps}, {"off", graph_seconds_[0]}, {"on", graph_seconds_[1]}};
  if (domain_.transient()) json["time_step"] = domain_.step();
  if (!norms_.values().empty())
    json["history"] = {{"iteration", norms_.iterations()}, {"norm", norms_.values()}};
  return json;
}

template <class T>
std::vector<miniapp::Traffic> Heat<T>::traffic() const {
  std::vector<miniapp::Traffic> table;
  for (const auto& slot : halos_[0].slots()) {
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
