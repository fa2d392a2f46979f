// HTTP/1.1 as a client needs it to learn who a server is. @see RFC 9112
import type { Connection } from "../connection.ts";
import { type Target, toText } from "../protocol.ts";

/** A response as far as it was received. @see RFC 9112 section 2 */
export interface HttpAnswer {
  /** 100–999. */
  readonly status: number;
  readonly statusLine: string;
  /** By lower-case name; of several fields of a name, the first. */
  readonly headers: Readonly<Record<string, string>>;
  /** At most 128 KiB. */
  readonly bytes: Uint8Array;
  /** `bytes` as text. */
  readonly body: string;
  /** The server takes another request on this connection. */
  readonly staysOpen: boolean;
}

const MAX_BODY = 128 * 1024;
const MAX_HEAD = 16 * 1024;
const MAX_HEADERS = 100;

/** A host as URLs write it, with its port where it is not the usual one. */
export function writeHost(target: Target): string {
  const host = target.ip.includes(":") ? `[${target.ip}]` : target.ip;
  return target.port === (target.isSecure ? 443 : 80) ? host : `${host}:${target.port}`;
}

/** A GET that asks for no compression. @param path From the first slash on, in ASCII. @see RFC 9112 section 3 */
export function encodeRequest(target: Target, path: string): string {
  return `GET ${path} HTTP/1.1\r\nHost: ${writeHost(target)}\r\nUser-Agent: Mozilla/5.0 (compatible; Lanthorn)\r\nAccept: */*\r\n\r\n`;
}

/** A POST of what only asks, as IPP does. */
export function encodePost(target: Target, path: string, type: string, body: Uint8Array): Buffer {
  const fields = [`Host: ${writeHost(target)}`, "User-Agent: Lanthorn", `Content-Type: ${type}`, `Content-Length: ${body.length}`];
  return Buffer.concat([Buffer.from([`POST ${path} HTTP/1.1`, ...fields, "", ""].join("\r\n")), body]);
}

/** @param first What of the answer is here already. @returns Null for what is no HTTP answer. */
export async function readAnswerTo(first: Uint8Array, connection: Connection, timeoutMs: number): Promise<HttpAnswer | null> {
  const missing = lengthMissing(first);
  if (missing === null) return null;
  const isWhole = (more: Uint8Array) => lengthMissing(Buffer.concat([first, more])) === 0;
  const rest = missing === 0 ? new Uint8Array() : await connection.read(isWhole, timeoutMs);
  return decodeAnswer(Buffer.concat([first, rest]), connection.isClosed());
}

/** Asks on a connection that is open. @returns Null without an answer. */
export async function request(connection: Connection, bytes: Uint8Array | string, timeoutMs: number): Promise<HttpAnswer | null> {
  connection.send(bytes);
  const first = await connection.read((more) => more.includes(0x0a), timeoutMs);
  return first.length === 0 ? null : readAnswerTo(first, connection, timeoutMs);
}

/** @returns 0 when the answer is whole, 1 when more must come, null for what is no HTTP answer. */
function lengthMissing(bytes: Uint8Array): 0 | 1 | null {
  const text = toLatin1(bytes);
  if (!/^HTTP\/\d\.\d \d{3}/.test(text)) return null;
  const headEnd = text.indexOf("\r\n\r\n");
  if (headEnd === -1) return text.length > MAX_HEAD ? 0 : 1;
  const body = text.length - headEnd - 4;
  if (body >= MAX_BODY || /^HTTP\/\d\.\d (?:204|304)/.test(text)) return 0;
  const head = text.slice(0, headEnd);
  const length = /\r\ncontent-length: *(\d{1,12})/i.exec(head)?.[1];
  if (length !== undefined) return body >= Number(length) ? 0 : 1;
  const end = text.slice(Math.max(headEnd + 4, text.length - 256));
  if (/\r\ntransfer-encoding: *chunked/i.test(head)) return /(?:^|\r\n)0\r\n(?:[^\r\n]{1,250}\r\n){0,16}\r\n$/.test(end) ? 0 : 1;
  return 1;
}

/**
 * @param isClosed The server has ended the connection. @returns Null for bytes that begin no HTTP/1 response.
 * @see RFC 9112 sections 4 to 7; a chunked body is joined, one that is cut off is kept as far as it came
 */
export function decodeAnswer(bytes: Uint8Array, isClosed: boolean): HttpAnswer | null {
  const text = toLatin1(bytes.subarray(0, MAX_HEAD + MAX_BODY));
  const separator = text.indexOf("\r\n\r\n");
  const head = separator === -1 ? text : text.slice(0, separator);
  const [statusLine = "", ...lines] = head.split("\r\n", MAX_HEADERS);
  const status = Number(/^HTTP\/\d\.\d (\d{3})/.exec(statusLine)?.[1] ?? 0);
  if (status === 0) return null;
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(":");
    if (colon > 0) headers[line.slice(0, colon).trim().toLowerCase()] ??= decodeUtf8(line.slice(colon + 1).trim());
  }
  const raw = separator === -1 ? "" : text.slice(separator + 4);
  const isChunked = /chunked/i.test(headers["transfer-encoding"] ?? "");
  const hasLength = headers["content-length"] !== undefined || isChunked || status === 204 || status === 304;
  const staysOpen = !isClosed && hasLength && !/close/i.test(headers["connection"] ?? "") && statusLine.startsWith("HTTP/1.1");
  const body = Buffer.from(isChunked ? joinChunks(raw) : raw, "latin1");
  return { status, statusLine, headers, bytes: body, body: toText(body, MAX_BODY), staysOpen };
}

function toLatin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
}

function decodeUtf8(latin1: string): string {
  return /[\x80-\xff]/.test(latin1) ? toText(Buffer.from(latin1, "latin1")) : latin1;
}

function joinChunks(text: string): string {
  let body = "";
  for (let at = 0; at < text.length; ) {
    const lineEnd = text.indexOf("\r\n", at);
    const size = lineEnd === -1 ? Number.NaN : Number.parseInt(text.slice(at, lineEnd), 16);
    if (!(size > 0)) break;
    body += text.slice(lineEnd + 2, lineEnd + 2 + size);
    at = lineEnd + 2 + size + 2;
  }
  return body;
}
