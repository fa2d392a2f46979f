import { readdirSync, readFileSync, statSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { parseRules } from "@lanthorn/ids";
import { LINK_TYPE } from "@lanthorn/packets";
import { seededRandom } from "@lanthorn/runtime";
import { withSmallHeap } from "../../apps/probe/src/traffic/supervisor/small-heap-command.ts";
import { bundleProgram } from "../lab/bundle-program.ts";
import { runCommand } from "../lab/run-command.ts";
import { findSuricata, runSuricata, type Suricata } from "../lab/suricata.ts";
import { makeFlowsCapture } from "./flows-capture.ts";
import { captureOf, type CapturedFrame, framesOf, joinCaptures } from "./ids/capture-frames.ts";
import { type EngineFigures, keyOfEve } from "./ids/figures.ts";
import { makeRuleTraffic } from "./ids/rule-traffic.ts";

/** Flows of one capture end before the next begins, in every engine. */
const PAUSE_SECONDS = 700;
/** The captures are repeated until there are so many: what is measured is how it goes on, and not its start, of which V8's compiler has the most. */
const LEAST_FRAMES = 1_600_000;
/** The engines run by turns: a machine that others use too gives one program half its speed for seconds. */
const ROUNDS = 3;
const MADE_FRAMES = 50_000;
const SHOWN = 20;

/**
 * Our engine, with the heap of the probe's traffic process, and Suricata with the same rules over the same frames, each in a process of its own with one thread: what they take to load
 * rules, to see a packet, and of memory; and whether they give the same alerts, by signature, flow and direction. Suricata runs with
 * Hyperscan and with its own matcher. All run by turns, `--rounds` times; times are the median, memory is the most. Captures are files or folders of them; they are laid behind each other, with a pause in which flows
 * end, beside traffic that is made here (`--no-made` leaves it out): of an office, and of one conversation for each rule that says what its contents look for; and repeated to `--frames`. `--list` names what differs.
 */
export async function run(args: readonly string[]): Promise<void> {
  const { values, positionals: [rules, ...paths] } = parseArgs({
    args: [...args], allowPositionals: true,
    options: { list: { type: "boolean", default: false }, "no-made": { type: "boolean", default: false }, frames: { type: "string", default: String(LEAST_FRAMES) }, rounds: { type: "string", default: String(ROUNDS) } },
  });
  if (rules === undefined || (paths.length === 0 && values["no-made"])) throw new Error("ids takes a file of rules, plain or as .xz, and captures or folders of captures");
  const folder = await mkdtemp(join(tmpdir(), "lanthorn-bench-ids-"));
  try {
    const files = { rules: join(folder, "all.rules"), capture: join(folder, "all.pcap") };
    await writeFile(files.rules, await readRules(rules, files.rules));
    const captures = paths.flatMap(findCaptures).map((path) => framesOf(readFileSync(path)).filter(({ linkType }) => linkType === LINK_TYPE.ethernet));
    const made = values["no-made"] ? [] : [framesOf(makeFlowsCapture(MADE_FRAMES, seededRandom(17))), makeRuleTraffic(parseRules(readFileSync(files.rules)).rules)];
    const frames = repeat([...captures, ...made], Number(values.frames));
    await writeFile(files.capture, captureOf(frames));
    console.log(`${captures.length} captures, ${frames.length} frames`);
    const [program = "", ...words] = withSmallHeap([process.execPath, bundleProgram(fileURLToPath(new URL("ids/measure-engine.ts", import.meta.url))), files.rules, files.capture]);
    const suricata = await findSuricata();
    if (typeof suricata === "string") console.log(`no comparison: ${suricata}`);
    const [ours, peers]: [EngineFigures[], Peers[]] = [[], []];
    for (let left = Math.max(1, Number(values.rounds)); left > 0; left -= 1) {
      ours.push(JSON.parse(await runCommand(program, words)) as EngineFigures);
      if (typeof suricata !== "string") peers.push(await runPeers(suricata, files, folder));
    }
    if (values.list && peers[0]) listDifferences(middle(ours), peers[0].ac);
    console.log(JSON.stringify({ bench: "ids", ...reportOf(middle(ours), frames.length), rounds: ours.length, ...(peers.length > 0 && compare(ours, peers, frames.length)) }));
  } finally {
    await rm(folder, { recursive: true });
  }
}

interface Files {
  readonly rules: string;
  readonly capture: string;
}

/** What Suricata gave with either matcher; the same, where a build has no Hyperscan. */
interface Peers {
  readonly hyperscan: EngineFigures;
  readonly ac: EngineFigures;
}

async function runPeers(suricata: Suricata, files: Files, folder: string): Promise<Peers> {
  const ac = await runPeer(suricata, "ac", files, folder);
  return { ac, hyperscan: suricata.hasHyperscan ? await runPeer(suricata, "hs", files, folder) : ac };
}

async function runPeer(suricata: Suricata, matcher: "hs" | "ac", { rules, capture }: Files, folder: string): Promise<EngineFigures> {
  const result = await runSuricata(suricata, { folder: join(folder, `suricata-${matcher}`), rules, capture, matcher });
  return {
    rulesLoaded: result.rules.loaded, rulesRefused: result.rules.failed, loadSeconds: result.loadSeconds, packetSeconds: result.packetSeconds, rssBytes: result.rssBytes, packets: 0,
    alerts: result.alerts.length, keys: [...new Set(result.alerts.map(keyOfEve))],
  };
}

function reportOf({ rulesLoaded, rulesRefused, loadSeconds, packetSeconds, rssBytes, alerts }: EngineFigures, frames: number) {
  return {
    rules_loaded: rulesLoaded, rules_refused: rulesRefused, load_seconds: round(loadSeconds), rss_mb: Math.round(rssBytes / 1e6), ns_per_packet: Math.round((packetSeconds * 1e9) / Math.max(frames, 1)), alerts,
  };
}

/** Of runs of one engine over the same: the medians of its times, and the most memory. */
function middle(runs: readonly EngineFigures[]): EngineFigures {
  const [first] = runs;
  if (!first) throw new Error("no run to take the middle of");
  const medianOf = (value: (run: EngineFigures) => number) => runs.map(value).toSorted((a, b) => a - b)[Math.floor(runs.length / 2)] ?? 0;
  return {
    ...first, loadSeconds: medianOf(({ loadSeconds }) => loadSeconds), packetSeconds: medianOf(({ packetSeconds }) => packetSeconds), rssBytes: Math.max(...runs.map(({ rssBytes }) => rssBytes)),
  };
}

/** Agreement is the share of Suricata's keys that we have; extra are ours that it has not. The worst of a ratio is that of one round. */
function compare(runs: readonly EngineFigures[], peers: readonly Peers[], frames: number) {
  const [ours, ac, hyperscan] = [middle(runs), middle(peers.map((peer) => peer.ac)), middle(peers.map((peer) => peer.hyperscan))];
  const theirs = new Set(ac.keys);
  const mine = new Set(ours.keys);
  const both = ac.keys.filter((key) => mine.has(key)).length;
  const worst = (of: keyof Peers) => round(Math.max(...peers.map((peer, index) => (runs[index]?.packetSeconds ?? 0) / peer[of].packetSeconds)));
  return {
    suricata: { ...reportOf(hyperscan, frames), ac: reportOf(ac, frames) }, agreement: theirs.size === 0 ? 1 : Math.round((both / theirs.size) * 10_000) / 10_000,
    extra: ours.keys.filter((key) => !theirs.has(key)).length, compared: theirs.size,
    packet_ratio: round(ours.packetSeconds / hyperscan.packetSeconds), packet_ratio_ac: round(ours.packetSeconds / ac.packetSeconds),
    packet_ratio_worst: worst("hyperscan"), packet_ratio_ac_worst: worst("ac"),
    load_ratio: round(ours.loadSeconds / hyperscan.loadSeconds), load_ratio_ac: round(ours.loadSeconds / ac.loadSeconds),
    rss_ratio: round(ours.rssBytes / hyperscan.rssBytes), rss_ratio_ac: round(ours.rssBytes / ac.rssBytes),
  };
}

function listDifferences(ours: EngineFigures, theirs: EngineFigures): void {
  const [mine, other] = [new Set(ours.keys), new Set(theirs.keys)];
  const missing = theirs.keys.filter((key) => !mine.has(key));
  const extra = ours.keys.filter((key) => !other.has(key));
  for (const key of missing.slice(0, SHOWN)) console.log(`missing: ${key}`);
  for (const key of extra.slice(0, SHOWN)) console.log(`extra: ${key}`);
}

async function readRules(path: string, unpacked: string): Promise<Uint8Array> {
  if (!path.endsWith(".xz")) return readFileSync(path);
  await runCommand("sh", ["-c", 'exec xz -dc -- "$1" > "$2"', "sh", path, unpacked]);
  return readFileSync(unpacked);
}

function findCaptures(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path, { withFileTypes: true }).toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => (entry.isDirectory() || /\.pcap(?:ng)?$/.test(entry.name) ? findCaptures(join(path, entry.name)) : []));
}

function repeat(captures: readonly (readonly CapturedFrame[])[], least: number): readonly CapturedFrame[] {
  const count = captures.reduce((sum, frames) => sum + frames.length, 0);
  const rounds = count === 0 ? 0 : Math.max(1, Math.ceil(least / count));
  return joinCaptures(Array.from({ length: rounds }, () => captures).flat(), PAUSE_SECONDS);
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
