/** An agent of SNMP that lets everybody read who it is. @see RFC 1157, RFC 3416 section 4.2, RFC 3412 section 6, RFC 3414 sections 2.4 and 3.2 */
import { decodeInteger, encodeInteger, encodeObjectIdentifier, encodeTlv, readAll, readTlv, type Tlv } from "@lanthorn/packets";
import type { Caller, DatagramService } from "./service.ts";
import { createSystemGroup, type SystemGroup } from "./snmp-system.ts";
import { answerPdu } from "./snmp-pdu.ts";

const TAG = { integer: 0x02, octets: 0x04, sequence: 0x30, counter: 0x41, report: 0xa8 } as const;
const VERSION = { v1: 0, v2c: 1, v3: 3 } as const;
/** What agents are set up with, and who has not been there yet tries first. */
const COMMUNITY = "public";
const USM_STATS = { unknownUser: "1.3.6.1.6.3.15.1.1.3.0", unknownEngine: "1.3.6.1.6.3.15.1.1.4.0" } as const;
const MAX_MESSAGE = 65_507;
const NOTHING = new Uint8Array(0);

/** Answers the community `public` and bait with the system group; a user of version 3 with a report. Whoever gives another community hears nothing. */
export const snmp: DatagramService = (stage) => {
  const system = createSystemGroup(stage);
  const engine = createEngine(stage.derive("snmp", 9));
  return (datagram, caller) => {
    const whole = readTlv(datagram);
    const [version, second, third, fourth] = whole?.tag === TAG.sequence ? readAll(whole.value) : [];
    if (version?.tag !== TAG.integer || !second || !third) return;
    const number = decodeInteger(version.value);
    if (number === VERSION.v3) return fourth && answerUser(caller, engine, system.uptimeSeconds(caller.now()), { header: second, security: third, data: fourth });
    if ((number === VERSION.v1 || number === VERSION.v2c) && second.tag === TAG.octets) answerCommunity(caller, system, number, { community: second, pdu: third });
  };
};

function answerCommunity(caller: Caller, system: SystemGroup, version: 0 | 1, { community, pdu }: { readonly community: Tlv; readonly pdu: Tlv }): void {
  const given = Buffer.from(community.value).toString("latin1");
  const isBait = caller.tried("", given);
  const head = [encodeInteger(version), encodeTlv(TAG.octets, community.value)];
  const wrap = (answer: Uint8Array) => encodeTlv(TAG.sequence, Buffer.concat([...head, answer]));
  const answer = answerPdu(pdu, { system, now: caller.now(), isOld: version === VERSION.v1, fits: (bytes, isBulk) => wrap(bytes).length <= (isBulk ? caller.room : caller.mostRoom) });
  if (!answer) return;
  if (answer.command !== null) caller.reached("command", "", answer.command);
  if (given === COMMUNITY || isBait) caller.answer(wrap(answer.pdu));
}

interface Engine {
  readonly id: Uint8Array;
  readonly boots: number;
  counts: { unknownUser: number; unknownEngine: number };
}

/** As Net-SNMP makes them: its enterprise, four octets of chance, and a time. @see RFC 3411 section 5, SnmpEngineID */
function createEngine(own: Buffer): Engine {
  const since = Buffer.alloc(4);
  since.writeUInt32LE(1_640_000_000 + own.readUInt32BE(4) % 80_000_000);
  return { id: Buffer.concat([Buffer.from([0x80, 0, 0x1f, 0x88, 0x80]), own.subarray(0, 4), since, Buffer.alloc(4)]), boots: 2 + (own[8] ?? 0) % 30, counts: { unknownUser: 0, unknownEngine: 0 } };
}

/** Says which engine it is, and then that it does not know the user. */
function answerUser(caller: Caller, engine: Engine, uptimeSeconds: number, { header, security, data }: { readonly header: Tlv; readonly security: Tlv; readonly data: Tlv }): void {
  const [messageId] = readAll(header.value);
  const usm = security.tag === TAG.octets ? readTlv(security.value) : null;
  const [engineId, , , user] = usm ? readAll(usm.value) : [];
  if (messageId?.tag !== TAG.integer || !engineId || !user) return;
  const name = Buffer.from(user.value).toString("utf8");
  const isKnown = Buffer.from(engineId.value).equals(engine.id);
  // Its proof is of a key that is made for this engine; nobody has one.
  if (isKnown && name !== "") caller.tried(name, () => false);
  else caller.reached("banner", "", "asked for the engine");
  const kind = isKnown ? "unknownUser" : "unknownEngine";
  engine.counts[kind] += 1;
  const scoped = data.tag === TAG.sequence ? readAll(data.value)[2] : undefined;
  const requestId = scoped ? readAll(scoped.value)[0] : undefined;
  const counter = encodeTlv(TAG.sequence, Buffer.concat([encodeObjectIdentifier(USM_STATS[kind]), encodeTlv(TAG.counter, readTlv(encodeInteger(engine.counts[kind]))?.value ?? NOTHING)]));
  const report = encodeTlv(TAG.report, Buffer.concat([
    encodeTlv(TAG.integer, requestId?.tag === TAG.integer ? requestId.value : Uint8Array.of(0)), encodeInteger(0), encodeInteger(0), encodeTlv(TAG.sequence, counter),
  ]));
  const parameters = encodeTlv(TAG.sequence, Buffer.concat([
    encodeTlv(TAG.octets, engine.id), encodeInteger(engine.boots), encodeInteger(uptimeSeconds), encodeTlv(TAG.octets, isKnown ? user.value : NOTHING), encodeTlv(TAG.octets, NOTHING), encodeTlv(TAG.octets, NOTHING),
  ]));
  caller.answer(encodeTlv(TAG.sequence, Buffer.concat([
    encodeInteger(VERSION.v3),
    encodeTlv(TAG.sequence, Buffer.concat([encodeTlv(TAG.integer, messageId.value), encodeInteger(MAX_MESSAGE), encodeTlv(TAG.octets, Uint8Array.of(0)), encodeInteger(3)])),
    encodeTlv(TAG.octets, parameters),
    encodeTlv(TAG.sequence, Buffer.concat([encodeTlv(TAG.octets, engine.id), encodeTlv(TAG.octets, NOTHING), report])),
  ])));
}
