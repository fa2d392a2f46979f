import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type CommandResult, tryCommand } from "../lab/run-command.ts";
import { CLI, type Collector, COLLECTOR, startCollector } from "./deployment.ts";

let folder: string;
let collector: Collector;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "lanthorn-cli-"));
  mkdirSync(join(folder, "collector"));
  collector = await startCollector({ dataDir: join(folder, "collector"), host: "127.0.0.1" });
  await ok("login", "--url", collector.url, "--password-file", collector.passwordFile);
});
afterAll(async () => {
  await collector.kill();
  rmSync(folder, { recursive: true, force: true });
});

const session = () => ({ LANTHORN_SESSION: join(folder, "session.json") });
const piped = (input: string, ...args: readonly string[]): Promise<CommandResult> => tryCommand(
  process.execPath, [CLI, ...args], { env: session(), input },
);
const ok = async (...args: readonly string[]): Promise<string> => {
  const { code, stdout, stderr } = await tryCommand(process.execPath, [CLI, ...args], { env: session() });
  expect([args, code, stderr]).toEqual([args, 0, ""]);
  return stdout.trim();
};
const json = async <T>(...args: readonly string[]): Promise<T> => JSON.parse(await ok(...args, "--json")) as T;
const refused = async (...args: readonly string[]): Promise<string> => {
  const { code, stderr } = await tryCommand(process.execPath, [CLI, ...args], { env: session() });
  expect(code).toBe(1);
  return stderr;
};

describe("lanthorn", () => {
  test("keeps credentials, whose secrets come by standard input or from a file", async () => {
    const made = await piped(
      "public-of-switches\n", "vault", "create", "switches", "--type", "snmp", "--network", "192.0.2.0/24", "--site", "default", "--json",
    );
    expect(made.code).toBe(0);
    expect(JSON.parse(made.stdout)).toMatchObject({
      name: "switches", type: "snmp", parts: ["community"], networks: ["192.0.2.0/24"], settings: { version: "2c", port: 161 },
    });
    const v3 = await piped(
      "authentic-enough\nprivate-enough\n", "vault", "create", "core", "--type", "snmpv3", "--username", "lanthorn", "--auth", "sha512",
    );
    expect([v3.code, v3.stdout]).toEqual([0, expect.stringContaining("auth_password, privacy_password")]);
    const key = join(folder, "id");
    writeFileSync(key, "-----BEGIN KEY-----\nlines\n-----END KEY-----\n");
    await ok("vault", "create", "routers", "--type", "ssh", "--username", "backup", "--private-key-file", key);
    expect((await json<readonly { readonly name: string }[]>("vault", "list")).map(({ name }) => name)).toEqual([
      "switches", "core", "routers",
    ]);
    expect(await ok("vault", "show", "switches")).not.toContain("public-of-switches");
    expect(await json("vault", "reveal", "switches")).toMatchObject({ secret: { community: "public-of-switches" } });
    expect(await json("vault", "reveal", "routers")).toMatchObject({ secret: { private_key: readFileSync(key, "utf8") } });
    expect(await json(
      "vault", "update", "switches", "--name", "all switches", "--network", "192.0.2.0/25",
    )).toMatchObject({ name: "all switches", networks: ["192.0.2.0/25"] });
    expect(await refused("vault", "create", "x", "--type", "snmp", "--password-file", key)).toContain("has no password");
    expect(await refused("vault", "show", "nobody")).toContain("there is no credential");
    await ok("vault", "delete", "core");
    expect(await json<readonly unknown[]>("vault", "list")).toHaveLength(2);
  });

  test("shows the license, and refuses what is none", async () => {
    expect(await json("license", "show")).toMatchObject({ status: "community" });
    const bad = await piped("no.license.atall", "license", "install", "-");
    expect([bad.code, bad.stdout]).toEqual([1, ""]);
    expect(await refused("license", "remove")).toContain("no such license");
  });

  test("keeps configurations, and shows what has changed without what is secret", async () => {
    const device = await collector.rest.createDevice({ ip: "192.0.2.1", hostname: "sw-1" });
    await piped("hostname sw-1\nsnmp-server community hidden RO\nvlan 10\n", "configs", "upload", "sw-1", "-", "--changed-by", "anna");
    const second = await piped(
      "hostname sw-1\nsnmp-server community hidden RO\nvlan 20\n", "configs", "upload", device.id, "-", "--comment", "moved", "--json",
    );
    expect(JSON.parse(second.stdout)).toMatchObject({ version: 2, lines_added: 1, lines_removed: 1, comment: "moved" });
    expect((await json<readonly { readonly version: number }[]>("configs", "list", "sw-1")).map(({ version }) => version)).toEqual([2, 1]);
    expect(await ok("configs", "diff", "sw-1")).toMatch(/-vlan 10\n\+vlan 20/);
    const shown = await ok("configs", "show", "sw-1", "1");
    expect([shown.includes("vlan 10"), shown.includes("hidden")]).toEqual([true, false]);
    expect(await ok("configs", "show", "192.0.2.1", "--reveal")).toContain("hidden");
    await ok("configs", "delete", "sw-1", "1");
    expect(await refused("configs", "show", "sw-1", "1")).toContain("versions: 2");
  });

  test("keeps prefixes and addresses", async () => {
    await ok("ipam", "create-prefix", "10.9.0.0/24", "--name", "office", "--vlan", "20");
    expect(await json("ipam", "update-prefix", "10.9.0.0/24", "--name", "lab")).toMatchObject({ name: "lab", vlan_id: 20 });
    await ok("ipam", "create-address", "10.9.0.7", "--hostname", "printer", "--mac", "00:11:32:00:00:07");
    expect(await json(
      "ipam", "update-address", "10.9.0.7", "--status", "reserved",
    )).toMatchObject({ hostname: "printer", status: "reserved" });
    expect(await json<readonly unknown[]>("ipam", "addresses", "--within", "10.9.0.0/24")).toHaveLength(1);
    expect(await ok("ipam", "show-prefix", "10.9.0.0/24")).toContain("1 of 254 addresses are used");
    const csv = await ok("ipam", "export", "addresses");
    expect(csv.split(/\r?\n/)).toHaveLength(2);
    const dry = await piped(`${csv}\r\n`, "ipam", "import", "addresses", "-", "--dry-run");
    expect([dry.code, dry.stdout.trim()]).toEqual([0, "would be created 0, updated 0, unchanged 1"]);
    await ok("ipam", "delete-address", "10.9.0.7");
    await ok("ipam", "delete-prefix", "10.9.0.0/24");
    expect(await ok("ipam", "prefixes")).toBe("none");
  });

  test("keeps what is normal: templates, windows and baselines", async () => {
    const device = await collector.rest.createDevice({ ip: "192.0.2.80", hostname: "web-1", tags: ["web"] });
    expect(await json("baselines", "templates", "create", "Web servers", "--tag", "web", "--fact", "port/tcp/443=open", "service/tcp/443=https nginx"))
      .toMatchObject({ tag: "web", site_id: null, facts: [{ kind: "port", key: "tcp/443", value: "open" }, { kind: "service", value: "https nginx" }] });
    expect(await refused("baselines", "templates", "create", "Web servers", "--tag", "web", "--fact", "port/tcp/80=open")).toContain("already");
    const window = await json<{ readonly id: string }>("baselines", "windows", "create", "--device", "web-1", "--until", "4h", "--learn", "--reason", "update");
    expect(window).toMatchObject({ device_id: device.id, site_id: device.site_id, name: "web-1", effect: "learn" });
    expect(await ok("baselines", "windows", "list")).toContain("device web-1");
    await ok("baselines", "windows", "delete", window.id.slice(-12));
    expect(await ok("baselines", "windows", "list")).toBe("none");
    expect(await ok("baselines", "templates", "list")).toContain("service tcp/443 https nginx");
    await ok("baselines", "templates", "delete", "Web servers");
    expect(await ok("baselines", "acceptances", "list")).toBe("none");
    expect(await json("baselines", "diff", "--all")).toEqual([]);
    expect(await refused("baselines", "accept", "5f3a9c01d2e4", "--reason", "known")).toContain("no id ends");
    expect(await refused("baselines", "edit", "--device", "web-1", "--set", "tcp/22=open", "--reason", "x")).toContain("is no fact");
  });

  test("makes, verifies, fetches and forgets backups, after it has set for whom", async () => {
    const keyFile = join(folder, "key.txt");
    const onMachine = (...args: readonly string[]) => tryCommand(
      process.execPath, [COLLECTOR, "backups", ...args], { env: { LANTHORN_DATA_DIR: join(folder, "collector") } },
    );
    const made = await onMachine("key", "--out", keyFile);
    const recipient = /age1\w+/.exec(made.stdout)?.[0] ?? "";
    expect(await refused("backups", "create")).toContain("no backup key is set");
    expect((await onMachine("recipients", recipient)).stdout.trim()).toBe(recipient);
    expect(await json("backups", "set", "--schedule", "30 3 * * *", "--keep", "3"))
      .toMatchObject({ recipients: [recipient], schedule: "30 3 * * *", keep: 3, updated_by: "admin" });
    expect(await json("backups", "set", "--no-schedule")).toMatchObject({ schedule: null, keep: 3 });
    const backup = await json<{ readonly id: string }>("backups", "create", "--wait");
    expect(await ok("backups", "verify", backup.id)).toContain("not decrypted");
    expect(await ok("backups", "verify", backup.id, "--key-file", keyFile)).toContain("verification (restore) passed");
    const out = join(folder, "fetched.age");
    const password = ["--password-file", collector.passwordFile];
    await ok("backups", "download", backup.id, "--out", out, ...password);
    expect(readFileSync(out, "latin1").startsWith("age-encryption.org/v1\n")).toBe(true);
    expect(await refused("backups", "download", backup.id, "--out", out, ...password)).toContain("cannot write");
    expect(readFileSync(out).length).toBeGreaterThan(0);
    await ok("backups", "delete", backup.id);
    expect(await ok("backups", "list")).toBe("none");
  });
});
