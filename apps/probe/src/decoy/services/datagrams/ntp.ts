/** A time server as Debian sets it up: it gives the time, and answers no queries. @see RFC 5905 section 7.3, RFC 9327 section 2 */
import type { DatagramService } from "./service.ts";

const HEADER_OCTETS = 48;
const MODE = { client: 3, server: 4, control: 6, private: 7 } as const;
const STRATUM = 3;
/** As log2 of seconds: what Linux reads its clock to. */
const PRECISION = 0xe8;
/** Seconds from 1900 to 1970. */
const ERA_SECONDS = 2_208_988_800;
/** How long ago its own clock was set, at most. */
const MAX_AGE_SECONDS = 1024;
const CONTROL_OPERATIONS: Readonly<Record<number, string>> = { 1: "readstat", 2: "readvar", 10: "mrulist" };
const PRIVATE_REQUESTS: Readonly<Record<number, string>> = { 20: "monlist", 42: "monlist" };

/** Answers a client in 48 octets, as many as it sent. Queries, by which others are flooded, are reported and not answered. */
export const ntp: DatagramService = (stage) => {
  const upstream = stage.derive("ntp", 12);
  return (datagram, caller) => {
    const first = datagram[0] ?? 0;
    const [version, mode] = [first >>> 3 & 7, first & 7];
    if (version === 0 || version > 4) return;
    if (mode === MODE.control && datagram.length >= 12) return caller.reached("command", "", `control query ${nameOf(CONTROL_OPERATIONS, (datagram[1] ?? 0) & 0x1f)}`);
    if (mode === MODE.private && datagram.length >= 8) return caller.reached("command", "", `private query ${nameOf(PRIVATE_REQUESTS, datagram[3] ?? 0)}`);
    if (mode !== MODE.client || datagram.length < HEADER_OCTETS) return;
    caller.reached("banner", "", "asked for the time");
    caller.answer(toAnswer(datagram, upstream, caller.now().getTime()));
  };
};

function nameOf(names: Readonly<Record<number, string>>, code: number): string {
  return names[code] ?? `${code}`;
}

/** @param upstream Twelve octets by which each decoy has a server of its own above it. */
function toAnswer(question: Buffer, upstream: Buffer, nowMs: number): Buffer {
  const answer = Buffer.alloc(HEADER_OCTETS);
  answer[0] = (question[0] ?? 0) & 0x38 | MODE.server;
  answer.set([STRATUM, question[2] ?? 0, PRECISION], 1);
  // Root delay and dispersion: 16.16 bits of seconds, some milliseconds each.
  answer.writeUInt32BE(600 + upstream.readUInt16BE(0) % 1500, 4);
  answer.writeUInt32BE(900 + upstream.readUInt16BE(2) % 2500, 8);
  // The address of the server above: any outside of the ranges that are nobody's.
  answer.set([60 + (upstream[4] ?? 0) % 60, upstream[5] ?? 0, upstream[6] ?? 0, 1 + (upstream[7] ?? 0) % 250], 12);
  const ageMs = (nowMs + upstream.readUInt32BE(8)) % (MAX_AGE_SECONDS * 1000);
  writeTimestamp(answer, 16, nowMs - ageMs);
  question.copy(answer, 24, 40, 48);
  writeTimestamp(answer, 32, nowMs);
  writeTimestamp(answer, 40, nowMs);
  return answer;
}

function writeTimestamp(bytes: Buffer, at: number, ms: number): void {
  bytes.writeUInt32BE((Math.floor(ms / 1000) + ERA_SECONDS) % 2 ** 32, at);
  bytes.writeUInt32BE(Math.floor(ms % 1000 / 1000 * 2 ** 32), at + 4);
}
