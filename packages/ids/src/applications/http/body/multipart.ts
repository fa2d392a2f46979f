/** Files in a form. @see RFC 7578, RFC 2046 section 5.1 */
import { bytesOf, latin1 } from "../bytes.ts";

/** One file of a form. */
export interface FormFile {
  readonly name: Uint8Array;
  readonly bytes: Uint8Array;
  /** Its end was seen. */
  readonly isWhole: boolean;
}

const MAX_BOUNDARY_BYTES = 200;
const MAX_FILES = 64;
const MAX_PART_HEAD_BYTES = 4096;

/** @returns The boundary of a multipart type, or `null` for others. */
export function boundaryOf(contentType: Uint8Array | null): string | null {
  if (!contentType || contentType.length > 1024) return null;
  const text = latin1(contentType);
  if (!/^multipart\//i.test(text)) return null;
  const boundary = parameterOf(text, "boundary");
  return boundary === null || boundary === "" || boundary.length > MAX_BOUNDARY_BYTES ? null : boundary;
}

/** @returns The value of a parameter of a field, without quotes; `null` where it has none. */
export function parameterOf(value: string, name: string): string | null {
  const at = value.toLowerCase().indexOf(`${name}=`);
  if (at < 0) return null;
  const from = at + name.length + 1;
  const isQuoted = value[from] === '"';
  const end = isQuoted ? value.indexOf('"', from + 1) : value.slice(from).search(/[;\s]/) + from;
  return isQuoted ? value.slice(from + 1, end < 0 ? undefined : end) : value.slice(from, end < from ? undefined : end);
}

/** @returns The parts that have a name of a file, as far as the body has come; the last one without what may be a boundary. */
export function readFormFiles(body: Uint8Array, boundary: string): readonly FormFile[] {
  const files: FormFile[] = [];
  const delimiter = Buffer.from(`--${boundary}`, "latin1");
  const all = Buffer.from(body.buffer, body.byteOffset, body.length);
  let at = all.indexOf(delimiter);
  while (at >= 0 && files.length < MAX_FILES) {
    const lineEnd = all.indexOf(0x0a, at + delimiter.length);
    if (lineEnd < 0) break;
    const next = findDelimiter(all, delimiter, lineEnd);
    const file = readPart(all.subarray(lineEnd + 1, next < 0 ? undefined : next), next >= 0);
    if (file) files.push(file);
    at = next < 0 ? -1 : all.indexOf(delimiter, next);
  }
  return files;
}

/** @returns Where the line break before the next delimiter begins, or -1. */
function findDelimiter(all: Buffer, delimiter: Buffer, from: number): number {
  const at = all.indexOf(delimiter, from);
  if (at < 0) return -1;
  const isBroken = all[at - 1] === 0x0a;
  return isBroken ? at - (all[at - 2] === 0x0d ? 2 : 1) : at;
}

function readPart(part: Buffer, isWhole: boolean): FormFile | null {
  const headEnd = endOfHead(part);
  if (headEnd < 0) return null;
  const head = part.subarray(0, headEnd).toString("latin1");
  const disposition = /^content-disposition:(.*)$/im.exec(head)?.[1] ?? "";
  const name = parameterOf(disposition, "filename");
  return name === null ? null : { name: bytesOf(name), bytes: part.subarray(headEnd), isWhole };
}

function endOfHead(part: Buffer): number {
  for (const end of ["\r\n\r\n", "\n\n"]) {
    const at = part.subarray(0, MAX_PART_HEAD_BYTES).indexOf(end, 0, "latin1");
    if (at >= 0) return at + end.length;
  }
  return -1;
}
