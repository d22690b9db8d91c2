/*!
 * \file api.h
 * \brief The functions of OpenVINO's C interface, found when the accelerator is loaded.
 */
#ifndef OVACC_API_H_
#define OVACC_API_H_

#include <openvino/c/openvino.h>

#include <memory>
#include <string>

namespace ovacc {

#define OVACC_FUNCTIONS(F)                       \
  F(ov_get_openvino_version)                     \
  F(ov_version_free)                             \
  F(ov_get_last_err_msg)                         \
  F(ov_get_error_info)                           \
  F(ov_free)                                     \
  F(ov_core_create)                              \
  F(ov_core_free)                                \
  F(ov_core_get_available_devices)               \
  F(ov_available_devices_free)                   \
  F(ov_core_get_property)                        \
  F(ov_core_set_properties)                      \
  F(ov_core_read_model_from_memory_buffer)       \
  F(ov_core_compile_model_props)                 \
  F(ov_core_import_model)                        \
  F(ov_model_free)                               \
  F(ov_compiled_model_free)                      \
  F(ov_compiled_model_inputs_size)               \
  F(ov_compiled_model_outputs_size)              \
  F(ov_compiled_model_input_by_index)            \
  F(ov_compiled_model_output_by_index)           \
  F(ov_compiled_model_create_infer_request)      \
  F(ov_compiled_model_export_model)              \
  F(ov_port_get_element_type)                    \
  F(ov_port_get_partial_shape)                   \
  F(ov_partial_shape_free)                       \
  F(ov_output_const_port_free)                   \
  F(ov_infer_request_set_input_tensor_by_index)  \
  F(ov_infer_request_set_output_tensor_by_index) \
  F(ov_infer_request_get_output_tensor_by_index) \
  F(ov_infer_request_infer)                      \
  F(ov_infer_request_free)                       \
  F(ov_tensor_create_from_host_ptr)              \
  F(ov_tensor_get_shape)                         \
  F(ov_tensor_get_byte_size)                     \
  F(ov_tensor_data)                              \
  F(ov_tensor_free)                              \
  F(ov_shape_free)

/*! \brief What OpenVINO gives out, freed with the function that it has for that. */
template <typename T>
using Handle = std::unique_ptr<T, void (*)(T*)>;

/*! \brief OpenVINO's library. It has threads of its own, and so is never unloaded. */
struct Api {
  /*!
   * \brief Finds it: the file that the variable MXACC_OPENVINO of the environment has, the one in
   * the folders of Python packages that this process has libraries of, or what the loader finds.
   *
   * Failure, kMXAccNoDevice, where it is none of these, or of another release than the headers.
   */
  Api();

#define OVACC_MEMBER(name) decltype(&::name) name;
  OVACC_FUNCTIONS(OVACC_MEMBER)
#undef OVACC_MEMBER

  /*! \brief Failure of that code with OpenVINO's own message unless the status is OK. */
  void Check(ov_status_e status, const char* call, int32_t code) const;
  /*! \brief kMXAccFailed. */
  void Check(ov_status_e status, const char* call) const;

  std::string version; /*!< "2026.4.1-22982-..." */
};

}  // namespace ovacc

#endif  // OVACC_API_H_
