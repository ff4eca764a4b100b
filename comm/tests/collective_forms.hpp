// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "comm_test.hpp"
#include "message_forms.hpp"

/// What tests of collective operations share: every form of a call, for any Views by functions that are compiled once.
namespace kontor::comm::test {

struct Pair {
  double weight;
  std::int64_t index;
};

/// A collective call as it is written, blocking and non-blocking, whatever Views it has: for one full expression. The
/// non-blocking call is followed by wait(), or by test() until it is complete.
class Forms {
 public:
  template <class Blocking, class Nonblocking>
  Forms(const char* text, const Blocking& blocking, const Nonblocking& nonblocking)
      : text(text), blocking_(&blocking), nonblocking_(&nonblocking), call_(call<Blocking>),
        begin_(begin<Nonblocking>) {}
  template <class Blocking>
  Forms(const char* text, const Blocking& blocking) : text(text), blocking_(&blocking), call_(call<Blocking>) {}
  const char* text;
  void blocking() const { call_(blocking_); }
  bool has_nonblocking() const { return begin_ != nullptr; }
  void nonblocking(bool waits) const { begin_(nonblocking_, waits); }

 private:
  template <class Blocking>
  static void call(const void* blocking) {
    (*static_cast<const Blocking*>(blocking))();
  }
  template <class Nonblocking>
  static void begin(const void* nonblocking, bool waits) {
    auto request = (*static_cast<const Nonblocking*>(nonblocking))();
    if (waits) return (void)request.wait();
    while (!request.test()) {
    }
  }

  const void *blocking_, *nonblocking_ = nullptr;
  void (*call_)(const void*);
  void (*begin_)(const void*, bool waits) = nullptr;
};

/// KONTOR_FORMS(bcast, comm, view, root): bcast(comm, view, root) and ibcast(comm, view, root).
#define KONTOR_FORMS(call, ...)                                                                                        \
  ::kontor::comm::test::Forms(                                                                                         \
      #call "(" #__VA_ARGS__ ")", [&] { return call(__VA_ARGS__); }, [&] { return i##call(__VA_ARGS__); })

/// Where there is no icall().
#define KONTOR_FORM(call, ...)                                                                                         \
  ::kontor::comm::test::Forms(#call "(" #__VA_ARGS__ ")", [&] { return call(__VA_ARGS__); })

/// The elements of several Views.
using Given = std::vector<Bytes>;
/// What an operation of MPI makes of them.
using Mpi = std::function<void(const Given& given, void* result)>;

/// Views of a collective operation. Each form of a call finds them filled anew. Afterwards one of them holds what the
/// same operation of MPI makes of its elements; the other Views, and all memory around, are unchanged.
class Twins {
 public:
  using Fill = std::function<void(Watched& view, int number)>;

  template <class Place>
  Twins(Place& place, std::vector<Watched> views, Fill fill)
      : views_(std::move(views)), fill_(std::move(fill)), load_([&place] { place.load(); }),
        store_([&place] { place.store(); }) {}

  /// `into`: the number of the View that has the result. `gets`: whether it has one on this rank.
  void operator()(std::size_t into, bool gets, const Mpi& mpi, const Forms& forms) {
    SCOPED_TRACE(forms.text);
    for (const auto* form : {"blocking", "wait()", "test()"}) {
      if (*form != 'b' && !forms.has_nonblocking()) continue;
      Given given;
      for (auto& view : views_) {
        fill_(view, static_cast<int>(given.size()));
        given.push_back(view.elements());
      }
      load_();
      *form == 'b' ? forms.blocking() : forms.nonblocking(*form == 'w');
      store_();
      auto expected = given[into];
      mpi(given, expected.data());
      for (std::size_t v = 0; v < views_.size(); ++v)
        if (gets && v == into)
          views_[v].expect(expected, form);
        else
          views_[v].expect_unchanged(form);
    }
  }

 private:
  std::vector<Watched> views_;
  Fill fill_;
  std::function<void()> load_, store_;
};

enum { of_part, of_whole, of_other };

/// What MPI moves between the part of each rank and the whole, in bytes. In place, the root has the whole only, and the
/// others have their parts.
class MpiParts {
 public:
  /// `sizes`: the elements of each rank's part.
  MpiParts(const Communicator& comm, const std::vector<int>& sizes, std::size_t element)
      : comm_(comm.native()), rank_(comm.rank()) {
    for (const int n : sizes) {
      offsets_.push_back(counts_.empty() ? 0 : offsets_.back() + counts_.back());
      counts_.push_back(n * static_cast<int>(element));
    }
  }
  Mpi allgather(bool in_place = false) const {
    return [=, this](const Given& given, void* all) {
      MPI_Allgatherv(in_place ? MPI_IN_PLACE : given[of_part].data(), counts_[rank_], MPI_BYTE, all, counts_.data(),
                     offsets_.data(), MPI_BYTE, comm_);
    };
  }
  Mpi gather(int root, bool in_place = false) const {
    return [=, this](const Given& given, void* all) {
      MPI_Gatherv(in_place && rank_ == root ? MPI_IN_PLACE : given[of_part].data(), counts_[rank_], MPI_BYTE, all,
                  counts_.data(), offsets_.data(), MPI_BYTE, root, comm_);
    };
  }
  Mpi scatter(int root, bool in_place = false) const {
    return [=, this](const Given& given, void* own) {
      MPI_Scatterv(given[of_whole].data(), counts_.data(), offsets_.data(), MPI_BYTE,
                   in_place && rank_ == root ? MPI_IN_PLACE : own, counts_[rank_], MPI_BYTE, root, comm_);
    };
  }
  /// As many elements from each rank as to it, of the View of that number.
  Mpi alltoall(int from) const {
    return [=, this](const Given& given, void* to) {
      MPI_Alltoallv(given[from].data(), counts_.data(), offsets_.data(), MPI_BYTE, to, counts_.data(), offsets_.data(),
                    MPI_BYTE, comm_);
    };
  }
  Mpi bcast(int root) const {
    return [=, this](const Given& given, void* all) {
      MPI_Bcast(all, static_cast<int>(given[of_whole].size()), MPI_BYTE, root, comm_);
    };
  }

 private:
  MPI_Comm comm_;
  int rank_;
  std::vector<int> counts_;
  std::vector<int> offsets_;
};

/// Calls visit(into, gets, mpi, forms), as Twins take them, for each call between equal parts and the whole.
template <class Part, class Whole, class Visit>
void each_call_of_parts(const Communicator& comm, const Part& part, const Whole& whole, const Whole& other,
                        Visit&& visit) {
  const std::vector<int> counts(comm.size(), static_cast<int>(part.size()));
  const MpiParts mpi(comm, counts, sizeof(typename Part::value_type));
  visit(of_whole, true, mpi.alltoall(of_whole), KONTOR_FORMS(alltoall, comm, whole));
  visit(of_other, true, mpi.alltoall(of_whole), KONTOR_FORMS(alltoall, comm, whole, other));
  visit(of_other, true, mpi.alltoall(of_whole), KONTOR_FORM(alltoallv, comm, whole, counts, other, counts));
  visit(of_whole, true, mpi.allgather(), KONTOR_FORMS(allgather, comm, part, whole));
  visit(of_whole, true, mpi.allgather(), KONTOR_FORM(allgatherv, comm, part, whole, counts));
  visit(of_whole, true, mpi.allgather(true), KONTOR_FORMS(allgather, comm, whole));
  for (int root = 0; root < comm.size(); ++root) {
    const bool here = comm.rank() == root;
    visit(of_whole, true, mpi.bcast(root), KONTOR_FORMS(bcast, comm, whole, root));
    visit(of_whole, here, mpi.gather(root), KONTOR_FORMS(gather, comm, part, whole, root));
    visit(of_whole, here, mpi.gather(root), KONTOR_FORM(gatherv, comm, part, whole, counts, root));
    visit(of_whole, here, mpi.gather(root, true),
          here ? KONTOR_FORMS(gather, comm, whole, root) : KONTOR_FORMS(gather, comm, part, root));
    visit(of_part, true, mpi.scatter(root), KONTOR_FORMS(scatter, comm, whole, part, root));
    visit(of_part, true, mpi.scatter(root), KONTOR_FORM(scatterv, comm, whole, counts, part, root));
    visit(of_part, !here, mpi.scatter(root, true),
          here ? KONTOR_FORMS(scatter, comm, whole, root) : KONTOR_FORMS(scatter, comm, part, root));
  }
}

/// Three Views of equal parts and the whole, which deliver by each call the bits that MPI's delivers.
template <class Place, class Part, class Whole>
void expect_parts(const Communicator& comm, Place& place, const Field<Part>& part, const Field<Whole>& whole,
                  const Field<Whole>& other) {
  each_call_of_parts(
      comm, place.view(part), place.view(whole), place.view(other),
      Twins(place, {watched(part, Order::storage), watched(whole, Order::storage), watched(other, Order::storage)},
            [&](Watched& view, int number) { view.fill(10 * comm.rank() + number + 1); }));
}

/// An operation of reductions in Kontor's words and in MPI's.
template <class Op = ReduceOp>
struct TwinOp {
  Op op;
  MPI_Op of_mpi;
  MPI_Datatype type;
};
template <class Op>
TwinOp(Op, MPI_Op, MPI_Datatype) -> TwinOp<Op>; // clang below 17 deduces none of an aggregate

/// The same of each reduction of View 0, into View 1 and in place.
template <class View, class Op, class Visit>
void each_reduction(const Communicator& comm, const View& in, const View& out, const TwinOp<Op>& twin, Visit&& visit) {
  const auto& op = twin.op;
  const auto both = [&](bool gets, auto function, const Forms& into_out, const Forms& in_place) {
    const Mpi mpi = [&](const Given& given, void* to) {
      function(given[0].data(), to, static_cast<int>(in.size()), twin.type, twin.of_mpi, comm.native());
    };
    visit(1, gets, mpi, into_out);
    visit(0, gets, mpi, in_place);
  };
  both(true, MPI_Allreduce, KONTOR_FORMS(allreduce, comm, in, out, op), KONTOR_FORMS(allreduce, comm, in, op));
  both(true, MPI_Scan, KONTOR_FORMS(scan, comm, in, out, op), KONTOR_FORMS(scan, comm, in, op));
  both(comm.rank() > 0, MPI_Exscan, KONTOR_FORMS(exscan, comm, in, out, op), KONTOR_FORMS(exscan, comm, in, op));
  for (int root = 0; root < comm.size(); ++root) {
    const auto mpi_reduce = [root](const void* from, void* to, int n, MPI_Datatype type, MPI_Op op, MPI_Comm c) {
      MPI_Reduce(from, to, n, type, op, root, c);
    };
    both(comm.rank() == root, mpi_reduce, KONTOR_FORMS(reduce, comm, in, out, op, root),
         KONTOR_FORMS(reduce, comm, in, op, root));
  }
}

/// Filled with small numbers of that type.
template <class Number, class Place, class View, class Op>
void expect_reductions(const Communicator& comm, Place& place, const Field<View>& in, const Field<View>& out,
                       const TwinOp<Op>& twin) {
  each_reduction(comm, place.view(in), place.view(out), twin,
                 Twins(place, {watched(in, Order::storage), watched(out, Order::storage)},
                       [&](Watched& view, int number) { view.fill_small<Number>(comm.rank() + number); }));
}

} // namespace kontor::comm::test
