// Tests of the TextMate grammar with the engine that Visual Studio Code itself uses.
//
//   1. Each line `# ^^^ scope` (or `#<- scope` for column 0) in test/*.kft asserts the scope of the characters above it.
//   2. Every example and every file of the standard library is read to its end: nothing in it may be marked as a mistake, and at the end no
//      text, comment or bracket may be open.
//   3. The problem matcher's expression takes apart what kftc prints.
//
// Ends with 77 (ctest: skipped) when the packages are not there.
import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, "../../..");
const require = createRequire(import.meta.url);
if (!existsSync(join(here, "../node_modules/vscode-textmate"))) {
  console.log("skipped: run scripts/fetch-editor-tools first");
  process.exit(77);
}
const { Registry, INITIAL, parseRawGrammar } = require("vscode-textmate");
const oniguruma = require("vscode-oniguruma");

const wasm = readFileSync(join(dirname(require.resolve("vscode-oniguruma")), "onig.wasm"));
await oniguruma.loadWASM(wasm.buffer.slice(wasm.byteOffset, wasm.byteOffset + wasm.byteLength));
const grammarPath = join(here, "../syntaxes/kft.tmLanguage.json");
const registry = new Registry({
  onigLib: Promise.resolve({
    createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
    createOnigString: (text) => new oniguruma.OnigString(text),
  }),
  loadGrammar: async (scope) =>
    scope === "source.kft" ? parseRawGrammar(readFileSync(grammarPath, "utf8"), grammarPath) : null,
});
const grammar = await registry.loadGrammar("source.kft");

let passed = 0;
let failed = 0;
function check(good, message) {
  if (good) passed += 1;
  else {
    failed += 1;
    console.log(`FAILED ${message}`);
  }
}

function* lines(text) {
  let stack = INITIAL;
  for (const [index, line] of text.split("\n").entries()) {
    const result = grammar.tokenizeLine(line, stack);
    stack = result.ruleStack;
    yield { index, line, tokens: result.tokens, depth: stack.depth };
  }
}

function assertions(path) {
  const text = readFileSync(path, "utf8");
  // Assertion lines are comments, but a text over several lines would swallow them: they are taken out before reading.
  const source = [];
  const wanted = [];
  for (const line of text.split("\n")) {
    const match = /^#(?:(<-)|(\s*)(\^+)) (!?)(\S+)$/.exec(line);
    if (match) {
      const [, first, indent, carets, not, scope] = match;
      const column = first ? 0 : 1 + indent.length;
      wanted.push({ row: source.length - 1, column, length: first ? 1 : carets.length, not: not === "!", scope });
    } else source.push(line);
  }
  const rows = [...lines(source.join("\n"))];
  for (const { row, column, length, not, scope } of wanted)
    for (let at = column; at < column + length; at += 1) {
      const token = rows[row].tokens.find((t) => t.startIndex <= at && at < t.endIndex);
      const has = token?.scopes.some((s) => s === scope || s.startsWith(`${scope}.`)) ?? false;
      check(has !== not, `${relative(root, path)}: '${rows[row].line.trim()}' column ${at + 1}: ` +
        `${not ? "unwanted" : "wanted"} ${scope}, has ${token?.scopes.slice(1).join(" ")}`);
    }
  return wanted.length;
}

function* kftFiles(folder) {
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder).sort()) {
    const path = join(folder, name);
    if (statSync(path).isDirectory()) yield* kftFiles(path);
    else if (name.endsWith(".kft")) yield path;
  }
}

let asserted = 0;
for (const path of kftFiles(here)) asserted += assertions(path);
check(asserted > 60, `only ${asserted} assertions were found`);

let files = 0;
for (const folder of ["examples", "stdlib"])
  for (const path of kftFiles(join(root, folder))) {
    files += 1;
    let depth = 0;
    let bad = "";
    for (const { index, line, tokens, depth: now } of lines(readFileSync(path, "utf8"))) {
      depth = now;
      const wrong = tokens.find((t) => t.scopes.some((s) => s.startsWith("invalid")));
      if (wrong) bad ||= `line ${index + 1}: '${line.slice(wrong.startIndex, wrong.endIndex)}'`;
    }
    check(!bad, `${relative(root, path)}: marked as a mistake: ${bad}`);
    check(depth === INITIAL.depth + 1 || depth === INITIAL.depth || depth === 1, `${relative(root, path)}: something is still open at the end`);
  }
check(files >= 8, `only ${files} examples were found`);

const manifest = JSON.parse(readFileSync(join(here, "../package.json"), "utf8"));
const { pattern } = manifest.contributes.problemMatchers[0];
const parts = new RegExp(pattern.regexp).exec("jobs/a b.kft:12:7: error: unknown field `node` in `job` [KFT2203]");
check(parts?.[pattern.file] === "jobs/a b.kft" && parts[pattern.line] === "12" && parts[pattern.column] === "7" &&
  parts[pattern.severity] === "error" && parts[pattern.message] === "unknown field `node` in `job`" &&
  parts[pattern.code] === "KFT2203", "the problem matcher does not take a message apart");
const note = new RegExp(pattern.regexp).exec("a.kft:3:1: note: first given here");
check(note?.[pattern.severity] === "note" && note[pattern.message] === "first given here", "the problem matcher does not know notes");
check(!new RegExp(pattern.regexp).test("    12 │ nodes = 0"), "the problem matcher takes a source line for a message");

for (const file of ["language-configuration.json", "snippets/kft.json", "syntaxes/markdown-kft.tmLanguage.json"])
  check(typeof JSON.parse(readFileSync(join(here, "..", file), "utf8")) === "object", `${file} is no JSON`);
for (const [name, snippet] of Object.entries(JSON.parse(readFileSync(join(here, "../snippets/kft.json"), "utf8")))) {
  const text = [snippet.body].flat().join("\n");
  check((text.match(/[{]/g) ?? []).length === (text.match(/[}]/g) ?? []).length, `snippet ${name}: braces do not match`);
}

console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
