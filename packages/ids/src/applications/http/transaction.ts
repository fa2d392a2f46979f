/** A request with its response, as rules see them. */
import { BUFFER_FACTS, type BufferName } from "../../rules/buffer-names.ts";
import type { Direction, Transaction, TransactionNumber } from "../application.ts";
import { buildBuffer, isGrowing } from "./buffers.ts";
import { latin1 } from "./bytes.ts";
import { joinedValue } from "./head/fields.ts";
import { hostOf, type RequestHost } from "./head/host.ts";
import { HTTP_STAGE, HttpMessage } from "./message.ts";
import { readRequestLine, readStatusLine, type RequestLine, type StatusLine } from "./head/start-line.ts";
import { type NormalizedUri, normalizeUri } from "./uri/uri.ts";

const NOTHING = new Uint8Array(0);
const NO_INSTANCES: readonly Uint8Array[] = [];
const MAX_WORD = 512;

interface Kept {
  readonly version: number;
  readonly instances: readonly Uint8Array[];
}

/** One transaction. What rules ask for is made when they ask, and kept until its message changes. */
export class HttpTransaction implements Transaction {
  readonly application = "http";
  readonly events = new Set<string>();
  readonly request: HttpMessage;
  readonly response: HttpMessage;
  readonly #keptOfRequest = new Map<BufferName, Kept>();
  readonly #keptOfResponse = new Map<BufferName, Kept>();
  #requestLine: RequestLine | null = null;
  #uri: NormalizedUri | null = null;
  #host: (RequestHost & { readonly version: number }) | null = null;

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
    return readStatusLine(this.response.line);
  }

  get uri(): NormalizedUri {
    const { method, target } = this.requestLine;
    this.#uri ??= normalizeUri(target, latin1(method) === "CONNECT");
    return this.#uri;
  }

  get host(): RequestHost {
    const { version } = this.request;
    if (this.#host?.version === version) return this.#host;
    this.#host = { ...hostOf(this.uri, this.request.fields, isNewProtocol(this.requestLine.protocol)), version };
    return this.#host;
  }

  stageOf(direction: Direction): number {
    return this.messageOf(direction).stage;
  }

  /** @param asked Of buffers that one side alone has, its own direction counts. */
  instancesOf(buffer: BufferName, asked: Direction): readonly Uint8Array[] {
    const side = BUFFER_FACTS.get(buffer)?.direction ?? "any";
    const direction = side === "any" ? asked : side;
    if (isGrowing(buffer)) return this.#growing(buffer, direction);
    const message = this.messageOf(direction);
    const ofDirection = this.#keptOf(direction);
    const kept = ofDirection.get(buffer);
    if (kept?.version === message.version) return kept.instances;
    const instances = message.stage === HTTP_STAGE.begun ? NO_INSTANCES : buildBuffer(buffer, this, message);
    ofDirection.set(buffer, { version: message.version, instances });
    return instances;
  }

  /** What depends on the body is kept by the list of its bytes. */
  #growing(buffer: BufferName, direction: Direction): readonly Uint8Array[] {
    const message = this.messageOf(direction);
    const seen = message.body?.instances ?? NO_INSTANCES;
    if (seen.length === 0) return NO_INSTANCES;
    const ofDirection = this.#keptOf(direction);
    const version = (seen[0]?.length ?? 0) * 2 + (message.body?.isOver === true ? 1 : 0);
    const kept = ofDirection.get(buffer);
    if (kept?.version === version) return kept.instances;
    const instances = buildBuffer(buffer, this, message);
    ofDirection.set(buffer, { version, instances });
    return instances;
  }

  #keptOf(direction: Direction): Map<BufferName, Kept> {
    return direction === "to-server" ? this.#keptOfRequest : this.#keptOfResponse;
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
    const facts = {
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
    return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined));
  }

  /** Forgets what it holds: nobody looks at it any more. */
  forget(): void {
    this.request.forget();
    this.response.forget();
    this.#keptOfRequest.clear();
    this.#keptOfResponse.clear();
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
