import { systemClock } from "@lanthorn/runtime";
import { afterEach, describe, expect, test } from "vitest";
import { exchangeDatagram } from "../identify/datagrams.ts";
import { readSwitch } from "./read-switch.ts";
import { createSnmpSession } from "./session/session.ts";
import { COMMUNITY, type Snmpd, startSnmpd } from "./testing/snmpd.ts";

type Row = readonly [name: string, type: string, value: string];
const BRIDGE = "1.3.6.1.2.1.17";
/** Bridge port 5 is ifIndex 1, which is loopback on every machine. */
const PORT: Row = [`${BRIDGE}.1.4.1.2.5`, "integer", "1"];
const heard = (fdb: number, last: number): readonly Row[] => [
  [`${BRIDGE}.7.1.2.2.1.2.${fdb}.0.17.50.119.0.${last}`, "integer", "5"],
  [`${BRIDGE}.7.1.2.2.1.3.${fdb}.0.17.50.119.0.${last}`, "integer", "3"],
];
/** dot1qVlanFdbId. */
const vlan = (number: number, fdb: number, time = 0): Row => [`${BRIDGE}.7.1.4.2.1.3.${time}.${number}`, "uinteger", String(fdb)];

let snmpd: Snmpd | undefined;
afterEach(() => snmpd?.close());

async function readVlans(...rows: readonly Row[]): Promise<readonly (readonly [last: string, vlan: number | null])[]> {
  snmpd = await startSnmpd([PORT, ...rows]);
  const session = createSnmpSession({
    ip: "127.0.0.1", ask: exchangeDatagram, pace: async () => undefined, mayAsk: () => true, clock: systemClock, random: Math.random,
    signal: new AbortController().signal,
    credential: {
      id: "0199fffe-0000-7000-8000-000000000001", name: "switches", networks: [], type: "snmp",
      settings: { version: "2c", port: snmpd.port }, secret: { community: COMMUNITY },
    },
  });
  const tables = await readSwitch(session);
  return (tables?.forwarding ?? []).map((one) => [one.mac.slice(-2), one.vlan] as const);
}

describe("the VLAN of a MAC", () => {
  test("is the one whose table it is in", async () => {
    expect(await readVlans(...heard(1, 1), ...heard(2, 2), vlan(10, 1), vlan(20, 2))).toEqual([["01", 10], ["02", 20]]);
  });

  test("is not known where several learn in one table, or none in this one", async () => {
    expect(await readVlans(...heard(1, 1), ...heard(7, 2), vlan(10, 1), vlan(20, 1))).toEqual([["01", null], ["02", null]]);
  });

  test("is the table's number where the switch does not tell, or says nothing of use", async () => {
    expect(await readVlans(...heard(30, 1))).toEqual([["01", 30]]);
    await snmpd?.close();
    expect(await readVlans(...heard(30, 1), vlan(20, 0), vlan(30, 0))).toEqual([["01", 30]]);
    await snmpd?.close();
    expect(await readVlans(...heard(4095, 1))).toEqual([["01", null]]);
  });

  test("is found by the time of its last change, where the switch keeps to that alone", async () => {
    expect(await readVlans(...heard(1, 1), vlan(10, 1, 4711))).toEqual([["01", 10]]);
  });
});
