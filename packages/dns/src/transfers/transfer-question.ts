/** What a server of zones is asked, and what it answers. @see RFC 1034 section 4.3.5, RFC 5936, RFC 1995 */
import { decodeDns, DNS_TYPE, type DnsRecord, encodeDns } from "@lanthorn/packets";
import { TransferFault } from "./transfer-fault.ts";

/** The version of a zone, all of it, or what has changed since a version. */
export type TransferQuestion = { readonly kind: "version" | "whole"; readonly zone: string } | { readonly kind: "changes"; readonly zone: string; readonly since: number };

const TYPES = { version: DNS_TYPE.soa, whole: 252, changes: 251 } as const;
const CODES: Readonly<Record<number, string>> = { 1: "FORMERR", 2: "SERVFAIL", 3: "NXDOMAIN", 4: "NOTIMP", 5: "REFUSED: it gives the zone to nobody who asks so", 9: "NOTAUTH: it is not a server of the zone, or refuses the key" };

/** @param id Sixteen bits. @returns A whole message. */
export function encodeTransferQuestion(question: TransferQuestion, id: number): Uint8Array {
  const { kind, zone: name } = question;
  const authorities = question.kind === "changes" ? [{
    name, type: DNS_TYPE.soa, ttlSeconds: 0, data: { kind: "soa", mname: ".", rname: ".", serial: question.since, refresh: 0, retry: 0, expire: 0, minimum: 0 } as const,
  }] : [];
  return encodeDns({ id, questions: [{ name, type: TYPES[kind] }], authorities });
}

/** @returns The records of one message of the answer. @throws TransferFault for what is no answer, and for a refusal. */
export function readTransferAnswer(bytes: Uint8Array, id: number): readonly DnsRecord[] {
  const decoded = decodeDns(bytes);
  if (!decoded.ok || decoded.value.id !== id || !decoded.value.isResponse) throw new TransferFault("its server's answer is no answer to what was asked");
  const { responseCode, answers } = decoded.value;
  if (responseCode !== 0) throw new TransferFault(`its server does not give the zone: ${CODES[responseCode] ?? `code ${responseCode}`}`);
  return answers;
}

/** @returns The number of a zone's version. @throws TransferFault where there is none. */
export function serialOf([first]: readonly DnsRecord[]): number {
  if (first?.data.kind !== "soa") throw new TransferFault("its server does not know the zone");
  return first.data.serial;
}
