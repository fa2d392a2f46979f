import type { AnswerKind, Claim } from "@lanthorn/fingerprints";
import type { Connection, TlsSession } from "./connection.ts";
import type { FindingText } from "./finding.ts";

/** The service that is polled, and what may be sent to it. */
export interface Target {
  readonly ip: string;
  readonly port: number;
  /** Inside TLS already. */
  readonly isSecure: boolean;
}

/** What a port has said, as its protocol's dialogue understood it. */
export interface Learned {
  /** As IANA or nmap calls it; what runs inside TLS has the name that it has without. */
  readonly service: string;
  /** Texts that rules and databases know how to read, by their kind. */
  readonly answers: readonly { readonly kind: AnswerKind; readonly text: string }[];
  /** Other texts, which databases of fingerprints may know. */
  readonly texts: readonly FindingText[];
  /** What is said without a rule. */
  readonly claims: readonly Claim[];
  /** Strong identity keys and the like, by the names of the contract's evidence fields. */
  readonly keys: readonly { readonly field: string; readonly value: string }[];
  /** What people see of it. */
  readonly banner: string;
  /** What STARTTLS has brought; null without. */
  readonly tls: TlsSession | null;
}

/** Whether bytes from an unknown host begin this protocol: yes, certainly not, or too few to decide. */
export type Recognition = "yes" | "no" | "more";

/** Null where no connection comes about or too many were opened. The caller closes it. */
export type Reconnect = () => Promise<Connection | null>;

/** How a protocol over TCP is recognised by its first bytes, and asked for more on the same connection. */
export interface TcpProtocol {
  readonly name: string;
  /** Where it usually is. */
  readonly ports: readonly number[];
  /** The client speaks first, with this. Absent: the server does. It must do no harm to whatever else listens. */
  readonly hello?: (target: Target) => Uint8Array | string;
  /** What it is called where TLS asks for the protocol. @see IANA, "TLS Application-Layer Protocol Negotiation (ALPN) Protocol IDs" */
  readonly alpn?: readonly string[];
  readonly recognise: (bytes: Uint8Array) => Recognition;
  /**
   * @param first What was recognised. The connection is closed by the caller.
   * @param again Opens one connection more of the same kind, which the caller closes, too; null where none comes about or too
   *   many were opened.
   * @returns Null where it turns out to be something else.
   */
  readonly learn: (first: Uint8Array, connection: Connection, target: Target, again: Reconnect) => Promise<Learned | null>;
  /** It is asked at its own ports only: its hello would be logged as an attack elsewhere, or says nothing. */
  readonly ownPortsOnly?: boolean;
  /** Its beginning is so short that it proves something at its own ports only. */
  readonly isWeak?: boolean;
}

/** Asks an agent with the credentials that the vault has for its host: with the first that it answers to. */
export interface SnmpReader {
  /** @returns Texts by name: strings as they are, identifiers in dots; null where there is no credential for it, or it answers to none. */
  get(names: readonly string[]): Promise<ReadonlyMap<string, string> | null>;
  /** In hexadecimal; empty where it did not say. */
  engineId(): string;
}

/** A host that answered a datagram, and how more is sent to it. */
export interface UdpExchange {
  readonly ip: string;
  readonly snmp: SnmpReader;
  /** At the same port. @returns Null in time without an answer. */
  readonly ask: (payload: Uint8Array) => Promise<Uint8Array | null>;
  /** For descriptions that lie at another port of the same host; the caller closes it. */
  readonly connect: (port: number) => Promise<Connection | null>;
}

/** How a protocol over UDP is asked, and what its answer says. */
export interface UdpProtocol {
  readonly name: string;
  readonly ports: readonly number[];
  /** Asked before all others, as somebody who is known there. @returns Null where nobody is. */
  readonly learnAsKnown?: (exchange: UdpExchange) => Promise<Learned | null>;
  /** Datagrams, sent one after the other until one is answered. */
  readonly payloads: readonly ((random: () => number) => Uint8Array)[];
  readonly learn: (answer: Uint8Array, exchange: UdpExchange) => Promise<Learned | null> | Learned | null;
  readonly answersFromAnyPort?: boolean;
}

/** For the answer to a second question: a host that answered the first is near and awake. */
export const SHORT_ANSWER_MS = 1500;

/** @param learned Only what is not empty. */
export function learned(service: string, rest: Partial<Omit<Learned, "service">> = {}): Learned {
  return { service, answers: [], texts: [], claims: [], keys: [], banner: "", tls: null, ...rest };
}

/** @param said Values by field; empty ones are left out. */
export function claims(
  source: string, confidence: number, said: { readonly [field in Claim["field"]]?: string | null | undefined },
): readonly Claim[] {
  return Object.entries(said)
    .flatMap(([field, value]) => (value ? [{ field: field as Claim["field"], value: value.slice(0, 255), source, confidence }] : []));
}

/** One character for each byte, without what would move a terminal's cursor: for people and for rules. */
export function toText(bytes: Uint8Array, limit = 4096): string {
  const cut = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, limit));
  const text = cut.toString("utf8");
  return text.includes("\ufffd") ? cut.toString("latin1") : text;
}

/** Printable in one piece: control characters but line feeds become dots. */
export function printable(text: string, limit = 1024): string {
  return text.slice(0, limit).replaceAll("\r\n", "\n")
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (letter) => (letter === "\n" || letter === "\t" ? letter : ".")).trim();
}

/** Recognises texts by how they begin. @param beginnings In upper and lower case as given. */
export function beginsWith(bytes: Uint8Array, ...beginnings: readonly string[]): Recognition {
  const text = toText(bytes, 64);
  if (beginnings.some((beginning) => text.startsWith(beginning))) return "yes";
  return beginnings.some((beginning) => beginning.startsWith(text)) ? "more" : "no";
}

/** Whether a line feed was received, as the end of a greeting of one line. */
export function endsLine(bytes: Uint8Array): boolean {
  return bytes.includes(0x0a);
}

/** Whether the last line of an answer of several is there: code and blank, as in FTP and SMTP. */
export function endsReply(bytes: Uint8Array): boolean {
  return /(?:^|\n)\d{3}(?: [^\n]*)?\r?\n$/.test(toText(bytes));
}

/** The text of a reply of one or more lines, without its codes. */
export function replyText(text: string): string {
  return text.split(/\r?\n/).map((line) => line.replace(/^\d{3}[ -]/, "")).filter((line) => line !== "").join("\n");
}
