/** DNS over UDP, and over TCP behind two bytes of length. @see RFC 1035 section 4.2.2, RFC 7766 */
import { decodeDns, type DnsMessage } from "@lanthorn/packets";
import type { DatagramParser, Intake, MessageOrigin, StreamParser } from "./stream-parser.ts";

/** A query, a response, or an update; of Multicast DNS too. */
export interface DnsTrafficMessage extends MessageOrigin {
  readonly protocol: "dns";
  readonly transport: "tcp" | "udp";
  readonly message: DnsMessage;
  /** The whole message as it was sent, without the length before it. */
  readonly bytes: Uint8Array;
}

type Emit = (message: DnsTrafficMessage) => void;

/** Messages that cannot be read before the rest is taken for another protocol. */
const MAX_MALFORMED = 4;

/** @returns The parser of one flow of datagrams. */
export function createDnsDatagramParser(emit: Emit): DatagramParser {
  let malformed = 0;
  return {
    get isOver() {
      return malformed >= MAX_MALFORMED;
    },
    read(side, bytes, at) {
      const result = decodeDns(bytes);
      malformed = result.ok ? 0 : malformed + 1;
      if (result.ok) emit({ protocol: "dns", transport: "udp", side, at, message: result.value, bytes });
    },
  };
}

/** @returns The parser of one connection. */
export function createDnsStreamParser(emit: Emit): StreamParser {
  let malformed = 0;
  return {
    maxPendingBytes: 2 + 0xffff,
    releasedTo: "",
    read(intake: Intake, bytes: Uint8Array, at: number) {
      intake.needed = 2;
      if (bytes.length < 2) return 0;
      const end = 2 + (((bytes[0] as number) << 8) | (bytes[1] as number));
      intake.needed = end;
      if (bytes.length < end) return 0;
      intake.needed = 2;
      const message = bytes.subarray(2, end);
      const result = decodeDns(message);
      malformed = result.ok ? 0 : malformed + 1;
      if (result.ok) emit({ protocol: "dns", transport: "tcp", side: intake.side, at, message: result.value, bytes: message });
      intake.isOver = malformed >= MAX_MALFORMED;
      return end;
    },
    // Where the next message begins is lost.
    gap: () => false,
    end: () => undefined,
  };
}
