import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { REPOSITORY } from "./lab-state.ts";

/** Watches over a lab while the process that answers for it lives. */
export interface Guard {
  /** The lab may stay, or is gone already: the guard leaves. */
  dismiss(): void;
}

/**
 * Starts a small process that takes the lab down should this one end without doing so, killed for instance.
 * It notices by the end of its standard input, which the kernel closes with us.
 */
export function startGuard(id: string): Guard {
  const main = fileURLToPath(new URL("main.ts", import.meta.url));
  const down = [process.execPath, "--import", "tsx", "--conditions=@lanthorn/source", main, "--id", id, "down"];
  const child = spawn("sh", ["-c", 'IFS= read -r word; [ "$word" = dismissed ] || exec "$@"', "guard", ...down], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
    cwd: REPOSITORY,
  });
  child.on("error", () => undefined);
  child.stdin.on("error", () => undefined);
  child.unref();
  /** Neither the guard nor the pipe to it keeps this process alive. */
  (child.stdin as unknown as { readonly unref?: () => void }).unref?.();
  return {
    dismiss() {
      child.stdin.end("dismissed\n");
    },
  };
}
