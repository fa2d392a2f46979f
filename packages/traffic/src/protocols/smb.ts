/** SMB 1 to 3 over TCP, with or without sessions of NetBIOS. @see MS-SMB2 section 2.1, RFC 1002 section 4.3 */
import { isSmb1Wanted, readSmb1, SMB1_HEADER_LENGTH } from "./smb/smb1.ts";
import { isSmb2Wanted, readSmb2, SMB2_HEADER_LENGTH } from "./smb/smb2.ts";
import type { SmbFacts } from "./smb/smb-facts.ts";
import type { Intake, MessageOrigin, StreamParser } from "./stream-parser.ts";

/** What a client or a server of SMB says; `version` 2 is of SMB 3 too. */
export type SmbMessage = MessageOrigin & { readonly protocol: "smb"; readonly version: 1 | 2 } & SmbFacts;

const FRAME_HEADER_LENGTH = 4;
/** Of a message that is read: logins with Kerberos tickets are the longest. */
const MAX_READ_BYTES = 64 * 1024;
const SESSION_MESSAGE = 0;

/** @returns The parser of one connection. */
export function createSmbParser(emit: (message: SmbMessage) => void): StreamParser {
  function tell(intake: Intake, version: 1 | 2, facts: readonly SmbFacts[], at: number): void {
    for (const fact of facts) emit({ protocol: "smb", version, side: intake.side, at, ...fact });
  }

  /** @returns Bytes of the message that must be there, at least; 0: it was read, or is of no use. */
  function readMessage(intake: Intake, bytes: Uint8Array, length: number, at: number): number {
    const [mark] = bytes;
    if (mark === undefined) return 1;
    const headerLength = mark === 0xff ? SMB1_HEADER_LENGTH : SMB2_HEADER_LENGTH;
    if (length < headerLength) return 0;
    if (bytes.length < headerLength) return headerLength;
    if (bytes[1] !== 0x53 || bytes[2] !== 0x4d || bytes[3] !== 0x42 || (mark !== 0xff && mark !== 0xfe)) {
      // Encrypted (0xfd), compressed (0xfc), or none.
      intake.isOver = true;
      return 0;
    }
    if (!(mark === 0xff ? isSmb1Wanted(bytes) : isSmb2Wanted(bytes))) return 0;
    const wanted = Math.min(length, MAX_READ_BYTES);
    if (bytes.length < wanted) return wanted;
    const message = bytes.subarray(0, wanted);
    tell(intake, mark === 0xff ? 1 : 2, mark === 0xff ? readSmb1(message) : readSmb2(message), at);
    return 0;
  }

  return {
    maxPendingBytes: FRAME_HEADER_LENGTH + MAX_READ_BYTES,
    releasedTo: "",
    read(intake, bytes, at) {
      intake.needed = FRAME_HEADER_LENGTH;
      if (bytes.length < FRAME_HEADER_LENGTH) return 0;
      const length = ((bytes[1] as number) << 16) | ((bytes[2] as number) << 8) | (bytes[3] as number);
      if (bytes[0] === SESSION_MESSAGE) {
        const missing = length === 0 ? 0 : readMessage(intake, bytes.subarray(FRAME_HEADER_LENGTH, FRAME_HEADER_LENGTH + length), length, at);
        if (missing > 0) {
          intake.needed = FRAME_HEADER_LENGTH + missing;
          return 0;
        }
      } else if ((bytes[0] as number) < 0x81 || (bytes[0] as number) > 0x85) intake.isOver = true;
      intake.needed = FRAME_HEADER_LENGTH;
      return FRAME_HEADER_LENGTH + length;
    },
    gap: () => false,
    end: () => undefined,
  };
}
