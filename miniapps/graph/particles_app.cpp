// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "graph/algorithm/move.hpp"
#include "graph/algorithm/traffic.hpp"
#include "graph/apps.hpp"
#include "graph/check/particles_check.hpp"
#include "graph/choose_method.hpp"
#include "grid/axis_parts.hpp"

#include <fmt/format.h>

namespace kontor::graph {
namespace {

Torus torus_of(const comm::Communicator& comm) {
  const auto dims = comm::balanced_dims(comm.size(), {0, 0});
  return {dims[0], dims[1]};
}

class ParticlesApp final : public miniapp::MiniApp {
 public:
  ParticlesApp(const Options& options, const miniapp::RunContext& context)
      : options_(fitting(options, context.comm)), context_(context), torus_(torus_of(context.comm)),
        traffic_(context.comm, torus_.neighbours(context.comm.rank(), options.speed)), buckets_(context.comm.size()),
        move_(context.timers["move"]), deliver_(context.timers.communication("deliver")) {
    context.progress.describe({.step = "step"});
  }

  void warm_up() override {
    reset();
    const auto some = [&](Method method) {
      traffic_.use(method);
      for (int i = 0; i < 4; ++i) step();
    };
    chosen_ = choose_method(context_.comm, options_, static_cast<double>(options_.steps) / 4, some);
    some(chosen_.method);
  }

  /// The start, by those who made the particles to their owners.
  void reset() override {
    particles_.clear();
    buckets_.clear();
    const auto own = grid::part_of_axis(options_.particles, context_.comm.size(), context_.comm.rank());
    for (auto i = own.begin; i < own.end; ++i) {
      const auto p = particle_of(options_, i);
      buckets_[torus_.owner(p.x, p.y)].push_back(p);
    }
    const auto all = comm::alltoallv_with_counts(context_.comm, buckets_.joined(), buckets_.counts());
    particles_.assign(all.data.data(), all.data.data() + all.data.size());
    buckets_.clear();
    made_ = 0;
  }

  void run() override {
    const auto before = traffic_.sent();
    while (made_ < options_.steps) {
      if (context_.end && context_.end->agreed()) throw miniapp::EndedEarly();
      step();
      context_.progress.update({made_, options_.steps});
    }
    sent_ = {traffic_.sent().messages - before.messages, traffic_.sent().bytes - before.bytes};
  }

  std::optional<miniapp::StepCounts> counts() const override {
    miniapp::StepCounts counts{"steps", options_.steps, made_, made_, made_};
    counts.work = static_cast<double>(options_.steps) * static_cast<double>(options_.particles);
    return counts;
  }

  miniapp::Verification verify() override {
    std::array<std::int64_t, 2> sums{sent_.messages, sent_.bytes};
    sums = comm::allreduce(context_.comm, sums, comm::ReduceOp::sum);
    all_sent_ = {sums[0], sums[1]};
    return check_particles(context_.comm, options_, torus_, particles_, made_, checksum_);
  }

  std::vector<miniapp::FigureOfMerit> figures(double seconds, const miniapp::Calibration&) const override {
    return {{"particle_steps", static_cast<double>(made_) * static_cast<double>(options_.particles) / seconds, "1/s"}};
  }

  nlohmann::ordered_json record() const override {
    auto record = chosen_.record();
    record.update({{"algorithm", "particles"},
                   {"particles", options_.particles},
                   {"steps", options_.steps},
                   {"process_grid", {torus_.columns, torus_.rows}},
                   {"field_memory", static_cast<std::int64_t>(particles_.capacity() * sizeof(Particle))},
                   {"checksum", fmt::format("{:016x}", checksum_)},
                   {"messages", all_sent_.messages},
                   {"bytes_sent", all_sent_.bytes}});
    return record;
  }

  std::string table() const override {
    return fmt::format("{} particles, {} bytes in {} messages changed their owner, traffic {}\n", options_.particles,
                       all_sent_.bytes, all_sent_.messages, name_of(chosen_.method));
  }

  std::optional<miniapp::FieldOutput> write_fields(output::File&, const std::string&) const override { return {}; }

 private:
  static const Options& fitting(const Options& o, const comm::Communicator& comm) {
    require_host_memory(comm, o);
    return o;
  }

  void step() {
    {
      const miniapp::ScopedTimer timed(move_);
      move(particles_, torus_, context_.comm.rank(), buckets_);
    }
    const miniapp::ScopedTimer timed(deliver_);
    traffic_.deliver(buckets_, [&](std::span<const Particle> arrived) {
      particles_.insert(particles_.end(), arrived.begin(), arrived.end());
    });
    buckets_.clear();
    ++made_;
  }

  Options options_;
  miniapp::RunContext context_;
  Torus torus_;
  Traffic<Particle> traffic_;
  Buckets<Particle> buckets_;
  miniapp::Timer &move_, &deliver_;
  std::vector<Particle> particles_;
  ChosenMethod chosen_;
  Sent sent_, all_sent_; ///< in the last repeat; by all ranks
  std::uint64_t checksum_ = 0;
  std::int64_t made_ = 0;
};

} // namespace

std::unique_ptr<miniapp::MiniApp> make_particles(const Options& options, const miniapp::RunContext& context) {
  return std::make_unique<ParticlesApp>(options, context);
}

} // namespace kontor::graph
