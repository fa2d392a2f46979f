/** SMB 1 to 3 for rules: shares, logins by NTLM, and DCE/RPC in pipes. @see MS-SMB2 section 2.1, RFC 1002 section 4.3 */
import { readSmb1, readSmb2, type SmbFacts } from "@lanthorn/traffic";
import {
  type Application, type ApplicationLimits, type ApplicationOutput, type ApplicationParser, type BufferStage, type Direction, STAGE_DONE,
} from "../application.ts";
import { createRpcCalls, readRpcHeader, RPC_HEADER_BYTES } from "../dcerpc/rpc-calls.ts";
import { FieldTransaction } from "../field-transaction.ts";
import { WaitingBytes } from "../waiting-bytes.ts";
import { mayHavePipeData, pipeDataOf } from "./pipe-data.ts";

const FRAME_HEADER_BYTES = 4;
const SESSION_MESSAGE = 0;
/** Of a message that is read; the rest is passed over. */
const MAX_READ_BYTES = 64 * 1024;
const MIN_HEADER_BYTES = 32;
/** Behind the header of a response and its eight bytes. */
const RESPONSE_STUB_AT = RPC_HEADER_BYTES + 8;
/** The share of pipes. */
const PIPES = /(?:^|\\)IPC\$$/i;

function createParser(output: ApplicationOutput, limits: ApplicationLimits): ApplicationParser {
  const calls = createRpcCalls("smb", output, limits, RESPONSE_STUB_AT);
  const sides = { "to-server": new WaitingBytes(output, FRAME_HEADER_BYTES + MAX_READ_BYTES), "to-client": new WaitingBytes(output, FRAME_HEADER_BYTES + MAX_READ_BYTES) };

  function onMessage(direction: Direction, message: Uint8Array): void {
    const version = message[0] === 0xff ? 1 : 2;
    for (const fact of version === 1 ? readSmb1(message) : readSmb2(message)) putFact(output, version, fact);
    for (const data of mayHavePipeData(message) ? pipeDataOf(message) : []) {
      // What files hold may look like it, but does not say its own length.
      const header = readRpcHeader(data);
      if (header?.length === data.length) calls.pdu(direction, header, data);
    }
  }

  function take(direction: Direction, bytes: Uint8Array): number {
    if (bytes.length < FRAME_HEADER_BYTES) return 0;
    const length = ((bytes[1] as number) << 16) | ((bytes[2] as number) << 8) | (bytes[3] as number);
    const [kind = 0] = bytes;
    if (kind !== SESSION_MESSAGE && (kind < 0x81 || kind > 0x85)) return -1;
    const wanted = Math.min(length, MAX_READ_BYTES);
    if (bytes.length < FRAME_HEADER_BYTES + wanted) return 0;
    const message = bytes.subarray(FRAME_HEADER_BYTES, FRAME_HEADER_BYTES + wanted);
    if (kind !== SESSION_MESSAGE || length < MIN_HEADER_BYTES) return FRAME_HEADER_BYTES + length;
    // Encrypted (0xfd), compressed (0xfc), or none.
    if ((message[0] !== 0xff && message[0] !== 0xfe) || message[1] !== 0x53 || message[2] !== 0x4d || message[3] !== 0x42) return -1;
    onMessage(direction, message);
    return FRAME_HEADER_BYTES + length;
  }

  function end(): void {
    sides["to-server"].close();
    sides["to-client"].close();
    calls.end();
  }

  return {
    bytes: (direction, bytes) => sides[direction].read(bytes, (all) => take(direction, all)),
    gap: (direction) => sides[direction].close(),
    end,
  };
}

/** What a client asks for is a transaction of its own. */
function putFact(output: ApplicationOutput, version: 1 | 2, fact: SmbFacts): void {
  if (fact.kind !== "tree-connect" && fact.kind !== "authenticate" && fact.kind !== "negotiate" && fact.kind !== "create") return;
  const transaction = new FieldTransaction("smb");
  for (const direction of ["to-server", "to-client"] as const) transaction.setWords(direction, "smb.version", String(version));
  if (fact.kind === "tree-connect") {
    transaction.add("to-server", PIPES.test(fact.path) ? "smb.named_pipe" : "smb.share", asciiOf(fact.path));
    transaction.note("share", fact.path);
  } else if (fact.kind === "authenticate") {
    transaction.add("to-server", "smb.ntlmssp_user", asciiOf(fact.user));
    transaction.add("to-server", "smb.ntlmssp_domain", asciiOf(fact.domain));
    transaction.note("user", fact.user);
    transaction.note("domain", fact.domain);
  } else if (fact.kind === "create") transaction.note("file", fact.name);
  transaction.setStage("to-server", STAGE_DONE);
  output.onChange(transaction, "to-server");
  transaction.close(output, "to-server");
}

/** Suricata takes the zeros out of UTF-16. */
function asciiOf(text: string): Uint8Array {
  return Uint8Array.from(Buffer.from(text, "utf16le").filter((byte) => byte !== 0));
}

const WHOLE: BufferStage = { stage: STAGE_DONE, grows: false };

/** @see https://docs.suricata.io/en/latest/rules/smb-keywords.html */
export const SMB_APPLICATION: Application = {
  name: "smb",
  transports: ["tcp"],
  create: createParser,
  buffers: new Map((["smb.named_pipe", "smb.share", "smb.ntlmssp_user", "smb.ntlmssp_domain", "dcerpc.stub_data"] as const).map((name) => [name, WHOLE])),
  numbers: new Map(),
  words: new Map((["smb.version", "dcerpc.interface", "dcerpc.operation"] as const).map((field) => [field, WHOLE])),
  events: new Set(),
  service: "smb",
  recognize: null,
};
