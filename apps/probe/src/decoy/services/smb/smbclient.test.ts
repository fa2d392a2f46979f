import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type DebianRoot, unpackDebianPackages } from "../../../../../../test/lab/debian-packages.ts";
import { openForTest, type OpenedDecoys } from "../../testing/opened.ts";

const BAIT = "SITE\\backup%Blue-Heron-4";
const MARK = /ref ([0-9A-F]{16})/;

let decoys: OpenedDecoys;
let client: DebianRoot;
let folder: string;
beforeAll(async () => {
  client = await unpackDebianPackages(["smbclient"]);
  folder = mkdtempSync(join(tmpdir(), "lanthorn-smb-"));
  // Debian's client chooses its own address on loopback, which is not exempt here.
  decoys = await openForTest([], {
    decoys: (["windows", "linux", "nas"] as const).map((persona) => ({ name: persona, persona, address: "127.0.0.1", services: [{ service: "smb2", port: 0 }] })),
  }, []);
  decoys.listen();
});
afterAll(async () => {
  await decoys.close();
  rmSync(folder, { recursive: true });
});

const run = (persona: string, share: string, ...args: readonly string[]) => new Promise<string>((resolve) => {
  const { path, env } = client.command("smbclient");
  const port = decoys.places.find(({ decoy }) => decoy === persona)?.port ?? 0;
  execFile(path, [...(share === "-L" ? ["-L", "//127.0.0.1"] : [`//127.0.0.1/${share}`]), "-p", `${port}`, "-s", "/dev/null", ...args], { timeout: 20_000, cwd: folder, env: { ...process.env, ...env } }, (_, stdout, stderr) => resolve(stdout + stderr));
});
const shareOf = async (persona: string) => /^\s+(\w+)\s+Disk\s*$/m.exec(await run(persona, "-L", "-U", BAIT))?.[1] ?? "";
const lastOf = (persona: string) => decoys.hits.findLast(({ decoy }) => decoy === persona);

test("bait lists the shares of a Windows server; the administrators' are closed", async () => {
  const said = await run("windows", "-L", "-U", BAIT);
  expect(said).toMatch(/ADMIN\$\s+Disk\s+Remote Admin\s+C\$\s+Disk\s+Default share\s+\w+\s+Disk\s+IPC\$\s+IPC\s+Remote IPC/);
  expect(await run("windows", "C$", "-U", BAIT, "-c", "ls")).toMatch(/NT_STATUS_ACCESS_DENIED/);
  expect(await run("windows", "Nothing", "-U", BAIT, "-c", "ls")).toMatch(/NT_STATUS_BAD_NETWORK_NAME/);
  await expect.poll(() => lastOf("windows")).toMatchObject({ stage: "bait_credential", severity: "critical", username: "backup", techniques: expect.arrayContaining(["T1135", "T1078", "T1021.002"]) as string[] });
});

test.each(["SMB2_02", "SMB2_10", "SMB3_00", "SMB3_02", "SMB3_11"])("bait lists and reads documents with %s, whose messages are signed", async (dialect) => {
  const share = await shareOf("linux");
  const options = ["-U", BAIT, "-m", dialect, "--option=client min protocol=SMB2_02", "--client-protection=sign"];
  const listed = await run("linux", share, ...options, "-c", "ls");
  expect(listed).toMatch(/accounts-v\d\.csv\s+A\s+\d+ [^]*salaries-v\d\.csv[^]*network-v\d\.txt[^]*backup-plan-v\d\.txt[^]*blocks of size 4096/);
  const [, name = "", octets = ""] = /(accounts-v\d\.csv)\s+A\s+(\d+)/.exec(listed) ?? [];
  expect(await run("linux", share, ...options, "-c", `get ${name} ${dialect}.csv; allinfo ${name}`)).toMatch(/altname: ACCOUN~1\.CSV[^]*attributes: A/);
  const content = readFileSync(join(folder, `${dialect}.csv`));
  expect([content.length, content.toString()]).toEqual([Number(octets), expect.stringMatching(/^# ref [0-9A-F]{16}\r\nsystem,user,password,owner\r\nerp,/)]);
  await expect.poll(() => decoys.evidence.find(({ files }) => files.some((file) => file.name === name))?.files[0]).toMatchObject({ name, octets: content.length, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string, direction: "read" });
  await expect.poll(() => lastOf("linux")?.techniques).toEqual(expect.arrayContaining(["T1039"]));
});

test("nothing is written, renamed or deleted", async () => {
  const share = await shareOf("linux");
  for (const command of ["put /etc/hostname evil.txt", "mkdir evil", "rm accounts*"]) expect(await run("linux", share, "-U", BAIT, "-c", command)).toMatch(/NT_STATUS_ACCESS_DENIED/);
  expect(await run("linux", share, "-U", BAIT, "-c", "ls")).not.toMatch(/evil/);
});

test("a guest reads where the persona lets guests in, and nowhere else; a guess is refused everywhere", async () => {
  expect(await run("linux", "-L", "-N")).toMatch(/NT_STATUS_ACCESS_DENIED/);
  expect(await run("windows", "-L", "-U", "guest%")).toMatch(/NT_STATUS_LOGON_FAILURE/);
  for (const persona of ["nas", "linux", "windows"]) expect(await run(persona, "-L", "-U", "backup%wrong")).toMatch(/NT_STATUS_LOGON_FAILURE/);
  const share = /^\s+(\w+)\s+Disk\s*$/m.exec(await run("nas", "-L", "-N"))?.[1] ?? "";
  expect(await run("nas", share, "-N", "-c", "prompt off; mget network*")).toMatch(/getting file/);
  await expect.poll(() => decoys.hits.findLast(({ decoy, stage }) => decoy === "nas" && stage === "file")).toMatchObject({ severity: "high", detail: expect.stringMatching(/^read network-v\d\.txt: \d+ bytes, SHA-256 [0-9a-f]{64}$/) as string, techniques: expect.arrayContaining(["T1039", "T1135"]) as string[] });
});

test("documents of each decoy are its own", async () => {
  const marks: (string | undefined)[] = [];
  for (const persona of ["windows", "linux", "nas"]) {
    const share = await shareOf(persona);
    const name = /(network-v\d\.txt)/.exec(await run(persona, share, "-U", BAIT, "-c", "ls"))?.[1] ?? "";
    await run(persona, share, "-U", BAIT, "-c", `get ${name} ${persona}.txt`);
    marks.push(MARK.exec(readFileSync(join(folder, `${persona}.txt`), "utf8"))?.[1]);
  }
  expect(new Set(marks).size).toBe(3);
  expect(decoys.counts.failures).toBe(0);
});
