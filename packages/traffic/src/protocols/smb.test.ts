import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findFreePort } from "../../../../test/lab/free-port.ts";
import { tryCommand } from "../../../../test/lab/run-command.ts";
import { seededMutations } from "../../../packets/src/testing/hostile.ts";
import { unpackOrSay } from "../../../packets/src/testing/tshark.ts";
import { play, type Turn } from "../testing/conversation.ts";
import { expectHarmless, expectSameHoweverCut } from "../testing/expect-conversation.ts";
import { recordThrough, startUntil, takesConnections } from "../testing/relay.ts";
import { askTsharkOf, valuesOfField } from "../testing/tshark-conversation.ts";
import type { SmbMessage } from "./smb.ts";

const tshark = await unpackOrSay(["tshark"], "comparison of SMB with tshark");
const isRoot = process.getuid?.() === 0;
const samba = isRoot ? await unpackOrSay(["samba", "smbclient"], "SMB of Samba") : null;
if (!isRoot) console.warn("SKIPPED: SMB of Samba needs root");

let folder = "";
const recorded = { SMB3: [] as Turn[], NT1: [] as Turn[] };

/** smbclient logs in to smbd, lists a share and fetches a file; once with each version. */
beforeAll(async () => {
  if (!samba) return;
  folder = await mkdtemp(join(tmpdir(), "lanthorn-smb-"));
  await chmod(folder, 0o755);
  const [share, state, conf] = [join(folder, "share"), join(folder, "state"), join(folder, "smb.conf")];
  for (const path of [share, state, join(folder, "private")]) await mkdir(path);
  await chmod(share, 0o755);
  await writeFile(join(share, "plan für 2027.txt"), "hello");
  await writeFile(conf, [
    "[global]", "server role = standalone server", "map to guest = Bad User", "guest account = nobody", `private dir = ${join(folder, "private")}`,
    ...["lock", "state", "cache", "pid"].map((name) => `${name} directory = ${state}`), `ncalrpc dir = ${join(state, "ncalrpc")}`, `log file = ${join(folder, "log")}`,
    "interfaces = lo", "bind interfaces only = yes", "disable netbios = yes", "load printers = no", "server min protocol = NT1", "client min protocol = NT1",
    "netbios name = FILES", "[docs]", `path = ${share}`, "guest ok = yes",
  ].join("\n"));
  const port = await findFreePort();
  const smbd = samba.command("smbd");
  const libraries = join(samba.root, "usr/lib/x86_64-linux-gnu");
  const env = { LD_LIBRARY_PATH: [libraries, join(libraries, "samba"), join(libraries, "samba/service")].join(":") };
  const stop = await startUntil(smbd.path, ["-F", "--no-process-group", "-s", conf, "-p", String(port)], env, () => takesConnections(port));
  try {
    for (const version of ["SMB3", "NT1"] as const) {
      const conversations = await recordThrough(port, (relay) => tryCommand(samba.command("smbclient").path, [
        "-s", conf, "-p", String(relay), "-U", "LAB\\alice%hunter2", "-m", version, "//127.0.0.1/docs", "-c", "get \"plan für 2027.txt\" /dev/null",
      ], { env }));
      recorded[version] = conversations[0] ?? [];
    }
  } finally {
    await stop();
  }
});
afterAll(async () => {
  if (folder !== "") await rm(folder, { recursive: true, force: true });
});

function smbOf(turns: readonly Turn[]): readonly SmbMessage[] {
  const { messages, service } = play(turns);
  expect(service).toBe("smb");
  return messages.filter((message): message is SmbMessage => message.protocol === "smb");
}

/** Names of the user, the shares and the files. */
function namesOf(messages: readonly SmbMessage[]) {
  return {
    logins: messages.flatMap((message) => (message.kind === "authenticate" ? [[message.domain, message.user, message.workstation]] : [])),
    trees: messages.flatMap((message) => (message.kind === "tree-connect" ? [message.path] : [])),
    files: messages.flatMap((message) => (message.kind === "create" ? [message.name] : [])),
  };
}

describe.skipIf(!samba)("what smbclient and smbd say", () => {
  test("is read as tshark reads it: SMB 2 and 3", async () => {
    const messages = smbOf(recorded.SMB3);
    const { logins, trees, files } = namesOf(messages);
    expect(logins).toEqual([["LAB", "alice", "FILES"]]);
    expect(files).toContain("plan für 2027.txt");
    expect(messages.find(({ kind }) => kind === "challenge")).toMatchObject({ side: 1, target: "FILES", computer: "FILES" });
    expect(messages.find(({ kind }) => kind === "session-result")).toMatchObject({ side: 1, status: 0 });
    expect(messages.findLast(({ kind }) => kind === "negotiated")).toMatchObject({ dialect: "3.1.1" });
    expect(JSON.stringify(messages)).not.toContain("hunter2");
    if (!tshark) return;
    const fields = ["ntlmssp.auth.username", "ntlmssp.auth.domain", "ntlmssp.auth.hostname", "smb2.tree", "smb2.filename", "smb2.flags.response"];
    const theirs = await askTsharkOf(tshark, recorded.SMB3, fields, { port: 445, as: "nbss" });
    expect([valuesOfField(theirs, "ntlmssp.auth.domain"), valuesOfField(theirs, "ntlmssp.auth.username"), valuesOfField(theirs, "ntlmssp.auth.hostname")])
      .toEqual([["LAB"], ["alice"], ["FILES"]]);
    const requests = theirs.filter((frame) => frame["smb2.flags.response"]?.[0] === "0");
    expect([...new Set(valuesOfField(requests, "smb2.tree"))]).toEqual([...new Set(trees)]);
    expect(new Set(valuesOfField(requests, "smb2.filename"))).toEqual(new Set(files));
  });

  test("is read as tshark reads it: SMB 1", async () => {
    const messages = smbOf(recorded.NT1);
    const { logins, trees, files } = namesOf(messages);
    expect(messages[0]).toMatchObject({ version: 1, kind: "negotiate", side: 0 });
    expect(messages[0]?.kind === "negotiate" && messages[0].dialects).toContain("NT LM 0.12");
    expect(logins).toEqual([["LAB", "alice", "FILES"]]);
    if (!tshark) return;
    const theirs = await askTsharkOf(tshark, recorded.NT1, ["smb.path", "smb.file", "smb.dialect.name", "smb.cmd", "smb.flags.response"], { port: 445, as: "nbss" });
    const requests = theirs.filter((frame) => frame["smb.flags.response"]?.[0] === "0");
    const ofCommand = (command: number, field: string) => valuesOfField(requests.filter((frame) => Number(frame["smb.cmd"]?.[0]) === command), field);
    // tshark says the path once more with its answer's place.
    expect([...new Set(trees)]).toEqual([...new Set(ofCommand(0x75, "smb.path"))]);
    // tshark 4.0 writes other letters than ASCII's wrong here.
    const plain = (name: string) => name.replace(/^\\?/, "\\").replaceAll(/[^ -~]/g, "?");
    expect(files.map(plain)).toEqual(ofCommand(0xa2, "smb.file").map(plain));
    expect(files).toEqual(["\\plan für 2027.txt"]);
  });

  test("is the same however it is cut, and harmless when damaged", () => {
    for (const turns of [recorded.SMB3, recorded.NT1]) {
      expectSameHoweverCut(turns.slice(0, 12));
      expectHarmless(turns.slice(0, 12), seededMutations, 100);
    }
  });
});
