/** Whether an engine gives the same alerts when the same bytes come in other segments. */
import { type Rule } from "@lanthorn/ids";
import { seededRandom } from "@lanthorn/runtime";
import { type CapturedFrame } from "./capture-frames.ts";
import type { EveAlert } from "./checks.ts";
import { loadEngine, runFrames } from "./engine.ts";
import { keyOfEve } from "./figures.ts";
import { mutateFrames, type Mutation, MUTATIONS } from "./mutations.ts";
import type { CaseSettings } from "./settings.ts";

/** A mutated capture that gave other alerts. */
export interface Changed {
  readonly mutation: Mutation;
  readonly seed: number;
  /** Signature, flow and direction. */
  readonly missing: readonly string[];
  readonly extra: readonly string[];
}

/**
 * Runs a capture and `seeds` mutations of it of each kind.
 * @returns Those that gave other alerts, rules about single packets aside.
 */
export function findChanged(rules: Uint8Array, frames: readonly CapturedFrame[], settings: CaseSettings, seeds: number): { readonly runs: number; readonly changed: readonly Changed[] } {
  const aboutPackets = new Set(loadEngine(rules, settings, () => {}).rules.filter(isAboutPackets).map(({ id }) => id));
  const keysOf = (alerts: readonly EveAlert[]) => new Set(alerts.filter(({ alert }) => !aboutPackets.has((alert as { readonly signature_id: number }).signature_id)).map(keyOfEve));
  const expected = keysOf(runFrames(rules, frames, settings).alerts);
  const changed: Changed[] = [];
  let runs = 0;
  for (const mutation of MUTATIONS) {
    for (let seed = 0; seed < seeds; seed += 1) {
      const found = keysOf(runFrames(rules, mutateFrames(frames, mutation, seededRandom(seed)), settings).alerts);
      const [missing, extra] = [[...expected].filter((key) => !found.has(key)), [...found].filter((key) => !expected.has(key))];
      runs += 1;
      if (missing.length > 0 || extra.length > 0) changed.push({ mutation, seed, missing, extra });
    }
  }
  return { runs, changed };
}

/** Other packets may match it otherwise: it looks at them, or counts matches. */
function isAboutPackets({ protocol, flow, conditions, buffers, threshold, detectionFilter, states }: Rule): boolean {
  const hasPayload = buffers.some(({ buffer }) => buffer === "payload");
  return protocol.scope === "packet" || flow.stream === "none" || conditions.length > 0 || threshold !== null || detectionFilter !== null || states.length > 0 || buffers.length === 0
    || (hasPayload && protocol.applications === null && protocol.scope !== "stream");
}
