import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createId, nextTurn } from "@lanthorn/runtime";
import Sqlite from "better-sqlite3";
import { Kysely, sql } from "kysely";
import { expect, test } from "vitest";
import { openTestDatabase } from "../../testing/database.ts";
import { dialectOf, restForLog } from "../query/statements.ts";
import { createCheckpoints } from "./checkpoints.ts";

test("the write-ahead log is folded into the file while the collector runs, and whole when it ends", async () => {
  const folder = mkdtempSync(join(tmpdir(), "lanthorn-checkpoints-"));
  const size = () => statSync(join(folder, "lanthorn.db")).size;
  try {
    const { db, close } = await openTestDatabase(folder);
    const before = size();
    const write = async (count: number) => {
      for (let row = 0; row < count; row += 1) await db.insertInto("tenants").values({ id: `${Math.random()}`, name: "x".repeat(3000), created_at: "" }).execute();
    };
    await write(1000);
    await expect.poll(size).toBeGreaterThan(before);
    await write(10);
    await close();
    expect(size()).toBeGreaterThan(before + 1010 * 3000);
    const again = await openTestDatabase(folder);
    expect((await sql<{ count: number }>`select count(*) as count from tenants`.execute(again.reads)).rows).toEqual([{ count: 1010 }]);
    await again.close();
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("the log of a writer that never rests begins anew", async () => {
  const folder = mkdtempSync(join(tmpdir(), "lanthorn-checkpoints-"));
  const file = join(folder, "busy.db");
  const connection = new Sqlite(file);
  connection.pragma("journal_mode = WAL");
  connection.pragma("wal_autocheckpoint = 0");
  connection.pragma("journal_size_limit = 400000");
  const checkpoints = createCheckpoints(file, { rows: 20, shortBytes: 400_000, longBytes: 400_000 });
  const db = new Kysely<object>({ dialect: dialectOf(connection, checkpoints) });
  try {
    await sql`create table busy (id integer primary key, text text)`.execute(db);
    let longest = 0;
    for (let turn = 0; turn < 2000; turn += 1) {
      await db.transaction().execute(async (trx) => {
        for (let row = 0; row < 5; row += 1) await sql`insert into busy (text) values (${"x".repeat(3000)})`.execute(trx);
      });
      await nextTurn();
      longest = Math.max(longest, statSync(`${file}-wal`).size);
    }
    // Of 32 MB that were written: what is long, and as many changes as are made before it is looked at again.
    expect(longest).toBeLessThan(4_000_000);
  } finally {
    await checkpoints.close();
    await db.destroy();
    rmSync(folder, { recursive: true });
  }
});

test("the log begins anew with the transaction after a rest, however often work in the background writes", async () => {
  const folder = mkdtempSync(join(tmpdir(), "lanthorn-checkpoints-"));
  const { db, reads, close } = await openTestDatabase(folder);
  const size = () => statSync(join(folder, "lanthorn.db-wal")).size;
  try {
    let longest = 0;
    for (let turn = 0; turn < 100; turn += 1) {
      await db.transaction().execute(async (trx) => {
        for (let row = 0; row < 300; row += 1) await trx.insertInto("tenants").values({ id: createId(), name: "x".repeat(3000), created_at: "" }).execute();
      });
      longest = Math.max(longest, size());
      await restForLog(db);
    }
    // Short, and two such transactions: without the rests it has twice that.
    expect(longest).toBeLessThan(12_000_000);
    await restForLog(reads);
  } finally {
    await close();
    rmSync(folder, { recursive: true });
  }
});

test("the log of a writer that never rests has at most 32 MB, and is cut to that after a transaction or reader that made it longer", async () => {
  const folder = mkdtempSync(join(tmpdir(), "lanthorn-checkpoints-"));
  const [most, text] = [32 * 1024 * 1024, "x".repeat(3000)];
  const { db, close } = await openTestDatabase(folder);
  const reader = new Sqlite(join(folder, "lanthorn.db"), { readonly: true });
  const size = () => statSync(join(folder, "lanthorn.db-wal")).size;
  const write = (rows: number) => db.transaction().execute(async (trx) => {
    for (let row = 0; row < rows; row += 1) await trx.insertInto("tenants").values({ id: createId(), name: text, created_at: "" }).execute();
  });
  const writeUntilCut = async () => {
    for (let turn = 0; turn < 2000 && size() > most; turn += 1) await write(100);
    expect(size()).toBeLessThanOrEqual(most);
  };
  try {
    let longest = 0;
    for (let turn = 0; turn < 400; turn += 1) {
      await write(100);
      longest = Math.max(longest, size());
    }
    expect(longest).toBeLessThanOrEqual(most);
    await write(15_000);
    expect(size()).toBeGreaterThan(most);
    await writeUntilCut();
    reader.exec("begin");
    reader.prepare("select count(*) from tenants").get();
    for (let turn = 0; turn < 200; turn += 1) await write(100);
    expect(size()).toBeGreaterThan(most);
    reader.exec("commit");
    await writeUntilCut();
  } finally {
    reader.close();
    await close();
    rmSync(folder, { recursive: true });
  }
});
