import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Backup } from "@lanthorn/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type DebianRoot, unpackDebianPackages } from "../lab/debian-packages.ts";
import { findPostgresPrograms, type PostgresServer, startPostgres } from "../lab/postgres.ts";
import { tryCommand } from "../lab/run-command.ts";
import { type Collector, COLLECTOR, startCollector } from "./deployment.ts";
import { createSmallDisk, type SmallDisk } from "./small-disk.ts";
import { waitFor } from "../lab/wait-for.ts";

let folder: string;
let debian: DebianRoot;
let keyFile: string;
let recipient: string;
let collector: Collector | undefined;
let disk: SmallDisk | undefined;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "lanthorn-backups-"));
  debian = await unpackDebianPackages(["age"]);
  keyFile = join(folder, "age-key.txt");
  await age("age-keygen", ["-o", keyFile]);
  recipient = /age1\w+/.exec(readFileSync(keyFile, "utf8"))?.[0] ?? "";
});
afterAll(async () => {
  await collector?.kill();
  await disk?.close();
  rmSync(folder, { recursive: true, force: true });
});

async function age(name: string, args: readonly string[]): Promise<void> {
  const { path, env } = debian.command(name);
  const { code, stderr } = await tryCommand(path, args, { env });
  expect([name, code, code === 0 ? "" : stderr]).toEqual([name, 0, ""]);
}
const run = (dataDir: string, ...args: readonly string[]) => tryCommand(
  process.execPath, [COLLECTOR, ...args], { env: { LANTHORN_DATA_DIR: dataDir } },
);
const start = async (dataDir: string, env: Readonly<Record<string, string>> = {}, through?: readonly string[]) => {
  collector = await startCollector({
    dataDir, host: "127.0.0.1", env: { LANTHORN_BACKUPS_RECIPIENTS: recipient, ...env }, ...(through && { through }),
  });
  return collector;
};
const ended = (rest: Collector["rest"], { id }: Backup) => waitFor("the end of a backup", async () => {
  const backup = await rest.readBackup(id);
  return backup.status === "running" ? null : backup;
});
const openAlerts = async (rest: Collector["rest"]) => (await rest.listAlerts({ status: "open" })).data.map(({ type }) => type);

describe("a backup of a collector", () => {
  const backupsOf = (dataDir: string) => join(dataDir, "backups");
  let dataDir: string;
  let file: string;
  let keys: string;
  let signer: string;

  test("opens with age's own program, and ours opens what age has sealed", async () => {
    dataDir = join(folder, "first");
    const { rest } = await start(dataDir);
    await rest.createSite({ name: "Store 12" });
    const backup = await ended(rest, await rest.startBackup());
    expect(backup).toMatchObject({ status: "completed", recipients: [recipient], error: null });
    file = join(backupsOf(dataDir), readdirSync(backupsOf(dataDir))[0] ?? "");

    const open = join(folder, "open");
    mkdirSync(open);
    await age("age", ["-d", "-i", keyFile, "-o", join(open, "archive.tar.gz"), file]);
    expect(await tryCommand("tar", ["-xzf", join(open, "archive.tar.gz"), "-C", open])).toMatchObject({ code: 0 });
    expect(readdirSync(join(open, "files")).toSorted()).toEqual(["backup-signer.pub", "ca.crt"]);
    expect(JSON.parse(readFileSync(join(open, "manifest.json"), "utf8"))).toMatchObject({
      backup_id: backup.id, database: { engine: "sqlite", tables: { sites: 2 } },
    });

    const sealed = join(folder, "sealed.age");
    await age("age", ["-r", recipient, "-o", sealed, join(open, "archive.tar.gz")]);
    const verified = await run(dataDir, "backups", "verify", sealed, "--key", keyFile);
    expect([verified.code, verified.stdout]).toEqual([0, expect.stringContaining(`whole: backup ${backup.id}`)]);
  });

  test("by hand is sealed with a passphrase where one is given, and opens with it alone", async () => {
    const [words, other, sealed] = ["words", "other-words", "by-hand.age"].map((name) => join(folder, name)) as [string, string, string];
    writeFileSync(words, "nine horses and a lantern\n");
    writeFileSync(other, "ten horses and no lantern\n");
    expect(await run(dataDir, "backups", "create", "--out", sealed, "--passphrase-file", words)).toMatchObject({ code: 0, stderr: "" });
    expect(readFileSync(sealed).toString("latin1", 0, 40)).toMatch(/^age-encryption\.org\/v1\n-> scrypt /);
    const verify = async (...by: readonly string[]) => (await run(dataDir, "backups", "verify", sealed, ...by)).code;
    expect(await verify("--passphrase-file", words)).toBe(0);
    expect([await verify("--passphrase-file", other), await verify("--key", keyFile), await verify()]).toEqual([1, 1, 1]);
  });

  test("brings everything back on another machine, and not over a collector that runs", async () => {
    const password = readFileSync(join(dataDir, "admin-password"), "utf8").trim();
    const authority = readFileSync(join(dataDir, "ca.crt"), "utf8");
    const refused = await run(dataDir, "restore", file, "--key", keyFile, "--force");
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("stop the collector first")]);
    keys = join(folder, "keys");
    expect((await run(dataDir, "backups", "keys", "--out", keys)).code).toBe(0);
    signer = (await run(dataDir, "backups", "signer")).stdout.trim();
    await collector?.stop();
    const other = join(folder, "second");
    const untrusted = await run(other, "restore", file, "--key", keyFile, "--keys", keys);
    expect([untrusted.code, untrusted.stderr]).toEqual([1, expect.stringContaining("--signer")]);
    const restored = await run(other, "restore", file, "--key", keyFile, "--keys", keys, "--signer", signer);
    expect([restored.code, restored.stderr, restored.stdout]).toEqual([0, "", expect.not.stringContaining("missing")]);
    const { rest } = await start(other, { LANTHORN_ADMIN_PASSWORD: password });
    expect((await rest.listSites()).data.map(({ name }) => name)).toEqual(["default", "Store 12"]);
    expect(readFileSync(join(other, "ca.crt"), "utf8")).toBe(authority);
    expect((await rest.listBackups()).data).toEqual([]);
    expect(await openAlerts(rest)).toEqual([]);
    expect((await run(other, "backups", "signer")).stdout.trim()).toBe(signer);
    await collector?.stop();
  });

  test("brings back what it has without the keys too, and the collector makes new ones", async () => {
    const other = join(folder, "without-keys");
    const restored = await run(other, "restore", file, "--key", keyFile, "--signer", signer);
    expect([restored.code, restored.stderr]).toEqual([0, ""]);
    expect(restored.stdout.match(/^missing: [\w.-]+/gm)?.toSorted()).toEqual(
      ["backup-signing.pem", "ca.pem", "sealing-key", "token-secret"].map((name) => `missing: ${name}`),
    );
    const { rest } = await start(other, { LANTHORN_ADMIN_PASSWORD: readFileSync(join(dataDir, "admin-password"), "utf8").trim() });
    expect((await rest.listSites()).data.map(({ name }) => name)).toEqual(["default", "Store 12"]);
    expect((await ended(rest, await rest.startBackup())).status).toBe("completed");
    expect((await run(other, "backups", "signer")).stdout.trim()).not.toBe(signer);
    await collector?.stop();
  });

  test("that is being made when the collector is killed has failed, and leaves nothing", async () => {
    const other = join(folder, "second");
    const password = { LANTHORN_ADMIN_PASSWORD: readFileSync(join(dataDir, "admin-password"), "utf8").trim() };
    const { rest } = await start(other, password);
    const { id } = await rest.startBackup();
    await collector?.kill();
    await waitFor(
      "the end of what the collector had begun",       () => (readdirSync(other).includes("backups") && readdirSync(backupsOf(other)).length > 0 ? null : true),
    );
    const again = await start(other, password);
    expect(await again.rest.readBackup(id)).toMatchObject({ status: "failed", available: false });
    expect(await openAlerts(again.rest)).toEqual(["backup_failed"]);
    expect((await ended(again.rest, await again.rest.startBackup())).status).toBe("completed");
    expect(await openAlerts(again.rest)).toEqual([]);
    await again.stop();
  });
});

test("a backup of a collector on PostgreSQL is verified with its key, and brings everything back on another server", async () => {
  const { folder: bin, env: libraries } = await findPostgresPrograms();
  const dataDir = join(folder, "fourth");
  const servers = [await startPostgres(), await startPostgres()] as const;
  try {
    const on = (server: PostgresServer) => ({
      LANTHORN_DATABASE_URL: server.urlOf("lanthorn"), LANTHORN_BACKUPS_POSTGRES_BIN: bin, ...libraries,
    });
    await servers[0].createDatabase("lanthorn");
    const { rest } = await start(dataDir, on(servers[0]));
    await rest.createSite({ name: "Store 12" });
    const backup = await ended(rest, await rest.startBackup());
    expect(backup).toMatchObject({ status: "completed", database: "postgres", error: null });
    await rest.verifyBackup(backup.id, { secret_key: readFileSync(keyFile, "utf8") });
    const verification = await waitFor("the end of a verification", async () => {
      const { verification: found } = await rest.readBackup(backup.id);
      return found?.status === "running" ? null : found;
    });
    expect(verification).toMatchObject({ status: "passed", method: "restore" });
    const file = join(dataDir, "backups", readdirSync(join(dataDir, "backups"))[0] ?? "");
    const password = readFileSync(join(dataDir, "admin-password"), "utf8").trim();
    const restore = (to: string, server: PostgresServer, ...more: readonly string[]) =>
      tryCommand(
        process.execPath, [COLLECTOR, "restore", file, "--key", keyFile, ...more], { env: { LANTHORN_DATA_DIR: to, ...on(server) } },
      );
    const refused = await restore(dataDir, servers[0], "--force");
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("stop the collector first")]);
    await collector?.stop();

    const keys = join(folder, "postgres-keys");
    const onFirst = { LANTHORN_DATA_DIR: dataDir, ...on(servers[0]) };
    const exported = await tryCommand(process.execPath, [COLLECTOR, "backups", "keys", "--out", keys], { env: onFirst });
    expect([exported.code, exported.stderr]).toEqual([0, ""]);
    const signer = (await tryCommand(process.execPath, [COLLECTOR, "backups", "signer"], { env: onFirst })).stdout.trim();
    const other = join(folder, "fifth");
    const restored = await restore(other, servers[1], "--keys", keys, "--signer", signer);
    expect([restored.code, restored.stderr, restored.stdout]).toEqual([0, "", expect.stringContaining(`restored: backup ${backup.id}`)]);
    const again = await start(other, { ...on(servers[1]), LANTHORN_ADMIN_PASSWORD: password });
    expect((await again.rest.listSites()).data.map(({ name }) => name)).toEqual(["default", "Store 12"]);
    expect(await openAlerts(again.rest)).toEqual([]);
    await again.stop();
  } finally {
    await collector?.kill();
    await Promise.all(servers.map((server) => server.close()));
  }
});

test("a backup on a full disk has failed, leaves nothing, and the next one on a free disk ends the alert", async () => {
  disk = await createSmallDisk(join(folder, "disk"), 96);
  const dataDir = join(folder, "third");
  const { rest } = await start(dataDir, { LANTHORN_BACKUPS_DIRECTORY: disk.path }, disk.through);
  disk.fill();
  const failed = await ended(rest, await rest.startBackup());
  expect([failed.status, failed.error]).toEqual(["failed", expect.stringContaining("there is no room")]);
  expect(await openAlerts(rest)).toEqual(["backup_failed"]);
  const [program, ...args] = [...disk.through, "ls", disk.path];
  expect((await tryCommand(program, args)).stdout.trim()).toBe("filler");
  disk.free();
  expect((await ended(rest, await rest.startBackup())).status).toBe("completed");
  expect(await openAlerts(rest)).toEqual([]);
});
