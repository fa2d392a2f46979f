/** As much of BSON as a handshake and a refusal need. @see https://bsonspec.org/spec.html */

type Value = string | number | boolean | { readonly int32: number };

const TYPE = { double: 1, text: 2, binary: 5, boolean: 8, int32: 16 } as const;

/** @returns An integer of 32 bits; other numbers are doubles. */
export function int32(value: number): Value {
  return { int32: value };
}

/** @returns The name of the first element: the command. Null for what is no document. */
export function readFirstKey(document: Buffer): string | null {
  if (document.length < 6 || document[4] === 0) return null;
  const end = document.indexOf(0, 5);
  return end < 0 ? null : document.toString("utf8", 5, end);
}

/** @returns The text of an element that is a text or binary, wherever it is; null for none. */
export function readText(document: Buffer, name: string): string | null {
  for (const type of [TYPE.binary, TYPE.text]) {
    const at = document.indexOf(Buffer.concat([Buffer.from([type]), Buffer.from(`${name}\0`)]));
    if (at < 0) continue;
    const begin = at + name.length + 2;
    if (begin + 4 > document.length) return null;
    const octets = document.readUInt32LE(begin);
    const text = begin + (type === TYPE.binary ? 5 : 4);
    return text + octets > document.length ? null : document.toString("utf8", text, text + octets - (type === TYPE.text ? 1 : 0));
  }
  return null;
}

/** @returns A document of these elements, in their order. */
export function writeDocument(elements: readonly (readonly [name: string, value: Value])[]): Buffer {
  const body = Buffer.concat(elements.map(([name, value]) => writeElement(name, value)));
  const length = Buffer.alloc(4);
  length.writeInt32LE(body.length + 5);
  return Buffer.concat([length, body, Buffer.alloc(1)]);
}

function writeElement(name: string, value: Value): Buffer {
  const head = (type: number) => Buffer.concat([Buffer.from([type]), Buffer.from(`${name}\0`)]);
  if (typeof value === "boolean") return Buffer.concat([head(TYPE.boolean), Buffer.from([Number(value)])]);
  if (typeof value === "string") {
    const text = Buffer.from(`${value}\0`);
    const length = Buffer.alloc(4);
    length.writeInt32LE(text.length);
    return Buffer.concat([head(TYPE.text), length, text]);
  }
  const number = Buffer.alloc(typeof value === "number" ? 8 : 4);
  if (typeof value === "number") number.writeDoubleLE(value);
  else number.writeInt32LE(value.int32);
  return Buffer.concat([head(typeof value === "number" ? TYPE.double : TYPE.int32), number]);
}
