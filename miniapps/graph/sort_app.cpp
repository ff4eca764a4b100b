// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "graph/algorithm/sample_sort.hpp"
#include "graph/apps.hpp"
#include "graph/check/order_check.hpp"
#include "graph/choose_method.hpp"
#include "graph/problem/keys.hpp"

#include <fmt/format.h>

namespace kontor::graph {
namespace {

class SortApp final : public miniapp::MiniApp {
 public:
  SortApp(const Options& options, const miniapp::RunContext& context)
      : options_(fitting(options, context.comm)), context_(context), traffic_(context.comm, {}),
        sort_(context.comm, context.timers), keys_(keys_of(options, context.comm.size(), context.comm.rank())) {}

  void warm_up() override {
    const auto sort = [&](Method method) {
      traffic_.use(method);
      sort_.run(keys_, sorted_, traffic_);
    };
    chosen_ = choose_method(context_.comm, options_, 1, sort);
    sort(chosen_.method);
  }

  void reset() override { sorted_.clear(); }

  void run() override {
    const auto before = traffic_.sent();
    sort_.run(keys_, sorted_, traffic_);
    sent_ = {traffic_.sent().messages - before.messages, traffic_.sent().bytes - before.bytes};
  }

  miniapp::Verification verify() override {
    std::array<std::int64_t, 2> sums{sent_.messages, sent_.bytes};
    sums = comm::allreduce(context_.comm, sums, comm::ReduceOp::sum);
    all_sent_ = {sums[0], sums[1]};
    const auto most = comm::allreduce(context_.comm, static_cast<std::int64_t>(sorted_.size()), comm::ReduceOp::max);
    imbalance_ = static_cast<double>(most) * context_.comm.size() / static_cast<double>(options_.keys);
    return check_order(context_.comm, options_, sorted_, checksum_);
  }

  std::vector<miniapp::FigureOfMerit> figures(double seconds, const miniapp::Calibration&) const override {
    return {{"sorted_keys", static_cast<double>(options_.keys) / seconds, "1/s"}};
  }

  nlohmann::ordered_json record() const override {
    auto record = chosen_.record();
    record.update({{"algorithm", "sort"},
                   {"keys", options_.keys},
                   {"imbalance", imbalance_},
                   {"field_memory", static_cast<std::int64_t>(8 * (keys_.size() + sorted_.capacity()))},
                   {"checksum", fmt::format("{:016x}", checksum_)},
                   {"messages", all_sent_.messages},
                   {"bytes_sent", all_sent_.bytes}});
    return record;
  }

  std::string table() const override {
    return fmt::format("{} keys, {} bytes in {} messages, the largest part {:.3f} of the mean, traffic {}\n",
                       options_.keys, all_sent_.bytes, all_sent_.messages, imbalance_, name_of(chosen_.method));
  }

  std::optional<miniapp::FieldOutput> write_fields(output::File&, const std::string&) const override { return {}; }

 private:
  static const Options& fitting(const Options& o, const comm::Communicator& comm) {
    require_host_memory(comm, o);
    return o;
  }

  Options options_;
  miniapp::RunContext context_;
  Traffic<std::uint64_t> traffic_;
  SampleSort sort_;
  std::vector<std::uint64_t> keys_, sorted_;
  ChosenMethod chosen_;
  Sent sent_, all_sent_; ///< in the last repeat; by all ranks
  double imbalance_ = 1; ///< the largest part of the mean one
  std::uint64_t checksum_ = 0;
};

} // namespace

std::unique_ptr<miniapp::MiniApp> make_sort(const Options& options, const miniapp::RunContext& context) {
  return std::make_unique<SortApp>(options, context);
}

} // namespace kontor::graph
