import { expect } from "vitest";
import type { Decoded } from "../decoded.ts";
import { everyTruncation, seededMutations } from "./hostile.ts";

const MUTATIONS = 20_000;

/** About fifty times what the slowest decoder needs for all of them on an idle core, so that only a decoder that walks too far fails. */
const MAX_WAIT_MS = 10_000;

/**
 * Gives every truncation and 20,000 seeded mutations of `sample` to `decode`, and expects a value or a well-formed `Malformed` each time,
 * never a throw, and all of them within seconds.
 * @param options.shortest Every prefix shorter than this must be `truncated`.
 * @returns How many of the inputs were malformed.
 */
export function expectResults(
  decode: (bytes: Uint8Array) => Decoded<unknown>,
  sample: Uint8Array,
  options: { readonly seed: number; readonly shortest: number },
): number {
  const start = performance.now();
  let malformed = 0;
  for (const bytes of everyTruncation(sample)) {
    const result = decode(bytes);
    if (bytes.length < options.shortest) expect(result, `the first ${bytes.length} bytes`).toMatchObject({ ok: false, code: "truncated" });
    if (!isSound(result, bytes)) expect.fail(`${JSON.stringify(result)} for the first ${bytes.length} bytes`);
    if (!result.ok) malformed += 1;
  }
  for (const bytes of seededMutations(sample, MUTATIONS, options.seed)) {
    const result = decode(bytes);
    if (!isSound(result, bytes)) expect.fail(`${JSON.stringify(result)} for ${Buffer.from(bytes).toString("hex")}`);
    if (!result.ok) malformed += 1;
  }
  expect(performance.now() - start).toBeLessThan(MAX_WAIT_MS);
  return malformed;
}

/** Not `expect` for each: a hundred thousand assertions take longer than what they assert. */
function isSound(result: Decoded<unknown>, bytes: Uint8Array): boolean {
  if (result.ok) return result.value !== undefined;
  const { code, layer, offset } = result;
  if (code !== "truncated" && code !== "bad-value") return false;
  return layer.length > 0 && Number.isInteger(offset) && offset >= 0 && offset <= bytes.length;
}
