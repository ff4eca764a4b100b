// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dynamics/dynamics.hpp"

#include "dynamics/check/checks.hpp"
#include "dynamics/files.hpp"
#include "dynamics/step.hpp"
#include "element/multiply_add.hpp"
#include "run/loop/stepped_app.hpp"
#include "run/record/exchange_record.hpp"
#include "run/record/kernel_runs.hpp"
#include "run/record/sampled_exchange.hpp"
#include "stepping/seconds_alone.hpp"

#include <kontor/config/error.hpp>

#include <fmt/format.h>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace kontor::dynamics {
namespace {

/// Local. From now on the host's threads compute with 0 in place of denormal numbers (below 1.2e-38 in single, 2.3e-308
/// in double precision), each operation on which takes an x86 processor some hundred cycles. Ahead of a wave all values
/// are such. Without effect on other processors and devices, which need no more time for them.
inline void flush_denormals() {
#if defined(__SSE2__)
  using Host = Kokkos::DefaultHostExecutionSpace;
  Kokkos::parallel_for("flush denormals", Kokkos::RangePolicy<Host>(0, Host().concurrency()), // one for each thread
                       [](int) { _mm_setcsr(_mm_getcsr() | 0x8040); });                       // FTZ and DAZ
  Kokkos::fence();
#endif
}

constexpr int longest_period = 64; ///< of steps in a graph

/// What a kernel moves and computes: numbers of the run's scalar, bytes of others, flops, for an element or a node.
struct KernelCost {
  const char* name;
  double read, written;             ///< numbers of an element
  double bytes_read, bytes_written; ///< others
  double flops;
};
/// Nodes are as many as elements, and each is read once by a kernel. Multiplications and additions are counted in the
/// source.
constexpr KernelCost costs[] = {{"gradient", 6, 9, 32, 0, 547},
                                {"rotate", 24, 21, 0, 0, 320},
                                {"stress", 42, 43, 32, 0, 1150},
                                {"integrate", 33, 9, 69, 24, 45}};

template <class T>
class Dynamics final : public miniapp::SteppedApp, private miniapp::Steps {
 public:
  Dynamics(const Options& options, const miniapp::RunContext& context)
      : SteppedApp(context), body_(options, context.comm),
        stepper_(body_, context.comm, context.overlap, context.timers), exchanges_(context.timers) {
    flush_denormals();
    context.progress.describe({.step = "step"});
    record_mesh();
  }

  void warm_up() override {
    reset();
    for (std::int64_t step = 0; step < 4; ++step) queue(0, {step});
    choose_launches();
    const auto drained = [&] { drain(); };
    of_kernels_ = check_kernels(body_, [this] {
      for (int kernel = 0; kernel < 3; ++kernel) stepper_.queue_kernel(kernel);
      drain();
    });
    kernels_.clear();
    for (int kernel = 0; kernel < 4; ++kernel) {
      const auto& [name, read, written, bytes_read, bytes_written, flops] = costs[kernel];
      const double seconds = stepping::seconds_of_slowest(
          comm(), [&] { stepper_.queue_kernel(kernel); }, drained);
      kernels_.push_back({name,
                          {computed_by_all_ * (read * sizeof(T) + bytes_read),
                           computed_by_all_ * (written * sizeof(T) + bytes_written)},
                          computed_by_all_ * flops,
                          seconds});
    }
  }

  void reset() override {
    drain();
    body_.reset();
    stepper_.find_first_step();
    first_ = made_ = 0;
    stepper_.exchange().reset_times();
  }

  /// Other assemblies may have other bits in each run.
  miniapp::Verification verify_launches() override {
    if (options().assembly != mesh::Assembly::gather) return {};
    return launches().verify({.restart = [this] { reset(); },
                              .digest = [this] { return std::hash<std::string>()(digest_of_state(body_, comm())); }});
  }

  miniapp::Verification verify_start() override { return check_start(body_, comm()); }

  std::optional<miniapp::StepCounts> counts() const override {
    const auto clock = on_host(body_.clock);
    miniapp::StepCounts counts{"steps", options().steps, last_step(), made_, std::llround(clock(ticks))};
    if (options().step) counts.end_of_deck = *options().step * static_cast<double>(options().steps);
    counts.end_of_field = clock(elapsed);
    counts.work = static_cast<double>(body_.mesh.all_elements * (options().steps - first_));
    return counts;
  }

  std::vector<miniapp::FileValue> file_values() const override {
    return dynamics::file_values(body_, comm(), context().seed);
  }

  miniapp::Verification verify() override {
    return dynamics::verify(body_, comm(), made_, of_kernels_, context().seed, [this] {
      if (options().shared_nodes == mesh::SharedNodes::sum) return; // no copies travel
      stepper_.exchange().start();
      stepper_.exchange().finish();
      drain();
    });
  }

  std::vector<miniapp::FigureOfMerit> figures(double seconds, const miniapp::Calibration& machine) const override {
    const double steps = static_cast<double>(made_ - first_), count = elements_of_all_ * steps;
    miniapp::BytesMoved moved;
    for (const auto& kernel : kernels_) {
      moved.read += kernel.moved.read * steps;
      moved.written += kernel.moved.written * steps;
    }
    auto result = miniapp::figures_of_kernels(kernels_, machine);
    result.insert(result.begin(), {.name = "element_steps",
                                   .value = count / seconds,
                                   .unit = "1/s",
                                   .attainable = computed_by_all_ / miniapp::seconds_at_best(kernels_, machine),
                                   .moved = moved});
    return result;
  }

  nlohmann::ordered_json record() const override {
    auto record = record_;
    record.update(launches_.record());
    const auto clock = on_host(body_.clock);
    record["steps"] = made_;
    record["time"] = clock(elapsed);
    record["time_step"] = clock(dynamics::last_step);
    record["kernels"] = miniapp::record_of_kernels(kernels_);
    return record;
  }
  std::string table() const override {
    return fmt::format("{} of {} nodes are held\n", record_.at("held_nodes").get<std::int64_t>(), body_.mesh.all_nodes);
  }

  miniapp::CalibrationRequest calibration() const override {
    return {.working_set = record_.at("field_memory").get<double>(), .multiply_adds = multiply_add_rate<T>};
  }

  std::optional<miniapp::FieldOutput> write_fields(output::File& file, const std::string& group) const override {
    return dynamics::write_fields(file, group, body_, comm());
  }

  void write_state(output::File& file) const override { dynamics::write_state(file, body_, comm(), made_); }

  void read_state(const output::Reader& reader) override {
    first_ = made_ = dynamics::read_state(reader, body_, comm());
    if (first_ >= options().steps)
      throw config::Error({fmt::format("restart: time.steps is {}, and {} steps in {} are made already; give more",
                                       options().steps, first_, reader.path().string())},
                          "E-CHECKPOINT-DECK");
  }

 private:
  miniapp::Launches& launches() override { return launches_; }
  const miniapp::Launches& launches() const override { return launches_; }
  const Options& options() const { return body_.options; }
  const comm::Communicator& comm() const { return context().comm; }

  miniapp::StepPlan plan() const override {
    return {.first = first_,
            .limit = options().steps,
            .period = options().every <= longest_period ? static_cast<int>(options().every) : 1};
  }

  miniapp::LaunchTerms launch_terms() override {
    auto refusal = stepping::graph_refusal(comm(), stepper_.exchange());
    if (options().every > longest_period) refusal = fmt::format("time.every is above {}", longest_period);
    if (stepper_.minimum() && !stepper_.minimum()->stream_ordered())
      refusal = "the host takes part in each minimum over the ranks";
    return {.wanted = options().launch, .comm = &comm(), .streams = &stepper_.streams(), .graph_refusal = refusal};
  }

  void begin(miniapp::Launch) override { made_ = first_; }

  int queue(int state, const miniapp::Pass& pass) override {
    stepper_.exchange(pass.exchanges);
    if (pass.exchanges) {
      miniapp::SampledExchange sampled(stepper_.exchange(), exchanges_);
      stepper_.queue_step(pass.after, sampled);
    } else {
      stepping::NoExchange none;
      stepper_.queue_step(pass.after, none);
    }
    return state;
  }

  void account(const miniapp::Pass& pass) override { made_ = pass.after + pass.steps; }

  void poll() override {
    stepper_.exchange().poll();
    if (stepper_.minimum()) stepper_.minimum()->poll();
  }

  void drain() override { stepper_.streams().fence(); }
  void finish(std::int64_t /*made*/) override { context().timers.add(stepper_.exchange().times()); }

  /// Collective.
  void record_mesh() {
    const auto& mesh = body_.mesh;
    const auto sizes = mesh::part_sizes(comm(), mesh);
    elements_of_all_ = sizes.sum.front();
    computed_by_all_ = elements_of_all_ + sizes.sum.back();
    auto table = nlohmann::ordered_json::array();
    for (std::size_t i = 0; i < sizes.names.size(); ++i)
      table.push_back({{"quantity", sizes.names[i]},
                       {"min", static_cast<std::int64_t>(sizes.least[i])},
                       {"max", static_cast<std::int64_t>(sizes.most[i])}});
    record_ = miniapp::record_of(comm(), stepper_.exchange());
    if (options().mesh.partition == mesh::PartitionMethod::grid) record_["process_grid"] = options().mesh.process_grid;
    record_["precision"] = miniapp::name_of_scalar<T>;
    record_["field_memory"] = static_cast<std::int64_t>(
        options().bytes(static_cast<double>(mesh.elements()), static_cast<double>(mesh.nodes())));
    std::int64_t held = 0;
    for (LocalIndex n = 0; n < mesh.nodes(); ++n) held += mesh.counted[n] && mesh.place[n].held ? 1 : 0;
    record_["mesh"] = table;
    record_["held_nodes"] = comm::allreduce(comm(), held, comm::ReduceOp::sum);
  }

  Body<T> body_;
  Stepper<T> stepper_;
  double elements_of_all_ = 0, computed_by_all_ = 0;
  std::vector<miniapp::KernelRun> kernels_; ///< of a step
  std::vector<miniapp::Check> of_kernels_;  ///< of this rank
  std::int64_t first_ = 0, made_ = 0;       ///< steps made by another run, and all
  nlohmann::ordered_json record_;
  miniapp::ExchangeSamples exchanges_;
  miniapp::Launches launches_{*this, this->context().timers}; ///< after the exchanges that its graphs use
};

} // namespace

std::unique_ptr<miniapp::MiniApp> make_dynamics(const Options& options, const miniapp::RunContext& context) {
  return miniapp::with_scalar(options.precision, [&](auto zero) -> std::unique_ptr<miniapp::MiniApp> {
    return std::make_unique<Dynamics<decltype(zero)>>(options, context);
  });
}

} // namespace kontor::dynamics
