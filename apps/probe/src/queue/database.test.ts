import { spawn } from "node:child_process";
import {
  closeSync, ftruncateSync, mkdirSync, mkdtempSync, openSync, readdirSync, rmSync, statSync, writeFileSync, writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { createFakeClock, silentLog, systemClock } from "@lanthorn/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { bundleProgram } from "../../../../test/lab/bundle-program.ts";
import { openProbeDatabase } from "./database.ts";
import { createOutbox, type Outbox } from "./outbox.ts";

const clock = createFakeClock();
let directory: string;
let path: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "lanthorn-database-"));
  path = join(directory, "probe.db");
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** Opens, works, closes. */
function use<T>(work: (outbox: Outbox, opened: ReturnType<typeof openProbeDatabase>) => T, distrust?: string): T {
  const opened = openProbeDatabase(path, { clock, log: silentLog, ...(distrust === undefined ? {} : { distrust }) });
  try {
    return work(createOutbox({
      db: opened.db, clock, log: silentLog, budgetBytes: 1e9, onAppended: () => undefined, quarantined: opened.quarantined,
    }), opened);
  } finally {
    opened.close();
  }
}

function fill(events: number): void {
  use((outbox) => {
    outbox.append(Array.from({ length: events }, (_, n) => ({
      type: "error" as const, occurred_at: "2026-01-01T00:00:00.000Z", data: { code: "test", message: `number ${n} ${"x".repeat(200)}` },
    })));
  });
}

/** Overwrites bytes at an offset, as a failing disk does. */
function scribble(offset: number, bytes: Uint8Array): void {
  const file = openSync(path, "r+");
  writeSync(file, bytes, 0, bytes.length, offset);
  closeSync(file);
}

const PAGE = 4096;
const DAMAGE: readonly (readonly [string, () => void])[] = [
  ["is empty", () => writeFileSync(path, "")],
  ["holds garbage", () => writeFileSync(path, Buffer.alloc(20_000, "no database "))],
  ["is one byte long", () => writeFileSync(path, "S")],
  ["is cut off in the middle", () => {
    const file = openSync(path, "r+");
    ftruncateSync(file, Math.floor(statSync(path).size / 2));
    closeSync(file);
  }],
  ["has a first page of zeros", () => scribble(0, new Uint8Array(PAGE))],
  ["has zeros in its schema", () => scribble(100, new Uint8Array(200))],
  ["has every later page turned over", () => {
    for (let page = 2; page < statSync(path).size / PAGE; page += 1) scribble(page * PAGE, new Uint8Array(16).fill(0xa5));
  }],
  ["lost its counters", () =>
    use((_, { db }) => db.exec("DELETE FROM outbox_meta; INSERT INTO outbox_meta VALUES (1, 'nobody', 1, 0, 0, 0, 0, 0)"))],
  ["counts below its rows", () => use((_, { db }) => db.exec("UPDATE outbox_meta SET next_seq = 5"))],
];

describe("opening the probe's database", () => {
  test.each(DAMAGE)("starts anew, keeps the old file aside and reports the gap when the file %s", (_, damage) => {
    fill(300);
    damage();
    use((outbox, { quarantined }) => {
      expect(quarantined?.path).toMatch(/probe\.db\.corrupt-\d{4}-/);
      expect(statSync(quarantined?.path ?? "").isFile()).toBe(true);
      const batch = outbox.take({ maxEvents: 500, maxBytes: 1e6 });
      expect(batch?.events.map((event) => event.type)).toEqual(["queue_gap"]);
      expect(JSON.parse(batch?.events[0]?.data ?? "")).toMatchObject({ reason: "queue-corrupt" });
    });
    use((outbox, { quarantined }) => {
      expect(quarantined).toBeNull();
      expect(outbox.state().events).toBe(1);
    });
  });

  test("makes a queue under a new name after damage", () => {
    fill(10);
    const before = use((outbox) => outbox.state().queueId);
    expect(use((outbox) => outbox.state().queueId, "a page could not be read")).not.toBe(before);
  });

  test("keeps two damaged files at most, the newest", async () => {
    fill(1);
    for (let time = 0; time < 5; time += 1) {
      await clock.advance(1000);
      use(() => undefined, "again");
    }
    expect(readdirSync(directory).filter((name) => name.includes(".corrupt-") && !name.endsWith("-wal"))).toHaveLength(2);
  });

  test("refuses a file that another daemon holds, and leaves it alone", () => {
    use(() => {
      expect(() => openProbeDatabase(path, { clock, log: silentLog })).toThrow(expect.objectContaining({ code: "already-running" }));
    });
  });

  test("says that the storage is unavailable when the path cannot be a file", () => {
    mkdirSync(path);
    expect(() => openProbeDatabase(path, { clock, log: silentLog })).toThrow(expect.objectContaining({ code: "storage-unavailable" }));
  });

  test("asks for a replacement once when a page turns out damaged in use, and appends do not throw", () => {
    fill(3000);
    const opened = openProbeDatabase(path, { clock, log: silentLog });
    let corrupt = 0;
    const outbox = createOutbox({
      db: opened.db, clock, log: silentLog, budgetBytes: 1e9, onAppended: () => undefined, onCorrupt: () => { corrupt += 1; },
    });
    opened.db.pragma("wal_checkpoint(TRUNCATE)");
    opened.db.pragma("shrink_memory");
    for (let page = 2; page < statSync(path).size / PAGE; page += 1) scribble(page * PAGE, new Uint8Array(16).fill(0xa5));
    expect(outbox.take({ maxEvents: 500, maxBytes: 1e6 })).toBeNull();
    outbox.append([{ type: "error", occurred_at: "2026-01-01T00:00:00.000Z", data: { code: "late", message: "" } }]);
    expect(corrupt).toBe(1);
    expect(outbox.unwritten()).toHaveLength(1);
    const carry = outbox.unwritten();
    opened.db.close();
    const again = openProbeDatabase(path, { clock, log: silentLog, distrust: "damaged in use" });
    const next = createOutbox({
      db: again.db, clock, log: silentLog, budgetBytes: 1e9, onAppended: () => undefined, quarantined: again.quarantined, carry,
    });
    expect(next.take({ maxEvents: 500, maxBytes: 1e6 })?.events.map((event) => event.type)).toEqual(["queue_gap", "error"]);
    again.close();
  });
});

describe("a daemon that is killed while it appends", () => {
  test("has every event that append returned for, in order, each under one sequence", async () => {
    let acknowledged = 0;
    for (let kill = 0; kill < 3; kill += 1) {
      const child = spawn(process.execPath, [
        bundleProgram(fileURLToPath(new URL("testing/appender.ts", import.meta.url))), path,
      ], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      let lines = 0;
      for await (const line of createInterface({ input: child.stdout })) {
        acknowledged = Number(line);
        lines += 1;
        if (lines === 40 + kill * 17) child.kill("SIGKILL");
      }
    }
    const opened = openProbeDatabase(path, { clock: systemClock, log: silentLog });
    const rows = opened.db.prepare<[], { seq: number; data: string }>("SELECT seq, data FROM outbox ORDER BY seq").all();
    opened.close();
    expect(opened.quarantined).toBeNull();
    expect(rows.length).toBeGreaterThanOrEqual(acknowledged);
    expect(
      rows.every((row, index) => row.seq === index + 1 && (JSON.parse(row.data) as { message: string }).message === String(index + 1)),
    ).toBe(true);
  });
});
