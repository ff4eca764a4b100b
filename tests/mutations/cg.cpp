// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Systems of equations with mistakes, which the solve and its residual share:
//
//   coefficient   all entries but the diagonal are 5 % off
//   rhs           the right-hand side is 0 in every eighth row
//   boundary:F    fe_heat: temperatures and fluxes on face F are 0
#include "cg/problem/boundary.hpp"
#include "cg/problem/problem.hpp"
#include "mutation.hpp"

#include <utility>

namespace kontor::mutations {
namespace {

class WrongProblem final : public cg::Problem {
 public:
  explicit WrongProblem(std::unique_ptr<cg::Problem> problem) : problem_(std::move(problem)) {}

  cg::LinearSystem build() override {
    auto system = problem_->build();
    const auto& m = system.matrix;
    for (cg::LocalIndex r = 0; r < m.rows() && is("coefficient"); ++r)
      for (auto e = m.offsets(r); e < m.offsets(r + 1); ++e)
        if (m.columns(e) != r) m.values(e) *= 1.05;
    for (std::size_t r = 0; r < system.rhs.extent(0) && is("rhs"); r += 8) system.rhs(r) = 0;
    return system;
  }
  std::unique_ptr<cg::Matrix> matrix_free(const cg::ProductTuning& tuning) const override {
    return problem_->matrix_free(tuning);
  }
  std::string field() const override { return problem_->field(); }
  std::optional<miniapp::FieldOutput> write(output::File& file, const std::string& group,
                                            const cg::Vector& x) const override {
    return problem_->write(file, group, x);
  }
  void write_vector(output::File& file, const std::string& name, const cg::Vector& v) const override {
    problem_->write_vector(file, name, v);
  }
  void read_vector(const output::Reader& file, const std::string& name, const cg::Vector& v) const override {
    problem_->read_vector(file, name, v);
  }
  cg::ReferenceRows reference_rows() const override { return problem_->reference_rows(); }
  nlohmann::ordered_json matrix_record() const override { return problem_->matrix_record(); }

 private:
  std::unique_ptr<cg::Problem> problem_;
};

} // namespace
} // namespace kontor::mutations

namespace {

using kontor::cg::FaceConditions;
using kontor::cg::FaceOptions;
using Problem = std::unique_ptr<kontor::cg::Problem>;

} // namespace

// NOLINTBEGIN(bugprone-reserved-identifier): the linker's names
KONTOR_WRAPPED(Problem, problem, "_ZN6kontor2cg12make_problemERKNS0_7OptionsERKNS_7miniapp10RunContextE",
               const kontor::cg::Options&, const kontor::miniapp::RunContext&);
KONTOR_WRAPPED(FaceConditions, faces,
               "_ZN6kontor2cg14evaluate_facesERKNS_4grid5BlockERKSt5arrayINS1_4FaceINS0_"
               "13FaceConditionEEELm6EERNS1_11FiniteCheckE",
               const kontor::grid::Block&, const FaceOptions&, kontor::grid::FiniteCheck&);
// NOLINTEND(bugprone-reserved-identifier)

Problem wrong_problem(const kontor::cg::Options& options, const kontor::miniapp::RunContext& context) {
  return std::make_unique<kontor::mutations::WrongProblem>(real_problem(options, context));
}

FaceConditions wrong_faces(const kontor::grid::Block& points, const FaceOptions& options,
                           kontor::grid::FiniteCheck& check) {
  const auto faces = real_faces(points, options, check);
  if (kontor::mutations::is("boundary")) Kokkos::deep_copy(faces.values[kontor::mutations::number()], 0.0);
  return faces;
}
