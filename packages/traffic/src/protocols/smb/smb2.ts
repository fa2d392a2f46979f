/** SMB 2 and 3. @see MS-SMB2 section 2.2 */
import { Reader } from "@lanthorn/packets";
import { findNtlm } from "./ntlm.ts";
import { MAX_PATH_BYTES, type SmbFacts, STATUS_MORE_PROCESSING } from "./smb-facts.ts";
import { utf16 } from "./utf16.ts";

/** Length of the header, before which nothing can be said. */
export const SMB2_HEADER_LENGTH = 64;

const COMMAND = { negotiate: 0, sessionSetup: 1, treeConnect: 3, create: 5 } as const;
const FLAG_RESPONSE = 1;
const SIGNING_REQUIRED = 2;
const MAX_COMPOUND = 32;

const DIALECTS: ReadonlyMap<number, string> = new Map([
  [0x0202, "2.0.2"], [0x0210, "2.1"], [0x0300, "3.0"], [0x0302, "3.0.2"], [0x0311, "3.1.1"], [0x02ff, "2.???"],
]);

/** @returns Whether more than the header is of use: a command that is read, or several in one. */
export function isSmb2Wanted(bytes: Uint8Array): boolean {
  const command = new Reader(bytes, 12).u16le();
  return command <= COMMAND.treeConnect || command === COMMAND.create || new Reader(bytes, 20).u32le() !== 0;
}

/** @param bytes A message, from its header on; of one that is very long its beginning. */
export function readSmb2(bytes: Uint8Array): readonly SmbFacts[] {
  const facts: SmbFacts[] = [];
  let rest = bytes;
  for (let count = 0; count < MAX_COMPOUND && rest.length >= SMB2_HEADER_LENGTH; count += 1) {
    const next = new Reader(rest, 20).u32le();
    const one = next >= SMB2_HEADER_LENGTH && next <= rest.length ? rest.subarray(0, next) : rest;
    facts.push(...readOne(one));
    if (one === rest) break;
    rest = rest.subarray(next);
  }
  return facts;
}

function readOne(bytes: Uint8Array): readonly SmbFacts[] {
  const status = new Reader(bytes, 8).u32le();
  const command = new Reader(bytes, 12).u16le();
  const isResponse = (new Reader(bytes, 16).u32le() & FLAG_RESPONSE) !== 0;
  switch (command) {
    case COMMAND.negotiate:
      return isResponse ? readNegotiated(bytes) : readNegotiate(bytes);
    case COMMAND.sessionSetup:
      return isResponse ? readSessionResult(bytes, status) : readLogin(bytes);
    case COMMAND.treeConnect:
      return isResponse ? [{ kind: "tree-result", status }] : [{ kind: "tree-connect", path: readText(bytes, SMB2_HEADER_LENGTH + 4) }];
    case COMMAND.create:
      return isResponse ? [] : readCreate(bytes);
    default:
      return [];
  }
}

function readNegotiate(bytes: Uint8Array): readonly SmbFacts[] {
  const reader = new Reader(bytes, SMB2_HEADER_LENGTH + 2);
  const count = reader.u16le();
  reader.seek(SMB2_HEADER_LENGTH + 36);
  const dialects: string[] = [];
  for (let left = Math.min(count, 32); left > 0; left -= 1) dialects.push(dialectName(reader.u16le()));
  return reader.failed ? [] : [{ kind: "negotiate", dialects }];
}

function readNegotiated(bytes: Uint8Array): readonly SmbFacts[] {
  const reader = new Reader(bytes, SMB2_HEADER_LENGTH + 2);
  const isSigningRequired = (reader.u16le() & SIGNING_REQUIRED) !== 0;
  const dialect = dialectName(reader.u16le());
  return reader.failed ? [] : [{ kind: "negotiated", dialect, isSigningRequired }];
}

function readSessionResult(bytes: Uint8Array, status: number): readonly SmbFacts[] {
  if (status !== STATUS_MORE_PROCESSING) return [{ kind: "session-result", status }];
  const challenge = findNtlm(readBuffer(bytes, SMB2_HEADER_LENGTH + 4));
  return challenge?.kind === "challenge" ? [challenge] : [];
}

function readLogin(bytes: Uint8Array): readonly SmbFacts[] {
  const login = findNtlm(readBuffer(bytes, SMB2_HEADER_LENGTH + 12));
  return login?.kind === "authenticate" ? [login] : [];
}

function readCreate(bytes: Uint8Array): readonly SmbFacts[] {
  const reader = new Reader(bytes, SMB2_HEADER_LENGTH + 24);
  const desiredAccess = reader.u32le();
  reader.skip(8);
  const disposition = reader.u32le();
  return reader.failed ? [] : [{ kind: "create", name: readText(bytes, SMB2_HEADER_LENGTH + 44), desiredAccess, disposition }];
}

/** Offset, from the header on, and length stand at `at`. */
function readBuffer(bytes: Uint8Array, at: number): Uint8Array {
  const reader = new Reader(bytes, at);
  const offset = reader.u16le();
  const length = reader.u16le();
  reader.seek(offset);
  return reader.take(Math.min(length, reader.remaining));
}

function readText(bytes: Uint8Array, at: number): string {
  return utf16(readBuffer(bytes, at).subarray(0, MAX_PATH_BYTES));
}

function dialectName(number: number): string {
  return DIALECTS.get(number) ?? `0x${number.toString(16).padStart(4, "0")}`;
}
