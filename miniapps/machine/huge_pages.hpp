// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/device/compat.hpp>

#include <cstddef>

namespace kontor::miniapp {

/// Local. Asks the system to put memory of the host into huge pages, where it has such: what is streamed through misses
/// fewer addresses, and a processor fetches ahead over fewer page ends. Contents stay. Nothing happens where the system
/// refuses, and to memory of less than a few huge pages.
void use_huge_pages(const void* data, std::size_t bytes);

/// Local. The same for a View; nothing for one in the memory of a device.
template <class View>
void use_huge_pages(const View& view) {
  if constexpr (device::on_host<typename View::memory_space>)
    use_huge_pages(view.data(), view.span() * sizeof(typename View::value_type));
}

} // namespace kontor::miniapp
