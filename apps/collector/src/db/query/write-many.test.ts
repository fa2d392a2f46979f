import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openTestDatabase } from "../../testing/database.ts";
import type { Database } from "../open.ts";
import { insertMany, updateMany, upsertMany } from "./write-many.ts";

const AT = "2026-01-01T00:00:00.000Z";
let folder: string;
let database: Database;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "lanthorn-write-many-"));
  database = await openTestDatabase(folder);
});
afterEach(async () => {
  await database.close();
  rmSync(folder, { recursive: true });
});

const numbered = (count: number) => Array.from({ length: count }, (_, index) => `${index}`);

describe("many rows", () => {
  test.each([0, 1, 9, 127, 255, 2345])("%i of them are inserted, each once", async (count) => {
    const { db, reads } = database;
    await insertMany(db, "revoked_tokens", numbered(count).map((jti) => ({ jti, tenant_id: "t", expires_at: AT })));
    const rows = await reads.selectFrom("revoked_tokens").select("jti").execute();
    expect(rows.map(({ jti }) => jti).toSorted((a, b) => Number(a) - Number(b))).toEqual(numbered(count));
  });

  test("are all there or none, where one of them fails", async () => {
    const { db, reads } = database;
    const rows = ["a", "b", "a"].map((jti) => ({ jti, tenant_id: "t", expires_at: AT }));
    await expect(insertMany(db, "revoked_tokens", rows)).rejects.toThrow(/unique/i);
    expect(await reads.selectFrom("revoked_tokens").select("jti").execute()).toEqual([]);
    await insertMany(db, "revoked_tokens", rows.slice(1));
    expect(await reads.selectFrom("revoked_tokens").select("jti").orderBy("jti").execute()).toEqual([{ jti: "a" }, { jti: "b" }]);
  });

  test("keep every value as it is: texts of any characters, whole numbers, parts and nothing", async () => {
    const { db, reads } = database;
    const texts = [
      "", "'\"\\", "\\ud800", "a\\\\ud83d", "{\"a\":[\"\\ud83d\\udca1\"]}", "💡 ü \u2028\n\t", "null", "1e3", "x".repeat(100_000),
    ];
    await insertMany(db, "rejected_events", texts.map((payload, index) => (
      { probe_id: "p", queue_id: "q", probe_seq: 9_007_199_254_740_000 + index, tenant_id: "t", received_at: AT, reason: "", payload }
    )));
    const rows = await reads.selectFrom("rejected_events").select(["probe_seq", "payload"]).orderBy("probe_seq").execute();
    expect(rows).toEqual(texts.map((payload, index) => ({ probe_seq: 9_007_199_254_740_000 + index, payload })));
    await insertMany(db, "users", [{
      id: "u", tenant_id: (await makeTenant()), username: "u", username_key: "u", password_hash: "", role: "viewer", created_at: AT, tokens_valid_from: AT,
      email: null,
    }]);
    expect(await reads.selectFrom("users").select(["email"]).execute()).toEqual([{ email: null }]);
  });

  test("are kept with U+FFFD for half a character, which no text of a database can hold", async () => {
    const { db, reads } = database;
    await insertMany(db, "revoked_tokens", [{ jti: "a\ud83d", tenant_id: "\\\udca1\\\\\ud83d!", expires_at: AT }]);
    const rows = await reads.selectFrom("revoked_tokens").select(["jti", "tenant_id"]).execute();
    // SQLite keeps three bytes for it, each of which is read as one.
    expect(rows.map(({ jti, tenant_id }) => [jti, tenant_id].map((text) => text.replaceAll(/\ufffd+/g, "\ufffd")))).toEqual([
      ["a\ufffd", "\\\ufffd\\\\\ufffd!"],
    ]);
  });

  test("take the place of those with their keys, where they are newer", async () => {
    const { db, reads } = database;
    const ids = numbered(150);
    await makeDevices(ids);
    const row = (id: string, confidence: number, seenAt: string) => (
      { device_id: id, tenant_id: "t", field: "f", value: "v", source: "s", confidence, seen_at: seenAt }
    );
    const write = (rows: readonly ReturnType<typeof row>[]) =>
      upsertMany(
        db, "evidence", { key: ["device_id", "field", "source", "value"], update: ["confidence", "seen_at"], newerBy: "seen_at" }, rows,
      );
    await write(ids.map((id) => row(id, 0.1, "2")));
    await write(ids.map((id) => row(id, 0.7, id === "3" ? "1" : "3")));
    const rows = await reads.selectFrom("evidence").select(["device_id", "confidence"]).orderBy("confidence").execute();
    expect(rows.map(({ confidence }) => confidence)).toEqual([0.1, ...Array.from({ length: 149 }, () => 0.7)]);
    expect(rows[0]?.device_id).toBe("3");
  });

  test("are set to values of their own, and what is not named stays", async () => {
    const { db, reads } = database;
    const ids = numbered(37);
    await makeDevices(ids);
    await updateMany(db, "devices", ids.slice(1).map((id) => ({ id, is_online: Number(id) % 2, presence_state: `state ${id}` })));
    const rows = await reads.selectFrom("devices").select(["id", "is_online", "presence_state", "hostname"]).execute();
    expect(rows.toSorted((a, b) => Number(a.id) - Number(b.id))).toEqual(ids.map((id) => ({
      id, is_online: Number(id) % 2, presence_state: id === "0" ? "unknown" : `state ${id}`, hostname: `host ${id}`,
    })));
  });

  test("are found by a key of several columns, where another key with the same columns was used before", async () => {
    const { db, reads } = database;
    await makeDevices(numbered(3));
    const states = async () => (await reads.selectFrom("devices").select(["id", "hostname", "os_guess"]).orderBy("id").execute())
      .map(({ hostname, os_guess: os }) => [hostname, os]);
    await updateMany(db, "devices", [{ id: "1", hostname: "renamed", os_guess: "" }]);
    const rows = [{ id: "1", hostname: "renamed", os_guess: "found" }, { id: "2", hostname: "another", os_guess: "wrong" }];
    await updateMany(db, "devices", rows, ["id", "hostname"]);
    expect(await states()).toEqual([["host 0", ""], ["renamed", "found"], ["host 2", ""]]);
  });
});

async function makeTenant(): Promise<string> {
  await database.db.insertInto("tenants").values({ id: "t", name: "t", created_at: AT }).execute();
  return "t";
}

async function makeDevices(ids: readonly string[]): Promise<void> {
  await makeTenant();
  await database.db.insertInto("sites").values({ id: "s", tenant_id: "t", name: "s", probe_configuration: "{}", created_at: AT }).execute();
  await insertMany(database.db, "devices", ids.map((id) => ({
    id, tenant_id: "t", site_id: "s", ip: "", ip_key: "", mac: "", hostname: `host ${id}`, hostname_key: "", vendor: "", os_guess: "", device_type: "",
    is_online: 0, presence_state: "unknown", first_seen: AT, last_seen: AT, open_ports: "[]", tags: "[]", locked_fields: "[]",
  })));
}
