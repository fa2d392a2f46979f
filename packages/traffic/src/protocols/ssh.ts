/** SSH: the identification lines and the first key exchange, which are in clear. @see RFC 4253 sections 4.2, 6 and 7.1 */
import { latin1, startsWith } from "./latin1.ts";
import { decodeKexinit, type SshKexinit } from "./ssh/kexinit.ts";
import type { Intake, MessageOrigin, StreamParser } from "./stream-parser.ts";

/** The line that a side begins with. */
export interface SshBanner extends MessageOrigin {
  readonly protocol: "ssh";
  readonly kind: "banner";
  /** The whole line, without its end: `SSH-2.0-OpenSSH_9.2p1 Debian-2`. */
  readonly text: string;
  /** `2.0`, or `1.99` of a server that speaks both. */
  readonly protocolVersion: string;
  readonly software: string;
  /** Behind the software, or empty. */
  readonly comments: string;
}

/** What a side can do, in its order of preference. */
export interface SshKeyExchange extends MessageOrigin, SshKexinit {
  readonly protocol: "ssh";
  readonly kind: "key-exchange";
}

/** What a side says before all is encrypted. */
export type SshMessage = SshBanner | SshKeyExchange;

/** With its end. RFC 4253 section 4.2. */
const MAX_LINE_BYTES = 255;
/** Of all lines that a server may say before. */
const MAX_GREETING_BYTES = 8 * 1024;
/** Larger than RFC 4253 section 6.1 asks of everyone; key exchanges have some thousand. */
const MAX_PACKET_BYTES = 64 * 1024;

const BANNER = /^SSH-([^-\s]{1,32})-([^\s]*)(?: (.*))?$/;

/** @returns The parser of one connection. */
export function createSshParser(emit: (message: SshMessage) => void): StreamParser {
  const hasBanner = [false, false];
  const greeted = [0, 0];

  function readLine(intake: Intake, bytes: Uint8Array, at: number): number {
    const end = bytes.indexOf(0x0a, intake.scanned);
    if (end < 0) {
      intake.scanned = bytes.length;
      intake.isOver = bytes.length > MAX_GREETING_BYTES;
      return 0;
    }
    greeted[intake.side] = (greeted[intake.side] ?? 0) + end + 1;
    if (startsWith(bytes, "SSH-")) {
      hasBanner[intake.side] = true;
      const text = latin1(bytes.subarray(0, Math.min(end, MAX_LINE_BYTES))).replace(/\r$/, "");
      const [, protocolVersion = "", software = "", comments = ""] = BANNER.exec(text) ?? [];
      emit({ protocol: "ssh", kind: "banner", side: intake.side, at, text, protocolVersion, software, comments });
      intake.isOver = !/^(?:2\.|1\.99)/.test(protocolVersion);
    } else intake.isOver = (greeted[intake.side] ?? 0) > MAX_GREETING_BYTES;
    return end + 1;
  }

  function readPacket(intake: Intake, bytes: Uint8Array, at: number): number {
    intake.needed = 6;
    if (bytes.length < 6) return 0;
    const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0);
    const padding = bytes[4] as number;
    if (length < padding + 2 || length > MAX_PACKET_BYTES) {
      intake.isOver = true;
      return 0;
    }
    intake.needed = 4 + length;
    if (bytes.length < 4 + length) return 0;
    intake.needed = 6;
    const kexinit = decodeKexinit(bytes.subarray(5, 4 + length - padding), intake.side === 0 ? "client" : "server");
    if (kexinit) emit({ protocol: "ssh", kind: "key-exchange", side: intake.side, at, ...kexinit });
    // Key exchange is the first packet; behind it all is encrypted soon.
    intake.isOver = true;
    return 4 + length;
  }

  return {
    maxPendingBytes: MAX_PACKET_BYTES + 4,
    releasedTo: "",
    read: (intake, bytes, at) => (hasBanner[intake.side] ? readPacket(intake, bytes, at) : readLine(intake, bytes, at)),
    gap: () => false,
    end: () => undefined,
  };
}

