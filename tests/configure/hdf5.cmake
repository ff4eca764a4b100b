# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A machine that has a parallel HDF5 alone.
function(find_package)
  set(HDF5_FOUND TRUE PARENT_SCOPE)
  set(HDF5_IS_PARALLEL TRUE PARENT_SCOPE)
  set(HDF5_C_LIBRARIES own PARENT_SCOPE)
endfunction()
include(${CMAKE_CURRENT_LIST_DIR}/../../cmake/KontorHDF5.cmake)
