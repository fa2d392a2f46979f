/** Captures of the lab's scenarios. For tests only. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { readCapture } from "@lanthorn/packets";
import type { GuardScene } from "./guard-scene.ts";

const SCENARIOS = fileURLToPath(new URL("../../../../../test/lab/scenarios/", import.meta.url));
/** The probe ticks so often. */
const TICK_MS = 500;

/** Guards hear a capture of the lab in its own time. @param name Of the scenario. */
export async function playCapture(scene: GuardScene, name: string): Promise<void> {
  const { records } = readCapture(readFileSync(`${SCENARIOS}${name}.pcap`));
  const [first] = records;
  const beganAt = scene.clock.now();
  for (const { seconds, nanoseconds, bytes } of records) {
    const atMs = beganAt + (seconds - (first?.seconds ?? 0)) * 1000 + Math.round((nanoseconds - (first?.nanoseconds ?? 0)) / 1e6);
    while (scene.clock.now() < atMs) await scene.clock.advance(Math.min(TICK_MS, atMs - scene.clock.now()));
    scene.hear(bytes);
  }
}
