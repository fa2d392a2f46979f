/** What an agent knows: its system group. @see RFC 3418 */
import { encodeInteger, encodeObjectIdentifier, encodeTlv, readTlv } from "@lanthorn/packets";
import { type Stage, withName } from "../service.ts";

const SYSTEM = "1.3.6.1.2.1.1";
const TAG = { octets: 0x04, timeTicks: 0x43 } as const;
const DAY_SECONDS = 86_400;

/** A variable: its name as arcs, and its value whole in BER. */
export interface SystemVariable {
  readonly name: string;
  readonly value: Uint8Array;
}

/** What can be read. */
export interface SystemGroup {
  /** By name, as they follow each other. */
  variables(now: Date): readonly SystemVariable[];
  uptimeSeconds(now: Date): number;
}

/** It has been running for weeks when the decoy begins. */
export function createSystemGroup(stage: Stage): SystemGroup {
  const { snmp } = stage.persona;
  const beforeSeconds = (9 + stage.derive("uptime", 4).readUInt32BE(0) % 80) * DAY_SECONDS + stage.derive("uptime", 8).readUInt32BE(4) % DAY_SECONDS;
  const text = (value: string) => encodeTlv(TAG.octets, Buffer.from(withName(value, stage)));
  const uptimeSeconds = (now: Date) => Math.max(0, Math.floor((now.getTime() - stage.startedMs) / 1000)) + beforeSeconds;
  const ticks = (now: Date) => encodeTlv(TAG.timeTicks, readTlv(encodeInteger(uptimeSeconds(now) * 100 + Math.floor(now.getMilliseconds() / 10)))?.value ?? new Uint8Array(1));
  return {
    uptimeSeconds,
    variables: (now) => [
      text(snmp.description), encodeObjectIdentifier(snmp.objectId), ticks(now), text(snmp.contact), text("%h"), text(snmp.location), encodeInteger(snmp.services),
    ].map((value, index) => ({ name: `${SYSTEM}.${index + 1}.0`, value })),
  };
}
