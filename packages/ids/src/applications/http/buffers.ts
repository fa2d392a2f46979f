/** The buffers of a transaction, and when each is there. */
import { BUFFER_FACTS, type BufferFacts, type BufferName } from "../../rules/buffer-names.ts";
import type { BufferStage } from "../application.ts";
import { bytesOf, COLON_SPACE, joinBytes, latin1, LINE_END } from "./bytes.ts";
import { joinedValue, linesOf } from "./head/fields.ts";
import { HTTP_STAGE, type HttpMessage } from "./message.ts";
import { boundaryOf, parameterOf, readFormFiles } from "./body/multipart.ts";
import type { RequestHost } from "./head/host.ts";
import type { RequestLine, StatusLine } from "./head/start-line.ts";
import type { NormalizedUri } from "./uri/uri.ts";

/** What buffers are made of. */
export interface HttpExchange {
  readonly request: HttpMessage;
  readonly response: HttpMessage;
  readonly requestLine: RequestLine;
  readonly statusLine: StatusLine;
  readonly uri: NormalizedUri;
  readonly host: RequestHost;
}

type Build = (exchange: HttpExchange, message: HttpMessage) => Uint8Array | null | readonly Uint8Array[];

interface Row {
  readonly stage: number;
  readonly build: Build;
}

/** One value of the request, the response, or the message of the direction. */
function field(of: "any" | "request" | "response", name: string): Row {
  const build: Build = (exchange, message) => joinedValue((of === "request" ? exchange.request : of === "response" ? exchange.response : message).fields, name);
  return { stage: HTTP_STAGE.fields, build };
}

function line(build: Build): Row {
  return { stage: HTTP_STAGE.line, build };
}

/** An empty part of a line is none. */
function someBytes(bytes: Uint8Array): Uint8Array | null {
  return bytes.length === 0 ? null : bytes;
}

const cookieName = (message: HttpMessage) => (message.isResponse ? "set-cookie" : "cookie");

/** Name and value of each field, in which names that come again are one; cookies have a buffer of their own. */
const header: Build = (_, message) => {
  if (message.isRefused) return null;
  const cookie = cookieName(message);
  const { mergedFields } = message;
  return someBytes(mergedFields.some(({ key }) => key === cookie) ? linesOf(mergedFields.filter(({ key }) => key !== cookie)) : message.fieldLines);
};

/** The first line, the fields and, where there are some, the empty line. */
const start: Build = (_, message) => {
  const { line } = message;
  if (line.length === 0 || message.isRefused) return null;
  const fields = message.fieldLines;
  return joinBytes(fields.length === 0 ? [line, LINE_END] : [line, LINE_END, fields, LINE_END]);
};

const headerNames: Build = (_, message) => {
  if (message.isRefused) return null;
  if (message.mergedFields.length === 0) return null;
  const pieces: Uint8Array[] = [LINE_END];
  for (const { name } of message.mergedFields) pieces.push(name, LINE_END);
  pieces.push(LINE_END);
  return joinBytes(pieces);
};

const everyField: Build = (_, message) => message.mergedFields.map(({ name, value }) => joinBytes([name, COLON_SPACE, value]));

const body: Build = (_, message) => message.body?.instances ?? [];

/** What is sent with POST and PUT are files; those of a form have names of their own. */
function filesOf(exchange: HttpExchange, message: HttpMessage): readonly { readonly name: Uint8Array; readonly bytes: Uint8Array }[] {
  const bytes = message.body?.instances[0];
  if (!bytes) return [];
  if (message.isResponse) return [{ name: nameOfResponse(exchange, message), bytes }];
  const method = latin1(exchange.requestLine.method);
  if (method !== "POST" && method !== "PUT") return [];
  const boundary = method === "POST" ? boundaryOf(joinedValue(message.fields, "content-type")) : null;
  if (boundary !== null) return readFormFiles(bytes, boundary);
  return [{ name: exchange.uri.path, bytes }];
}

function nameOfResponse(exchange: HttpExchange, message: HttpMessage): Uint8Array {
  const disposition = joinedValue(message.fields, "content-disposition");
  const name = disposition && disposition.length <= 4096 ? parameterOf(latin1(disposition), "filename") : null;
  if (name !== null && name !== "") return bytesOf(name);
  return exchange.request.stage === HTTP_STAGE.begun ? new Uint8Array(0) : exchange.uri.path;
}

const growing = (build: Build): Row => ({ stage: HTTP_STAGE.done, build });

/** What each buffer is made of. */
const ROWS = {
  "http.uri": line(({ uri }) => uri.uri),
  "http.uri.raw": line(({ requestLine }) => someBytes(requestLine.target)),
  "http.method": line(({ requestLine }) => someBytes(requestLine.method)),
  "http.request_line": line(({ request }) => someBytes(request.line)),
  "http.protocol": line((exchange, message) => someBytes(message.isResponse ? exchange.statusLine.protocol : exchange.requestLine.protocol)),
  "http.stat_code": line(({ statusLine }) => someBytes(statusLine.status)),
  "http.stat_msg": line(({ statusLine }) => someBytes(statusLine.reason)),
  "http.response_line": line(({ response }) => someBytes(response.line)),
  "http.host": { stage: HTTP_STAGE.fields, build: ({ host }) => host.host },
  "http.host.raw": { stage: HTTP_STAGE.fields, build: ({ host }) => host.raw },
  "http.user_agent": field("request", "user-agent"),
  "http.accept": field("request", "accept"),
  "http.accept_lang": field("request", "accept-language"),
  "http.accept_enc": field("request", "accept-encoding"),
  "http.referer": field("request", "referer"),
  "http.server": field("response", "server"),
  "http.location": field("response", "location"),
  "http.connection": field("any", "connection"),
  "http.content_type": field("any", "content-type"),
  "http.content_len": field("any", "content-length"),
  "http.cookie": { stage: HTTP_STAGE.fields, build: (_, message) => joinedValue(message.fields, cookieName(message)) },
  "http.request_header": { stage: HTTP_STAGE.fields, build: (exchange) => everyField(exchange, exchange.request) },
  "http.response_header": { stage: HTTP_STAGE.fields, build: (exchange) => everyField(exchange, exchange.response) },
  "http.header": { stage: HTTP_STAGE.head, build: header },
  "http.header.raw": { stage: HTTP_STAGE.head, build: (_, message) => (message.isRefused ? null : message.rawFields) },
  "http.header_names": { stage: HTTP_STAGE.head, build: headerNames },
  "http.start": { stage: HTTP_STAGE.head, build: start },
  "http.request_body": growing((exchange) => body(exchange, exchange.request)),
  "http.response_body": growing((exchange) => body(exchange, exchange.response)),
  "file.data": growing((exchange, message) => filesOf(exchange, message).map(({ bytes }) => bytes)),
  "file.name": growing((exchange, message) => filesOf(exchange, message).map(({ name }) => name)),
} as const satisfies Partial<Readonly<Record<BufferName, Row>>>;

/** One buffer, as transactions look for it. */
export interface HttpBuffer extends Row {
  /** Its place in lists of all of them. */
  readonly index: number;
  /** The side that has it, whoever asks. */
  readonly direction: BufferFacts["direction"];
  /** It depends on a body. */
  readonly grows: boolean;
}

const TABLE: ReadonlyMap<string, HttpBuffer> = new Map(Object.entries(ROWS).map(([name, { stage, build }], index) => [
  name, { stage, build, index, direction: BUFFER_FACTS.get(name)?.direction ?? "any", grows: stage === HTTP_STAGE.done },
]));

/** When each buffer is there; fields may still be added by trailers. */
export const HTTP_BUFFERS: ReadonlyMap<BufferName, BufferStage> = new Map(Array.from(TABLE, ([name, { stage, grows }]) => [name as keyof typeof ROWS, { stage, grows }]));

/** @returns How a buffer is made; `undefined` for one of another application. */
export function bufferOf(name: BufferName): HttpBuffer | undefined {
  return TABLE.get(name);
}

const NO_INSTANCES: readonly Uint8Array[] = [];

/** @returns Its instances now. */
export function buildBuffer(buffer: HttpBuffer, exchange: HttpExchange, message: HttpMessage): readonly Uint8Array[] {
  const built = buffer.build(exchange, message);
  return built === null ? NO_INSTANCES : built instanceof Uint8Array ? [built] : built;
}
