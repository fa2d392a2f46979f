// Everything that reads the code without running it: lint, types, unused code, the architecture's rules.
import { run } from "./run.mjs";

/** @type {readonly (readonly [string, string, readonly string[]])[]} */
const steps = [
  ["types", "npx", ["tsc", "-p", "tsconfig.json"]],
  ["lint", "npx", ["oxlint", "-c", "packages/toolchain/oxlint.json", "--tsconfig", "tsconfig.json", "--type-aware", "--quiet", "."]],
  ["unused", "npx", ["knip", "--no-progress"]],
  ["architecture", "npx", ["vitest", "run", "--config", "test/vitest.config.ts", "--reporter=dot", "test/architecture.test.ts"]],
];
const failed = steps.filter(([name, program, args]) => {
  process.stdout.write(`check: ${name}\n`);
  return !run(program, args);
});
process.stdout.write(failed.length === 0 ? "check: clean\n" : `check: not clean: ${failed.map(([name]) => name).join(", ")}\n`);
process.exit(failed.length === 0 ? 0 : 1);
