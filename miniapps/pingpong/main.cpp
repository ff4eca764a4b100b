// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "common/life.hpp"
#include "pingpong/pingpong.hpp"

namespace {

using namespace kontor;

class PingPongFactory final : public miniapp::MiniAppFactory {
 public:
  std::string_view name() const override { return "pingpong"; }
  std::string_view summary() const override {
    return "Times of messages, halos and collective operations: raw MPI, typed Views, every backend";
  }
  void describe(config::Visitor& v) override { options_.describe(v); }
  void resolve(const config::Deck& deck, int ranks) override { options_.resolve(deck, ranks); }
  std::unique_ptr<miniapp::MiniApp> make(const miniapp::RunContext& context) override {
    return std::make_unique<pingpong::PingPong>(options_, context);
  }

 private:
  pingpong::Options options_;
};

} // namespace

int main(int argc, char** argv) {
  PingPongFactory factory;
  return miniapp::live(argc, argv, factory);
}
