// The machinery behind `analyze`, shared by the files of this folder. Evaluation is lazy and by need: a block is an Object,
// layers of text whose fields are computed when somebody asks, once. That makes `self` late-bound: `extends`, `with` and
// profiles put layers on top of each other and evaluate the same text again for the new object. Nothing of this outlives
// the analysis; what a Module holds are plain Values.
#pragma once

#include "compiler/ast/nodes.h"
#include "compiler/basic/compilation.h"
#include "compiler/sema/module.h"
#include "compiler/sema/tests.h"
#include "compiler/sema/type.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"

#include <memory>
#include <string>
#include <vector>

namespace kft::sema {

struct ModuleScope;
struct Builtin;
struct Thunk;

enum class State : uint8_t { New, Active, Done };

// One local name: a `let` of a block (`thunk`), a loop name, a parameter or `it` (`value`).
struct Env {
  const Env *parent;
  StringRef name;
  Value value;
  Thunk *thunk;
};

struct Thunk {
  const ast::Let *let;
  const Env *env;
  Object *self;
  State state;
  Value value;
};

// Where an expression is evaluated.
struct Context {
  const Env *env = nullptr;
  Object *self = nullptr; // null: outside declarations and blocks
};

struct Deprecation {
  StringRef since, use;
};

// A name at module level, declarations aside.
struct Symbol {
  enum class Kind : uint8_t { Import, Param, Let, Fn, Type } kind;
  StringRef name;
  SourceRange range;
  ModuleScope *module = nullptr; // where it stands
  const ast::Stmt *stmt = nullptr;
  ModuleScope *imported = nullptr; // Import; null when it could not be loaded
  const Deprecation *deprecated = nullptr;
  State state = State::New; // of `value` (Let, Param) or of `type` (Type)
  Value value;
  const Type *type = nullptr;     // Param, Type: as declared. Fn: of the result. Let: declared or inferred
  ArrayRef<const Type *> params;  // Fn
  State inferState = State::New;  // Let without a type
  bool recursive = false;         // Fn in a circle of calls: reported
  bool given = false;             // Param: `value` came from an option or a profile
  SourceRange givenAt;
  std::vector<std::pair<Symbol *, SourceRange>> calls; // Fn: functions its body calls
};

// A piece of text that gives fields: the statements of a block, or one statement `a.b.c = 1` of which the first `skip` names
// have been used up.
struct Fragment {
  ArrayRef<const ast::Stmt *> stmts;
  unsigned skip = 0;
  const Env *env = nullptr;
  StringRef allow;
};

struct Layer {
  llvm::SmallVector<Fragment, 1> fragments; // of one text: between them, a field is given once
  const BlockValue *value = nullptr;        // or fields that are evaluated already
  Object *self = nullptr;                   // what `self` means in it; null: the object itself
  bool inherited = false;                   // from a base: `name` and `installed` do not come along
  SourceRange range;
};

struct Slot;

// One way in which a layer gives a field.
struct Contribution {
  enum class Kind : uint8_t { Set, Append, Merge, Given } kind;
  const ast::Expr *expr = nullptr;          // Set, Append
  llvm::SmallVector<Fragment, 1> fragments; // Merge
  const Entry *given = nullptr;             // Given: from a layer of values
  const Env *env = nullptr;
  Object *self = nullptr;
  unsigned layer = 0;
  bool path = false; // a Merge that was written a.b = …: several are one
  SourceRange keyRange, range;
  StringRef allow;
};

struct Slot {
  StringRef key, name;
  SourceRange keyRange, nameRange, range;
  bool quoted = false;
  llvm::SmallVector<Contribution, 1> contributions;
  State state = State::New;
  bool absent = false;
  bool removes = false;
  Entry::How how = Entry::How::Set;
  StringRef allow;
  Value value;
};

class Object {
public:
  llvm::SmallVector<Layer, 2> layers;
  const Decl *decl = nullptr; // the declaration whose body this is
  const Decl *from = nullptr; // the declaration of which this is an amended copy
  SourceRange range;
  bool failed = false;  // a condition in its text failed: which fields it has is unknown
  bool lenient = false; // inside an abstract declaration: what is not there yet is no mistake
  Object *parent = nullptr; // for names in messages only
  StringRef label;

  State structure = State::New; // of `slots`
  std::vector<Slot *> slots;    // every field, in order; valid when structure is Done
  std::vector<Slot *> early;    // those that were asked for before
  llvm::DenseMap<std::pair<StringRef, StringRef>, Slot *> index;
  struct Assertion {
    const ast::Assert *stmt;
    const Env *env;
    Object *self;
  };
  std::vector<Assertion> asserts;
  // What the `if`, `for` and `let` statements of its text came to, by statement and environment.
  struct Choice {
    State state = State::New;
    std::vector<std::pair<const ast::Block *, const Env *>> bodies; // If: none or one. For: one a round
    const Env *env = nullptr;                                      // of a body with lets
  };
  llvm::DenseMap<std::pair<const void *, const Env *>, std::unique_ptr<Choice>> choices;

  State materializing = State::New;
  Value value; // the plain block, when materializing is Done
};

struct DeclInfo : Decl {
  ModuleScope *scope = nullptr;
  const ast::Decl *syntax = nullptr;
  const Env *env = nullptr;
  const Deprecation *deprecated = nullptr;
  StringRef allow;
  State baseState = State::New;
  bool broken = false; // its base failed and was reported: absent fields are no news
  DeclInfo *base = nullptr;
  std::vector<Layer> *amendments = nullptr; // by profiles; of the analyzer, like `object`
  Object *object = nullptr;
  bool checked = false;
};

// What a name of the text stands for; made once, by the resolver.
struct Binding {
  enum class Kind : uint8_t { Error, Local, Symbol, Builtin, Decl, Member, Module, Kinds } kind = Kind::Error;
  sema::Symbol *symbol = nullptr;
  const sema::Builtin *builtin = nullptr;
  ModuleScope *module = nullptr; // Decl, Member, Module, Kinds
  StringRef declKind, name;      // Decl: both. Member: `team.base`, a declaration of any kind
};

struct ModuleScope {
  FileId file;
  const ast::Module *syntax = nullptr;
  std::string shownName;  // std.nn, team
  std::string directory;  // absolute; empty for the standard library and standard input
  std::string project;    // absolute, symbolic links resolved
  bool isStd = false;
  bool isMain = false;
  State loading = State::New;
  State expansion = State::New; // of `decls`
  llvm::DenseMap<StringRef, Symbol *> symbols;
  llvm::DenseMap<std::pair<StringRef, StringRef>, DeclInfo *> decls; // by kind and name
  llvm::DenseMap<StringRef, llvm::SmallVector<DeclInfo *, 1>> declsByName;
  std::vector<DeclInfo *> order;
  std::vector<Symbol *> symbolOrder;
  std::vector<std::pair<const ast::Assert *, const Env *>> asserts;
  bool uncertain = false; // a condition failed: there may be more declarations
};

// One parameter of a built-in function.
struct BuiltinParam {
  const char *name;
  bool required;
};

class Analyzer;
struct BuiltinCall;
struct Builtin {
  const char *name;
  ArrayRef<BuiltinParam> params;
  bool variadic;             // further positional arguments
  const Type *result;        // for inference; Any where it depends
  Value (*run)(BuiltinCall &call);
};
const Builtin *findBuiltin(StringRef name);
ArrayRef<StringRef> builtinNames();

// Arguments in the order of the parameters, missing ones with an invalid `value` (poison) and `given` false.
struct BuiltinCall {
  Analyzer &analyzer;
  const ast::Call &syntax;
  StringRef name;
  ArrayRef<Value> args;
  ArrayRef<SourceRange> ranges;
  ArrayRef<bool> given;
  ModuleScope *module;

  size_t count() const { return args.size(); }
  Value fail(size_t arg, const llvm::Twine &rule);
};

class Analyzer {
public:
  Analyzer(Compilation &compilation) : compilation(compilation), diags(compilation.diags), arena(compilation.arena) {}
  ~Analyzer();

  Module run(const ast::Module &module, const TestRun *test);
  std::vector<TestCase> listTests(const ast::Module &module);
  void judgeTests();

  Compilation &compilation;
  Diagnostics &diags;
  Arena &arena;

  // ---- imports.cpp ----
  ModuleScope *loadMain(const ast::Module &module);
  std::string projectOf(StringRef directory);
  // The text of a file inside the project of `from`; null after a report at `at`.
  const std::string *readFile(ModuleScope &from, StringRef path, SourceRange at);
  enum class Where : uint8_t { Fine, Missing, Outside };
  Where locate(ModuleScope &from, StringRef path, std::string &real);

  // ---- resolve.cpp ----
  void collect(ModuleScope &module);
  void resolve(ModuleScope &module);
  void checkRecursion();
  void checkDeclRefs();
  const Type *typeOf(const ast::Type &type, ModuleScope &module);
  const Type *typeOfSymbol(Symbol &symbol); // for inference
  Symbol *typeSymbol(Symbol &symbol);
  DeclInfo *findDecl(const Binding &binding, bool &ambiguous);
  void warnDeprecated(const Deprecation *deprecation, StringRef name, SourceRange range);

  // ---- eval.cpp ----
  Value eval(const ast::Expr &expr, Context context);
  Value deep(const Value &value, StringRef allow = {}); // no Lazy inside
  uint64_t weightOf(const Value &value, unsigned level = 0);
  bool tooHeavy(const Value &value, SourceRange at);       // true after a report
  bool tooManyLayers(size_t count, SourceRange at);        // of one block: `extends` and `with` in a chain; true after a report
  Value force(Thunk &thunk);
  Value forceSymbol(Symbol &symbol, SourceRange at);
  Value force(Object &object, Slot &slot, SourceRange at);
  Slot *find(Object &object, StringRef key);
  void build(Object &object);
  Value materialize(Object &object, StringRef allow);
  Value member(const Value &object, StringRef name, SourceRange nameRange, SourceRange objectRange, bool ofSelf);
  Value callFn(Symbol &fn, const ast::Call &call, Context context);
  Value callBuiltin(const Builtin &builtin, const ast::Call &call, Context context);
  bool truth(const ast::Expr &condition, Context context, bool &result);
  bool iterate(const ast::Binding &binding, Context context, std::vector<const Env *> &rounds);
  bool equal(const Value &a, const Value &b, SourceRange at, bool &failed, int depth = 0);
  bool checkAssert(const ast::Assert &assertion, Context context);
  void explainCondition(Diagnostics::Builder &report, const ast::Expr &condition, Context context);
  Object *objectOf(DeclInfo &decl, SourceRange at);
  Object *makeObject() { return new (objects_.Allocate()) Object(); }
  const Env *bind(const Env *parent, StringRef name, const Value &value) { return arena.make<Env>(parent, name, value, nullptr); }
  const Env *withLets(Object *object, ArrayRef<const ast::Stmt *> stmts, const Env *env, Object *self);
  bool text(const Value &value, std::string &out); // as interpolation writes it; false: has no text
  bool spendElements(uint64_t count, SourceRange at);
  bool step(SourceRange at);
  Value arithmetic(ast::BinaryOp op, const ast::Binary &expr, const Value &left, const Value &right);
  Value binary(const ast::Binary &expr, Context context);
  int compareValues(const Value &left, const Value &right, bool &comparable);
  Value operandError(const ast::Binary &expr, const Value &left, const Value &right);
  void reportCycle(const void *what, SourceRange at);
  Value convertTo(const Value &value, const Type &type, SourceRange at, const llvm::Twine &what) {
    return convert(value, type, at, what, compilation);
  }
  // Runs `body` with reports thrown away.
  template <typename F>
  void quietly(F body) {
    Diagnostics saved = diags;
    body();
    diags = std::move(saved);
  }

  // ---- analyze.cpp ----
  void expand(ModuleScope &module);
  void checkModule(ModuleScope &module);
  void checkDecl(DeclInfo &decl);
  void noteUsed(const Value &value, llvm::DenseSet<const Decl *> &seen, std::vector<const Decl *> &imported);

  // ---- params.cpp ----
  void assignParams(ModuleScope &main);
  Symbol *findParam(ModuleScope &main, StringRef path, SourceRange at, StringRef how);
  void setParam(Symbol &param, const Value &value, SourceRange at, bool literalText, StringRef text);

  // ---- profiles.cpp ----
  void chooseProfiles(ModuleScope &main); // before params: their `set`
  void applyProfiles(ModuleScope &main);  // after expansion: their amendments

  // Frames of what is being computed, for cycles: they print the way around.
  struct Frame {
    const void *what;
    SourceRange range;
    enum class Kind : uint8_t { Thunk, Symbol, Slot, Object, Base } kind;
    const void *owner;
  };
  std::string frameName(const Frame &frame);
  std::vector<Frame> frames;

  ModuleScope *main = nullptr;
  std::vector<std::unique_ptr<ModuleScope>> modules; // imports before importers
  std::vector<ModuleScope *> loadOrder;
  llvm::DenseMap<const ast::Expr *, Binding> bindings;
  llvm::DenseMap<const ast::Type *, const Type *> types;
  llvm::DenseSet<const void *> reported; // expressions that were found wrong without evaluating them
  struct DeclUse {
    Binding binding;
    SourceRange range;     // of the name
    SourceRange kindRange; // of the whole reference
    bool called = false;   // `nn.dens(10)`: a function was meant
  };
  std::vector<DeclUse> declUses;
  std::vector<Symbol *> functions;
  llvm::DenseMap<const ast::Path *, Binding> baseBindings; // of `extends`
  llvm::DenseMap<StringRef, Type *> refTypes;
  llvm::DenseMap<const Type *, Type *> listTypes;
  std::vector<std::pair<RecordMember *, const ast::Expr *>> memberDefaults;
  struct ActiveProfile {
    const ast::Decl *decl;
    DeclInfo *info;
  };
  std::vector<ActiveProfile> profiles;
  const TestRun *test = nullptr;
  std::vector<TestCase> testCases;
  Module finished; // what `manifests` of a test sees

  uint64_t stepsLeft = 20'000'000;
  uint64_t elementsLeft = 10'000'000;
  bool stopped = false; // a limit was passed and reported: everything is poison from here on
  unsigned depth = 0;
  unsigned depthLimit = 20'000;
  bool tooDeep(SourceRange at);
  llvm::DenseMap<const void *, uint64_t> weights; // of lists and blocks, by where their elements lie
  llvm::DenseMap<std::pair<const Item *, size_t>, Value> deepLists;
  unsigned nesting = 0; // of blocks and lists while a value is made plain
  ModuleScope *moduleOf(FileId file);

  Symbol *makeSymbol() {
    symbols_.push_back(std::make_unique<Symbol>());
    return symbols_.back().get();
  }
  DeclInfo *makeDecl() {
    DeclInfo *decl = arena.make<DeclInfo>(); // values refer to it, and they outlive this
    amendments_.push_back(std::make_unique<std::vector<Layer>>());
    decl->amendments = amendments_.back().get();
    return decl;
  }

private:
  friend class Resolver;
  ModuleScope *load(FileId file, const ast::Module &syntax, StringRef shownName);
  void loadImports(ModuleScope &module);
  ModuleScope *loadStd(const ast::Import &import);
  ModuleScope *loadFile(ModuleScope &from, const ast::Import &import);
  void reportImportCycle(ModuleScope &target, SourceRange at);
  void addContributions(Object &object, unsigned layer, const Fragment &fragment, Object *self, const StringRef *key,
                        std::vector<Slot *> &slots, bool report);
  Object::Choice &choose(Object &object, const ast::Stmt &stmt, const Env *env, Object *self);
  Value placedAt(const Value &value, SourceRange at);
  Value evalString(const ast::StringLiteral &literal, Context context);
  Value evalCall(const ast::Call &call, Context context);
  Value evalIndex(const ast::Index &index, Context context);
  Value evalComprehension(const ast::Comprehension &comprehension, Context context);
  Value amend(const Value &base, Layer layer, SourceRange at);
  Layer layerOf(const Value &block, bool inherited);
  Value appendTo(const Value &current, const Value &more, const Contribution &contribution);

  llvm::SpecificBumpPtrAllocator<Object> objects_;
  llvm::SpecificBumpPtrAllocator<Slot> slots_;
  std::vector<std::unique_ptr<Symbol>> symbols_;
  std::vector<std::unique_ptr<std::vector<Layer>>> amendments_;
  std::vector<ModuleScope *> loadStack_;
  llvm::DenseMap<StringRef, ModuleScope *> stdModules_;
  std::vector<std::pair<std::string, std::unique_ptr<std::string>>> readFiles_;
};

// Runs `body` on a stack large enough for the depth limit; the limit is lowered when there is no such stack.
void onLargeStack(unsigned &depthLimit, llvm::function_ref<void()> body);

} // namespace kft::sema
