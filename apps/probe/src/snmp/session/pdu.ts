// SNMP's protocol data units, of versions 1 to 3 alike. @see RFC 3416 section 3, RFC 1157 section 4.1
import {
  decodeInteger, decodeObjectIdentifier, encodeInteger, encodeObjectIdentifier, encodeTlv, readAll, readTlv, type Tlv,
} from "@lanthorn/packets";

/** Tags of the PDUs that are used here. @see RFC 3416 section 3 */
export const PDU = { get: 0xa0, getNext: 0xa1, response: 0xa2, getBulk: 0xa5, report: 0xa8 } as const;

/** Tags of values; from `noSuchObject` to `endOfMibView` they say that there is none. */
export const TAG = { integer: 0x02, octets: 0x04, objectIdentifier: 0x06, noSuchObject: 0x80, endOfMibView: 0x82 } as const;

/** A variable and its value in BER: `tag` and the bytes behind its length. @see RFC 3416 section 3 (VarBind) */
export interface Binding {
  /** Numbers with dots. */
  readonly name: string;
  readonly tag: number;
  /** A view. */
  readonly value: Uint8Array;
}

/** A message's PDU. For `errorStatus` see RFC 3416 section 3. */
export interface Pdu {
  readonly tag: number;
  readonly requestId: number;
  /** 0: none. */
  readonly errorStatus: number;
  readonly bindings: readonly Binding[];
}

/** Of one answer: what fits in a datagram of the smallest bindings. */
const MAX_BINDINGS = 1024;

/** @param options.repetitions Of GETBULK alone. */
export function encodePdu(
  tag: number, requestId: number, names: readonly string[], options: { readonly repetitions?: number } = {},
): Uint8Array {
  const nothing = encodeTlv(0x05, new Uint8Array());
  const bindings = names.map((name) => encodeTlv(0x30, Buffer.concat([encodeObjectIdentifier(name), nothing])));
  return encodeTlv(tag, Buffer.concat([
    encodeInteger(requestId), encodeInteger(0), encodeInteger(options.repetitions ?? 0), encodeTlv(0x30, Buffer.concat(bindings)),
  ]));
}

/** @returns Null for what is no PDU; bindings that are malformed are left out. */
export function decodePdu(outer: Tlv): Pdu | null {
  const [requestId, errorStatus, , list] = readAll(outer.value);
  if (requestId?.tag !== TAG.integer || errorStatus?.tag !== TAG.integer || list?.tag !== 0x30) return null;
  const bindings = readAll(list.value).slice(0, MAX_BINDINGS).flatMap((one): readonly Binding[] => {
    const [name, value] = readAll(one.value);
    return name?.tag === TAG.objectIdentifier && value
      ? [{ name: decodeObjectIdentifier(name.value), tag: value.tag, value: value.value }]
      : [];
  });
  return { tag: outer.tag, requestId: decodeInteger(requestId.value), errorStatus: decodeInteger(errorStatus.value), bindings };
}

/** A message of version 1 (0) or 2c (1). */
export function encodeCommunityMessage(version: 0 | 1, community: string, pdu: Uint8Array): Uint8Array {
  return encodeTlv(0x30, Buffer.concat([encodeInteger(version), encodeTlv(TAG.octets, Buffer.from(community)), pdu]));
}

/** @returns The PDU of a message of that version, or null. */
export function decodeCommunityMessage(bytes: Uint8Array, version: 0 | 1): Pdu | null {
  const outer = readTlv(bytes);
  const [spoken, , pdu] = readAll(outer?.value ?? new Uint8Array());
  if (outer?.tag !== 0x30 || spoken?.tag !== TAG.integer || decodeInteger(spoken.value) !== version || !pdu) return null;
  return decodePdu(pdu);
}
