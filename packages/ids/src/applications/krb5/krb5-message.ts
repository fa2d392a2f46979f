/** Messages of Kerberos as rules see them. @see RFC 4120 sections 5.4 and 5.9 */
import { decodeInteger, readAll, readTlv, type Tlv } from "@lanthorn/packets";

/** A request, a reply or an error of a key distribution center. */
export interface RuleKrb5 {
  readonly type: number;
  /** Parts of names, of replies and errors. */
  readonly client: readonly Uint8Array[];
  readonly server: readonly Uint8Array[];
  readonly errorCode: number | null;
  /** Of the reply, and of the ticket in it. @see RFC 3961 section 8 */
  readonly encryption: number | null;
  readonly ticketEncryption: number | null;
}

/** Numbers of messages, which are those of their tags. */
export const KRB5_TYPE = { asRequest: 10, asReply: 11, tgsRequest: 12, tgsReply: 13, error: 30 } as const;

const TYPES: ReadonlySet<number> = new Set(Object.values(KRB5_TYPE));
/** Constructed, of the class application. */
const APPLICATION_TAG = 0x60;
const TICKET_TAG = 0x61;
const MAX_PARTS = 32;

/** @param bytes A whole message. @returns null where it is none. */
export function readKrb5(bytes: Uint8Array): RuleKrb5 | null {
  const whole = readTlv(bytes);
  const type = (whole?.tag ?? 0) - APPLICATION_TAG;
  if (!whole || !TYPES.has(type)) return null;
  const fields = fieldsOf(whole.value);
  const isRequest = type === KRB5_TYPE.asRequest || type === KRB5_TYPE.tgsRequest;
  const said = numberOf(fields.get(isRequest ? 2 : 1));
  if (said !== type) return null;
  const nothing = { type, client: [], server: [], errorCode: null, encryption: null, ticketEncryption: null };
  if (isRequest) return nothing;
  if (type === KRB5_TYPE.error) return { ...nothing, client: namesOf(fields.get(8)), server: namesOf(fields.get(10)), errorCode: numberOf(fields.get(6)) };
  const ticketTlv = readTlv(fields.get(5) ?? new Uint8Array(0));
  const ticket = ticketTlv?.tag === TICKET_TAG ? fieldsOf(ticketTlv.value) : new Map<number, Uint8Array>();
  return {
    ...nothing, client: namesOf(fields.get(4)), server: namesOf(ticket.get(2)), encryption: encryptionOf(fields.get(6)), ticketEncryption: encryptionOf(ticket.get(3)),
  };
}

/** @param value Of a sequence's surroundings. @returns Its fields by the number of their tag, as what is in them. */
function fieldsOf(value: Uint8Array): ReadonlyMap<number, Uint8Array> {
  const sequence = readTlv(value);
  return new Map(sequence?.tag === 0x30 ? readAll(sequence.value).map((field: Tlv) => [field.tag - 0xa0, field.value]) : []);
}

function numberOf(field: Uint8Array | undefined): number | null {
  const tlv = field ? readTlv(field) : null;
  return tlv?.tag === 0x02 ? decodeInteger(tlv.value) : null;
}

function encryptionOf(field: Uint8Array | undefined): number | null {
  return field ? numberOf(fieldsOf(field).get(0)) : null;
}

/** @see RFC 4120 section 5.2.2 */
function namesOf(field: Uint8Array | undefined): readonly Uint8Array[] {
  const list = field ? readTlv(fieldsOf(field).get(1) ?? new Uint8Array(0)) : null;
  return list ? readAll(list.value).slice(0, MAX_PARTS).map(({ value }) => value.slice()) : [];
}
