import { spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Client, ClientChannel, SFTPWrapper } from "ssh2";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type DebianRoot, unpackDebianPackages } from "../../../../../../test/lab/debian-packages.ts";
import { enterSsh } from "../../testing/enter-ssh.ts";
import { openForTest, type OpenedDecoys } from "../../testing/opened.ts";

let decoys: OpenedDecoys;
let debian: DebianRoot;
let folder: string;
beforeAll(async () => {
  debian = await unpackDebianPackages(["openssh-client"]);
  folder = mkdtempSync(join(tmpdir(), "lanthorn-scp-"));
  // OpenSSH takes a password from a program that prints it.
  writeFileSync(join(folder, "password"), "#!/bin/sh\necho Blue-Heron-4\n");
  chmodSync(join(folder, "password"), 0o755);
  decoys = await openForTest(["ssh"], {}, []);
  decoys.listen();
});
afterAll(async () => {
  await decoys.close();
  rmSync(folder, { recursive: true });
});

/** Debian's client with the bait. @returns Its code and what it said. */
async function run(program: "scp" | "sftp", args: readonly string[], input = ""): Promise<{ readonly code: number; readonly said: string }> {
  const { path, env } = debian.command(program);
  const options = ["-P", `${decoys.portOf("ssh")}`, "-S", debian.command("ssh").path, "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o", "PubkeyAuthentication=no", "-o", "NumberOfPasswordPrompts=1"];
  const client = spawn(path, ["-F", "none", ...options, ...args], { env: { ...process.env, ...env, SSH_ASKPASS: join(folder, "password"), SSH_ASKPASS_REQUIRE: "force", DISPLAY: ":0" }, cwd: folder, timeout: 25_000 });
  let said = "";
  for (const stream of [client.stdout, client.stderr]) stream.setEncoding("utf8").on("data", (text: string) => (said += text));
  client.stdin.end(input);
  const [code] = await once(client, "close") as [number];
  return { code, said };
}

const enter = (from: string) => enterSsh(decoys.portOf("ssh"), from);

function beginSftp(client: Client): Promise<SFTPWrapper> {
  return new Promise((resolve, reject) => void client.sftp((error, opened) => (error ? reject(error) : resolve(opened))));
}

/** Sends this to a sink of scp. @returns What it answered, and its code. */
async function sendToSink(client: Client, text: string): Promise<{ readonly octets: number; readonly code: number | null }> {
  const channel = await new Promise<ClientChannel>((resolve, reject) => void client.exec("scp -t /tmp/sink", (error, opened) => (error ? reject(error) : resolve(opened))));
  let [octets, code]: [number, number | null] = [0, null];
  channel.on("data", (bytes: Buffer) => (octets += bytes.length)).on("exit", (given: number) => (code = given));
  channel.end(text);
  await once(channel, "close");
  return { octets, code };
}
const HOST = "backup@127.0.0.1";
const sha256 = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");
const fileNamed = (name: string) => decoys.evidence.flatMap(({ files }) => files).find((file) => file.name === name);

test.each([["SFTP", [], "/tmp/tool-new"], ["the old protocol", ["-O"], "/tmp/tool-old"]] as const)("scp by %s: what is sent is kept by its hash, and what is fetched is a document that is nowhere else", async (_, flags, target) => {
  const sent = randomBytes(700_000);
  writeFileSync(join(folder, "tool"), sent);
  expect(await run("scp", [...flags, "tool", `${HOST}:${target}`])).toMatchObject({ code: 0 });
  await expect.poll(() => fileNamed(target)).toMatchObject({ sha256: sha256(sent), octets: sent.length, is_kept: true, direction: "sent" });
  const { said } = await run("sftp", [HOST], "ls -l\nbye\n");
  const [name = ""] = /accounts-v\d\.csv/.exec(said) ?? [];
  expect(await run("scp", [...flags, `${HOST}:${name}`, "fetched"])).toMatchObject({ code: 0 });
  const fetched = readFileSync(join(folder, "fetched"));
  expect(fetched.toString()).toMatch(/^# ref [0-9A-F]{16}\r\nsystem,user,password,owner/);
  await expect.poll(() => fileNamed(name)).toMatchObject({ sha256: sha256(fetched), octets: fetched.length, direction: "read" });
  expect((await run("scp", [...flags, `${HOST}:nothing`, "none"])).said).toMatch(/No such file/);
});

test.each([["SFTP", []], ["the old protocol", ["-O"]]] as const)("scp by %s: a pattern fetches all that fit it, and what fits none is no file", async (_, flags) => {
  const target = mkdtempSync(join(folder, "globs-"));
  expect(await run("scp", [...flags, `${HOST}:/etc/[h-n]*.conf`, target])).toMatchObject({ code: 0 });
  expect(readdirSync(target).toSorted()).toEqual(["host.conf", "ld.so.conf", "nsswitch.conf"]);
  expect((await run("scp", [...flags, `${HOST}:*v?.csv`, target])).code).toBe(0);
  expect(readdirSync(target).some((name) => /^accounts-v\d\.csv$/.test(name))).toBe(true);
  expect(await run("scp", [...flags, `${HOST}:/etc/*.none`, target])).toMatchObject({ code: 1, said: expect.stringMatching(/No such file/) as string });
});

test("sftp goes about as on a small machine; what would change something is refused, and a file above the limit is not taken", async () => {
  writeFileSync(join(folder, "long"), Buffer.alloc(1_200_000, 1));
  const { said } = await run("sftp", [HOST], "pwd\nls /\ncd /etc\nget passwd\nrm /etc/passwd\nput long /tmp/long\nbye\n");
  expect(said).toMatch(/Remote working directory: \/home\/backup[^]*\/boot/);
  expect(said).toMatch(/remote delete[^]*Permission denied|delete file[^]*Permission denied/i);
  expect(readFileSync(join(folder, "passwd"), "utf8")).toMatch(/^root:x:0:0/);
  await expect.poll(() => decoys.hits.findLast(({ service }) => service === "ssh")?.techniques).toEqual(expect.arrayContaining(["T1570", "T1039", "T1059.004"]));
  expect(fileNamed("/tmp/long")?.octets ?? 0).toBeLessThanOrEqual(1024 * 1024);
});

test("a client that opens without end, writes where nothing is, and never closes is bounded, and ends nothing else", async () => {
  const client = await enter("127.0.3.9");
  const sftp = await beginSftp(client);
  const opened = await Promise.all(Array.from({ length: 40 }, (_, index) => new Promise<Buffer | null>((resolve) => sftp.open(`/tmp/x${index}`, "w", (error, handle) => resolve(error ? null : handle)))));
  const handles = opened.filter((handle) => handle !== null);
  expect(handles.length).toBe(16);
  const [first = Buffer.alloc(0), second = Buffer.alloc(0)] = handles;
  await expect(new Promise((resolve, reject) => sftp.write(first, Buffer.from("x"), 0, 1, 4096, (error) => (error ? reject(error) : resolve(null))))).rejects.toThrow();
  await new Promise<void>((resolve, reject) => sftp.write(second, Buffer.from("left open"), 0, 9, 0, (error) => (error ? reject(error) : resolve())));
  client.end();
  await expect.poll(() => fileNamed("/tmp/x1")).toMatchObject({ octets: 9, is_kept: true });
  expect(decoys.counts.failures).toBe(0);
});

test("a sink of scp answers a bounded number of lines, and reads nothing more once it was left", async () => {
  const client = await enter("127.0.3.11");
  expect(await sendToSink(client, "T\n".repeat(20_000))).toEqual({ octets: 257, code: 1 });
  expect(await sendToSink(client, "nonsense\nC0644 4 late\nlate\0")).toEqual({ octets: 1, code: 1 });
  expect(await sendToSink(client, "C0644 5 early\nearly\0")).toEqual({ octets: 3, code: 0 });
  client.end();
  await expect.poll(() => fileNamed("/tmp/sink")).toMatchObject({ octets: 5 });
  expect(decoys.counts.failures).toBe(0);
});

test("who asks by sftp without end is ended, however short the answers are", async () => {
  const client = await enter("127.0.3.12");
  const sftp = await beginSftp(client);
  const ended = new Promise<void>((resolve) => void client.on("close", () => resolve()));
  let answers = 0;
  for (let asked = 0; asked < 6000; asked += 1) sftp.stat("/", (error) => (answers += error ? 0 : 1));
  await ended;
  expect(answers).toBeLessThanOrEqual(4096);
  expect(decoys.counts.failures).toBe(0);
});
