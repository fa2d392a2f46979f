// SMB 1: NEGOTIATE, and a session set-up that stops at NTLM's challenge, beside which old servers write what they are.
// @see MS-SMB 2.2.4.5, 2.2.4.6
import { type AnswerKind, formatCpe } from "@lanthorn/fingerprints";
import { Reader } from "@lanthorn/packets";
import type { Connection } from "../connection.ts";
import { claims, learned, printable, type TcpProtocol } from "../protocol.ts";
import { encodeSessionRequest, inSession, isWholeFrame, NETBIOS_PORT, POSITIVE_RESPONSE, readFrame } from "./netbios-session.ts";
import { decodeNtlmChallenge, encodeNtlmNegotiate, encodeSpnego, type NtlmNames } from "./ntlm.ts";

const SMB1 = Buffer.from([0xff, 0x53, 0x4d, 0x42]);
const NEGOTIATE = 0x72;
const SESSION_SETUP = 0x73;
const HEADER = 32;
/** Unicode, NT status codes, extended security, long names. */
const FLAGS2 = 0xc801;
/** Extended security, NT status codes, Unicode, NT SMBs. */
const CAPABILITIES = 0x8000_0054;

/** What an SMB 1 server says of itself. */
export interface Smb1Names {
  /** As `Windows 6.1`. */
  readonly os: string;
  /** As `Samba 4.17.12-Debian`. */
  readonly lanManager: string;
  readonly ntlm: NtlmNames | null;
}

/** Names of a server that speaks SMB 1 only, with the system and the software that it tells. */
export const smb1: TcpProtocol = {
  name: "smb1",
  ports: [139, 445],
  hello: (target) => (target.port === NETBIOS_PORT ? encodeSessionRequest() : encodeSmb1Negotiate()),
  ownPortsOnly: true,
  recognise(bytes) {
    if (bytes.length < 8) return (bytes[0] ?? 0) === 0 ? "more" : "no";
    if (bytes[0] !== 0 || !Buffer.from(bytes.subarray(4, 8)).equals(SMB1)) return "no";
    return isWholeFrame(bytes) ? "yes" : "more";
  },
  async learn(first, connection) {
    const names = await askSmb1Names(first, connection);
    const isWindows = names?.os.startsWith("Windows") === true;
    const lines = [
      names?.os ?? "", names?.lanManager ?? "", ...(names?.ntlm ? [`computer ${names.ntlm.computer}`, `domain ${names.ntlm.domain}`] : []),
    ];
    return learned("microsoft-ds", {
      answers: smb1Answers(names),
      claims: [
        ...claims("smb", 0.9, { hostname: names?.ntlm?.dnsName || names?.ntlm?.computer }),
        ...(isSamba(names) ? [] : claims("smb1", 0.7, isWindows ? { product: "Microsoft Windows SMB", vendor: "Microsoft", os: "Windows" } : {})),
      ],
      banner: printable(["dialect NT LM 0.12 (SMB 1)", ...lines.filter((line) => line !== "")].join("\n")),
    });
  },
};

/** Native OS and native LAN manager, as far as it names them. */
export function smb1Answers(names: Smb1Names | null): readonly { readonly kind: AnswerKind; readonly text: string }[] {
  if (!names) return [];
  const answers = [{ kind: "smb-native-os", text: names.os }, { kind: "smb-native-lm", text: names.lanManager }] as const;
  return answers.filter(({ text }) => text !== "");
}

/** Whether it calls itself Samba. */
export function isSamba(names: Smb1Names | null): boolean {
  return names?.lanManager.startsWith("Samba") === true;
}

/** What is known of a Samba that does not name its version. */
export function sambaClaims() {
  return claims("smb1", 0.9, { product: "Samba smbd", vendor: "Samba", cpe: formatCpe(["a", "samba", "samba"]) });
}

/** For a server that speaks newer SMB, too. @param connection New. @returns Null where it speaks no SMB 1. */
export async function askSmb1(connection: Connection, port: number): Promise<Smb1Names | null> {
  if (port === NETBIOS_PORT) {
    connection.send(encodeSessionRequest());
    if ((await readFrame(connection))[0] !== POSITIVE_RESPONSE) return null;
  }
  connection.send(encodeSmb1Negotiate());
  const answer = await readFrame(connection);
  return smb1.recognise(answer) === "yes" ? askSmb1Names(answer, connection) : null;
}

async function askSmb1Names(negotiated: Uint8Array, connection: Connection): Promise<Smb1Names | null> {
  const hasExtendedSecurity = (negotiated[4 + HEADER] ?? 0) === 17 && ((negotiated[4 + HEADER + 1 + 22] ?? 0) & 0x80) !== 0;
  if (!hasExtendedSecurity) return null;
  connection.send(encodeSetup());
  return decodeSmb1Setup(await readFrame(connection));
}

/** @returns Null for what is no answer to a session set-up. */
export function decodeSmb1Setup(bytes: Uint8Array): Smb1Names | null {
  if (!Buffer.from(bytes.subarray(4, 8)).equals(SMB1) || bytes[8] !== SESSION_SETUP) return null;
  const reader = new Reader(bytes, 4 + HEADER);
  if (reader.u8() !== 4) return null;
  reader.take(6);
  const blob = reader.u16le();
  reader.u16le();
  reader.take(blob);
  // Texts begin at an even offset from the header, which is at 4.
  if (reader.offset % 2 === 1) reader.u8();
  const [os, lanManager] = [readUnicode(reader), readUnicode(reader)];
  return reader.failed ? null : { os, lanManager, ntlm: decodeNtlmChallenge(bytes) };
}

function readUnicode(reader: Reader): string {
  const letters: number[] = [];
  while (!reader.failed && letters.length < 128) {
    const letter = reader.u16le();
    if (letter === 0) break;
    letters.push(letter);
  }
  return String.fromCharCode(...letters);
}

function header(command: number): Buffer {
  const bytes = Buffer.alloc(HEADER);
  SMB1.copy(bytes);
  bytes[4] = command;
  bytes[9] = 0x18;
  bytes.writeUInt16LE(FLAGS2, 10);
  bytes.writeUInt16LE(0xffff, 24);
  return bytes;
}

function encodeSmb1Negotiate(): Buffer {
  const dialect = Buffer.from("\x02NT LM 0.12\0", "latin1");
  return inSession(header(NEGOTIATE), Buffer.from([0, dialect.length, 0]), dialect);
}

function encodeSetup(): Buffer {
  const token = encodeSpnego(encodeNtlmNegotiate());
  const words = Buffer.alloc(1 + 24);
  words[0] = 12;
  words[1] = 0xff;
  words.writeUInt16LE(4356, 5);
  words.writeUInt16LE(2, 7);
  words.writeUInt16LE(1, 9);
  words.writeUInt16LE(token.length, 15);
  words.writeUInt32LE(CAPABILITIES, 21);
  const padding = Buffer.alloc((HEADER + words.length + 2 + token.length) % 2);
  const count = Buffer.alloc(2);
  count.writeUInt16LE(token.length + padding.length + 4);
  return inSession(header(SESSION_SETUP), words, count, token, padding, Buffer.alloc(4));
}
