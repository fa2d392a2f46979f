// SMB 2 and 3: NEGOTIATE, and a session set-up that stops at NTLM's challenge, in which the server names itself. No password is ever sent,
// so none fails. @see MS-SMB2 2.2.3, 2.2.5; MS-NLMP 2.2.1.2
import { Reader } from "@lanthorn/packets";
import { claims, learned, printable, SHORT_ANSWER_MS, type TcpProtocol } from "../protocol.ts";

const SMB2 = Buffer.from([0xfe, 0x53, 0x4d, 0x42]);
const DIALECTS: Readonly<Record<number, string>> = { 0x0202: "2.0.2", 0x0210: "2.1", 0x0300: "3.0", 0x0302: "3.0.2", 0x0311: "3.1.1" };
const NEGOTIATE = 0;
const SESSION_SETUP = 1;

export const smb: TcpProtocol = {
  name: "microsoft-ds",
  ports: [139, 445],
  hello: () => encodeSmbNegotiate(),
  ownPortsOnly: true,
  recognise(bytes) {
    if (bytes.length < 8) return (bytes[0] ?? 0) === 0 ? "more" : "no";
    if (bytes[0] !== 0 || !Buffer.from(bytes.subarray(4, 8)).equals(SMB2)) return "no";
    return bytes.length >= 4 + ((bytes[1] ?? 0) << 16) + ((bytes[2] ?? 0) << 8) + (bytes[3] ?? 0) ? "yes" : "more";
  },
  async learn(first, connection) {
    const reader = new Reader(first, 4 + 64 + 2);
    const signing = reader.u16le();
    const dialect = DIALECTS[reader.u16le()] ?? "2";
    connection.send(encodeSmbSetup());
    const answer = await connection.read((bytes) => bytes.length > 4 && bytes.length >= 4 + ((bytes[2] ?? 0) << 8) + (bytes[3] ?? 0), SHORT_ANSWER_MS);
    const named = decodeNtlmChallenge(answer);
    const isSamba = named?.version.startsWith("6.1.0") === true;
    return learned("microsoft-ds", {
      claims: [
        ...claims("smb", 0.9, { hostname: named?.dnsName || named?.computer }),
        // Samba calls itself Windows 6.1 without a build number; Windows itself always has one.
        ...(isSamba ? claims("smb", 0.8, { product: "Samba smbd", vendor: "Samba", cpe: "cpe:2.3:a:samba:samba:*:*:*:*:*:*:*:*" })
          : named?.version ? claims("smb", 0.8, { product: "Microsoft Windows SMB", vendor: "Microsoft", os: "Windows", os_version: named.version }) : []),
      ],
      banner: printable([`dialect ${dialect}`, (signing & 2) === 0 ? "signing not required" : "signing required", ...(named ? [`computer ${named.computer}`, `domain ${named.domain}`] : [])].join("\n")),
    });
  },
};

function header(command: number, messageId: number): Buffer {
  const bytes = Buffer.alloc(64);
  SMB2.copy(bytes);
  bytes.writeUInt16LE(64, 4);
  bytes.writeUInt16LE(command, 12);
  bytes.writeUInt16LE(31, 14);
  bytes.writeUInt32LE(messageId, 24);
  return bytes;
}

function inSession(...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  const frame = Buffer.alloc(4);
  frame.writeUInt32BE(body.length);
  return Buffer.concat([frame, body]);
}

/** Without 3.1.1, which would need contexts to say nothing more. */
function encodeSmbNegotiate(): Buffer {
  const dialects = [0x0202, 0x0210, 0x0300, 0x0302];
  const body = Buffer.alloc(36 + dialects.length * 2);
  body.writeUInt16LE(36, 0);
  body.writeUInt16LE(dialects.length, 2);
  body.writeUInt16LE(1, 4);
  body.write("lanthorn-probe..", 12, "latin1");
  for (const [index, dialect] of dialects.entries()) body.writeUInt16LE(dialect, 36 + index * 2);
  return inSession(header(NEGOTIATE, 0), body);
}

function encodeSmbSetup(): Buffer {
  const ntlm = Buffer.alloc(32);
  ntlm.write("NTLMSSP\0", 0, "latin1");
  ntlm.writeUInt32LE(1, 8);
  ntlm.writeUInt32LE(0x6208_8215 >>> 0, 12);
  const token = spnego(ntlm);
  const body = Buffer.alloc(24);
  body.writeUInt16LE(25, 0);
  body[3] = 1;
  body.writeUInt16LE(64 + 24, 12);
  body.writeUInt16LE(token.length, 14);
  return inSession(header(SESSION_SETUP, 1), body, token);
}

/** NegTokenInit with NTLM as the one mechanism. @see RFC 4178 section 4.2 */
function spnego(token: Buffer): Buffer {
  const wrap = (tag: number, content: Buffer) => Buffer.concat([Buffer.from([tag, content.length]), content]);
  const ntlmOid = Buffer.from([0x06, 10, 0x2b, 6, 1, 4, 1, 0x82, 0x37, 2, 2, 10]);
  const mechanisms = wrap(0xa0, wrap(0x30, ntlmOid));
  const inner = wrap(0xa0, wrap(0x30, Buffer.concat([mechanisms, wrap(0xa2, wrap(0x04, token))])));
  return wrap(0x60, Buffer.concat([Buffer.from([0x06, 6, 0x2b, 6, 1, 5, 5, 2]), inner]));
}

export interface NtlmNames {
  readonly computer: string;
  readonly domain: string;
  readonly dnsName: string;
  /** As `10.0.17763`; empty where it does not say. */
  readonly version: string;
}

/** Finds NTLM's challenge in whatever wraps it. @returns Null where there is none. */
export function decodeNtlmChallenge(bytes: Uint8Array): NtlmNames | null {
  const at = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).indexOf("NTLMSSP\0\x02", 0, "latin1");
  if (at === -1) return null;
  const reader = new Reader(bytes, at + 40);
  const length = reader.u16le();
  reader.u16le();
  const offset = reader.u32le();
  const [major, minor, build] = [reader.u8(), reader.u8(), reader.u16le()];
  if (reader.failed) return null;
  const info = new Reader(bytes, at + offset, at + offset + length);
  const texts = new Map<number, string>();
  for (let pairs = 0; pairs < 16 && info.remaining >= 4; pairs += 1) {
    const id = info.u16le();
    const value = info.take(info.u16le());
    if (id === 0 || info.failed) break;
    texts.set(id, Buffer.from(value).toString("utf16le").replaceAll("\0", ""));
  }
  return { computer: texts.get(1) ?? "", domain: texts.get(2) ?? "", dnsName: texts.get(3) ?? "", version: major === 0 ? "" : `${major}.${minor}.${build}` };
}
