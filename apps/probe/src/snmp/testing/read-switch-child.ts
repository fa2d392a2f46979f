/** Reads the tables of the agent on loopback, in whatever namespace it is run, and prints them as JSON. For tests only. */
import { systemClock } from "@lanthorn/runtime";
import { exchangeDatagram } from "../../identify/datagrams.ts";
import { readSwitch } from "../read-switch.ts";
import { createSnmpSession } from "../session/session.ts";
import { COMMUNITY } from "./snmpd.ts";

const session = createSnmpSession({
  ip: "127.0.0.1", ask: exchangeDatagram, pace: async () => undefined, mayAsk: () => true, clock: systemClock,
  random: Math.random, signal: new AbortController().signal,
  credential: {
    id: "0199fffe-0000-7000-8000-000000000001", name: "switches", networks: [], type: "snmp",
    settings: { version: "2c", port: 161 }, secret: { community: COMMUNITY },
  },
});
const tables = await readSwitch(session);
process.stdout.write(JSON.stringify(tables && { ...tables, interfaces: [...tables.interfaces] }));
