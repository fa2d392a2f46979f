/** JA4, the fingerprint of TLS clients. @see https://github.com/FoxIO-LLC/ja4/blob/main/technical_details/JA4.md (BSD licensed) */
import { createHash } from "node:crypto";
import { hex } from "../latin1.ts";
import { isGrease, TLS_EXTENSION } from "./hello-extensions.ts";

const VERSIONS: ReadonlyMap<number, string> = new Map([
  [0x0304, "13"], [0x0303, "12"], [0x0302, "11"], [0x0301, "10"], [0x0300, "s3"], [0x0002, "s2"],
]);

const NOTHING = "000000000000";

/** What it is made of. */
export interface Ja4Facts {
  readonly version: number;
  readonly cipherSuites: readonly number[];
  readonly extensions: readonly number[];
  readonly signatureAlgorithms: readonly number[];
  readonly serverName: string | null;
  readonly firstAlpn: Uint8Array | null;
}

/** @returns As `t13d1516h2_8daaf6152771_e5627efa2ab1`. */
export function ja4OfClient(hello: Ja4Facts, transport: "quic" | "tcp"): string {
  const ciphers = inHex(hello.cipherSuites);
  const all = inHex(hello.extensions);
  const named = hello.extensions.includes(TLS_EXTENSION.serverName);
  const head = [
    transport === "quic" ? "q" : "t", VERSIONS.get(hello.version) ?? "00", named ? "d" : "i", twoDigits(ciphers.length), twoDigits(all.length),
    endsOf(hello.firstAlpn),
  ].join("");
  const sorted = all.filter((type) => type !== "0000" && type !== "0010").toSorted().join(",");
  const algorithms = inHex(hello.signatureAlgorithms).join(",");
  const rest = algorithms === "" ? sorted : `${sorted}_${algorithms}`;
  return `${head}_${shortHash(ciphers.toSorted().join(","))}_${all.length === 0 ? NOTHING : shortHash(rest)}`;
}

function inHex(numbers: readonly number[]): string[] {
  return numbers.filter((number) => !isGrease(number)).map((number) => hex(number, 4));
}

function twoDigits(count: number): string {
  return String(Math.min(count, 99)).padStart(2, "0");
}

/** First and last character of the first protocol; in hexadecimal where one is neither letter nor digit. */
function endsOf(alpn: Uint8Array | null): string {
  const first = alpn?.[0];
  const last = alpn?.at(-1);
  if (first === undefined || last === undefined) return "00";
  const isPlain = [first, last].every((byte) => /[0-9A-Za-z]/.test(String.fromCharCode(byte)));
  return isPlain ? String.fromCharCode(first, last) : `${hex(first, 2)[0]}${hex(last, 2)[1]}`;
}

function shortHash(text: string): string {
  return text === "" ? NOTHING : createHash("sha256").update(text).digest("hex").slice(0, 12);
}
