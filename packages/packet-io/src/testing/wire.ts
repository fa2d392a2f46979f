import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { systemClock } from "@lanthorn/runtime";
import { type CaptureOptions, openCapture } from "../capture/capture.ts";
import type { Capture, CapturedFrame } from "../capture/capture-types.ts";
import { PacketIoError } from "../errors.ts";

/** Local Experimental Ethertype 1: nothing else speaks it. @see IEEE 802 9.2.3 */
const TEST_ETHERTYPE = 0x88b5;
const TEST_FILTER = "ether proto 0x88b5";
const NUMBER_OFFSET = 14;

/** A broadcast frame that carries a number. */
export function numberedFrame(
  number: number,
  options: { readonly length?: number; readonly etherType?: number; readonly sender?: number } = {},
): Uint8Array {
  const frame = new Uint8Array(options.length ?? 60);
  frame.fill(0xff, 0, 6);
  frame.set([0x02, 0, 0, 0, 0, options.sender ?? 1], 6);
  const view = new DataView(frame.buffer);
  view.setUint16(12, options.etherType ?? TEST_ETHERTYPE);
  view.setUint32(NUMBER_OFFSET, number);
  return frame;
}

/** Frames with the numbers `first` to `first + count - 1`, each made when it is taken. */
export function* numberedFrames(count: number, first = 0): Generator<Uint8Array> {
  for (let number = first; number < first + count; number += 1) yield numberedFrame(number);
}

/** The pair's queue has room for twice as many. */
const PORTION_FRAMES = 500;

/** Sends `numberedFrames(count)` such that the pair loses none, however late the kernel hands them over: a portion waits until the one before it arrived. */
export async function sendWithoutLoss(count: number, send: (frames: Iterable<Uint8Array>) => Promise<void>, arrived: () => number): Promise<void> {
  for (let first = 0; first < count; first += PORTION_FRAMES) {
    const portion = Math.min(PORTION_FRAMES, count - first);
    await send(numberedFrames(portion, first));
    await until(() => arrived() === first + portion);
  }
}

/** The number of a frame of `numberedFrame`. */
export function numberOf(frame: CapturedFrame): number {
  return new DataView(frame.bytes.buffer, frame.bytes.byteOffset).getUint32(NUMBER_OFFSET);
}

/** A capture that keeps everything it is given. */
export interface KeptCapture extends Capture {
  readonly frames: CapturedFrame[];
  readonly batchSizes: number[];
  readonly losses: string[];
}

/** Captures numbered frames only, 2048 octets of each, unless the options say otherwise. */
export function keepCapture(options: Partial<CaptureOptions> & { readonly interface: string }): KeptCapture {
  const frames: CapturedFrame[] = [];
  const batchSizes: number[] = [];
  const losses: string[] = [];
  const capture = openCapture({
    filter: TEST_FILTER,
    snapLength: 2048,
    promiscuous: true,
    clock: systemClock,
    onFrames(batch) {
      batchSizes.push(batch.length);
      frames.push(...batch);
    },
    onLost(reason) {
      losses.push(reason.code);
    },
    ...options,
  });
  return { ...capture, frames, batchSizes, losses };
}

/** What the pair itself lost on the way from `vb`: the kernel's queue between its ends is 1000 frames long. */
export function lostByVeth(): number {
  return Number(readFileSync("/sys/class/net/vb/statistics/tx_dropped", "latin1"));
}

/** Only what hangs takes this long; less than a scenario's process is given, so that it can say what it waited for. */
const HANG_MS = 240_000;

/** Waits until something is so. @throws Error after four minutes, with what was waited for as it stands in the test. */
export async function until(isSo: () => boolean): Promise<void> {
  for (const end = performance.now() + HANG_MS; !isSo(); ) {
    if (performance.now() > end) throw new Error(`did not come to be: ${isSo.toString()}`);
    await new Promise<void>((resolve) => void setTimeout(resolve, 5));
  }
}

/** The code of the error that an attempt ends with, or null. */
export async function codeOf(attempt: () => unknown): Promise<string | null> {
  try {
    await attempt();
    return null;
  } catch (error) {
    if (error instanceof PacketIoError) return error.code;
    throw error;
  }
}

/** Runs `ip` with these arguments. @throws Where it fails. */
export function ip(...args: readonly string[]): void {
  execFileSync("ip", args, { stdio: "pipe" });
}
