# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Finds FFTW 3 in double and single precision, and gives both one name, FFTW::fftw. Only fft uses it.

find_path(FFTW_INCLUDE_DIR fftw3.h)
find_library(FFTW_LIBRARY fftw3)
find_library(FFTW_FLOAT_LIBRARY fftw3f)
mark_as_advanced(FFTW_INCLUDE_DIR FFTW_LIBRARY FFTW_FLOAT_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(FFTW REQUIRED_VARS FFTW_LIBRARY FFTW_FLOAT_LIBRARY FFTW_INCLUDE_DIR)

if(FFTW_FOUND AND NOT TARGET FFTW::fftw)
  add_library(FFTW::fftw INTERFACE IMPORTED GLOBAL)
  set_target_properties(FFTW::fftw PROPERTIES
    INTERFACE_LINK_LIBRARIES "${FFTW_LIBRARY};${FFTW_FLOAT_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES ${FFTW_INCLUDE_DIR}
  )
endif()
