# add_accelerator(name libraries...): the accelerator of the calling folder, as sdk/plugin.mk
# builds it. PARTS has the folders of the SDK that are compiled besides it, SOURCES further files of
# the folder, SHARED_SOURCES files of MXNet that link to nothing of it, by their path below src/,
# EXPORTS another version script than the SDK's.
set(ACCELERATORS_SDK ${CMAKE_CURRENT_LIST_DIR})

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

function(add_accelerator name)
  find_package(Threads REQUIRED)
  set(sdk ${ACCELERATORS_SDK})
  set(exports ${sdk}/exports.map)
  if(EXPORTS)
    set(exports ${EXPORTS})
  endif()
  set(patterns ${CMAKE_CURRENT_SOURCE_DIR}/*.cc ${sdk}/*.cc)
  foreach(part ${PARTS})
    list(APPEND patterns ${sdk}/${part}/*.cc)
  endforeach()
  list(APPEND patterns ${SOURCES})
  foreach(shared ${SHARED_SOURCES})
    list(APPEND patterns ${sdk}/../../src/${shared})
  endforeach()
  file(GLOB sources CONFIGURE_DEPENDS ${patterns})
  add_library(${name} MODULE ${sources})
  target_include_directories(${name} PRIVATE ${sdk}/../../include)
  target_link_libraries(${name} PRIVATE Threads::Threads ${ARGN})
  target_link_options(${name} PRIVATE -Wl,--version-script=${exports} -Wl,-z,defs)
  set_target_properties(${name} PROPERTIES
    CXX_STANDARD 17 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF CXX_VISIBILITY_PRESET hidden
    LINK_DEPENDS ${exports})
  install(TARGETS ${name} DESTINATION .)
endfunction()
