import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createId } from "@lanthorn/runtime";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Database } from "../db/open.ts";
import { openTestDatabase } from "../testing/database.ts";
import { addKey, type Keyring, openKeyring, singleKey } from "./keyring.ts";
import { resealAll } from "./reseal-store.ts";
import { ownerOfWebhook, SEALED_COLUMNS } from "./sealed-columns.ts";
import { createSealing } from "./sealing.ts";

let directory = "";
let database: Database;
let keyring: Keyring;
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "lanthorn-reseal-"));
  database = await openTestDatabase(directory);
  keyring = openKeyring(directory, undefined);
});
afterEach(async () => {
  await database.close();
  rmSync(directory, { recursive: true });
});

/** 45 webhooks, more than are sealed in one transaction; every third has the secret before, too. */
async function makeWebhooks(): Promise<readonly string[]> {
  const sealing = createSealing(keyring);
  const tenant_id = createId();
  await database.db.insertInto("tenants").values({ id: tenant_id, name: "tenant", created_at: "" }).execute();
  const ids = Array.from({ length: 45 }, () => createId());
  for (const [index, id] of ids.entries()) {
    await database.db.insertInto("webhooks").values({
      id, tenant_id, url: "", events: "[]", active: 1, status: "healthy", failing_since: null, secret_hint: "", previous_secret_until: null,
      created_at: "", last_delivery_at: null, worker_id: null, secret_sealed: sealing.seal(`secret ${index}`, ownerOfWebhook(id)),
      previous_secret_sealed: index % 3 === 0 ? sealing.seal(`before ${index}`, ownerOfWebhook(id)) : null,
    }).execute();
  }
  return ids;
}

test("after a rotation the new key alone opens everything, unchanged", async () => {
  const ids = await makeWebhooks();
  addKey(directory);
  expect(await resealAll(database.db, createSealing(keyring))).toBe(60);
  const [current] = keyring();
  const alone = createSealing(singleKey(current));
  for (const [index, id] of ids.entries()) {
    const row = await database.reads.selectFrom("webhooks").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
    expect(alone.open(row.secret_sealed, ownerOfWebhook(id))).toBe(`secret ${index}`);
    if (row.previous_secret_sealed !== null) expect(alone.open(row.previous_secret_sealed, ownerOfWebhook(id))).toBe(`before ${index}`);
  }
  // Nothing needs the key before any more, so another rotation may forget it.
  addKey(directory);
  expect(await resealAll(database.db, createSealing(keyring))).toBe(60);
});

test("what no key opens is said, with whose it is", async () => {
  const [id = ""] = await makeWebhooks();
  await database.db.updateTable("webhooks").set({
    secret_sealed: createSealing(singleKey(new Uint8Array(32))).seal("x", ownerOfWebhook(id)),
  })
    .where("id", "=", id).execute();
  await expect(resealAll(database.db, createSealing(keyring))).rejects.toMatchObject({
    code: "secret-unreadable", message: expect.stringContaining(id) as string,
  });
});

test("every column that is called sealed is among those that are sealed anew", async () => {
  const tables = await database.reads.introspection.getTables();
  const named = tables.flatMap(({ name, columns }) =>
    columns.filter((column) => column.name.endsWith("_sealed")).map((column) => `${name}.${column.name}`));
  expect(SEALED_COLUMNS.map(({ table, column }) => `${table}.${column}`).toSorted()).toEqual(named.toSorted());
});
