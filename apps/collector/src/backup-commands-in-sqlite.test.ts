import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { createId, systemClock } from "@lanthorn/runtime";
import { Command } from "commander";
import { afterEach, beforeEach, expect, test } from "vitest";
import { addRecipientsCommand, recipientsOf } from "./commands/backup-recipients-command.ts";
import { addBackupCommands } from "./backups/commands/commands.ts";
import { createSigner, generateSigningKey, publishSigner } from "./backups/format/signing.ts";
import { readCollectorConfiguration } from "./configuration.ts";
import { openDatabase } from "./db/open.ts";
import { secretsInFiles } from "./sealing/kept-secrets.ts";
import { usingSecrets } from "./sealing/using-secrets.ts";

let folder: string;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "lanthorn-backup-commands-"));
  const { db, close } = await openDatabase({ file: join(folder, "lanthorn.db") });
  await db.insertInto("tenants").values({ id: createId(), name: "default", created_at: "2026-01-01T00:00:00.000Z" }).execute();
  await close();
  // A collector's first start makes it.
  publishSigner(folder, createSigner(await secretsInFiles(folder).keep("backup-signing.pem", async () => generateSigningKey())));
  configure("");
});
afterEach(() => rmSync(folder, { recursive: true }));

const at = (name: string) => join(folder, name);
const configure = (toml: string) => writeFileSync(at("collector.toml"), toml);

/** Runs a command as the collector's program has it. @returns What it prints. */
async function run(name: string, ...args: readonly string[]): Promise<string> {
  const printed: string[] = [];
  const deps = {
    configuration: (file: string | null) => readCollectorConfiguration(file, { LANTHORN_DATA_DIR: folder }), clock: systemClock,
    print: (text: string) => void printed.push(text),
  };
  const program = new Command().exitOverride();
  const backups = addBackupCommands(program, {
    ...deps, version: "1", input: Readable.from([]), exit: () => {}, environment: {}, usingSecrets, recipientsOf,
  });
  addRecipientsCommand(backups, { ...deps, operator: "root" });
  const config = name === "key" ? [] : ["--config", at("collector.toml")];
  await program.parseAsync(["backups", name, ...args, ...config], { from: "user" });
  return printed.join("\n");
}

const makeKey = async (file: string) => /age1\w+/.exec(await run("key", "--out", at(file)))?.[0] ?? expect.fail("no public key");

test("a backup is made for the keys that were set on the machine, and for nobody else", async () => {
  const key = await makeKey("own.txt");
  await makeKey("strange.txt");
  await expect(run("create", "--out", at("none.age"))).rejects.toMatchObject({ code: "backup-failed" });
  expect(await run("recipients")).not.toContain("age1");
  expect(await run("recipients", key)).toBe(key);
  expect(await run("create", "--out", at("one.age"))).toMatch(/\d+ bytes, \d+ rows/);
  expect(await run("verify", at("one.age"), "--key", at("own.txt"))).toContain("whole: backup");
  await expect(run("verify", at("one.age"), "--key", at("strange.txt"))).rejects.toMatchObject({ code: "backup-key-unusable" });
  await run("recipients", "--clear");
  await expect(run("create", "--out", at("two.age"))).rejects.toMatchObject({ code: "backup-failed" });
});

test("keys of the configuration count instead of those, and cannot be set beside them", async () => {
  const [set, configured] = [await makeKey("set.txt"), await makeKey("configured.txt")];
  await run("recipients", set);
  configure(`[backups]\nrecipients = ["${configured}"]\n`);
  expect(await run("recipients")).toBe(configured);
  await expect(run("recipients", set)).rejects.toMatchObject({ code: "admin-refused" });
  await run("create", "--out", at("one.age"));
  expect(await run("verify", at("one.age"), "--key", at("configured.txt"))).toContain("whole: backup");
  await expect(run("verify", at("one.age"), "--key", at("set.txt"))).rejects.toMatchObject({ code: "backup-key-unusable" });
});
