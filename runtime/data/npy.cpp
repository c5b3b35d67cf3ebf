#include "runtime/data/npy.h"
#include "runtime/data/mapped_file.h"
#include "runtime/plan/error.h"

#include <charconv>
#include <cmath>
#include <cstring>

namespace kft::run {

namespace {

[[noreturn]] void fail(const std::string &path, const std::string &text) {
  throw Error(ExitCode::Invalid, path, 0, text);
}

// Every element type that is read, with its C++ type.
template <class F>
bool withType(const std::string &type, F &&f) {
  if (type == "f4") return f(float()), true;
  if (type == "f8") return f(double()), true;
  if (type == "i1") return f(int8_t()), true;
  if (type == "u1" || type == "b1") return f(uint8_t()), true;
  if (type == "i2") return f(int16_t()), true;
  if (type == "u2") return f(uint16_t()), true;
  if (type == "i4") return f(int32_t()), true;
  if (type == "u4") return f(uint32_t()), true;
  if (type == "i8") return f(int64_t()), true;
  if (type == "u8") return f(uint64_t()), true;
  return false;
}

struct Array {
  MappedFile file;
  std::string type; // "f4"
  std::vector<int64_t> shape;
  const char *values = nullptr;
  int64_t rows() const { return shape[0]; }
  int64_t width() const {
    int64_t n = 1;
    for (size_t i = 1; i < shape.size(); ++i)
      n *= shape[i];
    return n;
  }
  template <class T>
  T at(int64_t index) const { // the header's padding aligns values, but nothing promises it
    T value;
    std::memcpy(&value, values + index * int64_t(sizeof(T)), sizeof(T));
    return value;
  }
};

// The header is a Python dict literal: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
class Header {
public:
  Header(const std::string &path, std::string_view text) : path_(path), text_(text) {}

  std::string_view valueOf(const std::string &key) const {
    size_t at = text_.find("'" + key + "'");
    if (at == text_.npos) at = text_.find("\"" + key + "\"");
    if (at != text_.npos) at = text_.find(':', at);
    if (at == text_.npos) fail(path_, "the NumPy header has no `" + key + "`");
    std::string_view rest = text_.substr(at + 1);
    while (!rest.empty() && rest[0] == ' ')
      rest.remove_prefix(1);
    return rest;
  }

private:
  const std::string &path_;
  std::string_view text_;
};

Array open(const std::string &path) {
  Array array{MappedFile(path), {}, {}, nullptr};
  std::string_view text = array.file.text();
  if (text.substr(0, 6) != "\x93NUMPY") fail(path, text.empty() ? "the file is empty" : "this is not a NumPy file");
  if (text.size() < 12) fail(path, "the NumPy header is cut off");
  unsigned major = static_cast<unsigned char>(text[6]);
  if (major < 1 || major > 3)
    fail(path, "this is a NumPy file of version " + std::to_string(major) + "; 1 to 3 are read");
  auto byte = [&](size_t i) { return size_t(static_cast<unsigned char>(text[i])); };
  size_t start = major == 1 ? 10 : 12;
  size_t length = major == 1 ? byte(8) | byte(9) << 8 : byte(8) | byte(9) << 8 | byte(10) << 16 | byte(11) << 24;
  if (text.size() - start < length) fail(path, "the NumPy header is cut off");
  Header header(path, text.substr(start, length));

  std::string_view descr = header.valueOf("descr");
  if (descr.size() < 4 || (descr[0] != '\'' && descr[0] != '"'))
    fail(path, "structured arrays are not read; save a plain array of numbers");
  size_t close = descr.find(descr[0], 1);
  std::string type(descr.substr(1, close == descr.npos ? close : close - 1));
  if (type.size() < 2) fail(path, "the NumPy header has no element type");
  if (type[0] == '>')
    fail(path, "the array is big-endian (`" + type + "`); save it with `array.astype('" + type.substr(1) + "')`");
  array.type = type.find_first_of("<|=") == 0 ? type.substr(1) : type;
  size_t size = 0;
  if (!withType(array.type, [&](auto zero) { size = sizeof zero; }))
    fail(path, "elements of type `" + type + "` are not read; save the array with `array.astype('float32')`");

  std::string_view shape = header.valueOf("shape");
  const char *p = shape.data(), *end = p + shape.size();
  uint64_t count = 1;
  for (++p; p < end && *p != ')';) {
    if (*p == ' ' || *p == ',') {
      ++p;
      continue;
    }
    int64_t extent = -1;
    auto [stop, code] = std::from_chars(p, end, extent);
    if (code != std::errc() || extent < 0 || __builtin_mul_overflow(count, uint64_t(extent), &count))
      fail(path, "the NumPy header has no usable shape");
    array.shape.push_back(extent), p = stop;
  }
  if (array.shape.empty()) fail(path, "the array is a single number; rows are needed");
  if (header.valueOf("fortran_order").substr(0, 4) == "True" && array.shape.size() > 1)
    fail(path, "the array is stored by columns; save it with `numpy.ascontiguousarray(array)`");
  if (!array.rows()) fail(path, "the array has no rows");
  uint64_t bytes, present = text.size() - start - length;
  if (__builtin_mul_overflow(count, size, &bytes) || bytes > present)
    fail(path, "the file is cut off: the header promises " + std::to_string(count) + " numbers of " +
                   std::to_string(size) + " bytes, " + std::to_string(present) + " bytes follow");
  array.values = text.data() + start + length;
  return array;
}

struct NpyTable final : Table {
  Array array;
  double scale = 1;
  explicit NpyTable(Array a) : array(std::move(a)) { rows = array.rows(), width = array.width(); }

  void copyRow(int64_t row, float *out) const override {
    if (array.type == "f4" && scale == 1) {
      std::memcpy(out, array.values + row * width * 4, size_t(width) * 4);
      return;
    }
    withType(array.type, [&](auto zero) {
      for (int64_t i = 0; i < width; ++i)
        out[i] = float(double(array.at<decltype(zero)>(row * width + i)) * scale);
    });
  }
};

void readLabels(Table &table, const std::string &path, const DataPlan &plan) {
  Array labels = open(path);
  if (labels.rows() != table.rows)
    fail(path, "there are " + std::to_string(labels.rows()) + " labels for " + std::to_string(table.rows) + " rows");
  int64_t width = labels.width();
  if (plan.targetKind == "class") {
    if (width != 1)
      fail(path, "each row has " + std::to_string(width) + " labels; classes need one whole number a row");
    table.classes.resize(size_t(table.rows));
    double limit = double(plan.classes > 0 ? plan.classes : INT32_MAX);
    withType(labels.type, [&](auto zero) {
      for (int64_t i = 0; i < table.rows; ++i) {
        double value = double(labels.at<decltype(zero)>(i));
        if (!(value >= 0 && value < limit && value == std::floor(value))) {
          char text[32];
          std::string found(text, std::to_chars(text, text + sizeof text, value).ptr);
          fail(path, "row " + std::to_string(i) + ": label `" + found + "` is out of range; " +
                         (plan.classes > 0 ? "the model has " + std::to_string(plan.classes) +
                                                 " outputs, so labels are 0 to " + std::to_string(plan.classes - 1)
                                           : std::string("classes are whole numbers from 0")));
        }
        table.classes[size_t(i)] = int32_t(value);
      }
    });
    return;
  }
  if (width != plan.targetWidth)
    fail(path, "each row has " + std::to_string(width) + " targets; the model has " + std::to_string(plan.targetWidth) +
                   " outputs");
  table.reals.resize(size_t(table.rows * width));
  withType(labels.type, [&](auto zero) {
    for (int64_t i = 0; i < table.rows * width; ++i) {
      table.reals[size_t(i)] = float(labels.at<decltype(zero)>(i));
      if (!std::isfinite(table.reals[size_t(i)]))
        fail(path, "row " + std::to_string(i / width) + ": the target is not a finite number");
    }
  });
}

} // namespace

std::unique_ptr<Table> readNpy(const std::string &path, const std::string &labels, const DataPlan &plan,
                               bool checkFinite) {
  if (!plan.columns.empty()) fail(path, "a NumPy array has no column names, so `columns` cannot choose among them");
  auto table = std::make_unique<NpyTable>(open(path));
  table->scale = plan.scale;
  if (labels.empty()) fail(path, "the labels of a NumPy array are in a file of their own, and none is given");
  readLabels(*table, labels, plan);
  if (checkFinite && (table->array.type == "f4" || table->array.type == "f8")) {
    std::vector<float> row(size_t(table->width));
    for (int64_t r = 0; r < table->rows; ++r) {
      table->copyRow(r, row.data());
      for (int64_t i = 0; i < table->width; ++i)
        if (!std::isfinite(row[size_t(i)]))
          fail(path, "row " + std::to_string(r) + ", value " + std::to_string(i) + " is not a finite number");
    }
  }
  return table;
}

} // namespace kft::run
