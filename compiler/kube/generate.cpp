// Turns data/*.kube into constant arrays for schema.cpp. Runs while kftc is built, on the machine that builds it.
//
//   kind KIND GROUP/VERSION Namespaced|Cluster TYPE
//   type NAME
//     FIELD TYPE FACT…
//
// TYPE is bool, int, int32, int64, float, string, quantity, intOrString, time, the name of a type, [TYPE FACT…] for a list
// or {TYPE FACT…} for a map. FACT is required, set, min=N, max=N (of a number, or of the length of a text or list),
// enum=A|B, keys=A,B, and, to the end of the line, default=TEXT.
#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace {

struct Type {
  std::string name, shape, element; // element: index of a type, as text
  std::string min, max;
  std::vector<std::string> choices, keys;
  bool isSet = false;
  int fieldsBegin = 0, fieldCount = 0;
};
struct Field {
  std::string name, type, defaultText;
  bool required = false;
};
struct Kind {
  std::string name, apiVersion, scope, type;
};

[[noreturn]] void fail(const std::string &message) {
  std::cerr << "kube schema: " << message << '\n';
  std::exit(1);
}

std::string quoted(const std::string &text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + "\"";
}

std::vector<std::string> split(const std::string &text, char separator) {
  std::vector<std::string> parts(1);
  for (char c : text)
    if (c == separator) parts.emplace_back();
    else parts.back() += c;
  return parts;
}

class Generator {
public:
  void read(std::istream &in) {
    std::string line;
    // Objects first, so that fields may name types that come later.
    std::vector<std::pair<std::string, std::vector<std::string>>> objects;
    while (std::getline(in, line)) {
      if (line.empty() || line[0] == '#') continue;
      std::istringstream words(line);
      std::string head;
      words >> head;
      if (head == "kind" && line[0] != ' ') {
        Kind kind;
        words >> kind.name >> kind.apiVersion >> kind.scope >> kind.type;
        kinds_.push_back(kind);
      } else if (head == "type" && line[0] != ' ') {
        words >> head;
        objects.emplace_back(head, std::vector<std::string>());
      } else if (!objects.empty()) {
        objects.back().second.push_back(line);
      } else {
        fail("a field before any type: " + line);
      }
    }
    std::sort(objects.begin(), objects.end());
    for (const auto &[name, lines] : objects) {
      Type object;
      object.name = name;
      object.shape = "Object";
      objects_[name] = static_cast<int>(types_.size());
      types_.push_back(object);
    }
    for (const auto &[name, lines] : objects) {
      std::vector<Field> fields;
      for (const std::string &text : lines)
        fields.push_back(field(text));
      std::sort(fields.begin(), fields.end(), [](const Field &a, const Field &b) { return a.name < b.name; });
      Type &object = types_[objects_[name]];
      object.fieldsBegin = static_cast<int>(fields_.size());
      object.fieldCount = static_cast<int>(fields.size());
      fields_.insert(fields_.end(), fields.begin(), fields.end());
    }
  }

  void write(std::ostream &out) const {
    out << "// Made from data/*.kube while building.\n";
    out << "extern const Type Types[" << types_.size() << "];\n";
    std::ostringstream types;
    int texts = 0;
    auto list = [&](const std::vector<std::string> &items) {
      if (items.empty()) return std::string("{}");
      const std::string name = "Texts" + std::to_string(texts++);
      out << "constexpr StringRef " << name << "[] = {";
      for (const std::string &item : items)
        out << quoted(item) << ", ";
      out << "};\n";
      return name;
    };
    for (const Type &type : types_) {
      types << "  {" << quoted(type.name) << ", Shape::" << type.shape << ", ";
      if (type.fieldCount == 0) types << "{}";
      else types << "{Fields + " << type.fieldsBegin << ", " << type.fieldCount << "}";
      types << ", " << (type.element.empty() ? "nullptr" : "&Types[" + type.element + "]");
      types << ", " << (type.min.empty() ? "false" : "true") << ", " << (type.max.empty() ? "false" : "true") << ", "
            << (type.min.empty() ? "0" : type.min) << ", " << (type.max.empty() ? "0" : type.max);
      types << ", " << list(type.choices) << ", " << list(type.keys) << ", " << (type.isSet ? "true" : "false") << "},\n";
    }
    out << "constexpr Field Fields[] = {\n";
    for (const Field &field : fields_)
      out << "  {" << quoted(field.name) << ", &Types[" << field.type << "], " << (field.required ? "true" : "false") << ", "
          << quoted(field.defaultText) << "},\n";
    out << "};\nconstinit const Type Types[] = {\n" << types.str() << "};\n";
    out << "constexpr const Type *Objects[] = {\n";
    for (const auto &[name, index] : objects_)
      out << "  &Types[" << index << "],\n";
    out << "};\nconstexpr Kind Kinds[] = {\n";
    for (const Kind &kind : kinds_) {
      auto type = objects_.find(kind.type);
      if (type == objects_.end()) fail("kind " + kind.name + " has no type");
      out << "  {" << quoted(kind.name) << ", " << quoted(kind.apiVersion) << ", " << (kind.scope == "Namespaced" ? "true" : "false")
          << ", &Types[" << type->second << "]},\n";
    }
    out << "};\n";
  }

private:
  Field field(const std::string &text) {
    Field field;
    std::string line = text;
    const size_t defaultAt = line.find(" default=");
    if (defaultAt != std::string::npos) {
      field.defaultText = line.substr(defaultAt + 9);
      line.resize(defaultAt);
    }
    const size_t begin = line.find_first_not_of(' ');
    const size_t end = line.find(' ', begin);
    if (end == std::string::npos) fail("a field without type: " + text);
    field.name = line.substr(begin, end - begin);
    at_ = 0;
    text_ = line.substr(end + 1);
    field.type = std::to_string(type(&field.required));
    if (at_ != text_.size()) fail("cannot read: " + text);
    return field;
  }

  std::string word() {
    while (at_ < text_.size() && text_[at_] == ' ')
      ++at_;
    const size_t begin = at_;
    while (at_ < text_.size() && text_[at_] != ' ' && text_[at_] != ']' && text_[at_] != '}')
      ++at_;
    return text_.substr(begin, at_ - begin);
  }

  int type(bool *required) {
    while (at_ < text_.size() && text_[at_] == ' ')
      ++at_;
    Type made;
    int object = -1;
    if (at_ < text_.size() && (text_[at_] == '[' || text_[at_] == '{')) {
      const bool isList = text_[at_] == '[';
      ++at_;
      made.shape = isList ? "List" : "Map";
      made.element = std::to_string(type(nullptr));
      if (at_ >= text_.size() || text_[at_] != (isList ? ']' : '}')) fail("unclosed: " + text_);
      ++at_;
    } else {
      static const std::map<std::string, std::string> shapes = {
          {"bool", "Bool"}, {"int", "Int"}, {"int32", "Int"}, {"int64", "Int"}, {"float", "Float"}, {"string", "String"},
          {"quantity", "Quantity"}, {"intOrString", "IntOrString"}, {"time", "Time"}};
      const std::string name = word();
      auto shape = shapes.find(name);
      if (shape != shapes.end()) {
        made.shape = shape->second;
        if (name == "int32") made.min = "INT32_MIN", made.max = "INT32_MAX";
        else if (made.shape == "Int") made.min = "INT64_MIN", made.max = "INT64_MAX";
      } else {
        auto found = objects_.find(name);
        if (found == objects_.end()) fail("unknown type " + name);
        object = found->second;
      }
    }
    for (;;) {
      const std::string fact = word();
      if (fact.empty()) break;
      const std::string value = fact.substr(std::min(fact.size(), fact.find('=') + 1));
      if (fact == "required" && required) *required = true;
      else if (object >= 0) fail("an object has no facts: " + text_);
      else if (fact == "set") made.isSet = true;
      else if (fact.rfind("min=", 0) == 0) made.min = value;
      else if (fact.rfind("max=", 0) == 0) made.max = value;
      else if (fact.rfind("enum=", 0) == 0) made.choices = split(value, '|');
      else if (fact.rfind("keys=", 0) == 0) made.keys = split(value, ',');
      else fail("unknown fact " + fact);
    }
    if (object >= 0) return object;
    for (size_t i = 0; i < types_.size(); ++i) {
      const Type &t = types_[i];
      if (t.shape == made.shape && t.element == made.element && t.min == made.min && t.max == made.max && t.choices == made.choices &&
          t.keys == made.keys && t.isSet == made.isSet)
        return static_cast<int>(i);
    }
    types_.push_back(made);
    return static_cast<int>(types_.size()) - 1;
  }

  std::vector<Type> types_;
  std::vector<Field> fields_;
  std::map<std::string, int> objects_;
  std::vector<Kind> kinds_;
  std::string text_;
  size_t at_ = 0;
};

} // namespace

int main(int argc, char **argv) {
  if (argc != 3) fail("usage: kft_kube_generate IN.kube OUT.inc");
  std::ifstream in(argv[1]);
  if (!in) fail(std::string("cannot read ") + argv[1]);
  Generator generator;
  generator.read(in);
  std::ofstream out(argv[2]);
  generator.write(out);
  out.close();
  if (!out) fail(std::string("cannot write ") + argv[2]);
}
