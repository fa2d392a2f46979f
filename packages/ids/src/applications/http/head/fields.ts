/** Header fields of a message, as libhtp reads them: leniently. @see RFC 9112 section 5 */
import { COLON_SPACE, isBlank, isSpace, joinBytes, latin1, LINE_END, lowerByte } from "../bytes.ts";

/** Where the fields of a message are in its bytes. */
export interface HttpFields {
  /** The head, or a copy in which folded lines are one. */
  readonly bytes: Uint8Array;
  /** Four numbers a field: beginning and end of its name and of its value. */
  readonly places: readonly number[];
  /** What is wrong with them, as the second half of an event's name. */
  readonly faults: readonly FieldFault[];
}

/** What may be wrong with a field. */
export type FieldFault = "field_missing_colon" | "field_folding" | "header_invalid";

/** A field with the values of all that have its name, in their order. */
export interface MergedField {
  readonly name: Uint8Array;
  /** In lower case. */
  readonly key: string;
  readonly value: Uint8Array;
}

const COLON = 0x3a;
const RETURN = 0x0d;
const JOINT = Uint8Array.of(0x2c, 0x20);

/**
 * @param head Bytes of the head.
 * @param lines Beginning and end of each line in it, without what ends it; the empty ones are left out.
 * @param isResponse In responses a folded line with a colon is a field of its own, and zero bytes are like others.
 */
export function readFields(head: Uint8Array, lines: readonly number[], isResponse: boolean): HttpFields {
  const { bytes, starts, hasBadFold } = unfold(head, lines, isResponse);
  const places: number[] = [];
  const faults: FieldFault[] = hasBadFold ? ["field_folding"] : [];
  for (let index = 0; index < starts.length; index += 2) {
    const fault = readField(bytes, places, [starts[index] as number, starts[index + 1] as number], isResponse);
    if (fault && !faults.includes(fault)) faults.push(fault);
  }
  return { bytes, places, faults };
}

function isFoldStart(byte: number | undefined): boolean {
  return isBlank(byte) || byte === 0;
}

interface Unfolded {
  readonly bytes: Uint8Array;
  readonly starts: readonly number[];
  readonly hasBadFold: boolean;
}

function unfold(head: Uint8Array, lines: readonly number[], isResponse: boolean): Unfolded {
  let isPlain = true;
  for (let index = 0; index < lines.length; index += 2) isPlain &&= !isFoldStart(head[lines[index] as number]);
  if (isPlain) return { bytes: head, starts: lines, hasBadFold: false };
  const bytes = new Uint8Array(head.length);
  const starts: number[] = [];
  let length = 0;
  let hasBadFold = false;
  for (let index = 0; index < lines.length; index += 2) {
    let [from, to] = [lines[index] as number, lines[index + 1] as number];
    const isFold = isFoldStart(head[from]);
    const isOwn = isResponse && hasColon(head, from, to) && hasColon(bytes, starts.at(-2) ?? 0, length);
    const isJoined = isFold && starts.length > 0 && !isOwn;
    if (isFold && !isJoined) {
      hasBadFold = true;
      while (from < to && isFoldStart(head[from])) from += 1;
    }
    while (to > from && head[to - 1] === RETURN) to -= 1;
    bytes.set(head.subarray(from, to), length);
    if (!isJoined) starts.push(length);
    else starts.pop();
    length += to - from;
    starts.push(length);
  }
  return { bytes, starts, hasBadFold };
}

function hasColon(bytes: Uint8Array, from: number, to: number): boolean {
  const at = bytes.indexOf(COLON, from);
  return at >= 0 && at < to;
}

function readField(bytes: Uint8Array, places: number[], line: readonly [number, number], isResponse: boolean): FieldFault | null {
  let [from, to] = line;
  // Names of requests end at a zero byte.
  const last = isResponse ? COLON : 0;
  let colon = from;
  while (colon < to && bytes[colon] !== COLON && bytes[colon] !== last) colon += 1;
  while (to > from && isSpace(bytes[to - 1])) to -= 1;
  if (bytes[colon] !== COLON || colon >= line[1]) {
    while (from < to && isSpace(bytes[from])) from += 1;
    places.push(from, from, from, to);
    return "field_missing_colon";
  }
  let nameEnd = colon;
  while (nameEnd > from && isSpace(bytes[nameEnd - 1])) nameEnd -= 1;
  let valueFrom = colon + 1;
  while (valueFrom < to && isSpace(bytes[valueFrom])) valueFrom += 1;
  places.push(from, nameEnd, valueFrom, Math.max(valueFrom, to));
  return nameEnd < colon || nameEnd === from || !isToken(bytes, from, nameEnd) ? "header_invalid" : null;
}

const SEPARATORS: ReadonlySet<number> = new Set(Array.from('()<>@,;:\\"/[]?={} \t', (letter) => letter.charCodeAt(0)));

function isToken(bytes: Uint8Array, from: number, to: number): boolean {
  for (let at = from; at < to; at += 1) {
    const byte = bytes[at] as number;
    if (byte <= 0x20 || byte >= 0x7f || SEPARATORS.has(byte)) return false;
  }
  return true;
}

/** @param name In lower case. @returns The values of the fields that have it, without regard to case and zero bytes. */
export function valuesOf({ bytes, places }: HttpFields, name: string): readonly Uint8Array[] {
  const values: Uint8Array[] = [];
  for (let index = 0; index < places.length; index += 4) {
    const [from, to] = [places[index] as number, places[index + 1] as number];
    if (to - from >= name.length && hasName(bytes, from, to, name)) values.push(bytes.subarray(places[index + 2], places[index + 3]));
  }
  return values;
}

// Four plain parameters, as it runs for each field of each message.
function hasName(bytes: Uint8Array, from: number, to: number, name: string): boolean {
  let at = 0;
  for (let index = from; index < to; index += 1) {
    const byte = bytes[index] as number;
    if (byte === 0) continue;
    if (lowerByte(byte) !== name.charCodeAt(at)) return false;
    at += 1;
  }
  return at === name.length;
}

/** @returns The value of all fields of a name, joined by a comma and a space; `null` without one. */
export function joinedValue(fields: HttpFields, name: string): Uint8Array | null {
  const values = valuesOf(fields, name);
  // The first of several lengths counts.
  return values.length === 0 ? null : values.length === 1 || name === "content-length" ? (values[0] as Uint8Array) : Buffer.concat(values.flatMap((value, index) => (index === 0 ? [value] : [JOINT, value])));
}

/** @returns Each name once, in the order of their first fields. */
export function mergeFields({ bytes, places }: HttpFields): readonly MergedField[] {
  const merged = new Map<string, Merging>();
  for (let index = 0; index < places.length; index += 4) {
    const name = bytes.subarray(places[index], places[index + 1]);
    const value = bytes.subarray(places[index + 2], places[index + 3]);
    const key = latin1(name).toLowerCase();
    const known = merged.get(key);
    if (!known) merged.set(key, { name, key, value, more: null });
    else if (key !== "content-length") (known.more ??= [known.value]).push(JOINT, value);
  }
  for (const field of merged.values()) if (field.more !== null) field.value = Buffer.concat(field.more);
  return [...merged.values()];
}

/** @returns Name and value of each field, a line each. */
export function linesOf(fields: readonly MergedField[]): Uint8Array {
  const pieces: Uint8Array[] = [];
  for (const { name, value } of fields) pieces.push(name, COLON_SPACE, value, LINE_END);
  return joinBytes(pieces);
}

interface Merging extends MergedField {
  value: Uint8Array;
  /** All values with what joins them; `null` for one alone. */
  more: Uint8Array[] | null;
}
