# find_package(torch_ir) defines the targets torch_ir::torch_ir, the library, and torch_ir::harness, the
# harness with its main function, for models and backends of your own. It finds the Torch that they need:
# the LibTorch that it was installed with, or the Python package beside that of a wheel, unless
# CMAKE_PREFIX_PATH or Torch_DIR lead to another.

get_filename_component(_torch_ir_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(_torch_ir_libtorch "${_torch_ir_prefix}/lib/torch_ir/libtorch")

find_package(Torch QUIET HINTS "${_torch_ir_libtorch}" "${_torch_ir_prefix}/../torch")
if(NOT Torch_FOUND)
  set(torch_ir_FOUND FALSE)
  set(torch_ir_NOT_FOUND_MESSAGE
      "cannot find LibTorch in ${_torch_ir_libtorch}; point that link to a LibTorch @LIBTORCH_VERSION@, or add one to CMAKE_PREFIX_PATH")
  return()
endif()

# Its C++ interface changes with every minor version.
set(_torch_ir_libtorch_version "@LIBTORCH_VERSION@")
string(REGEX MATCH "^[0-9]+[.][0-9]+" _torch_ir_wanted "${_torch_ir_libtorch_version}")
string(REGEX MATCH "^[0-9]+[.][0-9]+" _torch_ir_given "${Torch_VERSION}")
if(NOT _torch_ir_given STREQUAL _torch_ir_wanted)
  set(torch_ir_FOUND FALSE)
  set(torch_ir_NOT_FOUND_MESSAGE
      "it was built with LibTorch ${_torch_ir_libtorch_version}, but ${Torch_DIR} is ${Torch_VERSION}")
  return()
endif()

if(NOT TARGET torch_ir::torch_ir)
  add_library(torch_ir::torch_ir SHARED IMPORTED)
  set_target_properties(torch_ir::torch_ir PROPERTIES
    IMPORTED_LOCATION "${_torch_ir_prefix}/lib/libtorch_ir.so"
    INTERFACE_COMPILE_FEATURES cxx_std_20
    INTERFACE_INCLUDE_DIRECTORIES "${_torch_ir_prefix}/include"
    INTERFACE_LINK_LIBRARIES "${TORCH_LIBRARIES}")
  add_library(torch_ir::harness SHARED IMPORTED)
  set_target_properties(torch_ir::harness PROPERTIES
    IMPORTED_LOCATION "${_torch_ir_prefix}/lib/libtorch_ir_harness.so"
    INTERFACE_LINK_LIBRARIES torch_ir::torch_ir)
endif()
