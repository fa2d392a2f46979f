import { BATCH_MAX_EVENTS, type EventData, HoneypotSession, HoneypotSessionDetail, HoneypotTranscripts, listEnvelope, MAX_TRANSCRIPT_CHARACTERS } from "@lanthorn/contract";
import { createId, toInstant } from "@lanthorn/runtime";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Stack, startStack } from "../../agents/testing/stack.ts";
import { MAX_TRANSCRIPTS_OF_SITE } from "../sessions/reaction.ts";
import { appendOfDecoys, GUESS, INCIDENT } from "../testing/decoy-events.ts";

type Evidence = EventData<"honeypot_evidence">;

const EVIDENCE: Evidence = {
  evidence_id: createId(), incident_id: INCIDENT, decoy: "files2", service: "ssh", transcript: "{\"version\":2}\n[0.1,\"i\",\"secret typed\"]\n",
  files: [{ name: "x.sh", sha256: "ab".repeat(32), octets: 3, is_kept: true }, { name: "accounts.csv", sha256: "cd".repeat(32), octets: 900, is_kept: true, direction: "read" }], fingerprints: [{ kind: "hassh", value: "ec7378c1a92f5a8dde7e8b7a1ddf33d1" }],
};
const typed = (transcript: string): Evidence => ({ ...EVIDENCE, evidence_id: createId(), transcript, files: [], fingerprints: [] });

const PROBE = createId();
let stack: Stack;
/** Path of the session that the evidence is of. */
let path: string;
beforeEach(async () => {
  stack = await startStack();
  await appendOfDecoys(stack, PROBE, "honeypot_hit", [GUESS]);
  const [session] = listEnvelope(HoneypotSession).parse((await stack.call("GET", "/api/v1/honeypots/sessions")).body).data;
  path = `/api/v1/honeypots/sessions/${session?.id}`;
});
afterEach(() => stack.close());

const append = (all: readonly Evidence[], at?: number) => appendOfDecoys(stack, PROBE, "honeypot_evidence", all, at === undefined ? {} : { at });
const transcripts = async (cursor: string | null) => {
  const { raw, body } = await stack.call("GET", `${path}/transcript${cursor === null ? "" : `?cursor=${cursor}`}`);
  return { ...HoneypotTranscripts.parse(body), octets: raw.length };
};
const keptOf = async (kind: string) => (await stack.database.db.selectFrom("honeypot_evidence").select("value").where("kind", "=", kind).orderBy("id").execute()).map(({ value }) => value);

test("evidence is kept once and as it came first, is in no log, and is shown to the tenant alone", async () => {
  await append([EVIDENCE, EVIDENCE], 1_780_000_000_000);
  await append([EVIDENCE]);
  expect(await transcripts(null)).toMatchObject({ transcripts: [{ service: "ssh", asciicast: EVIDENCE.transcript, recorded_at: toInstant(1_780_000_000_000) }], next_cursor: null });
  expect((await stack.call("GET", `${path}/files`)).body).toMatchObject({ files: [
    { name: "x.sh", sha256: "ab".repeat(32), octets: 3, is_kept: true, direction: "sent" }, { name: "accounts.csv", sha256: "cd".repeat(32), direction: "read" },
  ] });
  expect(HoneypotSessionDetail.parse((await stack.call("GET", path)).body).clients).toEqual([{ kind: "hassh", value: "ec7378c1a92f5a8dde7e8b7a1ddf33d1", service: "ssh" }]);
  expect(JSON.stringify(await stack.database.db.selectFrom("events").selectAll().execute())).not.toContain("secret typed");
  for (const rest of ["transcript", "files"]) expect((await stack.call("GET", `${path}/${rest}`, { tenantId: createId() })).status).toBe(404);
});

test("transcripts are for vault:reveal, and each look at them is in the audit log, without them", async () => {
  await append([EVIDENCE]);
  for (const role of ["viewer", "operator"] as const) {
    const { status, body } = await stack.call("GET", `${path}/transcript`, { role });
    expect([status, body.error.details]).toEqual([403, { required: "vault:reveal" }]);
  }
  const audited = () => stack.database.db.selectFrom("audit").select(["target_id", "after"]).where("action", "=", "honeypot_transcript.reveal").execute();
  expect(await audited()).toEqual([]);
  for (let count = 0; count < 2; count += 1) await transcripts(null);
  const records = await audited();
  expect(records.map(({ target_id: id, after }) => [path.endsWith(id), JSON.parse(after ?? "")])).toEqual(Array.from({ length: 2 }, () => [true, { decoy: "files2", source_ip: "192.0.2.66", transcripts: 1 }]));
  expect((await stack.call("GET", `${path}/files`, { role: "viewer" })).status).toBe(200);
});

test("of a site the newest transcripts are kept, and the other evidence beside them", async () => {
  await append([EVIDENCE]);
  for (let count = 0; count < MAX_TRANSCRIPTS_OF_SITE + 2; count += BATCH_MAX_EVENTS) {
    await append(Array.from({ length: Math.min(BATCH_MAX_EVENTS, MAX_TRANSCRIPTS_OF_SITE + 2 - count) }, (_, number) => typed(`${count + number}`)));
  }
  const kept = await keptOf("transcript");
  expect([kept.length, kept[0], kept.at(-1), (await keptOf("file")).length]).toEqual([MAX_TRANSCRIPTS_OF_SITE, "2", `${MAX_TRANSCRIPTS_OF_SITE + 1}`, 1]);
});

test("an answer has a megabyte of transcripts, whatever is in them, and the rest is behind its cursor", async () => {
  // A control character has six of JSON.
  const all = Array.from({ length: 7 }, (_, number) => `${number}${"\u0001".repeat(MAX_TRANSCRIPT_CHARACTERS - 1)}`);
  await append(all.map(typed));
  const read: string[] = [];
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<typeof transcripts>> = await transcripts(cursor);
    expect(page.octets).toBeLessThan(1_001_000);
    read.push(...page.transcripts.map(({ asciicast }) => asciicast));
    cursor = page.next_cursor;
  } while (cursor !== null);
  expect(read).toEqual(all);
});
