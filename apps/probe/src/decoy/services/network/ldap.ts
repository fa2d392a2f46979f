/** A directory that lets nobody in. @see RFC 4511 section 4.2 */
import { encodeTlv, readAll, readTlv, type Tlv, tlvSize } from "@lanthorn/packets";
import { createFramedReader } from "../framed-reader.ts";
import type { Peer, Service } from "../service.ts";
import { encodeRootEntry } from "./ldap-root.ts";

const TAG = { integer: 0x02, octets: 0x04, enumerated: 0x0a, sequence: 0x30, simple: 0x80, sasl: 0xa3 } as const;
const OPERATION = { bind: 0x60, bindAnswer: 0x61, unbind: 0x42, search: 0x63, searchDone: 0x65, abandon: 0x50, extended: 0x77, extendedAnswer: 0x78 } as const;
const RESULT = { success: 0, protocolError: 2, methodNotSupported: 7, invalidCredentials: 49, noSuchObject: 32 } as const;

const VERSION = 3;
const BASE_OBJECT = 0;

/** Answers an anonymous bind with success, as OpenLDAP does, a password with `invalidCredentials`, a search for the root with what the server can do, and others with nothing. */
export const ldap: Service = (peer) => createFramedReader(
  (bytes) => (bytes[0] === undefined || bytes[0] === TAG.sequence ? tlvSize(bytes) : "bad"),
  (message) => {
    const [id, operation] = readAll(readTlv(message)?.value ?? new Uint8Array(0));
    if (id?.tag !== TAG.integer || id.value.length > 4 || !operation) return end(peer);
    return answer(peer, id.value, operation);
  },
  () => peer.end(),
);

/** @returns Whether it goes on. */
function answer(peer: Peer, id: Uint8Array, { tag, value: content }: Tlv): boolean {
  const send = (answerTag: number, code: number, text = "") => {
    peer.send(element(TAG.sequence, encodeTlv(TAG.integer, id), element(answerTag, encodeTlv(TAG.enumerated, Uint8Array.of(code)), element(TAG.octets), encodeTlv(TAG.octets, Buffer.from(text)))));
    return true;
  };
  if (tag === OPERATION.unbind) return end(peer);
  if (tag === OPERATION.abandon) return true;
  if (tag === OPERATION.search) {
    const asked = readAll(content);
    const [base, scope] = [toText(asked[0]), asked[1]?.value[0]];
    peer.reached("command", "", `searched the directory${base === "" ? "" : ` below ${base}`}`);
    if (base !== "" || scope !== BASE_OBJECT) return send(OPERATION.searchDone, RESULT.noSuchObject);
    const names = readAll(asked.at(-1)?.value ?? new Uint8Array(0)).map(({ value }) => Buffer.from(value).toString("latin1").toLowerCase());
    peer.send(element(TAG.sequence, encodeTlv(TAG.integer, id), encodeRootEntry(new Set(names))));
    return send(OPERATION.searchDone, RESULT.success);
  }
  if (tag === OPERATION.extended) return send(OPERATION.extendedAnswer, RESULT.protocolError, "unsupported extended operation");
  if (tag !== OPERATION.bind) return end(peer);
  const [version, name, credentials] = readAll(content);
  if (!version || !name || !credentials) return end(peer);
  if ((version.value.at(-1) ?? 0) < VERSION) {
    if (credentials.tag === TAG.simple && credentials.value.length > 0) peer.tried(toText(name), toText(credentials));
    return send(OPERATION.bindAnswer, RESULT.protocolError, "historical protocol version requested, use LDAPv3 instead");
  }
  if (credentials.tag !== TAG.simple) return send(OPERATION.bindAnswer, RESULT.methodNotSupported, "SASL(-4): no mechanism available");
  if (credentials.value.length === 0) return send(OPERATION.bindAnswer, RESULT.success);
  peer.tried(toText(name), toText(credentials));
  return send(OPERATION.bindAnswer, RESULT.invalidCredentials);
}

function element(tag: number, ...parts: readonly Uint8Array[]): Uint8Array {
  return encodeTlv(tag, Buffer.concat(parts));
}

function toText(text: Tlv | undefined): string {
  return Buffer.from(text?.value ?? []).toString("utf8");
}

function end(peer: Peer): false {
  peer.end();
  return false;
}
