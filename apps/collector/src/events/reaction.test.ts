import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { EVENT_TYPES, type EventType } from "@lanthorn/contract";
import { createId } from "@lanthorn/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Database } from "../db/open.ts";
import type { CollectorError } from "../errors.ts";
import { REACTION_ORDER, REACTIONS } from "../reactions.ts";
import { createAlertReaction } from "../services/alerts/reaction/reaction.ts";
import { openTestDatabase } from "../testing/database.ts";
import { gapReaction } from "../testing/example-reaction.ts";
import { type AppendedEvent, createEventLog, type NewEvent } from "./log.ts";
import { createReactions, type Reaction } from "./reaction.ts";

const AT = "2026-11-20T12:00:00.000Z";

let database: Database;
let tenantId: string;
let directory: string;
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "lanthorn-reactions-"));
  database = await openTestDatabase(directory);
  tenantId = createId();
  await database.db.insertInto("tenants").values({ id: tenantId, name: "tenant", created_at: AT }).execute();
});
afterEach(async () => {
  await database.close();
  rmSync(directory, { recursive: true });
});

const failed = (reason: string): NewEvent => ({
  type: "backup_failed", siteId: null, probeId: null, deviceId: null, queueId: null, probeSeq: null, occurredAt: AT, receivedAt: AT,
  data: { backup_id: "1", reason },
});
const completed = (): NewEvent => ({ ...failed(""), type: "backup_completed", data: { backup_id: "1" } });

/** A table in which only these rows have reactions. */
function table<Name extends string>(rows: { readonly [T in EventType]?: readonly Name[] }) {
  return Object.fromEntries(EVENT_TYPES.map((type) => [type, { reactions: rows[type] ?? [] }])) as unknown as {
    readonly [T in EventType]: { readonly reactions: readonly Name[] };
  };
}

const append = (log: ReturnType<typeof createEventLog>, events: readonly NewEvent[]) =>
  database.db.transaction().execute((trx) => log.append(trx, tenantId, events));
const stored = async () => (await database.reads.selectFrom("events").select(["type", "seq"]).orderBy("seq").execute());

describe("reactions to appended events", () => {
  test("run in their order, each once with all events of its rows, whose data nobody parses again", async () => {
    const calls: [string, readonly AppendedEvent[]][] = [];
    const note = (name: string): Reaction<EventType> => ({
      types: EVENT_TYPES,
      react: (_trx, _context, events) => {
        calls.push([name, events]);
        return Promise.resolve();
      },
    });
    const log = createEventLog({
      reads: database.reads,
      reactions: createReactions(
        table({ backup_failed: ["second", "first"], backup_completed: ["second"], pcap_ready: ["never"] }), ["first", "second", "never"],
        { first: note("first"), second: note("second"), never: note("never") },
      ),
    });
    const events = [failed("one"), completed(), failed("two"), { ...failed(""), type: "error" as const, data: { code: "x", message: "" } }];
    expect(await append(log, events)).toEqual({ fromSeq: 1, toSeq: 4 });
    expect(calls.map(([name, seen]) => [name, seen.map(({ seq }) => seq)])).toEqual([["first", [1, 3]], ["second", [1, 2, 3]]]);
    expect(calls[0]?.[1][0]?.data).toBe(events[0]?.data);
    expect(calls[0]?.[1][0]).toMatchObject({ json: JSON.stringify(events[0]?.data), seenAt: AT, isLate: false, tenant_id: tenantId });
  });

  test("raise events that are written after all of them, and followed by their own reactions", async () => {
    const seen: [string, number][] = [];
    const log = createEventLog({
      reads: database.reads,
      reactions: createReactions(table({ backup_failed: ["raises", "reads"], backup_completed: ["reads"] }), ["raises", "reads"], {
        raises: {
          types: ["backup_failed"],
          react(_trx, { raise }) {
            raise(completed());
            return Promise.resolve();
          },
        },
        reads: {
          types: ["backup_failed", "backup_completed"],
          react(_trx, _context, events: readonly AppendedEvent[]) {
            seen.push(...events.map(({ type, seq }): [string, number] => [type, seq]));
            return Promise.resolve();
          },
        },
      }),
    });
    expect(await append(log, [failed("one"), failed("two")])).toEqual({ fromSeq: 1, toSeq: 2 });
    expect(seen).toEqual([["backup_failed", 1], ["backup_failed", 2], ["backup_completed", 3]]);
    expect((await stored()).map(({ type }) => type)).toEqual(["backup_failed", "backup_failed", "backup_completed"]);
  });

  test("that raise each other for ever undo the transaction", async () => {
    const raises: Reaction<"backup_failed"> = {
      types: ["backup_failed"],
      react(_trx, { raise }) {
        raise(failed("again"));
        return Promise.resolve();
      },
    };
    const log = createEventLog({
      reads: database.reads, reactions: createReactions(table({ backup_failed: ["raises"] }), ["raises"], { raises }),
    });
    await expect(append(log, [failed("one")])).rejects.toMatchObject({ code: "reaction-ring" } satisfies Partial<CollectorError>);
    expect(await stored()).toEqual([]);
  });
});

describe("the example in CONTRIBUTING.md", () => {
  test("is the code that the next test runs", () => {
    const read = (path: string) => readFileSync(fileURLToPath(new URL(path, import.meta.url)), "utf8");
    const shown = /```ts\n(import type \{ Reaction \}.*?)```/s.exec(read("../../../../CONTRIBUTING.md"))?.[1];
    expect(shown?.replace('"../../events/', '"../events/')).toBe(read("../testing/example-reaction.ts"));
  });

  test("needs a row of the table and an entry in the wiring, and alerts follow from what it raises", async () => {
    const log = createEventLog({
      reads: database.reads,
      reactions: createReactions(
        { ...REACTIONS, queue_gap: { reactions: [...REACTIONS.queue_gap.reactions, "gaps"] } }, [...REACTION_ORDER, "gaps"],
        { gaps: gapReaction, alerts: createAlertReaction({ maxOpen: 10 }) },
      ),
    });
    const gap = (dropped: number): NewEvent => ({
      ...failed(""), type: "queue_gap",
      data: { code: "queue-gap", from_seq: 1, to_seq: dropped, dropped, reason: "disk-budget", message: "", since: null },
    });
    await append(log, [gap(10), gap(20_000)]);
    expect((await stored()).map(({ type }) => type)).toEqual(["queue_gap", "queue_gap", "alert_created", "error", "alert_created"]);
    expect((await database.reads.selectFrom("alerts").select("type").orderBy("id").execute()).map(({ type }) => type))
      .toEqual(["events_lost", "probe_error"]);
  });
});
