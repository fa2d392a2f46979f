import { type ChildProcess, execFile, spawn } from "node:child_process";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { openNameSet } from "@lanthorn/dns";
import { decodeDns, DNS_RESPONSE_CODE, DNS_TYPE, encodeDns } from "@lanthorn/packets";
import { unpackDebianPackages } from "../lab/debian-packages.ts";
import { findFreePort } from "../lab/free-port.ts";
import { REPOSITORY } from "../lab/lab-state.ts";
import { waitFor } from "../lab/wait-for.ts";
import { buildSet, measureSet, queriesOf } from "./dns-lookups.ts";
import { createSeededNames } from "./dns-seeded-names.ts";

const NAMES = 1_000_000;
const QUERIES = 100_000;
const SECONDS = 8;
/** Different names that no list has, so that they are answered from the cache. */
const FREE_NAMES = 5000;
/** Of the paced run in which the time of answers is measured, and while lists are read again. */
const PACED_PER_SECOND = 1000;
const PACED_SECONDS = 5;

/** One resolver with a million names to block. */
interface Contestant {
  readonly name: string;
  start(place: Place, port: number): ChildProcess;
}

interface Place {
  readonly folder: string;
  readonly names: readonly string[];
  /** Answers every name with an address. */
  readonly upstreamPort: number;
  readonly programs: Readonly<Record<"unbound" | "dnsmasq", { readonly path: string; readonly env: Readonly<Record<string, string>> }>>;
}

interface Measured {
  readonly queries_per_second: number;
  readonly p99_ms: number;
  readonly rss_mb: number;
  readonly load_seconds: number;
  readonly lost: number;
}

/**
 * The resolver, unbound (one thread, the names as a response policy zone) and dnsmasq with the same million names, one after the other, each over the
 * same upstream: queries a second by dnsperf, half of them for blocked names, the time of answers at a thousand a second, memory, and how long it takes
 * until the names are blocked. Of ours also the slowest answer while all lists are read again.
 */
export async function run(args: readonly string[]): Promise<void> {
  if (args.length > 0) throw new Error("dns takes no arguments");
  const folder = mkdtempSync(join(tmpdir(), "lanthorn-dns-"));
  const root = await unpackDebianPackages(["unbound", "dnsmasq-base", "dnsperf"]);
  const dnsperf = root.command("dnsperf");
  const programs = { unbound: root.command("unbound"), dnsmasq: root.command("dnsmasq") };
  const upstreamPort = await findFreePort();
  const upstream = spawn(programs.dnsmasq.path, ["--keep-in-foreground", "--conf-file=/dev/null", "--no-resolv", "--no-hosts", "--user=root", "--listen-address=127.0.0.1", "--bind-interfaces", `--port=${upstreamPort}`, "--address=/#/192.0.2.1", "--local-ttl=3600", "--pid-file"], { env: { ...process.env, ...programs.dnsmasq.env }, stdio: "ignore" });
  try {
    const names = createSeededNames(1, NAMES);
    const place: Place = { folder, names, upstreamPort, programs };
    writeFileSync(join(folder, "queries"), linesOf(names).map((name) => `${name} A\n`).join(""));
    const results: Record<string, Measured> = {};
    let reloadWorstMs = 0;
    for (const contestant of CONTESTANTS) {
      const port = await findFreePort();
      const child = contestant.start(place, port);
      try {
        const loadSeconds = await secondsUntilBlocked(child, port, names.at(-1) ?? "");
        const flood = await measureFlood(dnsperf, join(folder, "queries"), port);
        const paced = await askPaced(port, names);
        results[contestant.name] = { ...flood, p99_ms: percentile(paced, 0.99), rss_mb: residentMegabytes(child), load_seconds: loadSeconds };
        console.log(`${contestant.name}: ${JSON.stringify(results[contestant.name])}`);
        if (contestant.name === "ours") reloadWorstMs = await worstDuringReload(child, place, port);
      } finally {
        const ended = once(child, "exit");
        if (child.exitCode === null && child.kill("SIGKILL")) await ended;
      }
    }
    const { ours, ...peers } = results;
    console.log(JSON.stringify({ bench: "dns", names: NAMES, ...ours, lookup_ns: lookupNanoseconds(names), reload_worst_ms: reloadWorstMs, peers }));
  } finally {
    upstream.kill();
    rmSync(folder, { recursive: true, force: true });
  }
}

const CONTESTANTS: readonly Contestant[] = [
  {
    name: "ours",
    start({ folder, names, upstreamPort }, port) {
      writeFileSync(join(folder, "names"), names.join("\n"));
      writeFileSync(join(folder, "dns.toml"), [
        'listen = ["127.0.0.1"]', `port = ${port}`, "queries_per_second = 1000000", "burst = 1000000", "[[upstreams]]", 'address = "127.0.0.1"', `port = ${upstreamPort}`,
        "[[lists]]", 'name = "seeded"', `file = "${join(folder, "names")}"`, 'format = "domains"', "",
      ].join("\n"));
      const program = join(REPOSITORY, "apps/probe/dist/main.js");
      return spawn(process.execPath, ["--v8-pool-size=1", program, "resolver", "--config", join(folder, "dns.toml")], {
        env: { ...process.env, MALLOC_ARENA_MAX: "1", NODE_OPTIONS: "--max-semi-space-size=2" }, stdio: ["ignore", "ignore", "inherit"],
      });
    },
  },
  {
    name: "unbound",
    start({ folder, names, upstreamPort, programs }, port) {
      const zone = ["$TTL 60", "@ SOA localhost. root.localhost. 1 3600 600 86400 60", "  NS localhost.", ...names.map((name) => `${name} CNAME .`), ""];
      writeFileSync(join(folder, "zone"), zone.join("\n"));
      writeFileSync(join(folder, "unbound.conf"), [
        "server:", '  username: ""', '  chroot: ""', `  directory: "${folder}"`, '  pidfile: ""', "  use-syslog: no", "  do-daemonize: no", `  interface: 127.0.0.1@${port}`,
        "  do-not-query-localhost: no", "  num-threads: 1", '  module-config: "respip iterator"', "rpz:", '  name: "seeded.rpz"', `  zonefile: "${join(folder, "zone")}"`,
        "forward-zone:", '  name: "."', `  forward-addr: 127.0.0.1@${upstreamPort}`, "remote-control:", "  control-enable: no", "",
      ].join("\n"));
      const { path, env } = programs.unbound;
      return spawn(path, ["-d", "-c", join(folder, "unbound.conf")], { env: { ...process.env, ...env }, stdio: "ignore" });
    },
  },
  {
    name: "dnsmasq",
    start({ folder, names, upstreamPort, programs }, port) {
      writeFileSync(join(folder, "dnsmasq.conf"), names.map((name) => `local=/${name}/\n`).join(""));
      const { path, env } = programs.dnsmasq;
      return spawn(path, [
        "--keep-in-foreground", `--conf-file=${join(folder, "dnsmasq.conf")}`, "--no-resolv", "--no-hosts", "--user=root", "--listen-address=127.0.0.1", "--bind-interfaces",
        `--port=${port}`, `--server=127.0.0.1#${upstreamPort}`, "--cache-size=10000", "--dns-forward-max=1000", "--pid-file",
      ], { env: { ...process.env, ...env }, stdio: "ignore" });
    },
  },
];

/** Every other name is blocked. */
function linesOf(names: readonly string[]): readonly string[] {
  return Array.from({ length: QUERIES }, (_, index) => (index % 2 === 0 ? names[(index * 7919) % names.length] ?? "" : `free${index % FREE_NAMES}.example.net`));
}

async function secondsUntilBlocked(child: ChildProcess, port: number, name: string): Promise<number> {
  const startedAt = performance.now();
  await waitFor("a blocked name", async () => {
    if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}`);
    return (await ask(port, name, 200)) === DNS_RESPONSE_CODE.nameError ? true : null;
  }, { everyMs: 20 });
  return round((performance.now() - startedAt) / 1000);
}

/** @returns The response code, or null after `timeoutMs`. */
async function ask(port: number, name: string, timeoutMs: number): Promise<number | null> {
  const socket = createSocket("udp4");
  try {
    const answered = once(socket, "message", { signal: AbortSignal.timeout(timeoutMs) });
    socket.send(encodeDns({ id: 1, isRecursionDesired: true, questions: [{ name, type: DNS_TYPE.a }] }), port, "127.0.0.1");
    const [bytes] = (await answered) as [Buffer];
    const result = decodeDns(bytes);
    return result.ok ? result.value.responseCode : null;
  } catch {
    return null;
  } finally {
    socket.close();
  }
}

async function measureFlood({ path, env }: { readonly path: string; readonly env: Readonly<Record<string, string>> }, queries: string, port: number): Promise<{ readonly queries_per_second: number; readonly lost: number }> {
  const args = ["-s", "127.0.0.1", "-p", String(port), "-d", queries, "-c", "4", "-q", "200"];
  const options = { env: { ...process.env, ...env }, maxBuffer: 1 << 24 };
  await promisify(execFile)(path, [...args, "-l", "2"], options);
  const { stdout } = await promisify(execFile)(path, [...args, "-l", String(SECONDS)], options);
  const number = (pattern: RegExp) => Number(pattern.exec(stdout)?.[1]);
  return { queries_per_second: Math.round(number(/Queries per second:\s+([\d.]+)/)), lost: number(/Queries lost:\s+(\d+)/) };
}

/** @returns Milliseconds of each answer; what had none in a second counts as a second. */
async function askPaced(port: number, names: readonly string[], until: Promise<unknown> = pause(PACED_SECONDS * 1000)): Promise<readonly number[]> {
  const socket = createSocket("udp4");
  const sentAt = new Map<number, number>();
  const times: number[] = [];
  socket.on("message", (bytes) => {
    const id = bytes.readUInt16BE(0);
    const at = sentAt.get(id);
    if (at !== undefined) times.push(performance.now() - at);
    sentAt.delete(id);
  });
  const state = { isOver: false };
  void until.finally(() => (state.isOver = true));
  const startedAt = performance.now();
  for (let sent = 0; !state.isOver; ) {
    for (const due = ((performance.now() - startedAt) / 1000) * PACED_PER_SECOND; sent < due; sent += 1) {
      const name = sent % 2 === 0 ? names[(sent * 104_729) % names.length] ?? "" : `free${sent % FREE_NAMES}.example.net`;
      sentAt.set(sent & 0xffff, performance.now());
      socket.send(encodeDns({ id: sent & 0xffff, isRecursionDesired: true, questions: [{ name, type: DNS_TYPE.a }] }), port, "127.0.0.1");
    }
    await pause(1);
  }
  await pause(1000);
  socket.close();
  return [...times, ...Array.from(sentAt, () => 1000)];
}

/** A look-up in the set of the names alone. */
function lookupNanoseconds(names: readonly string[]): number {
  const set = openNameSet(buildSet(new TextEncoder().encode(names.join("\n"))));
  if ("fault" in set) throw new Error(set.fault);
  return measureSet(set, queriesOf(names)).all;
}

/** Has the lists read again, and asks until a name that only the new version has is blocked. */
async function worstDuringReload(child: ChildProcess, { folder, names }: Place, port: number): Promise<number> {
  const added = "only-in-the-new-version.example";
  const file = join(folder, "names");
  writeFileSync(file, `${readFileSync(file, "latin1")}\n${added}`);
  utimesSync(file, new Date(), new Date());
  child.kill("SIGHUP");
  const read = waitFor("the new version of the list", async () => ((await ask(port, added, 200)) === DNS_RESPONSE_CODE.nameError ? true : null), { everyMs: 20 });
  const times = await askPaced(port, names, read);
  return round(Math.max(...times));
}

function percentile(values: readonly number[], share: number): number {
  return round(values.toSorted((one, other) => one - other)[Math.floor(values.length * share)] ?? 0);
}

function residentMegabytes({ pid }: ChildProcess): number {
  return round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024);
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
