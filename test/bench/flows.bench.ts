import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seededRandom } from "@lanthorn/runtime";
import type { FlowRecord } from "@lanthorn/traffic";
import { type FlowsRead, readFlows } from "../../apps/probe/src/flows/read-flows.ts";
import { unpackDebianPackages } from "../lab/debian-packages.ts";
import { runCommand } from "../lab/run-command.ts";
import { makeFlowsCapture } from "./flows-capture.ts";
import { compareConversations, conversationsOf, readConversations } from "./flows-conversations.ts";

const MADE_FRAMES = 500_000;
const ROUNDS = 3;
/** A round reads small files again and again until it has seen so many frames: the first thousands are compiled, not measured. */
const ROUND_FRAMES = 300_000;
const MAX_REPEATS = 2000;
/** VXLAN on the port that Linux used first, which tshark must be told. */
const BESIDES = ["-d", "udp.port==8472,vxlan"];
/** No further round begins after this. */
const MAX_SECONDS = 20;

/**
 * How fast flows are read from capture files, as `lanthorn-probe flows` reads them: tunnels, fragments, flow table and all parsers on, on one
 * core; and whether tshark counts the same conversations: ends, frames and bytes each way. Without files it makes one. The best of three
 * rounds counts, after one to warm up; small files are read many times in a round. The only line on standard output is JSON; `ratio` is our frames per second over those of tshark with the same two tables,
 * in the same run; `agree` and `differ` are null where tshark cannot be had. Some that differ are named on standard error.
 */
export async function run(args: readonly string[]): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "lanthorn-bench-flows-"));
  try {
    const paths = args.length > 0 ? args : [join(folder, "made.pcap")];
    if (args.length === 0) await writeFile(paths[0] as string, makeFlowsCapture(MADE_FRAMES, seededRandom(1)));
    const { nanosecondsPerFrame, messages, read } = await measure(paths);
    const { frames, flows, notUnderstood, inspection } = read.counters;
    const rss = process.memoryUsage().rss;
    for (const problem of read.problems) process.stderr.write(`${problem}\n`);
    const peer = await compareWithTshark(paths);
    const perSecond = 1e9 / nanosecondsPerFrame;
    console.log(JSON.stringify({
      bench: "flows", frames, frames_per_second: Math.round(perSecond), flows: flows.opened, ns_per_frame: Math.round(nanosecondsPerFrame), messages,
      recognized: inspection?.recognized ?? 0, agree: peer?.agree ?? null, differ: peer?.differ ?? null,
      tshark_frames_per_second: peer && Math.round(frames / peer.seconds), ratio: peer && Math.round((perSecond * peer.seconds * 100) / Math.max(frames, 1)) / 100,
      not_understood: notUnderstood, rss_mb: Math.round(rss / 1e6),
    }));
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** @returns The best round's nanoseconds a frame, and what one reading of the files found. */
async function measure(paths: readonly string[]): Promise<{ readonly nanosecondsPerFrame: number; readonly messages: number; readonly read: FlowsRead }> {
  const beganAt = process.hrtime.bigint();
  const first = await readOnce(paths);
  const { frames } = first.read.counters;
  const again = Array.from({ length: Math.min(Math.ceil(ROUND_FRAMES / Math.max(frames, 1)), MAX_REPEATS) }, () => paths).flat();
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS && (round === 0 || Number(process.hrtime.bigint() - beganAt) < MAX_SECONDS * 1e9); round += 1) {
    const startedAt = process.hrtime.bigint();
    const { read } = await readOnce(again);
    best = Math.min(best, Number(process.hrtime.bigint() - startedAt) / Math.max(read.counters.frames, 1));
  }
  return { ...first, nanosecondsPerFrame: best };
}

async function readOnce(paths: readonly string[]): Promise<{ readonly messages: number; readonly read: FlowsRead }> {
  let messages = 0;
  const read = await readFlows({
    paths, random: Math.random, print: () => {}, onMessage: () => {
      messages += 1;
    },
  });
  return { messages, read };
}

/** tshark's conversations of each file, beside ours of each; null where there is no tshark. */
async function compareWithTshark(paths: readonly string[]): Promise<{ readonly agree: number; readonly differ: number; readonly seconds: number } | null> {
  const tools = await unpackDebianPackages(["tshark"]).catch((error: unknown) => {
    process.stderr.write(`no comparison: tshark cannot be had: ${error instanceof Error ? error.message : String(error)}\n`);
    return null;
  });
  if (tools === null) return null;
  const { path: program, env } = tools.command("tshark");
  let [agree, differ, seconds] = [0, 0, 0];
  for (const path of paths) {
    const startedAt = process.hrtime.bigint();
    const text = await runCommand(program, ["-n", "-q", ...BESIDES, "-z", "conv,tcp", "-z", "conv,udp", "-r", path], { env: { ...env, HOME: "/nonexistent" } });
    seconds += Number(process.hrtime.bigint() - startedAt) / 1e9;
    const records: FlowRecord[] = [];
    await readFlows({ paths: [path], random: Math.random, onMessage: null, print: (some) => void records.push(...some) });
    const compared = compareConversations(conversationsOf(records), readConversations(text));
    agree += compared.agree;
    differ += compared.different.length;
    for (const key of compared.different.slice(0, 10)) process.stderr.write(`${path}: differs: ${key}\n`);
  }
  return { agree, differ, seconds };
}
