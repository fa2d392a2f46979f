import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { addressKey } from "./address-key.ts";
import { insertMany } from "./insert-many.ts";
import { MIGRATIONS } from "./migrations/table.ts";
import { openDatabase } from "./open.ts";

let directory = "";
let file = "";
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "lanthorn-db-"));
  file = join(directory, "lanthorn.db");
});
afterEach(() => rmSync(directory, { recursive: true }));

const AT = "2026-01-01T00:00:00.000Z";

describe("the database", () => {
  test("is made for its owner only, safe against power loss, and is the same when opened again", async () => {
    const first = await openDatabase({ file });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect((await sql<{ synchronous: number }>`pragma synchronous`.execute(first.db)).rows).toEqual([{ synchronous: 2 }]);
    expect((await sql<{ foreign_keys: number }>`pragma foreign_keys`.execute(first.db)).rows).toEqual([{ foreign_keys: 1 }]);
    await first.db.insertInto("tenants").values({ id: "t", name: "t", created_at: AT }).execute();
    await first.close();
    const again = await openDatabase({ file });
    expect(await again.reads.selectFrom("tenants").select(["id", "last_event_seq"]).execute()).toEqual([{ id: "t", last_event_seq: 0 }]);
    await again.close();
  });

  test("applies each migration once, in the order of the names", async () => {
    const applied: string[] = [];
    const migration = (name: string) => ({ up: async () => void applied.push(name) });
    const close = async (migrations: Parameters<typeof openDatabase>[0]["migrations"]) => (await openDatabase({ file, ...(migrations ? { migrations } : {}) })).close();
    await close({ "0002-b": migration("b"), "0001-a": migration("a") });
    await close({ "0001-a": migration("a"), "0002-b": migration("b"), "0003-c": migration("c") });
    expect(applied).toEqual(["a", "b", "c"]);
  });

  test("takes back a migration that fails, and names it", async () => {
    const failing = { up: async (db: Parameters<(typeof MIGRATIONS)[string]["up"]>[0]) => {
      await db.schema.createTable("half").addColumn("id", "text").execute();
      throw new Error("no");
    } };
    await expect(openDatabase({ file, migrations: { ...MIGRATIONS, "9999-failing": failing } })).rejects.toMatchObject({ code: "database-unreadable", message: expect.stringContaining("9999-failing") as string });
    const { db, close } = await openDatabase({ file });
    expect((await db.introspection.getTables()).map(({ name }) => name)).not.toContain("half");
    await close();
  });

  test("of a newer version stops the start and stays as it is", async () => {
    await (await openDatabase({ file, migrations: { ...MIGRATIONS, "9999-later": { up: async () => {} } } })).close();
    await expect(openDatabase({ file })).rejects.toMatchObject({ code: "database-newer" });
    await (await openDatabase({ file, migrations: { ...MIGRATIONS, "9999-later": { up: async () => {} } } })).close();
  });

  test("that is none stops the start, naming the file", async () => {
    writeFileSync(file, "something else".repeat(1000));
    await expect(openDatabase({ file })).rejects.toMatchObject({ code: "database-unreadable", message: expect.stringContaining(file) as string });
    await expect(openDatabase({ file: join(directory, "no", "such") })).rejects.toMatchObject({ code: "database-unreadable" });
  });

  test("lets readers see what is committed, without waiting for a transaction", async () => {
    const { db, reads, close } = await openDatabase({ file });
    const count = async () => (await reads.selectFrom("tenants").select("id").execute()).length;
    await db.transaction().execute(async (trx) => {
      await trx.insertInto("tenants").values({ id: "t", name: "t", created_at: AT }).execute();
      expect(await count()).toBe(0);
    });
    expect(await count()).toBe(1);
    await expect(reads.insertInto("tenants").values({ id: "u", name: "u", created_at: AT }).execute()).rejects.toMatchObject({ code: "SQLITE_READONLY" });
    await close();
  });

  test("keeps two transactions apart though their statements take turns", async () => {
    const { db, close } = await openDatabase({ file });
    await db.insertInto("tenants").values({ id: "t", name: "t", created_at: AT }).execute();
    const add = () => db.transaction().execute(async (trx) => {
      const { last_event_seq: seq } = await trx.selectFrom("tenants").select("last_event_seq").where("id", "=", "t").executeTakeFirstOrThrow();
      await new Promise((resolve) => setImmediate(resolve));
      await trx.updateTable("tenants").set({ last_event_seq: seq + 1 }).where("id", "=", "t").execute();
    });
    await Promise.all(Array.from({ length: 20 }, add));
    expect(await db.selectFrom("tenants").select("last_event_seq").executeTakeFirst()).toEqual({ last_event_seq: 20 });
    await close();
  });

  test.each([0, 1, 9, 10, 111, 1234])("inserts %i rows in their order", async (count) => {
    const { db, reads, close } = await openDatabase({ file });
    await insertMany(db, "revoked_tokens", Array.from({ length: count }, (_, index) => ({ jti: `${index}`, tenant_id: "t", expires_at: AT })));
    const rows = await reads.selectFrom("revoked_tokens").select("jti").orderBy(sql`rowid`).execute();
    expect(rows.map(({ jti }) => jti)).toEqual(Array.from({ length: count }, (_, index) => `${index}`));
    await close();
  });
});

describe("an address's key", () => {
  test("sorts as the number does, IPv4 before IPv6", () => {
    const ordered = ["0.0.0.0", "2.0.0.1", "10.0.0.2", "10.0.0.10", "192.168.1.1", "255.255.255.255", "::", "::1", "2001:db8::1", "2001:db8::10", "fe80::1", "ff02::1"];
    expect(ordered.map(addressKey).toSorted()).toEqual(ordered.map(addressKey));
    expect(addressKey("10.0.0.2")).toBe("40a000002");
    expect(addressKey("::1")).toBe(`6${"0".repeat(31)}1`);
  });

  test("takes every spelling of an address, and nothing else", () => {
    expect(addressKey("::ffff:10.0.0.2")).toBe(addressKey("10.0.0.2"));
    expect(addressKey("2001:DB8:0:0::1")).toBe(addressKey("2001:db8::1"));
    expect(addressKey("fe80::1%eth0")).toBe(addressKey("fe80::1"));
    for (const text of ["", "x", "10.0.0", "10.0.0.256", "1.2.3.4.5", ":::", "10.0.0.2/8"]) expect(addressKey(text)).toBe("");
  });
});
