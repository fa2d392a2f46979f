/** Answers to SNMP's requests. @see RFC 3416 section 4.2, RFC 1157 section 4.1 */
import { decodeInteger, decodeObjectIdentifier, encodeInteger, encodeObjectIdentifier, encodeTlv, readAll, type Tlv } from "@lanthorn/packets";
import type { SystemGroup, SystemVariable } from "./snmp-system.ts";

const PDU = { get: 0xa0, next: 0xa1, response: 0xa2, set: 0xa3, bulk: 0xa5 } as const;
const TAG = { integer: 0x02, objectIdentifier: 0x06, null: 0x05, sequence: 0x30, noSuchObject: 0x80, endOfMibView: 0x82 } as const;
const STATUS = { none: 0, tooBig: 1, noSuchName: 2, noAccess: 6 } as const;
const MAX_NAMES = 32;
const MAX_REPETITIONS = 32;
const NOTHING = new Uint8Array(0);

interface Request {
  readonly requestId: Uint8Array;
  readonly names: readonly string[];
  /** The list as it came, for what is answered with an error. */
  readonly list: Uint8Array;
  readonly nonRepeaters: number;
  readonly repetitions: number;
}

interface Asking {
  readonly system: SystemGroup;
  readonly now: Date;
  /** Version 1. */
  readonly isOld: boolean;
  /** Whether a PDU's message is short enough, which for bulk is less. */
  readonly fits: (pdu: Uint8Array, isBulk: boolean) => boolean;
}

/** @returns The answer, and what is to be said of more than reading a variable; null for what is no request. */
export function answerPdu(pdu: Tlv, asking: Asking): { readonly pdu: Uint8Array; readonly command: string | null } | null {
  const request = readRequest(pdu.value);
  if (!request) return null;
  const { names } = request;
  const said = names.slice(0, 4).join(" ");
  if (pdu.tag === PDU.set) return { pdu: failure(request, asking.isOld ? STATUS.noSuchName : STATUS.noAccess, 1), command: `set ${said}` };
  const variables = asking.system.variables(asking.now);
  if (pdu.tag === PDU.bulk && !asking.isOld) return { pdu: answerBulk(request, variables, asking.fits), command: `walked from ${said}` };
  const isNext = pdu.tag === PDU.next;
  if (!isNext && pdu.tag !== PDU.get) return null;
  const found = names.map((name) => (isNext ? variables.find((one) => compareNames(one.name, name) > 0) : variables.find((one) => one.name === name)));
  const missing = found.indexOf(undefined);
  const command = isNext ? `walked from ${said}` : null;
  if (missing >= 0 && asking.isOld) return { pdu: failure(request, STATUS.noSuchName, missing + 1), command };
  const whole = success(request, found.map((one, index) => binding(one?.name ?? names[index] ?? "", one?.value ?? none(isNext))));
  return { pdu: asking.fits(whole, false) ? whole : failure(request, STATUS.tooBig, 0), command };
}

function readRequest(value: Uint8Array): Request | null {
  const [requestId, first, second, list] = readAll(value);
  if (requestId?.tag !== TAG.integer || requestId.value.length > 8 || first?.tag !== TAG.integer || second?.tag !== TAG.integer || list?.tag !== TAG.sequence) return null;
  const names = readAll(list.value).slice(0, MAX_NAMES).flatMap((one) => {
    const [name] = readAll(one.value);
    return name?.tag === TAG.objectIdentifier ? [decodeObjectIdentifier(name.value)] : [];
  });
  return { requestId: requestId.value, names, list: list.value, nonRepeaters: decodeInteger(first.value), repetitions: decodeInteger(second.value) };
}

/** As many as fit: GETBULK is what reflects floods. */
function answerBulk(request: Request, variables: readonly SystemVariable[], fits: Asking["fits"]): Uint8Array {
  const { names, nonRepeaters, repetitions } = request;
  let answer: Uint8Array | null = null;
  const bindings: Uint8Array[] = [];
  const add = (from: string): string | null => {
    const next = variables.find((one) => compareNames(one.name, from) > 0);
    bindings.push(binding(next?.name ?? from, next?.value ?? none(true)));
    const longer = success(request, bindings);
    if (!fits(longer, true)) return null;
    answer = longer;
    return next?.name ?? from;
  };
  for (const name of names.slice(0, nonRepeaters)) if (add(name) === null) return answer ?? failure(request, STATUS.tooBig, 0);
  let row: string[] = names.slice(nonRepeaters);
  for (let left = Math.min(repetitions, MAX_REPETITIONS); left > 0 && row.length > 0; left -= 1) {
    const following: string[] = [];
    for (const name of row) {
      const next = add(name);
      if (next === null) return answer ?? failure(request, STATUS.tooBig, 0);
      following.push(next);
    }
    if (following.every((name, index) => name === row[index])) break;
    row = following;
  }
  return answer ?? success(request, []);
}

function none(isNext: boolean): Uint8Array {
  return encodeTlv(isNext ? TAG.endOfMibView : TAG.noSuchObject, NOTHING);
}

function binding(name: string, value: Uint8Array): Uint8Array {
  return encodeTlv(TAG.sequence, Buffer.concat([encodeObjectIdentifier(name), value]));
}

function success(request: Request, bindings: readonly Uint8Array[]): Uint8Array {
  return response(request, STATUS.none, 0, Buffer.concat(bindings));
}

function failure(request: Request, status: number, index: number): Uint8Array {
  return response(request, status, index, request.list);
}

function response({ requestId }: Request, status: number, index: number, list: Uint8Array): Uint8Array {
  return encodeTlv(PDU.response, Buffer.concat([encodeTlv(TAG.integer, requestId), encodeInteger(status), encodeInteger(index), encodeTlv(TAG.sequence, list)]));
}

/** @returns Above zero where `a` follows `b`. */
function compareNames(a: string, b: string): number {
  const [left, right] = [a.split(".").map(Number), b.split(".").map(Number)];
  for (const [index, arc] of left.entries()) {
    const other = right[index];
    if (other === undefined) return 1;
    if (arc !== other) return arc - other;
  }
  return left.length - right.length;
}
