import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@lanthorn/runtime";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openAuthority } from "../certificates/authority.ts";
import type { Database } from "../db/open.ts";
import { singleKey } from "./keyring.ts";
import { createSealing } from "./sealing.ts";
import { openTestDatabase } from "../testing/database.ts";
import { secretsInDatabase, secretsInFiles } from "./kept-secrets.ts";

let directory = "";
let database: Database;
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "lanthorn-secrets-"));
  database = await openTestDatabase(directory);
});
afterEach(async () => {
  await database.close();
  rmSync(directory, { recursive: true });
});

/** A machine with a data directory of its own. */
function machine(name: string, key = 7) {
  const dataDir = join(directory, name);
  mkdirSync(dataDir, { recursive: true });
  return { dataDir, secrets: secretsInDatabase({ db: database.db, sealing: createSealing(singleKey(Buffer.alloc(32, key))), dataDir }) };
}

test("what one machine has made all others have, also when all begin at once, and the database alone shows none of it", async () => {
  const made = await Promise.all(
    ["one", "two", "three"].map((name) => machine(name).secrets.keep("token-secret", () => Promise.resolve(`of ${name}`))),
  );
  expect(new Set(made).size).toBe(1);
  expect(await machine("four").secrets.keep("token-secret", () => Promise.reject(new Error("not asked")))).toBe(made[0]);
  const rows = await database.db.selectFrom("kept_secrets").selectAll().execute();
  expect(rows).toHaveLength(1);
  expect(rows[0]?.content_sealed).not.toContain("of ");
});

test("machines with the same key have one authority", async () => {
  const [one, two] = [machine("one"), machine("two")];
  const first = await openAuthority({ ...one, clock: systemClock });
  expect((await openAuthority({ ...two, clock: systemClock })).pin).toBe(first.pin);
});

test("a machine with another sealing key does not start with an authority of its own", async () => {
  await openAuthority({ ...machine("one"), clock: systemClock });
  await expect(openAuthority({ ...machine("two", 8), clock: systemClock })).rejects.toMatchObject({ code: "secret-unreadable" });
});

test("what a deployment of one machine had in its files goes on in the database", async () => {
  const { dataDir, secrets } = machine("one");
  const before = await openAuthority({ dataDir, clock: systemClock });
  expect((await openAuthority({ dataDir, secrets, clock: systemClock })).pin).toBe(before.pin);
  expect((await openAuthority({ ...machine("two"), clock: systemClock })).pin).toBe(before.pin);
});

test("in files it is made once", async () => {
  const secrets = secretsInFiles(directory);
  expect(await secrets.keep("token-secret", () => Promise.resolve("made"))).toBe("made");
  writeFileSync(join(directory, "token-secret"), "changed");
  expect(await secrets.keep("token-secret", () => Promise.resolve("again"))).toBe("changed");
});
