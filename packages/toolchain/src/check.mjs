// Everything that reads the code without running it: lint, types, unused code, the architecture's rules.
import { run } from "./run.mjs";

/** A browser's types and Node's are not the same: the dashboard has its own. */
function lint(tsconfig) {
  return ["oxlint", "-c", "packages/toolchain/oxlint.json", "--tsconfig", tsconfig, "--type-aware", "--quiet"];
}

/** @type {readonly (readonly [string, string, readonly string[]])[]} */
const steps = [
  ["types", "npx", ["tsc", "-p", "tsconfig.json"]],
  ["types of the dashboard", "npx", ["tsc", "-p", "apps/dashboard/tsconfig.json"]],
  ["lint", "npx", [...lint("tsconfig.json"), "--ignore-pattern", "apps/dashboard/src", "."]],
  ["lint of the dashboard", "npx", [...lint("apps/dashboard/tsconfig.json"), "apps/dashboard/src"]],
  ["unused", "npx", ["knip", "--no-progress"]],
  ["architecture", "npx", ["vitest", "run", "--config", "test/vitest.config.ts", "--reporter=dot", "test/architecture.test.ts"]],
];
const failed = steps.filter(([name, program, args]) => {
  process.stdout.write(`check: ${name}\n`);
  return !run(program, args);
});
process.stdout.write(failed.length === 0 ? "check: clean\n" : `check: not clean: ${failed.map(([name]) => name).join(", ")}\n`);
process.exit(failed.length === 0 ? 0 : 1);
