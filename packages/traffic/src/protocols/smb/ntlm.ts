/** NTLM, wherever it lies in a security blob. @see MS-NLMP section 2.2.1 */
import { Reader } from "@lanthorn/packets";
import { latin1 } from "../latin1.ts";
import { utf16 } from "./utf16.ts";

/** What a client says who it is. Its answer to the challenge is left out. */
export interface NtlmAuthenticate {
  readonly kind: "authenticate";
  readonly user: string;
  readonly domain: string;
  readonly workstation: string;
}

/** What a server says who it is; empty where it does not. */
export interface NtlmChallenge {
  readonly kind: "challenge";
  readonly target: string;
  readonly computer: string;
  readonly domain: string;
  readonly dnsComputer: string;
  readonly dnsDomain: string;
}

const SIGNATURE = Buffer.from("NTLMSSP\0", "latin1");
const MESSAGE = { challenge: 2, authenticate: 3 } as const;
const NEGOTIATE_UNICODE = 1;
/** @see MS-NLMP section 2.2.2.1 */
const PAIR = { end: 0, computer: 1, domain: 2, dnsComputer: 3, dnsDomain: 4 } as const;
const MAX_NAME_BYTES = 512;

/** @returns The first message of NTLM in `blob` that names somebody, or null. */
export function findNtlm(blob: Uint8Array): NtlmAuthenticate | NtlmChallenge | null {
  const at = Buffer.from(blob.buffer, blob.byteOffset, blob.length).indexOf(SIGNATURE);
  if (at < 0) return null;
  const bytes = blob.subarray(at);
  const type = new Reader(bytes, SIGNATURE.length).u32le();
  if (type === MESSAGE.authenticate) return readAuthenticate(bytes);
  return type === MESSAGE.challenge ? readChallenge(bytes) : null;
}

function readAuthenticate(bytes: Uint8Array): NtlmAuthenticate {
  const isUnicode = (new Reader(bytes, 60).u32le() & NEGOTIATE_UNICODE) !== 0;
  const text = (at: number) => (isUnicode ? utf16 : latin1)(readField(bytes, at).subarray(0, MAX_NAME_BYTES));
  return { kind: "authenticate", domain: text(28), user: text(36), workstation: text(44) };
}

function readChallenge(bytes: Uint8Array): NtlmChallenge {
  const isUnicode = (new Reader(bytes, 20).u32le() & NEGOTIATE_UNICODE) !== 0;
  const target = (isUnicode ? utf16 : latin1)(readField(bytes, 12).subarray(0, MAX_NAME_BYTES));
  const pairs = new Map<number, string>();
  for (const reader = new Reader(readField(bytes, 40)); reader.remaining >= 4 && pairs.size < 16;) {
    const id = reader.u16le();
    const value = reader.take(reader.u16le());
    if (reader.failed || id === PAIR.end) break;
    pairs.set(id, utf16(value.subarray(0, MAX_NAME_BYTES)));
  }
  const name = (id: number) => pairs.get(id) ?? "";
  return {
    kind: "challenge", target, computer: name(PAIR.computer), domain: name(PAIR.domain), dnsComputer: name(PAIR.dnsComputer), dnsDomain: name(PAIR.dnsDomain),
  };
}

/** Length, space and offset stand in the fixed part. */
function readField(bytes: Uint8Array, at: number): Uint8Array {
  const reader = new Reader(bytes, at);
  const length = reader.u16le();
  reader.skip(2);
  reader.seek(reader.u32le());
  return reader.take(length);
}
