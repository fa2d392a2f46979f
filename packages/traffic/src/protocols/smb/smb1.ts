/** SMB 1. @see MS-CIFS section 2.2, MS-SMB section 2.2 */
import { Reader } from "@lanthorn/packets";
import { latin1 } from "../latin1.ts";
import { findNtlm } from "./ntlm.ts";
import { MAX_PATH_BYTES, type SmbFacts, STATUS_MORE_PROCESSING } from "./smb-facts.ts";
import { utf16 } from "./utf16.ts";

/** Length of the header, before which nothing can be said. */
export const SMB1_HEADER_LENGTH = 32;

const COMMAND = { negotiate: 0x72, sessionSetup: 0x73, treeConnect: 0x75, create: 0xa2 } as const;
const WANTED: ReadonlySet<number> = new Set(Object.values(COMMAND));
const FLAG_RESPONSE = 0x80;
const FLAG_UNICODE = 0x8000;
const SIGNING_REQUIRED = 8;
/** Words of a login by NTLM in a blob, and of one with plain fields. MS-SMB section 2.2.4.6, MS-CIFS section 2.2.4.53. */
const WORDS_PLAIN_LOGIN = 13;

/** @returns Whether more than the header is of use. */
export function isSmb1Wanted(bytes: Uint8Array): boolean {
  return WANTED.has(bytes[4] ?? 0);
}

/** A message taken apart: `words` and `data` are views. */
interface Smb1Message {
  readonly command: number;
  readonly status: number;
  readonly isResponse: boolean;
  readonly isUnicode: boolean;
  readonly words: Uint8Array;
  readonly data: Uint8Array;
  /** Where `data` begins, from the header on: strings are aligned to it. */
  readonly dataAt: number;
}

/** @param bytes A message, from its header on. */
export function readSmb1(bytes: Uint8Array): readonly SmbFacts[] {
  const reader = new Reader(bytes, 4);
  const command = reader.u8();
  const status = reader.u32le();
  const isResponse = (reader.u8() & FLAG_RESPONSE) !== 0;
  const isUnicode = (reader.u16le() & FLAG_UNICODE) !== 0;
  reader.seek(SMB1_HEADER_LENGTH);
  const words = reader.take(reader.u8() * 2);
  const count = reader.u16le();
  if (reader.failed) return [];
  const dataAt = reader.offset;
  const message = { command, status, isResponse, isUnicode, words, data: reader.take(Math.min(count, reader.remaining)), dataAt };
  return isResponse ? readResponse(message) : readRequest(message);
}

function readRequest(message: Smb1Message): readonly SmbFacts[] {
  switch (message.command) {
    case COMMAND.negotiate:
      return [{ kind: "negotiate", dialects: latin1(message.data.subarray(0, MAX_PATH_BYTES)).split("\0").filter((name) => name.startsWith("\x02")).map((name) => name.slice(1)) }];
    case COMMAND.sessionSetup:
      return readLogin(message);
    case COMMAND.treeConnect:
      return [{ kind: "tree-connect", path: readStrings(message, new Reader(message.words, 6).u16le(), 1)[0] ?? "" }];
    case COMMAND.create: {
      const words = new Reader(message.words, 15);
      const desiredAccess = words.u32le();
      words.skip(16);
      const disposition = words.u32le();
      return words.failed ? [] : [{ kind: "create", name: readStrings(message, 0, 1)[0] ?? "", desiredAccess, disposition }];
    }
    default:
      return [];
  }
}

function readResponse({ command, status, words, data }: Smb1Message): readonly SmbFacts[] {
  switch (command) {
    case COMMAND.negotiate: {
      const reader = new Reader(words);
      const index = reader.u16le();
      const isSigningRequired = (reader.u8() & SIGNING_REQUIRED) !== 0;
      return words.length < 2 ? [] : [{ kind: "negotiated", dialect: `#${index}`, isSigningRequired }];
    }
    case COMMAND.sessionSetup: {
      if (status !== STATUS_MORE_PROCESSING) return [{ kind: "session-result", status }];
      const challenge = findNtlm(data);
      return challenge?.kind === "challenge" ? [challenge] : [];
    }
    case COMMAND.treeConnect:
      return [{ kind: "tree-result", status }];
    default:
      return [];
  }
}

function readLogin(message: Smb1Message): readonly SmbFacts[] {
  const login = findNtlm(message.data);
  if (login) return login.kind === "authenticate" ? [login] : [];
  if (message.words.length !== WORDS_PLAIN_LOGIN * 2) return [];
  const words = new Reader(message.words, 14);
  const passwords = words.u16le() + words.u16le();
  const [user = "", domain = ""] = readStrings(message, passwords, 2);
  return [{ kind: "authenticate", user, domain, workstation: "" }];
}

/** Texts that end with zero, behind `from` bytes of the data. */
function readStrings({ isUnicode, data, dataAt }: Smb1Message, from: number, count: number): readonly string[] {
  const texts: string[] = [];
  let at = isUnicode && (dataAt + from) % 2 === 1 ? from + 1 : from;
  while (texts.length < count && at < data.length) {
    const end = endOfString(data, at, isUnicode);
    const bytes = data.subarray(at, Math.min(end, at + MAX_PATH_BYTES));
    texts.push(isUnicode ? utf16(bytes) : latin1(bytes));
    at = end + (isUnicode ? 2 : 1);
  }
  return texts;
}

/** @returns Index of the zero that ends a text, or of the end. */
function endOfString(data: Uint8Array, from: number, isUnicode: boolean): number {
  if (!isUnicode) {
    const zero = data.indexOf(0, from);
    return zero < 0 ? data.length : zero;
  }
  for (let at = from; at + 1 < data.length; at += 2) if (data[at] === 0 && data[at + 1] === 0) return at;
  return data.length;
}
