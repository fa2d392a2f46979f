/** SNMP, all versions. Communities are credentials: they are not in a message. @see RFC 1157, RFC 3416, RFC 3412 section 6, RFC 3414 section 2.4 */
import { decodeInteger, decodeObjectIdentifier, readAll, readTlv, type Tlv } from "@lanthorn/packets";
import { latin1 } from "./latin1.ts";
import type { DatagramParser, MessageOrigin } from "./stream-parser.ts";

/** What a PDU asks or says. */
export type SnmpPduType = "bulk" | "get" | "inform" | "next" | "report" | "response" | "set" | "trap" | "trap-v1";

/** One message. */
export interface SnmpMessage extends MessageOrigin {
  readonly protocol: "snmp";
  readonly version: "1" | "2c" | "3";
  /** Versions 1 and 2c: a community was there, and it was not empty. */
  readonly hasCommunity: boolean;
  /** Version 3; empty in discovery, null in the others. */
  readonly user: string | null;
  /** Of the authoritative engine, in hexadecimal; version 3. */
  readonly engineId: string | null;
  readonly isAuthenticated: boolean;
  readonly isEncrypted: boolean;
  /** Null where it is encrypted. */
  readonly pdu: SnmpPduType | null;
  readonly requestId: number | null;
  /** Of a response: 0 is good. */
  readonly errorStatus: number | null;
  /** Names of the first eight variables; before them the enterprise of a trap of version 1. */
  readonly objectIds: readonly string[];
}

type Facts = Omit<SnmpMessage, "at" | "protocol" | "side">;

const PDU_TYPES: ReadonlyMap<number, SnmpPduType> = new Map([
  [0xa0, "get"], [0xa1, "next"], [0xa2, "response"], [0xa3, "set"], [0xa4, "trap-v1"], [0xa5, "bulk"], [0xa6, "inform"], [0xa7, "trap"], [0xa8, "report"],
]);
const SEQUENCE = 0x30;
const OCTET_STRING = 0x04;
const OBJECT_IDENTIFIER = 0x06;
const MAX_OBJECT_IDS = 8;
const MAX_MALFORMED = 4;
const USER_SECURITY_MODEL = 3;
const FLAG = { authenticated: 0x01, encrypted: 0x02 } as const;

/** @returns The parser of one flow of datagrams. */
export function createSnmpParser(emit: (message: SnmpMessage) => void): DatagramParser {
  let malformed = 0;
  return {
    get isOver() {
      return malformed >= MAX_MALFORMED;
    },
    read(side, bytes, at) {
      const facts = decodeSnmp(bytes);
      malformed = facts ? 0 : malformed + 1;
      if (facts) emit({ protocol: "snmp", side, at, ...facts });
    },
  };
}

/** @returns null where it is none. */
export function decodeSnmp(bytes: Uint8Array): Facts | null {
  const whole = readTlv(bytes);
  if (!whole || whole.tag !== SEQUENCE) return null;
  const [version, second, third, fourth] = readAll(whole.value);
  if (!version || !second || !third) return null;
  const number = decodeInteger(version.value);
  if (number === 3) return decodeVersion3(second, third, fourth);
  if ((number !== 0 && number !== 1) || second.tag !== OCTET_STRING) return null;
  const pdu = decodePdu(third);
  return pdu && {
    version: number === 0 ? "1" : "2c", hasCommunity: second.value.length > 0, user: null, engineId: null, isAuthenticated: false, isEncrypted: false, ...pdu,
  };
}

function decodeVersion3(header: Tlv, security: Tlv, data: Tlv | undefined): Facts | null {
  const [, , flags, model] = readAll(header.value);
  if (!flags || !model || !data) return null;
  const bits = flags.value[0] ?? 0;
  const usm = decodeInteger(model.value) === USER_SECURITY_MODEL ? readTlv(security.value) : null;
  const [engineId, , , user] = usm ? readAll(usm.value) : [];
  const isEncrypted = (bits & FLAG.encrypted) !== 0;
  const [, , scoped] = isEncrypted || data.tag !== SEQUENCE ? [] : readAll(data.value);
  return {
    version: "3",
    hasCommunity: false,
    user: user ? latin1(user.value.subarray(0, 64)) : null,
    engineId: engineId ? Buffer.from(engineId.value.subarray(0, 32)).toString("hex") : null,
    isAuthenticated: (bits & FLAG.authenticated) !== 0,
    isEncrypted,
    ...((scoped && decodePdu(scoped)) ?? { pdu: null, requestId: null, errorStatus: null, objectIds: [] }),
  };
}

function decodePdu({ tag, value }: Tlv): Pick<Facts, "errorStatus" | "objectIds" | "pdu" | "requestId"> | null {
  const pdu = PDU_TYPES.get(tag);
  if (!pdu) return null;
  const parts = readAll(value);
  if (pdu === "trap-v1") {
    const [enterprise] = parts;
    const names = enterprise?.tag === OBJECT_IDENTIFIER ? [decodeObjectIdentifier(enterprise.value)] : [];
    return { pdu, requestId: null, errorStatus: null, objectIds: [...names, ...namesOf(parts[5])].slice(0, MAX_OBJECT_IDS) };
  }
  const [requestId, errorStatus, , variables] = parts;
  if (!requestId || !errorStatus) return null;
  const status = pdu === "bulk" ? null : decodeInteger(errorStatus.value);
  return { pdu, requestId: decodeInteger(requestId.value), errorStatus: status, objectIds: namesOf(variables) };
}

function namesOf(variables: Tlv | undefined): readonly string[] {
  const names: string[] = [];
  for (let rest = variables?.value ?? new Uint8Array(0); rest.length > 0 && names.length < MAX_OBJECT_IDS;) {
    const variable = readTlv(rest);
    const name = variable ? readTlv(variable.value) : null;
    if (!variable || name?.tag !== OBJECT_IDENTIFIER) break;
    names.push(decodeObjectIdentifier(name.value));
    rest = rest.subarray(variable.size);
  }
  return names;
}
