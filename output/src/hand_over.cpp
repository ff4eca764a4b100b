// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "hand_over.hpp"

#include "checksum.hpp"

#include <kontor/output/error.hpp>

#include <fmt/format.h>

#include <new>

namespace kontor::output {

const std::byte* HandOver::box(const Box& box) {
  if (failure_.empty()) try {
      const std::byte* data = field_.values.box(box, room_);
      sum_ += box_sum(data, field_.values.size(), in_array(field_.block, box), field_.block.global);
      return data;
    } catch (const std::bad_alloc&) {
      failure_ = fmt::format("there is no memory to copy the values of {}", field_.name);
    } catch (const std::exception& error) {
      failure_ = fmt::format("the values of {} cannot be copied: {}", field_.name, error.what());
    }
  room_.resize(elements(box.extent) * field_.values.size());
  return room_.data();
}

void HandOver::check() const {
  if (!failure_.empty()) throw Error(failure_);
}

} // namespace kontor::output
