// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "common/life.hpp"
#include "heat/heat.hpp"

namespace {

using namespace kontor;

class HeatFactory final : public miniapp::MiniAppFactory {
 public:
  std::string_view name() const override { return "heat"; }
  std::string_view summary() const override { return "Heat conduction on a grid of cells: halo exchange"; }
  void describe(config::Visitor& v) override { options_.describe(v); }
  void resolve(const config::Deck& deck, int ranks) override { options_.resolve(deck, ranks); }
  std::unique_ptr<miniapp::MiniApp> make(const miniapp::RunContext& context) override {
    return miniapp::with_scalar(options_.precision, [&](auto scalar) -> std::unique_ptr<miniapp::MiniApp> {
      return std::make_unique<heat::Heat<decltype(scalar)>>(options_, context);
    });
  }

 private:
  heat::Options options_;
};

} // namespace

int main(int argc, char** argv) {
  HeatFactory factory;
  return miniapp::live(argc, argv, factory);
}
