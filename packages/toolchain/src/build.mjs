// Compiles what has changed since the last time. Prints only when something is wrong.
import { spawnSync } from "node:child_process";
import { root } from "./run.mjs";

const result = spawnSync(`${root}node_modules/.bin/turbo`, ["run", "build", "--output-logs=errors-only", "--no-update-notifier"], {
  cwd: root,
  encoding: "utf8",
  env: { ...process.env, TURBO_TELEMETRY_DISABLED: "1", DO_NOT_TRACK: "1" },
});
if (result.status !== 0) {
  process.stderr.write(`${result.stdout ?? ""}${result.stderr ?? ""}\nThe build failed. By itself: npx turbo run build\n`);
  process.exit(1);
}
