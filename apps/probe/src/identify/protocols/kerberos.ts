// Kerberos: a ticket request of nobody, whose error names the realm. @see RFC 4120 section 5.4.1
import { claims, learned, type Learned, type TcpProtocol, toText, type UdpProtocol } from "../protocol.ts";
import { encodeInteger, encodeTlv, readAll, readTlv } from "@lanthorn/packets";

const ASKED_REALM = "NM";
const context = (number: number, value: Uint8Array) => encodeTlv(0xa0 | number, value);
const text = (value: string) => encodeTlv(0x1b, Buffer.from(value));
const principal = (type: number, ...parts: readonly string[]) =>
  encodeTlv(0x30, Buffer.concat([context(0, encodeInteger(type)), context(1, encodeTlv(0x30, Buffer.concat(parts.map(text))))]));

/** For a realm that does not exist, by a name that nobody has: there is no account whose failures could be counted. */
export function encodeTicketRequest(): Uint8Array {
  const body = encodeTlv(0x30, Buffer.concat([
    context(0, encodeTlv(0x03, Buffer.alloc(5))), context(1, principal(1, ASKED_REALM)), context(2, text(ASKED_REALM)),
    context(3, principal(2, "krbtgt", ASKED_REALM)), context(5, encodeTlv(0x18, Buffer.from("19700101000000Z"))),
    context(7, encodeInteger(1)), context(8, encodeTlv(0x30, Buffer.concat([encodeInteger(18), encodeInteger(17)]))),
  ]));
  return encodeTlv(0x6a, encodeTlv(0x30, Buffer.concat([context(1, encodeInteger(5)), context(2, encodeInteger(10)), context(4, body)])));
}

function learnKerberos(answer: Uint8Array): Learned | null {
  const error = readTlv(answer);
  if (error?.tag !== 0x7e) return null;
  const fields = readAll(readTlv(error.value)?.value ?? new Uint8Array());
  const realm = fields.find((field) => field.tag === 0xa9);
  const time = fields.find((field) => field.tag === 0xa4);
  const name = toText(readTlv(realm?.value ?? new Uint8Array())?.value ?? new Uint8Array(), 255);
  const isMicrosoft = !fields.some((field) => field.tag === 0xab);
  return learned("kerberos-sec", {
    claims: claims("kerberos", 0.6, isMicrosoft ? {} : { product: "MIT Kerberos", vendor: "MIT" }),
    // MIT's names the realm that was asked for, Microsoft's its own.
    banner: `${name === "" || name === ASKED_REALM ? "" : `realm ${name}, `}time `
      + toText(readTlv(time?.value ?? new Uint8Array())?.value ?? new Uint8Array()),
  });
}

/** A ticket request over UDP for a realm that does not exist: no failed login is counted. @see RFC 4120 sections 5.4.1 and 7.2.1 */
export const kerberosUdp: UdpProtocol = { name: "kerberos-sec", ports: [88], payloads: [encodeTicketRequest], learn: learnKerberos };

/** The same over TCP, behind a length of four bytes. @see RFC 4120 section 7.2.2 */
export const kerberos: TcpProtocol = {
  name: "kerberos-sec",
  ports: [88],
  hello() {
    const request = encodeTicketRequest();
    const length = Buffer.alloc(4);
    length.writeUInt32BE(request.length);
    return Buffer.concat([length, request]);
  },
  ownPortsOnly: true,
  recognise: (bytes) => (bytes.length < 5 ? ((bytes[0] ?? 0) === 0 ? "more" : "no") : bytes[4] === 0x7e
    ? (readTlv(bytes.subarray(4)) ? "yes" : "more")
    : "no"),
  learn: (first) => Promise.resolve(learnKerberos(first.subarray(4))),
};
