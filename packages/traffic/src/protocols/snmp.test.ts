import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findFreePort } from "../../../../test/lab/free-port.ts";
import { tryCommand } from "../../../../test/lab/run-command.ts";
import { fromHex } from "../../../packets/src/testing/bytes.ts";
import { everyTruncation, seededMutations } from "../../../packets/src/testing/hostile.ts";
import { unpackOrSay } from "../../../packets/src/testing/tshark.ts";
import type { Turn } from "../testing/conversation.ts";
import { playDatagrams } from "../testing/datagrams.ts";
import { recordDatagrams, startUntil } from "../testing/relay.ts";
import { askTsharkOf, valuesOfField } from "../testing/tshark-conversation.ts";
import { decodeSnmp, type SnmpMessage } from "./snmp.ts";

const tshark = await unpackOrSay(["tshark"], "comparison of SNMP with tshark");
const netSnmp = await unpackOrSay(["snmp", "snmpd"], "SNMP of Net-SNMP");

let folder = "";
const recorded: Record<string, Turn[]> = {};

/** Net-SNMP asks itself, in each version. */
beforeAll(async () => {
  if (!netSnmp) return;
  folder = await mkdtemp(join(tmpdir(), "lanthorn-snmp-"));
  const conf = join(folder, "snmpd.conf");
  await writeFile(conf, "rocommunity geheim\ncreateUser alice SHA hunter2hunter2 AES hunter3hunter3\nrouser alice noauth\nsysName box\n");
  const port = await findFreePort();
  const snmpd = netSnmp.command("snmpd");
  const env = { ...snmpd.env, SNMP_PERSISTENT_DIR: folder, HOME: folder };
  const bound = `0100007F:${port.toString(16).toUpperCase().padStart(4, "0")} `;
  const stop = await startUntil(snmpd.path, ["-f", "-C", "-c", conf, "-Ln", "-I", "system_mib,sysORTable,usmConf,snmpEngine,usmUser", `udp:127.0.0.1:${port}`], env, async () => {
    return readFileSync("/proc/net/udp", "utf8").includes(bound);
  });
  const login = ["-u", "alice", "-a", "SHA", "-A", "hunter2hunter2", "-x", "AES", "-X", "hunter3hunter3"];
  const asks = {
    v1: ["snmpget", "-v1", "-c", "geheim"], v2c: ["snmpbulkget", "-v2c", "-c", "geheim"], plain: ["snmpget", "-v3", "-l", "noAuthNoPriv", "-u", "alice"],
    encrypted: ["snmpgetnext", "-v3", "-l", "authPriv", ...login],
  };
  try {
    for (const [name, [program = "", ...options]] of Object.entries(asks)) {
      const { path, env: own } = netSnmp.command(program);
      const [turns = []] = await recordDatagrams(port, (relay) => tryCommand(path, [
        ...options, "-t", "2", "-r", "1", "-On", `udp:127.0.0.1:${relay}`, ".1.3.6.1.2.1.1.5.0", ".1.3.6.1.2.1.1.1.0",
      ], { env: { ...own, SNMP_PERSISTENT_DIR: folder, HOME: folder } }));
      recorded[name] = turns;
    }
  } finally {
    await stop();
  }
});
afterAll(async () => {
  if (folder !== "") await rm(folder, { recursive: true, force: true });
});

function snmpOf(name: string): readonly SnmpMessage[] {
  const { messages, service } = playDatagrams(recorded[name] ?? []);
  expect(service).toBe("snmp");
  return messages.filter((message): message is SnmpMessage => message.protocol === "snmp");
}

describe.skipIf(!netSnmp)("what Net-SNMP says", () => {
  test.each([["v1", "1", "get"], ["v2c", "2c", "bulk"]])("shows that a community was there, not which: %s", (name, version, pdu) => {
    const messages = snmpOf(name);
    expect(messages).toMatchObject([
      { side: 0, version, pdu, hasCommunity: true, user: null, objectIds: ["1.3.6.1.2.1.1.5.0", "1.3.6.1.2.1.1.1.0"] }, { side: 1, version, pdu: "response", errorStatus: 0 },
    ]);
    expect(JSON.stringify(messages)).not.toContain("geheim");
  });

  test("shows user and engine of version 3, and the request where it is in clear", () => {
    const messages = snmpOf("plain");
    expect(messages.slice(0, 2)).toMatchObject([{ user: "", engineId: "", pdu: "get" }, { side: 1, pdu: "report" }]);
    expect(messages.at(-1)).toMatchObject({ version: "3", user: "alice", isEncrypted: false, pdu: "response" });
    const encrypted = snmpOf("encrypted");
    expect(encrypted.at(-1)).toMatchObject({ user: "alice", isEncrypted: true, isAuthenticated: true, pdu: null, objectIds: [] });
    expect(encrypted.at(-1)?.engineId).toMatch(/^[0-9a-f]{10,}$/);
  });

  test.each(["v1", "v2c", "plain", "encrypted"])("is read as tshark reads it: %s", async (name) => {
    if (!tshark) return;
    const messages = snmpOf(name);
    const theirs = await askTsharkOf(tshark, recorded[name] ?? [], ["snmp.msgUserName", "snmp.request_id", "snmp.name"], { port: 161, as: "snmp", carrier: "udp" });
    expect(valuesOfField(theirs, "snmp.msgUserName")).toEqual(messages.flatMap(({ user }) => user ?? []));
    expect(valuesOfField(theirs, "snmp.request_id").map(Number)).toEqual(messages.flatMap(({ requestId }) => requestId ?? []));
    expect(valuesOfField(theirs, "snmp.name").slice(0, 2)).toEqual(messages.flatMap(({ objectIds }) => objectIds).slice(0, 2));
  });
});

/** A trap of version 1: coldStart of 192.0.2.1. */
const TRAP = fromHex("302802010004067075626c6963a41b06082b060104018f510a 4004c0000201 020100 020100 430100 3000");

test("a trap of version 1 shows its enterprise", () => {
  expect(decodeSnmp(TRAP)).toMatchObject({ version: "1", pdu: "trap-v1", objectIds: ["1.3.6.1.4.1.2001.10"] });
});

test("SNMP harms nobody, however damaged", () => {
  const samples = [TRAP, ...Object.values(recorded).flat().map(({ bytes }) => bytes)];
  for (const sample of samples) {
    for (const bytes of [...everyTruncation(sample), ...seededMutations(sample, 500, 9)]) {
      const facts = decodeSnmp(bytes);
      expect(facts === null || facts.objectIds.length <= 8).toBe(true);
      playDatagrams([{ side: 0, bytes }]);
    }
  }
});
