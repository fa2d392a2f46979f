/** SNMP for rules: each message is a transaction of one direction. @see RFC 1157, RFC 3416, RFC 3412 section 6, RFC 3414 section 2.4 */
import { decodeInteger, readAll, readTlv, type Tlv } from "@lanthorn/packets";
import { type Application, type ApplicationOutput, type ApplicationParser, type BufferStage, type FirstBytes, STAGE_DONE } from "../application.ts";
import { FieldTransaction } from "../field-transaction.ts";

const PORTS: ReadonlySet<number> = new Set([161, 162]);
const TAG = { integer: 0x02, octetString: 0x04, sequence: 0x30, firstPdu: 0xa0, lastPdu: 0xa8 } as const;
const VERSION = { v1: 0, v2c: 1, v3: 3 } as const;
/** Of the user in the security parameters. */
const USER_AT = 3;
const utf8 = new TextDecoder("utf-8", { fatal: true });

/** What rules ask of a message. */
interface RuleSnmp {
  readonly version: 1 | 2 | 3;
  readonly community: Uint8Array | null;
  readonly user: Uint8Array | null;
  /** Without the bits of its tag; null where it is encrypted. */
  readonly pduType: number | null;
}

function readSnmp(bytes: Uint8Array): RuleSnmp | null {
  const whole = readTlv(bytes);
  if (whole?.tag !== TAG.sequence) return null;
  const [version, second, third, fourth] = readAll(whole.value);
  if (version?.tag !== TAG.integer || !second || !third) return null;
  switch (decodeInteger(version.value)) {
    case VERSION.v1:
      return readCommunity(1, second, third);
    case VERSION.v2c:
      return readCommunity(2, second, third);
    case VERSION.v3:
      return fourth ? readUser(third, fourth) : null;
    default:
      return null;
  }
}

function readCommunity(version: 1 | 2, community: Tlv, pdu: Tlv): RuleSnmp | null {
  if (community.tag !== TAG.octetString || pdu.tag < TAG.firstPdu || pdu.tag > TAG.lastPdu || !isUtf8(community.value)) return null;
  return { version, community: community.value.slice(), user: null, pduType: pdu.tag - TAG.firstPdu };
}

function readUser(parameters: Tlv, scoped: Tlv): RuleSnmp | null {
  const security = parameters.tag === TAG.octetString ? readTlv(parameters.value) : null;
  const user = security ? readAll(security.value)[USER_AT] : undefined;
  if (user?.tag !== TAG.octetString || !isUtf8(user.value)) return null;
  const pdu = scoped.tag === TAG.sequence ? readAll(scoped.value)[2] : undefined;
  return { version: 3, community: null, user: user.value.slice(), pduType: pdu && pdu.tag >= TAG.firstPdu && pdu.tag <= TAG.lastPdu ? pdu.tag - TAG.firstPdu : null };
}

/** Suricata gives up a message whose texts are none. */
function isUtf8(bytes: Uint8Array): boolean {
  try {
    utf8.decode(bytes);
    return true;
  } catch {
    return false;
  }
}

function createParser(output: ApplicationOutput): ApplicationParser {
  return {
    bytes(direction, bytes) {
      const message = readSnmp(bytes);
      if (!message) return;
      const transaction = new FieldTransaction("snmp");
      transaction.addNumbers(direction, "snmp.version", message.version);
      transaction.note("version", message.version);
      if (message.community) transaction.add(direction, "snmp.community", message.community);
      if (message.user) transaction.add(direction, "snmp.usm", message.user);
      if (message.pduType !== null) transaction.addNumbers(direction, "snmp.pdu-type", message.pduType);
      transaction.setStage(direction, STAGE_DONE);
      output.onChange(transaction, direction);
      transaction.close(output, direction);
    },
    gap: () => undefined,
    end: () => undefined,
  };
}

const WHOLE: BufferStage = { stage: STAGE_DONE, grows: false };

/** @see https://docs.suricata.io/en/latest/rules/snmp-keywords.html */
export const SNMP_APPLICATION: Application = {
  name: "snmp",
  transports: ["udp"],
  create: createParser,
  buffers: new Map([["snmp.community", WHOLE], ["snmp.usm", WHOLE]]),
  numbers: new Map([["snmp.version", WHOLE], ["snmp.pdu-type", WHOLE]]),
  words: new Map(),
  events: new Set(),
  service: "snmp",
  // On other ports it is no SNMP to Suricata.
  recognize: ({ flow, bytes }: FirstBytes) => (PORTS.has(flow.serverPort) && readSnmp(bytes) ? "yes" : "no"),
};
