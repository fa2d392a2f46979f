import { createId, toInstant } from "@lanthorn/runtime";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Stack, startStack } from "../agents/testing/stack.ts";
import { forgetOld } from "./retention-store.ts";
import { appendOfDecoys, HIT } from "./testing/decoy-events.ts";

const OLD = Date.UTC(2026, 0, 1);
const PROBE = createId();
let stack: Stack;
beforeEach(async () => {
  stack = await startStack();
});
afterEach(() => stack.close());

test("of each kind what is older goes, however much that is, and the newer stays", async () => {
  for (const at of [OLD, OLD + 1000]) {
    await appendOfDecoys(stack, PROBE, "honeypot_hit", Array.from({ length: at === OLD ? 501 : 1 }, () => ({ ...HIT, incident_id: createId(), is_test: true })), { at });
    await appendOfDecoys(stack, PROBE, "honeypot_credentials", [{ incident_id: createId(), decoy: "files2", tried: [{ service: "ftp", username: "root", password: "a", is_bait: false }] }], { at });
    await appendOfDecoys(stack, PROBE, "honeypot_evidence", [{ evidence_id: createId(), incident_id: createId(), decoy: "files2", service: "ssh", transcript: "x", files: [], fingerprints: [] }], { at });
  }
  const { db } = stack.database;
  const left = async () => [
    (await db.selectFrom("honeypot_sessions").select("id").execute()).length, (await db.selectFrom("honeypot_credentials").select("id").execute()).length,
    (await db.selectFrom("honeypot_evidence").select("id").execute()).length, (await db.selectFrom("honeypot_rungs").select("session_id").execute()).length,
  ];
  expect(await forgetOld(stack.database, toInstant(OLD), new AbortController().signal)).toBe(0);
  expect(await forgetOld(stack.database, toInstant(OLD + 1000), AbortSignal.abort())).toBe(0);
  expect(await forgetOld(stack.database, toInstant(OLD + 1000), new AbortController().signal)).toBe(503);
  expect(await left()).toEqual([1, 1, 1, 1]);
});
