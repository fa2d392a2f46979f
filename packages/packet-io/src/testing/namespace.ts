/** Runs a piece of test inside a network namespace of its own, because a process opens interfaces of its own namespace only. */
import { execFile, execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { bundleProgram } from "../../../../test/lab/bundle-program.ts";

const CHILD = fileURLToPath(new URL("child.ts", import.meta.url));

/** Less than a test's own time limit, so that the namespace is removed before the test is given up. */
const CHILD_TIMEOUT_MS = 300_000;

let made = 0;

/** Why tests with namespaces cannot run here, or null. */
export function whyNoNamespaces(): string | null {
  if (process.getuid?.() !== 0) return "skipped: network namespaces need root";
  const name = `lpio${process.pid}-try`;
  try {
    execFileSync("ip", ["netns", "add", name], { stdio: "pipe" });
    execFileSync("ip", ["netns", "del", name], { stdio: "pipe" });
    return null;
  } catch (error) {
    return `skipped: cannot make a network namespace: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** How the child gets into the namespace: with its own sysfs, without it, or with it and without CAP_NET_RAW. */
export type Entry = "exec" | "nsenter" | "no-raw-capability";

/**
 * Makes a namespace with the veth pair `va` and `vb`, both up and without addresses, runs a scenario of `scenarios.ts` in it, and
 * removes it.
 * @returns What the scenario returned, through JSON.
 */
export async function runInNamespace<T>(scenario: string, entry: Entry = "exec"): Promise<T> {
  made += 1;
  const name = `lpio${process.pid}-${made}`;
  const ip = (...args: readonly string[]) => execFileSync("ip", args, { stdio: "pipe" });
  const remove = () => void ip("netns", "del", name);
  ip("netns", "add", name);
  process.once("exit", remove);
  try {
    execFileSync("ip", ["netns", "exec", name, "sysctl", "-qw", "net.ipv6.conf.default.disable_ipv6=1"], { stdio: "pipe" });
    ip("-n", name, "link", "add", "va", "type", "veth", "peer", "name", "vb");
    for (const link of ["va", "vb", "lo"]) ip("-n", name, "link", "set", link, "up");
    const node = [process.execPath, bundleProgram(CHILD), scenario];
    const [program = "", ...args] = [...wayInto(name)[entry], ...node];
    const { stdout } = await promisify(execFile)(program, args, { timeout: CHILD_TIMEOUT_MS, killSignal: "SIGKILL" });
    return JSON.parse(stdout.trim().split("\n").at(-1) ?? "") as T;
  } finally {
    process.off("exit", remove);
    remove();
  }
}

function wayInto(name: string): Readonly<Record<Entry, readonly string[]>> {
  return {
    exec: ["ip", "netns", "exec", name],
    nsenter: ["nsenter", `--net=/run/netns/${name}`],
    "no-raw-capability": ["ip", "netns", "exec", name, "setpriv", "--bounding-set=-net_raw"],
  };
}
