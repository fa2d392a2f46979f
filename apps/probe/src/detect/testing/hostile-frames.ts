/** Guards under damaged frames. For tests only. */
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { readCapture } from "@lanthorn/packets";
import type { Guard, GuardDeps } from "../guard.ts";
import { createGuardScene } from "./guard-scene.ts";

/**
 * Lets a guard hear each frame, every truncation of it, and as many copies with damaged bytes behind the Ethernet header, the same at every run.
 * @returns What it threw: the bus would log it and go on.
 */
export async function faultsUnder(create: (deps: GuardDeps) => Guard, frames: readonly Uint8Array[], copies = 3000): Promise<readonly unknown[]> {
  const faults: unknown[] = [];
  const guards = [(deps: GuardDeps) => new Proxy(create(deps), {
    get(guard, key: keyof Guard) {
      const method = guard[key];
      return typeof method !== "function" ? method : (...values: unknown[]): unknown => {
        try {
          return Reflect.apply(method, guard, values);
        } catch (error) {
          faults.push(error);
          return undefined;
        }
      };
    },
  })];
  for (const minutes of [0, 60]) {
    const scene = createGuardScene({ guards, settings: { learning_minutes: minutes } });
    for (const frame of frames) {
      for (let end = 14; end <= frame.length; end += 1) scene.hear(frame.slice(0, end));
      for (let copy = 0; copy < copies / frames.length; copy += 1) scene.hear(damage(frame, copy));
      await scene.clock.advance(20_000);
    }
  }
  return faults;
}

const EDGES = [0, 1, 4, 0x7f, 0x80, 0xff];

function damage(frame: Uint8Array, seed: number): Uint8Array {
  const bytes = frame.slice();
  let state = (seed + 1) * 2_654_435_761 >>> 0;
  for (let changes = 0; changes < 3; changes += 1) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    bytes[14 + (state >>> 8) % (bytes.length - 14)] = EDGES[(state >>> 4) % EDGES.length] as number;
  }
  return bytes;
}

const CAPTURES = fileURLToPath(new URL("../../../../../../shared/data/captures/tcpdump/", import.meta.url));
/** Whether other people's captures lie beside the repository. */
export const hasCaptures = existsSync(CAPTURES);

/** Frames of one of those captures. */
export function captureFrames(name: string): readonly Uint8Array[] {
  return readCapture(readFileSync(CAPTURES + name)).records.map(({ bytes }) => bytes);
}
