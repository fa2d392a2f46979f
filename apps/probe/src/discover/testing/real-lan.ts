/** A small LAN of network namespaces with real kernels on it, and the discovery in one of them. For tests only. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { bundleProgram } from "../../../../../test/lab/bundle-program.ts";
import { waitFor } from "../../../../../test/lab/wait-for.ts";
import type { ProbeEvent } from "@lanthorn/contract/uplink";

/** A machine with other work takes tens of times as long as a quiet one. */
const HANG_MS = 300_000;
const script = (name: string) => fileURLToPath(new URL(name, import.meta.url));

/** Why this cannot run here, or null. */
export function whyNoNamespaces(): string | null {
  if (process.getuid?.() !== 0) return "skipped: network namespaces need root";
  try {
    execFileSync("ip", ["netns", "add", `ldis${process.pid}-try`], { stdio: "pipe" });
    execFileSync("ip", ["netns", "del", `ldis${process.pid}-try`], { stdio: "pipe" });
    return null;
  } catch (error) {
    return `skipped: cannot make a network namespace: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** The LAN, its hosts by name, and the events of the discovery. It needs root; `close` removes all namespaces. */
export interface RealLan {
  /** Puts a host with kernel and addresses on the LAN. `10.77.0.0/24` is the probe's. */
  join(name: string, mac: string, addresses: readonly string[]): void;
  /** Puts a host on the LAN whose ARP answers come `delayMs` late. */
  joinLate(name: string, mac: string, address: string, delayMs: number): Promise<void>;
  leave(name: string): void;
  /** Starts the discovery. */
  watch(): void;
  /** Asks once for multicast listeners from the probe's place. @returns Whose frames came in three seconds: `mac address`, each once. */
  queryListeners(): Promise<readonly string[]>;
  /** Resolves when a host has sent nothing for so long. */
  silence(name: string, ms: number): Promise<void>;
  /** Runs a command on a host, or on the probe's. */
  run(name: string, program: string, ...args: readonly string[]): void;
  /** Resolves with what `wanted` finds among all events so far, as soon as it finds something. */
  until<T>(wanted: (events: readonly ProbeEvent[]) => T | undefined): Promise<T>;
  close(): Promise<void>;
}

let made = 0;

/** The probe's namespace and a bridge; hosts come by `join`. Namespaces are removed when the process exits, too. */
export function createRealLan(): RealLan {
  made += 1;
  const prefix = `ldis${process.pid}-${made}`;
  const namespaces: string[] = [];
  const children: ChildProcess[] = [];
  const events: ProbeEvent[] = [];
  const listeners = new Set<() => void>();
  const complaints: string[] = [];
  const ip = (...args: readonly string[]) => execFileSync("ip", args, { stdio: "pipe" });
  const remove = () => {
    for (const child of children) child.kill("SIGKILL");
    for (const name of namespaces.splice(0)) ip("netns", "del", name);
  };
  process.once("exit", remove);

  const addNamespace = (name: string) => {
    ip("netns", "add", `${prefix}-${name}`);
    namespaces.push(`${prefix}-${name}`);
  };
  const connect = (name: string, mac: string) => {
    addNamespace(name);
    ip("-n", `${prefix}-switch`, "link", "add", name, "type", "veth", "peer", "name", "lan0", "address", mac, "netns", `${prefix}-${name}`);
    ip("-n", `${prefix}-switch`, "link", "set", name, "master", "br0", "up");
  };
  const addressAndUp = (name: string, addresses: readonly string[]) => {
    for (const address of addresses) ip("-n", `${prefix}-${name}`, "addr", "add", address, "dev", "lan0");
    ip("-n", `${prefix}-${name}`, "link", "set", "lan0", "up");
  };
  const run = (name: string, file: string, args: readonly string[], onLine: (line: string) => void) => {
    const node = [process.execPath, bundleProgram(script(file)), ...args];
    const child = spawn("ip", ["netns", "exec", `${prefix}-${name}`, ...node], { stdio: ["ignore", "pipe", "pipe"] });
    children.push(child);
    child.stderr.on("data", (text: Buffer) => complaints.push(text.toString()));
    createInterface({ input: child.stdout }).on("line", onLine);
  };
  addNamespace("switch");
  // The switch's own ports would greet their neighbors too.
  execFileSync("ip", [
    "netns",
    "exec",
    `${prefix}-switch`,
    "sysctl",
    "-qw",
    "net.ipv6.conf.all.disable_ipv6=1",
    "net.ipv6.conf.default.disable_ipv6=1",
  ]);
  // Spanning tree off and no forwarding delay: the port carries frames at once.
  ip("-n", `${prefix}-switch`, "link", "add", "br0", "type", "bridge", "stp_state", "0", "forward_delay", "0");
  ip("-n", `${prefix}-switch`, "link", "set", "br0", "up");
  connect("probe", "02:00:00:00:77:02");
  addressAndUp("probe", ["10.77.0.2/24"]);
  return {
    join(name, mac, addresses) {
      connect(name, mac);
      addressAndUp(name, addresses);
    },
    async joinLate(name, mac, address, delayMs) {
      connect(name, mac);
      ip("-n", `${prefix}-${name}`, "link", "set", "lan0", "arp", "off");
      addressAndUp(name, []);
      await new Promise<void>((resolve) => run(name, "late-host.ts", [mac, address, String(delayMs)], () => resolve()));
    },
    leave(name) {
      ip("netns", "del", `${prefix}-${name}`);
      namespaces.splice(namespaces.indexOf(`${prefix}-${name}`), 1);
    },
    async silence(name, ms) {
      const sent = () =>
        execFileSync("ip", ["netns", "exec", `${prefix}-${name}`, "cat", "/sys/class/net/lan0/statistics/tx_packets"]).toString();
      let last = { count: sent(), at: performance.now() };
      await waitFor(`the silence of ${name}`, async () => {
        const count = sent();
        if (count !== last.count) last = { count, at: performance.now() };
        return performance.now() - last.at >= ms ? true : null;
      });
    },
    run: (name, program, ...args) => void execFileSync("ip", ["netns", "exec", `${prefix}-${name}`, program, ...args], { stdio: "pipe" }),
    queryListeners: () => new Promise((resolve) => run("probe", "query-listeners.ts", [], (line) => resolve(JSON.parse(line) as string[]))),
    watch() {
      run("probe", "watch-lan.ts", [], (line) => {
        events.push(JSON.parse(line) as ProbeEvent);
        for (const listener of listeners) listener();
      });
    },
    until(wanted) {
      return new Promise((resolve, reject) => {
        const done = (finish: () => void) => {
          clearTimeout(timer);
          listeners.delete(look);
          finish();
        };
        const look = () => {
          const found = wanted(events);
          if (found !== undefined) done(() => resolve(found));
        };
        const timer = setTimeout(
          () => done(() => reject(new Error(`not seen in ${HANG_MS} ms; events: ${JSON.stringify(events)}; ${complaints.join("")}`))),
          HANG_MS,
        );
        listeners.add(look);
        look();
      });
    },
    async close() {
      process.off("exit", remove);
      const running = children.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null);
      const ends = running.map((child) => new Promise((resolve) => child.once("exit", resolve)));
      remove();
      await Promise.all(ends);
    },
  };
}
