#include <mxnet/runtime/extents.h>

#include <cstdint>
#include <thread>

#include "./support.h"

using mxnet::tests::ErrorOf;
using namespace mxnet::runtime;  // NOLINT: the subject of the test

TEST_CASE("arrays of every size are aligned, row-major and zeroed on request") {
  for (int64_t size : {0, 1, 7, 128, 129, 1000, 20000, 100000, 3000000}) {
    NDArray array = NDArray::Zeros(Shape{size, 2}, kFloat32);
    CAPTURE(size);
    CHECK(reinterpret_cast<uintptr_t>(array.data()) % 64 == 0);
    CHECK(array.shape() == Shape{size, 2}.view());
    CHECK(array.strides() == Shape{2, 1}.view());
    CHECK(array.ctx() == Context{kDLCPU, 0});
    float sum = 0;
    for (int64_t i = 0; i < 2 * size; ++i) {
      sum += array.data_as<float>()[i];
      array.data_as<float>()[i] = 1;  // a reused block must be cleared again
    }
    CHECK(sum == 0);
  }
}

TEST_CASE("shapes that cannot be are rejected") {
  CHECK(ErrorOf([] { NDArray::Empty(Shape{2, -1}, kFloat32); }) ==
        "ValueError: negative dimensions are not allowed, got shape (2, -1)");
  constexpr int64_t kHuge = int64_t{1} << 62;
  for (const Shape& shape : {Shape{kHuge, 1000}, Shape{int64_t{1} << 40, 1000}, Shape{INT64_MAX},
                             Shape{0, kHuge, kHuge}, Shape{kHuge, kHuge, 0}}) {
    CHECK(ErrorOf([&] { NDArray::Zeros(shape, kFloat64); }).find("MemoryError: unable to") == 0);
  }
  CHECK(NDArray::Empty(Shape{0, int64_t{1} << 50}, kFloat32).size() == 0);
  CHECK(ErrorOf([] { NDArray::Empty(Shape(std::vector<int64_t>(65, 1)), kFloat32); }) ==
        "ValueError: an array has 0 to 64 dimensions, got 65");
  CHECK(ErrorOf([] { NDArray::Empty(Shape{1}, DLDataType{kDLInt, 3, 1}); }).find("TypeError") == 0);
  CHECK(ErrorOf([] { NDArray::Empty(Shape{1}, kFloat32, Context{kDLCUDA, 1}); }) ==
        "ValueError: this runtime cannot allocate on device2(1)");
}

TEST_CASE("sizes beyond 64 bits are errors and never wrap") {
  CHECK(AddExtents(2, 3) == 5);
  CHECK(MultiplyExtents(2, 3) == 6);
  CHECK(AddExtents(INT64_MAX, 0) == INT64_MAX);
  CHECK(ErrorOf([] { AddExtents(INT64_MAX, 1); }) ==
        "ValueError: an axis of 9223372036854775807 + 1 elements is longer than 2**63 - 1");
  CHECK(ErrorOf([] { MultiplyExtents(int64_t{1} << 62, 2); }).find("ValueError: an axis of ") == 0);
  CHECK(CheckedBytes(Shape{3, 4}, kFloat32) == 48);
  CHECK(CheckedBytes(Shape{}, kFloat64) == 8);
  CHECK(CheckedBytes(Shape{int64_t{1} << 40, 0}, kFloat64) == 0);
  CHECK(CheckedBytes(Shape{int64_t{1} << 40}, kInt64) == size_t{1} << 43);
  CHECK(ErrorOf([] { CheckedBytes(Shape{int64_t{1} << 60}, kInt64); }).find("MemoryError") == 0);
  int64_t bytes = 7;
  CHECK_FALSE(TryBytes(Shape{0, int64_t{1} << 62, 4}, kInt8, &bytes));
  CHECK(bytes == 7);
}

TEST_CASE("a view shares memory and keeps its base alive") {
  NDArray view;
  {
    NDArray base = NDArray::Zeros(Shape{4, 4}, kFloat32);
    base.data_as<float>()[5] = 3;
    view = base.View(base.data_as<float>() + 5, Shape{2}, Shape{-1}, kFloat32);
    CHECK(base.get()->ref_count == 2);
  }
  CHECK(*view.data_as<float>() == 3);
  CHECK(view.strides()[0] == -1);
}

TEST_CASE("a view of a view keeps the memory alive and not the view") {
  NDArray base = NDArray::Zeros(Shape{4}, kFloat32);
  NDArray first = base.View(base.data(), Shape{3}, Shape{1}, kFloat32);
  NDArray second = first.View(base.data_as<float>() + 1, Shape{2}, Shape{1}, kFloat32);
  CHECK(first.get()->ref_count == 1);
  CHECK(base.get()->ref_count == 3);
}

TEST_CASE("a borrowed view keeps its base when it is told to") {
  NDArray base = NDArray::Zeros(Shape{4}, kFloat32);
  const int64_t extent = 2;
  const int64_t stride = 1;
  const auto view_of = [&](const NDArray& array) {
    MXNetNDArrayHandle made = nullptr;
    REQUIRE(MXNetNDArrayViewBorrowed(array.get(), base.data_as<float>() + 1, &extent, &stride, 1,
                                     kFloat32, &made) == 0);
    return NDArray(ObjectRef::Steal(made));
  };
  {
    const NDArray gone_before_its_base = view_of(base);
    CHECK(base.get()->ref_count == 1);
  }
  CHECK(base.get()->ref_count == 1);
  NDArray view = view_of(base);
  NDArray of_view = view_of(view);
  CHECK(base.get()->ref_count == 1);
  for (int time = 0; time < 2; ++time) {
    CHECK(MXNetNDArrayKeepBase(view.get()) == 0);
    CHECK(MXNetNDArrayKeepBase(of_view.get()) == 0);
    CHECK(MXNetNDArrayKeepBase(base.get()) == 0);  // it is no view
    CHECK(base.get()->ref_count == 3);
  }
  base.data_as<float>()[1] = 7;
  base = NDArray();
  view = NDArray();
  CHECK(*of_view.data_as<float>() == 7);
}

TEST_CASE("DLPack hands memory over and back") {
  NDArray array = NDArray::Zeros(Shape{3, 2}, kInt32);
  DLManagedTensorVersioned* versioned = nullptr;
  REQUIRE(MXNetNDArrayToDLPack(array.get(), &versioned) == 0);
  CHECK(array.get()->ref_count == 2);
  MXNetNDArrayHandle handle = nullptr;
  REQUIRE(MXNetNDArrayFromDLPack(versioned, &handle) == 0);
  NDArray back(ObjectRef::Steal(handle));
  back.data_as<int32_t>()[4] = 9;
  CHECK(array.data_as<int32_t>()[4] == 9);
  back = NDArray();
  CHECK(array.get()->ref_count == 1);

  DLManagedTensor* legacy = nullptr;
  REQUIRE(MXNetNDArrayToDLPackLegacy(array.get(), &legacy) == 0);
  REQUIRE(MXNetNDArrayFromDLPackLegacy(legacy, &handle) == 0);
  CHECK(NDArray(ObjectRef::Steal(handle)).shape() == Shape{3, 2}.view());
  CHECK(array.get()->ref_count == 1);
}

TEST_CASE("read-only memory stays read-only") {
  NDArray array = NDArray::Zeros(Shape{2}, kInt32);
  DLManagedTensorVersioned* versioned = nullptr;
  REQUIRE(MXNetNDArrayToDLPack(array.get(), &versioned) == 0);
  versioned->flags |= DLPACK_FLAG_BITMASK_READ_ONLY;
  MXNetNDArrayHandle handle = nullptr;
  REQUIRE(MXNetNDArrayFromDLPack(versioned, &handle) == 0);
  NDArray locked(ObjectRef::Steal(handle));
  CHECK(locked.read_only());
  CHECK(ErrorOf([&] { details::ToAny(locked).As<DLTensor*>(); }).find("ValueError") == 0);
  CHECK(details::ToAny(locked).As<const DLTensor*>() == &locked.tensor());
  DLManagedTensor* legacy = nullptr;
  CHECK(MXNetNDArrayToDLPackLegacy(locked.get(), &legacy) == -1);
  CHECK(std::string(MXNetGetLastError()->kind) == "BufferError");
}

TEST_CASE("another version of DLPack is rejected and left alone") {
  NDArray array = NDArray::Zeros(Shape{2}, kInt32);
  DLManagedTensorVersioned* versioned = nullptr;
  REQUIRE(MXNetNDArrayToDLPack(array.get(), &versioned) == 0);
  versioned->version.major = 2;
  MXNetNDArrayHandle handle = nullptr;
  CHECK(MXNetNDArrayFromDLPack(versioned, &handle) == -1);
  versioned->deleter(versioned);
  CHECK(array.get()->ref_count == 1);
}

TEST_CASE("a borrowed tensor that is kept is copied") {
  float data[6] = {0, 1, 2, 3, 4, 5};
  int64_t shape[2] = {2, 3};
  int64_t strides[2] = {1, 2};
  DLTensor tensor{data, DLDevice{kDLCPU, 0}, 2, kFloat32, shape, strides, 0};
  PackedFunc echo = PackedFunc::GetGlobal("ffi.echo");
  MXNetValue value{};
  value.v_handle = &tensor;
  int code = kMXNetReadOnlyArray;
  NDArray copy = echo.CallPacked(&value, &code, 1).As<NDArray>();
  const float expected[6] = {0, 2, 4, 1, 3, 5};
  for (int i = 0; i < 6; ++i) CHECK(copy.data_as<float>()[i] == expected[i]);
}

namespace {

/*! \brief Owner of the tensors that the tests pass: how many references C++ holds. */
struct Owner {
  int references{0};

  static void Retain(void* self) { ++static_cast<Owner*>(self)->references; }
  static void Release(void* self) { --static_cast<Owner*>(self)->references; }
};

}  // namespace

TEST_CASE("a tensor that may be shared is shared where it is kept") {
  const MXNetOwnerFunctions owner_functions{&Owner::Retain, &Owner::Release};
  Owner owner;
  float data[6] = {0, 1, 2, 3, 4, 5};
  int64_t shape[2] = {2, 3};
  int64_t strides[2] = {1, 2};
  for (const uint64_t flags : {uint64_t{0}, uint64_t{kMXNetNDArrayReadOnly}}) {
    for (void* peer : {static_cast<void*>(nullptr), static_cast<void*>(&data)}) {
      const MXNetBorrowedTensor borrowed{
          {data, DLDevice{kDLCPU, 0}, 2, kFloat32, shape, strides, 0},
          flags,
          peer,
          &owner,
          &owner_functions};
      MXNetValue value{};
      value.v_handle = const_cast<MXNetBorrowedTensor*>(&borrowed);
      int code = kMXNetBorrowedArray;
      PackedFunc echo = PackedFunc::GetGlobal("ffi.echo");
      NDArray kept = echo.CallPacked(&value, &code, 1).As<NDArray>();
      CHECK(owner.references == 1);
      CHECK(kept.data() == data);
      CHECK(kept.strides() == ShapeView(strides, 2));
      CHECK(kept.read_only() == (flags != 0));
      CHECK(kept.get()->peer == peer);
      NDArray view = kept.View(data + 2, ShapeView(shape, 1), ShapeView(strides, 1), kFloat32);
      CHECK(view.get()->peer == nullptr);
      CHECK(view.read_only() == kept.read_only());
      kept = NDArray();
      CHECK(owner.references == 1);
      view = NDArray();
      CHECK(owner.references == 0);
      CHECK(PackedFunc::GetGlobal("testing.type_code").CallPacked(&value, &code, 1).As<String>() ==
            String("ndarray"));
      CHECK(owner.references == 0);
    }
  }
}

TEST_CASE("a borrowed tensor without elements has no memory to copy") {
  const PackedFunc echo = PackedFunc::GetGlobal("ffi.echo");
  constexpr int64_t kMany = int64_t{1} << 40;
  for (std::vector<int64_t> shape : {std::vector<int64_t>{2, 0, 3}, {kMany, 0, 3}, {0, 2}}) {
    std::vector<int64_t> strides(shape.size(), -7);
    DLTensor tensor{nullptr,  DLDevice{kDLCPU, 0}, static_cast<int32_t>(shape.size()),
                    kFloat32, shape.data(),        strides.data(),
                    0};
    MXNetValue value{};
    value.v_handle = &tensor;
    const int code = kMXNetArrayHandle;
    CHECK(echo.CallPacked(&value, &code, 1).As<NDArray>().shape() == ShapeView(shape));
  }
}

TEST_CASE("a tensor without a shape is not taken over") {
  DLManagedTensor managed{};
  managed.dl_tensor.ndim = 2;
  managed.dl_tensor.dtype = kFloat32;
  MXNetNDArrayHandle handle = nullptr;
  CHECK(MXNetNDArrayFromDLPackLegacy(&managed, &handle) == -1);
  CHECK(mxnet::tests::LastError() == "ValueError: the tensor has 2 axes and no shape");
}

TEST_CASE("memory freed on another thread is fine") {
  for (int round = 0; round < 50; ++round) {
    std::vector<NDArray> arrays;
    for (int64_t i = 0; i < 100; ++i) arrays.push_back(NDArray::Zeros(Shape{i * 10}, kFloat64));
    std::thread([moved = std::move(arrays)]() mutable { moved.clear(); }).join();
  }
}
