// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run/checkpoint/checkpoints.hpp"

#include "run/mini_app.hpp"

#include <kontor/comm/reductions.hpp>
#include <kontor/device/clock.hpp>

#include <fmt/format.h>

#include <random>

namespace kontor::miniapp {

namespace fs = std::filesystem;

namespace {

std::string random_name() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}", random(), random());
}

} // namespace

Checkpoints::Checkpoints(const comm::Communicator& comm, CheckpointOptions options, CheckpointHeader like,
                         StopRequest& end, Timer& timer, double started, std::string from)
    : comm_(&comm), options_(std::move(options)), header_(std::move(like)), end_(&end), timer_(&timer),
      started_(started), last_(device::seconds()), whole_(std::move(from)) {
  begin_repeat(0, 0);
  open();
  if (comm.rank() == 0) find_earlier();
  end.set_due_action([this] { return due_action(); });
}

/// One after the other; the temporaries of all have the same name.
std::unique_ptr<output::File> Checkpoints::open() const {
  return std::make_unique<output::File>(comm_->native(), options_.file, std::vector<fs::path>{}, "output.file");
}

/// Local. Those of other runs are left alone, but numbers go on.
void Checkpoints::find_earlier() {
  const bool goes_on = !header_.run.empty();
  if (!goes_on) header_.run = random_name();
  header_.number = 1;
  for (const auto& found : find_checkpoints(options_.file)) {
    if (!found.problem.empty()) continue;
    header_.number = std::max(header_.number, found.header.number + 1);
    if (goes_on && found.header.run == header_.run) standing_.insert(standing_.begin(), found.path);
  }
}

void Checkpoints::begin_repeat(std::int64_t repeat, std::int64_t step) {
  header_.repeat = repeat;
  end_->forget_checkpoint(); // of the time before
  next_step_ =
      options_.every > 0 ? (step / options_.every + 1) * options_.every : std::numeric_limits<std::int64_t>::max();
  last_ = device::seconds();
}

/// What is left of the walltime must do for the time until ranks ask again, a checkpoint and the record. How long a
/// checkpoint takes is known from the first one, which is written at half time if nothing else has asked for one.
DueAction Checkpoints::due_action() const {
  const double now = device::seconds();
  if (options_.walltime_seconds > 0) {
    constexpr double record = 1; // seconds, and as much again for what cannot be foreseen
    const double needed = 2 * (longest_ + record + end_->asked_every());
    const double left = options_.walltime_seconds - (now - started_);
    if (left < needed) return DueAction::end;
    if (steps_.empty() && left < options_.walltime_seconds / 2) return DueAction::checkpoint;
  }
  return options_.seconds > 0 && now - last_ >= options_.seconds ? DueAction::checkpoint : DueAction::nothing;
}

void Checkpoints::write(std::int64_t step, const MiniApp& app) {
  const ScopedTimer timed(*timer_);
  const double begun = device::seconds();
  const auto path = checkpoint_name(options_.file, step);
  header_.step = step;
  try {
    const auto file = open();
    app.write_state(*file);
    file->record("/checkpoint", nlohmann::json(header_));
    file->commit_as(path);
    whole_ = path.string(); // before the one that it names so far may be removed
    if (comm_->rank() == 0) {
      std::error_code ignored;
      bytes_ += static_cast<std::int64_t>(fs::file_size(path, ignored));
      remove_old(path);
    }
  } catch (const output::Error& error) {
    throw output::Error(fmt::format("checkpoint after step {}: {}{}", step, error.what(),
                                    whole_.empty() ? "" : fmt::format("; {} is there", whole_)),
                        "E-FILE-WRITE");
  }
  ++header_.number;
  end_->forget_checkpoint();
  if (options_.every > 0) next_step_ = (step / options_.every + 1) * options_.every;
  last_ = device::seconds();
  const double seconds = comm::allreduce(*comm_, last_ - begun, comm::ReduceOp::max);
  longest_ = std::max(longest_, seconds);
  seconds_ += seconds;
  steps_.push_back(step);
}

nlohmann::ordered_json Checkpoints::record(double stepping) const {
  nlohmann::ordered_json json{{"written", steps_.size()}};
  if (!steps_.empty())
    json.update({{"steps", steps_},
                 {"bytes", bytes_},
                 {"seconds", seconds_},
                 {"bandwidth", static_cast<double>(bytes_) / seconds_},
                 {"overhead", seconds_ / stepping},
                 {"newest", whole_}});
  return json;
}

/// Local. The new one is complete and checked.
void Checkpoints::remove_old(const fs::path& written) {
  std::erase(standing_, written);
  standing_.push_back(written);
  while (std::ssize(standing_) > options_.keep) {
    std::error_code ignored;
    fs::remove(standing_.front(), ignored);
    standing_.erase(standing_.begin());
  }
}

} // namespace kontor::miniapp
