import { gunzipSync } from "node:zlib";
import { type IdsTestMatch, type IdsTestResult, MAX_IDS_TEST_BYTES } from "@lanthorn/contract";
import { type AlertEnd, type IdsAlert, openRuleTest, type Refusal, type RuleTested } from "@lanthorn/ids";
import { toInstant } from "@lanthorn/runtime";
import type { TrialAnswer, TrialResult, TrialTask } from "./tasks.ts";

/** Of a capture at once. */
const PIECE_BYTES = 256 * 1024;

/** Tries a rule. @param isOver Asked at each frame: whether the rest is to be left out. */
export function runTrial({ rules, addresses, capture, rest }: TrialTask, isOver: () => boolean): TrialAnswer {
  const unpacked = unpack(capture);
  if (typeof unpacked === "string") return { refused: unpacked };
  const opening = openRuleTest(rules, { addresses, random: Math.random, isOver });
  if (!opening.ok) return { result: { ...NOTHING, refusal: toRefusal(opening.refusal) } };
  const { test } = opening;
  for (let at = 0; at < unpacked.length && test.push(unpacked.subarray(at, at + PIECE_BYTES)); at += PIECE_BYTES);
  const result = toResult(test.end());
  // The last frame of a part is nearly always cut: that there is more says more.
  return { result: { ...result, problem: rest !== null && (result.problem === null || result.problem.startsWith("it is cut off")) ? rest : result.problem } };
}

const NOTHING: TrialResult = {
  matched: false, alerts: 0, matches: 0, shown: [], missed: null, parts: [], refusal: null, beside_refused: [], unset_bits: [], frames: 0, problem: null, gave_up: false,
};

function unpack(bytes: Uint8Array): Uint8Array | string {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes;
  try {
    return gunzipSync(bytes, { maxOutputLength: MAX_IDS_TEST_BYTES });
  } catch (error) {
    const isLarge = (error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE";
    return isLarge ? `it has more than ${MAX_IDS_TEST_BYTES} bytes unpacked` : "it cannot be unpacked";
  }
}

function toResult({ matches, alerts, shown, parts, missed, frames, problem, gaveUp, unsetBits, refusals }: RuleTested): TrialResult {
  return {
    matched: matches > 0, matches, alerts, shown: shown.map(toMatch), parts: parts.map((part) => ({ ...part })), refusal: null, beside_refused: refusals.map(toRefusal),
    missed: missed && {
      kind: missed.kind, text: missed.text, buffer: missed.buffer, matches_without: missed.matchesWithout, candidate: missed.candidate && toMatch(missed.candidate),
    },
    unset_bits: [...unsetBits], frames, problem, gave_up: gaveUp,
  };
}

function toRefusal({ gid, id, keyword, reason }: Refusal): IdsTestResult["beside_refused"][number] {
  return { generator_id: gid, signature_id: id, keyword: keyword.slice(0, 64), reason: reason.slice(0, 255) };
}

function toMatch({ at, frameNumber, direction, source, destination, flow, application, places }: IdsAlert): IdsTestMatch {
  return {
    frame: frameNumber > 0 ? frameNumber : null, at: toInstant(clamp(at / 1000)), direction, source: toEnd(source), destination: toEnd(destination), protocol: flow.protocol, application,
    buffers: places.map(({ buffer, offset, length, bytes }) => ({ buffer, offset, length, bytes: Buffer.from(bytes).toString("base64") })),
  };
}

/** A capture may name any time; what no clock shows is the last that one does. */
function clamp(ms: number): number {
  return Math.min(Math.max(ms, 0), MAX_TIME_MS);
}

/** 31 December 9999. */
const MAX_TIME_MS = 253_402_300_799_999;

function toEnd({ ip, port }: AlertEnd): IdsTestMatch["source"] {
  return { ip, port: port < 0 ? null : port };
}
