/*!
 * \file mxnet/op/c_operator_api.h
 * \brief What an operator is, in plain C: what it takes and gives, and how it is computed.
 *
 * A function is an operator where its description (MXNetFuncInfo) has one. C++ authors write
 * mxnet/op/operator.h instead, which fills these structs. Whoever wants to know what an operator
 * gives without computing it (a graph, the plan of its memory, a library of an accelerator) reads
 * the same description that a call of the function is executed by.
 *
 * Every function of an operator returns 0, or -1 after MXNetSetLastError, and throws nothing.
 */
#ifndef MXNET_OP_C_OPERATOR_API_H_
#define MXNET_OP_C_OPERATOR_API_H_

#include <mxnet/runtime/c_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/*!
 * \brief Whether an input is a Python number, and of which kind.
 *
 * The type of such an input gives way to the types of the arrays beside it. A sequence, nested or
 * not, counts as a number where all of its items are numbers.
 */
typedef enum {
  kMXNetWeakNone = 0, /*!< a tensor: its type counts */
  kMXNetWeakBool = 1,
  kMXNetWeakInt = 2,
  kMXNetWeakFloat = 3,
  kMXNetWeakComplex = 4
} MXNetWeakKind;

/*!
 * \brief A tensor without its elements.
 *
 * An extent is symbolic where it is negative: a number that MXNetExtentSymbol and
 * MXNetExtentCombine give, by which equal extents are known to be equal.
 */
typedef struct {
  DLDataType dtype;
  DLDataType given; /*!< of an input the type before promotion, for messages */
  int32_t ndim;     /*!< -1 for an optional input that is not given */
  int32_t weak;     /*!< MXNetWeakKind of an input */
  /*! The extents. infer writes those of outputs, for which the caller has room for MXNET_MAX_NDIM
   *  of them; where an operator gives several views, for as many as the input has axes. */
  int64_t* shape;
} MXNetTensorSpec;

/*! \brief Axes that a tensor has at most. */
#define MXNET_MAX_NDIM 64

/*! \brief Properties of an operator, or-ed. */
typedef enum {
  /*! Each element of the output is of the elements at the same position of the inputs, broadcast.
   *  run may be called for parts of them, by several threads at once. */
  kMXNetOpElementwise = 1,
  /*! The output may lie where an input of the same spec does. */
  kMXNetOpInPlace = 2,
  /*! Writes to outputs of any strides; else only to row-major ones. */
  kMXNetOpStridedOutput = 4,
  /*! The extents of the outputs depend on elements: infer gives symbols for them, measure numbers.
   */
  kMXNetOpDataDependent = 8,
  /*! The same inputs may give other outputs. */
  kMXNetOpRandom = 16,
  /*! Reads and writes no element, so that it does not matter on which device they are. */
  kMXNetOpAnywhere = 32,
  /*! The outputs are placed filled with zeros, and nothing is left for run, which may be NULL. */
  kMXNetOpZeros = 64,
  /*! What view gives cannot be written to. */
  kMXNetOpReadOnly = 128,
  /*! What an operator with a view gives where it has to copy cannot be written to. */
  kMXNetOpReadOnlyCopy = 512,
  /*! `out` may be of a narrower type than the output, such as int32 for int64, if the output's type
   *  has all of its values. */
  kMXNetOpNarrowOut = 256,
  /*! The outputs are placed filled with zeros; run writes only the other elements. */
  kMXNetOpZeroed = 1024,
  /*! Calls of the function are executed by a body of its own, and no library of an accelerator is
   *  asked for them; run is for plans. */
  kMXNetOpOwnBody = 2048,
  /*! Where no type is asked for by the parameter of role kMXNetRoleDType, that of `out` is, if it
   *  holds all that the result's does: the operator computes in it, and writes to `out` at once. */
  kMXNetOpTypeOfOut = 4096,
  /*! run writes to `out` of any type, which it converts what it computes in the output's type to.
   */
  kMXNetOpConvertsOut = 8192
} MXNetOpProperty;

/*! \brief How the types of the inputs are made one before an operator sees them. */
typedef enum {
  kMXNetTypesAsGiven = 0,      /*!< not at all; a Python number has the type of its kind */
  kMXNetTypesCommon = 1,       /*!< the type that holds both */
  kMXNetTypesCommonNoBool = 2, /*!< the same, int8 for bool */
  kMXNetTypesTrueDivide = 3,   /*!< the same, float64 for bool and integers */
  kMXNetTypesFloat = 4,        /*!< the smallest float that holds each */
  kMXNetTypesBool = 5, /*!< bool, whether an element is not zero; tensors of one type stay */
  /*! Tensors as given; Python numbers, and sequences of them, have the type that the parameter of
   *  role kMXNetRoleDType asks for, so that no type between takes from their value. */
  kMXNetTypesNumbersByDType = 6,
  kMXNetTypesOwn = 7, /*!< the operator has a rule of its own: MXNetOperator.promote */
  /*! As kMXNetTypesNumbersByDType, for values that are stored and not computed with: where no type
   *  is asked for, numbers take that of the first input. The error for text says that it is no
   *  number, and not that its type is unknown. */
  kMXNetTypesStored = 8
} MXNetTypeRule;

/*! \brief What an operator with a view gives. */
typedef enum {
  kMXNetViewNone = 0, /*!< no view: the strides of the input do not allow one, run has to copy */
  kMXNetViewMade = 1, /*!< views of the input */
  kMXNetViewInput = 2 /*!< the input itself */
} MXNetViewKind;

/*! \brief What count_outputs gives for one output that a call returns as it is, in no tuple. */
#define MXNET_ONE_OUTPUT (-1)

/*! \brief An operator. Members are added at the end only; struct_size tells which are known. */
typedef struct MXNetOperator {
  size_t struct_size;
  int32_t version; /*!< of its meaning, from 1: raised where the same call gives something else */
  int32_t num_outputs; /*!< -1 where attributes tell */
  uint64_t properties; /*!< MXNetOpProperty, or-ed */
  int32_t type_rule;   /*!< MXNetTypeRule */
  int32_t reserved;
  size_t attrs_size; /*!< bytes of what read makes, aligned for anything */
  void* self;        /*!< handed to all functions */
  /*! Called once when the function goes; may be NULL. */
  void (*free)(void* self);
  /*! Reads the attributes among the arguments of a call, in the order of the body's parameters. */
  int (*read)(void* self, const MXNetValue* values, const int* type_codes, int num_args,
              MXNetFunctionHandle func, void* attrs);
  /*! Ends what read made; may be NULL where there is nothing to do. */
  void (*destroy)(void* self, void* attrs);
  /*!
   * The specs of the outputs. Inputs are in the order of the parameters, the items of a sequence
   * one after the other, and have the types that type_rule gives. Touches no elements.
   */
  int (*infer)(void* self, const MXNetTensorSpec* inputs, int num_in, const void* attrs,
               MXNetTensorSpec* outputs, int num_out);
  /*! How many outputs there are, or MXNET_ONE_OUTPUT; NULL where num_outputs tells. */
  int (*count_outputs)(void* self, const MXNetTensorSpec* inputs, int num_in, const void* attrs,
                       int* num_out);
  /*! Bytes that run needs beside its outputs; may be NULL for none. */
  int (*workspace)(void* self, const MXNetTensorSpec* inputs, int num_in, const void* attrs,
                   size_t* bytes);
  /*!
   * Writes the outputs, which are of the specs that infer gave, and share memory with no input but
   * as kMXNetOpInPlace allows. Inputs that are not given have ndim -1. workspace is aligned to 64
   * bytes. May be NULL where view never declines.
   */
  int (*run)(void* self, const DLTensor* inputs, int num_in, const void* attrs, DLTensor* outputs,
             int num_out, void* workspace);
  /*!
   * Writes strides and byte_offset of outputs that show elements of the only input, whose shapes
   * and types are those that infer gave, and the MXNetViewKind. The input may be on any device. Of
   * several outputs none has more axes than the input. NULL where the outputs are always new.
   */
  int (*view)(void* self, const DLTensor* input, const void* attrs, DLTensor* outputs, int num_out,
              int* kind);
  /*! Arithmetic operations of a run, an extent that may be symbolic; NULL for one for each element,
   *  of the outputs where the operator is elementwise or has no inputs, else of the inputs. */
  int (*operations)(void* self, const MXNetTensorSpec* inputs, int num_in, const void* attrs,
                    int64_t* count);
  /*! Reserved for the gradient; NULL. */
  void* gradient;
  /*!
   * Writes the types that inputs are converted to, where type_rule is kMXNetTypesOwn; they come
   * with those that they have of themselves.
   */
  int (*promote)(void* self, MXNetTensorSpec* inputs, int num_in, const void* attrs);
  /*!
   * The specs of the outputs, as infer has them but with extents that follow from elements. Called
   * before run instead of infer. NULL where no extent does.
   */
  int (*measure)(void* self, const DLTensor* inputs, int num_in, const void* attrs,
                 MXNetTensorSpec* outputs, int num_out);
  /*!
   * An error where inputs have elements that the operator rejects, for which run gives the same
   * error and writes nothing. Where run is called for parts of the inputs, check is first, for all
   * of them. NULL where the operator rejects no elements.
   */
  int (*check)(void* self, const DLTensor* inputs, int num_in, const void* attrs);
} MXNetOperator;

/*!
 * \brief The body of functions that are operators: turns the arguments of a call into inputs,
 * attributes and outputs, and runs. ImportError where the package `mx` is not loaded.
 */
MXNET_DLL int MXNetOperatorCall(MXNetFunctionHandle func, const MXNetValue* values,
                                const int* type_codes, int num_args, MXNetValue* ret,
                                int* ret_type_code);

/*!
 * \brief The specs of what a call gives, without executing it.
 *
 * Inputs are arrays of any device, numbers, sequences, or objects of the class mx.TensorSpec.
 * *num_out is how many outputs there is room for, and then how many there are. Errors of
 * shapes, types and attributes are those of the call. NotImplementedError where the function is no
 * operator.
 */
MXNET_DLL int MXNetOperatorInfer(MXNetFunctionHandle func, const MXNetValue* values,
                                 const int* type_codes, int num_args, MXNetTensorSpec* outputs,
                                 int* num_out);

/*!
 * \brief Reads an int or several (a tuple, list, or array of at most one axis) as a call does.
 *
 * *count is how many there are, *single whether it was one int; out is written where it has room
 * for all. func and index are those of the argument, for messages.
 */
MXNET_DLL int MXNetOperatorReadInts(const MXNetValue* value, int type_code,
                                    MXNetFunctionHandle func, int index, int64_t* out, int64_t room,
                                    int64_t* count, int32_t* single);

/*!
 * \brief The symbolic extent of a name, or of a text that MXNetExtentText has given, "2*batch + 1":
 * equal extents are the same number.
 */
MXNET_DLL int MXNetExtentSymbol(const char* name, int64_t* out);

/*! \brief A symbolic extent that no other is equal to; its name is prefix and a number. */
MXNET_DLL int MXNetExtentNew(const char* prefix, int64_t* out);

/*! \brief What MXNetExtentCombine does with two extents, of which either may be symbolic. */
typedef enum {
  kMXNetExtentAdd = 0,
  kMXNetExtentSubtract = 1,
  kMXNetExtentMultiply = 2,
  kMXNetExtentFloorDivide = 3,
  kMXNetExtentBroadcast = 4, /*!< the extent of two axes that broadcast together */
  kMXNetExtentMin = 5,       /*!< the smaller of two */
  kMXNetExtentMonus = 6      /*!< the first less the second, 0 where that is negative */
} MXNetExtentOperation;

/*!
 * \brief The extent that two give. Equal results are the same number, also by other ways: what is
 * added, subtracted and multiplied is kept as a polynomial.
 */
MXNET_DLL int MXNetExtentCombine(int32_t operation, int64_t a, int64_t b, int64_t* out);

/*! \brief The text of an extent, "2*batch + 1"; valid as long as the process lives. */
MXNET_DLL int MXNetExtentText(int64_t extent, const char** out);

#ifdef __cplusplus
}
#endif

#endif /* MXNET_OP_C_OPERATOR_API_H_ */
