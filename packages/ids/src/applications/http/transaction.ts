/** A request with its response, as rules see them. */
import type { BufferName } from "../../rules/buffer-names.ts";
import type { Direction, Transaction, TransactionNumber } from "../application.ts";
import { bufferOf, buildBuffer, type HttpBuffer } from "./buffers.ts";
import { latin1 } from "./bytes.ts";
import { type HttpFields, joinedValue } from "./head/fields.ts";
import { hostOf, type RequestHost } from "./head/host.ts";
import { HTTP_STAGE, HttpMessage } from "./message.ts";
import { readRequestLine, readStatusLine, type RequestLine, type StatusLine } from "./head/start-line.ts";
import { type NormalizedUri, normalizeUri } from "./uri/uri.ts";

const NOTHING = new Uint8Array(0);
const NO_INSTANCES: readonly Uint8Array[] = [];
const MAX_WORD = 512;

/** Buffers that were made of a message, by their place; of another version they are out of date. */
class KeptBuffers {
  #version = -1;
  #instances: (readonly Uint8Array[] | undefined)[] = [];

  get({ index }: HttpBuffer, version: number): readonly Uint8Array[] | undefined {
    if (this.#version !== version) {
      this.#version = version;
      this.#instances = [];
    }
    return this.#instances[index];
  }

  set({ index }: HttpBuffer, instances: readonly Uint8Array[]): void {
    this.#instances[index] = instances;
  }
}

/** One transaction. What rules ask for is made when they ask, and kept until its message changes. */
export class HttpTransaction implements Transaction {
  readonly application = "http";
  readonly events = new Set<string>();
  readonly request: HttpMessage;
  readonly response: HttpMessage;
  /** Of the request and of the response: of their heads, then of what grows with their bodies. */
  readonly #kept: (KeptBuffers | null)[] = [null, null, null, null];
  #requestLine: RequestLine | null = null;
  #statusLine: { readonly of: Uint8Array; readonly line: StatusLine } | null = null;
  #uri: NormalizedUri | null = null;
  #host: { readonly fields: HttpFields; readonly host: RequestHost } | null = null;

  /** @param hold Is called with what it keeps more (or less) than before. */
  constructor(hold: (octets: number) => void) {
    this.request = new HttpMessage(false, hold);
    this.response = new HttpMessage(true, hold);
  }

  /** The message of a direction. */
  messageOf(direction: Direction): HttpMessage {
    return direction === "to-server" ? this.request : this.response;
  }

  get requestLine(): RequestLine {
    this.#requestLine ??= readRequestLine(this.request.line);
    return this.#requestLine;
  }

  get statusLine(): StatusLine {
    const of = this.response.line;
    if (this.#statusLine?.of !== of) this.#statusLine = { of, line: readStatusLine(of) };
    return this.#statusLine.line;
  }

  get uri(): NormalizedUri {
    const { method, target } = this.requestLine;
    this.#uri ??= normalizeUri(target, latin1(method) === "CONNECT");
    return this.#uri;
  }

  get host(): RequestHost {
    const { fields } = this.request;
    if (this.#host?.fields !== fields) this.#host = { fields, host: hostOf(this.uri, fields, isNewProtocol(this.requestLine.protocol)) };
    return this.#host.host;
  }

  stageOf(direction: Direction): number {
    return this.messageOf(direction).stage;
  }

  /** @param asked Of buffers that one side alone has, its own direction counts. */
  instancesOf(name: BufferName, asked: Direction): readonly Uint8Array[] {
    const buffer = bufferOf(name);
    if (buffer === undefined) return NO_INSTANCES;
    const direction = buffer.direction === "any" ? asked : buffer.direction;
    const message = this.messageOf(direction);
    if (message.stage === HTTP_STAGE.begun && !buffer.grows) return NO_INSTANCES;
    const seen = message.body?.instances[0];
    if (buffer.grows && seen === undefined) return NO_INSTANCES;
    const version = buffer.grows ? (seen?.length ?? 0) * 2 + (message.body?.isOver === true ? 1 : 0) : message.version;
    const kept = this.#keptOf(direction, buffer.grows);
    const known = kept.get(buffer, version);
    if (known !== undefined) return known;
    const instances = buildBuffer(buffer, this, message);
    kept.set(buffer, instances);
    return instances;
  }

  #keptOf(direction: Direction, grows: boolean): KeptBuffers {
    const place = (direction === "to-server" ? 0 : 1) + (grows ? 2 : 0);
    const kept = this.#kept[place] ?? new KeptBuffers();
    this.#kept[place] = kept;
    return kept;
  }

  numbersOf(field: TransactionNumber, direction: Direction): readonly number[] {
    if (field === "http.urilen") return this.request.stage === HTTP_STAGE.begun ? [] : [this.uri.uri.length];
    const { body } = this.messageOf(direction);
    if (field !== "file.size" || body?.isOver !== true || this.instancesOf("file.name", direction).length === 0) return [];
    const files = this.instancesOf("file.data", direction);
    // Files of a form are counted one by one; others beyond what is kept of them.
    return direction === "to-server" && files[0] !== body.instances[0] ? files.map((file) => file.length) : [body.octets];
  }

  wordsOf(): readonly string[] {
    return [];
  }

  describe(): Readonly<Record<string, unknown>> {
    const { request, response } = this;
    const hasRequest = request.stage !== HTTP_STAGE.begun;
    const hasResponse = response.stage !== HTTP_STAGE.begun;
    const text = (bytes: Uint8Array | null) => (bytes === null || bytes.length === 0 ? undefined : latin1(bytes.subarray(0, MAX_WORD)));
    const fieldOf = (message: HttpMessage, name: string) => text(joinedValue(message.fields, name));
    const facts: Readonly<Record<string, unknown>> = {
      hostname: hasRequest ? text(this.host.host) : undefined,
      url: hasRequest ? withoutUser(text(this.requestLine.target)) : undefined,
      method: hasRequest ? text(this.requestLine.method) : undefined,
      user_agent: hasRequest ? fieldOf(request, "user-agent") : undefined,
      referer: hasRequest ? withoutUser(fieldOf(request, "referer")) : undefined,
      protocol: text(hasRequest ? this.requestLine.protocol : hasResponse ? this.statusLine.protocol : NOTHING),
      status: hasResponse ? text(this.statusLine.status) : undefined,
      content_type: hasResponse ? fieldOf(response, "content-type") : undefined,
      location: hasResponse ? withoutUser(fieldOf(response, "location")) : undefined,
      length: response.body?.octets,
    };
    const known: Record<string, unknown> = {};
    for (const name in facts) if (facts[name] !== undefined) known[name] = facts[name];
    return known;
  }

  /** Forgets what it holds: nobody looks at it any more. */
  forget(): void {
    this.request.forget();
    this.response.forget();
    this.#kept.fill(null);
  }
}

/** Users and passwords are in no alert. */
function withoutUser(url: string | undefined): string | undefined {
  return url?.replace(/^([a-z][a-z\d+.-]{0,15}:)?\/\/[^/?#@]{0,512}@/i, "$1//");
}

/** @returns Whether it is HTTP/1.1 or later. */
export function isNewProtocol(protocol: Uint8Array): boolean {
  return /^HTTP\/(?:1\.[1-9]|[2-9])/i.test(latin1(protocol.subarray(0, 16)));
}
