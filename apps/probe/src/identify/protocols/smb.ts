// SMB 2 and 3: NEGOTIATE, and a session set-up that stops at NTLM's challenge, in which the server names itself. No password is ever sent,
// so none fails. @see MS-SMB2 2.2.3, 2.2.5; MS-NLMP 2.2.1.2
import { Reader } from "@lanthorn/packets";
import { formatCpe } from "@lanthorn/fingerprints";
import { claims, learned, printable, type TcpProtocol } from "../protocol.ts";
import { encodeSessionRequest, inSession, isWholeFrame, NETBIOS_PORT, POSITIVE_RESPONSE, readFrame } from "./netbios-session.ts";
import { decodeNtlmChallenge, encodeNtlmNegotiate, encodeSpnego } from "./ntlm.ts";
import { askSmb1, isSamba, sambaClaims, smb1Answers } from "./smb1.ts";

const SMB2 = Buffer.from([0xfe, 0x53, 0x4d, 0x42]);
const DIALECTS: Readonly<Record<number, string>> = { 0x0202: "2.0.2", 0x0210: "2.1", 0x0300: "3.0", 0x0302: "3.0.2", 0x0311: "3.1.1" };
const NEGOTIATE = 0;
const SESSION_SETUP = 1;

/** Dialect, signing, names and Windows version of a server, over port 445 or a NetBIOS session. */
export const smb: TcpProtocol = {
  name: "microsoft-ds",
  ports: [139, 445],
  hello: (target) => (target.port === NETBIOS_PORT ? encodeSessionRequest() : encodeSmbNegotiate()),
  ownPortsOnly: true,
  recognise(bytes) {
    if (bytes[0] === POSITIVE_RESPONSE) return bytes.length < 4 ? "more" : bytes.subarray(1, 4).every((byte) => byte === 0) ? "yes" : "no";
    if (bytes.length < 8) return (bytes[0] ?? 0) === 0 ? "more" : "no";
    if (bytes[0] !== 0 || !Buffer.from(bytes.subarray(4, 8)).equals(SMB2)) return "no";
    return isWholeFrame(bytes) ? "yes" : "more";
  },
  async learn(first, connection, target, again) {
    const isSession = first[0] === POSITIVE_RESPONSE;
    if (isSession) connection.send(encodeSmbNegotiate());
    const negotiated = isSession ? await readFrame(connection) : first;
    if (!Buffer.from(negotiated.subarray(4, 8)).equals(SMB2)) return null;
    const reader = new Reader(negotiated, 4 + 64 + 2);
    const signing = reader.u16le();
    const dialect = DIALECTS[reader.u16le()] ?? "2";
    connection.send(encodeSmbSetup());
    const named = decodeNtlmChallenge(await readFrame(connection));
    // Samba calls itself Windows 6.1 without a build number; Windows itself always has one.
    const isLikeSamba = named?.version.startsWith("6.1.0") === true;
    // Samba tells its version to those who speak SMB 1, where that is allowed at all.
    const older = isLikeSamba ? await again() : null;
    const names = older && (await askSmb1(older, target.port));
    return learned("microsoft-ds", {
      answers: smb1Answers(names),
      claims: [
        ...claims("smb", 0.9, { hostname: named?.dnsName || named?.computer }),
        ...(isLikeSamba ? (isSamba(names) ? [] : sambaClaims())
          : named?.version ? claims("smb", 0.8, {
            product: "Microsoft Windows SMB", vendor: "Microsoft", os: "Windows", os_version: named.version, os_cpe: formatCpe(["o", "microsoft", "windows"]),
          })
          : []),
      ],
      banner: printable([
        `dialect ${dialect}`, (signing & 2) === 0 ? "signing not required" : "signing required",
        ...(named ? [`computer ${named.computer}`, `domain ${named.domain}`] : []),
        ...(names ? [`SMB 1 spoken, too: ${names.lanManager}`] : []),
      ].join("\n")),
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

/** @see MS-SMB2 2.2.3 and, for what 3.1.1 needs to agree on hashes, 2.2.3.1.1 */
function encodeSmbNegotiate(): Buffer {
  const dialects = [0x0202, 0x0210, 0x0300, 0x0302, 0x0311];
  const body = Buffer.alloc(36 + dialects.length * 2);
  const padding = Buffer.alloc((8 - ((64 + body.length) % 8)) % 8);
  body.writeUInt16LE(36, 0);
  body.writeUInt16LE(dialects.length, 2);
  body.writeUInt16LE(1, 4);
  body.write("lanthorn-probe..", 12, "latin1");
  body.writeUInt32LE(64 + body.length + padding.length, 28);
  body.writeUInt16LE(1, 32);
  for (const [index, dialect] of dialects.entries()) body.writeUInt16LE(dialect, 36 + index * 2);
  const integrity = Buffer.concat([Buffer.from([1, 0, 38, 0, 0, 0, 0, 0, 1, 0, 32, 0, 1, 0]), Buffer.alloc(32, "lanthorn")]);
  return inSession(header(NEGOTIATE, 0), body, padding, integrity);
}

function encodeSmbSetup(): Buffer {
  const token = encodeSpnego(encodeNtlmNegotiate());
  const body = Buffer.alloc(24);
  body.writeUInt16LE(25, 0);
  body[3] = 1;
  body.writeUInt16LE(64 + 24, 12);
  body.writeUInt16LE(token.length, 14);
  return inSession(header(SESSION_SETUP, 1), body, token);
}
