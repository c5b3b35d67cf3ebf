#include "runtime/data/dataset.h"
#include "runtime/data/inspect.h"
#include "runtime/plan/error.h"
#include "tests/unit/runtime_data/temporary_file.h"

#include <gtest/gtest.h>
#include <limits>

using namespace kft::run;

namespace {

template <class T>
std::string npy(const std::string &type, const std::string &shape, std::vector<T> values, const char *order = "False") {
  std::string header = "{'descr': '" + type + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }";
  header.resize((header.size() + 10) / 64 * 64 + 64 - 10, ' ');
  header.back() = '\n';
  std::string file("\x93NUMPY\1\0", 8);
  file += char(header.size() & 255), file += char(header.size() >> 8);
  return file + header + std::string(reinterpret_cast<const char *>(values.data()), values.size() * sizeof(T));
}

struct Files {
  TemporaryFile x, y;
  DataPlan plan;
  Files(const std::string &features, const std::string &labels) : x(features), y(labels) {
    plan.path = x.path, plan.targetKind = "class", plan.classes = 3;
    plan.format.kind = "npy";
    plan.format.args.push_back({.name = "labels", .kind = Arg::Kind::Text, .number = 0, .text = y.path, .shape = {}});
  }
  std::string failure() {
    try {
      inspect(plan);
    } catch (const Error &error) {
      return error.text;
    }
    return "";
  }
};

std::string labels() { return npy<int64_t>("<i8", "(2,)", {2, 0}); }

} // namespace

TEST(Npy, ElementTypesAndShapes) {
  std::vector<float> expected{1, 2, 3, 4};
  auto check = [&](const std::string &features) {
    Files files(features, labels());
    Dataset data(files.plan);
    ASSERT_EQ(data.rows(Part::Train), 2);
    ASSERT_EQ(data.width(), 2);
    std::vector<float> row(4);
    int32_t first, second;
    data.copy(Part::Train, 0, row.data(), &first, nullptr);
    data.copy(Part::Train, 1, row.data() + 2, &second, nullptr);
    EXPECT_EQ(row, expected);
    EXPECT_EQ(first, 2);
    EXPECT_EQ(second, 0);
  };
  check(npy<float>("<f4", "(2, 2)", {1, 2, 3, 4}));
  check(npy<double>("<f8", "(2, 2)", {1, 2, 3, 4}));
  check(npy<uint8_t>("|u1", "(2, 1, 2)", {1, 2, 3, 4}));
  check(npy<int16_t>("<i2", "(2, 2)", {1, 2, 3, 4}));
  check(npy<uint32_t>("<u4", "(2, 2)", {1, 2, 3, 4}));
}

TEST(Npy, ScaleAndRealTargets) {
  Files files(npy<uint8_t>("|u1", "(2, 1)", {16, 8}), npy<float>("<f4", "(2, 2)", {1, 2, 3, 4}));
  files.plan.scale = 1.0 / 16, files.plan.targetKind = "real", files.plan.targetWidth = 2;
  Dataset data(files.plan);
  float x, y[2];
  data.copy(Part::Train, 1, &x, nullptr, y);
  EXPECT_EQ(x, 0.5f);
  EXPECT_EQ(y[0], 3);
  EXPECT_EQ(y[1], 4);
  EXPECT_EQ(inspect(files.plan).sha256.size(), 64u);
}

TEST(Npy, BadInput) {
  std::string good = npy<float>("<f4", "(2, 2)", {1, 2, 3, 4});
  EXPECT_EQ(Files(good, labels()).failure(), "");
  EXPECT_EQ(Files("hello there", labels()).failure(), "this is not a NumPy file");
  EXPECT_EQ(Files("", labels()).failure(), "the file is empty");
  EXPECT_EQ(Files(good.substr(0, 20), labels()).failure(), "the NumPy header is cut off");
  EXPECT_NE(Files(good.substr(0, good.size() - 1), labels()).failure().find("the file is cut off"), std::string::npos);
  EXPECT_NE(Files(npy<float>(">f4", "(2, 2)", {1, 2, 3, 4}), labels()).failure().find("big-endian"), std::string::npos);
  EXPECT_NE(Files(npy<float>("<c8", "(1, 2)", {1, 2, 3, 4}), labels()).failure().find("`<c8` are not read"),
            std::string::npos);
  EXPECT_NE(Files(npy<float>("<f4", "(2, 2)", {1, 2, 3, 4}, "True"), labels()).failure().find("stored by columns"),
            std::string::npos);
  EXPECT_EQ(Files(npy<float>("<f4", "(0, 2)", {}), labels()).failure(), "the array has no rows");
  EXPECT_EQ(Files(npy<float>("<f4", "()", {1}), labels()).failure(), "the array is a single number; rows are needed");
  EXPECT_NE(Files(npy<float>("<f4", "(99999999999, 99999999999)", {1}), labels()).failure().find("shape"),
            std::string::npos);
  EXPECT_EQ(Files(good, npy<int64_t>("<i8", "(3,)", {0, 1, 2})).failure(), "there are 3 labels for 2 rows");
  EXPECT_EQ(Files(good, npy<int64_t>("<i8", "(2,)", {0, 3})).failure(),
            "row 1: label `3` is out of range; the model has 3 outputs, so labels are 0 to 2");
  EXPECT_NE(Files(good, npy<float>("<f4", "(2,)", {0, 0.5})).failure().find("label `0.5`"), std::string::npos);
  EXPECT_EQ(Files(npy<float>("<f4", "(2, 2)", {1, 2, std::numeric_limits<float>::quiet_NaN(), 4}), labels()).failure(),
            "row 1, value 0 is not a finite number");
  Files columns(good, labels());
  columns.plan.columns = {"a"};
  EXPECT_NE(columns.failure().find("no column names"), std::string::npos);
}
