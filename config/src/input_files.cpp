// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "leaf.hpp"

#include <kontor/config/input_files.hpp>

namespace kontor::config {
namespace {

class InputFileCollector final : public Visitor {
 public:
  std::vector<InputFile> files;

 private:
  void visit_section(const Key&, const Body& body) override { body(*this); }
  void visit_leaf(const Key&, Leaf& leaf) override {
    if (const auto* file = leaf.file(); file && !file->path.empty()) files.push_back(*file);
  }
};

} // namespace

std::vector<InputFile> input_files(const std::function<void(Visitor&)>& describe) {
  InputFileCollector collector;
  describe(collector);
  return collector.files;
}

} // namespace kontor::config
