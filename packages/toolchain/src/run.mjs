import { spawn, spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

/** The repository's root folder, with a slash at its end. */
export const root = fileURLToPath(new URL("../../..", import.meta.url));

/** Runs a program with this terminal as its own. @returns Whether it ended with status 0. */
export function run(program, args, options = {}) {
  const result = spawnSync(program, args, { cwd: root, stdio: "inherit", ...options });
  return result.status === 0;
}

/** The same beside other work. @returns A promise of whether it ended with status 0. */
export function start(program, args, options = {}) {
  return new Promise((resolve) => {
    const child = spawn(program, args, { cwd: root, stdio: "inherit", ...options });
    child.once("error", () => resolve(false));
    child.once("close", (code) => resolve(code === 0));
  });
}

/** Runs a program and gives what it printed, or null where it failed or is not there. */
export function read(program, args) {
  const result = spawnSync(program, args, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  return result.status === 0 ? result.stdout : null;
}

/** Says what went wrong and what would help, and ends. */
export function fail(problem, help) {
  process.stderr.write(`\n${problem}\n${help}\n`);
  process.exit(1);
}

/** Says what is being done: on standard error, so that a command's answer stays alone on standard output. */
export function say(text) {
  process.stderr.write(`set-up: ${text}\n`);
}
