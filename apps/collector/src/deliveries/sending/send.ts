import { type ClientRequest, Agent as HttpAgent, type IncomingMessage, request as httpRequest } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { rootCertificates } from "node:tls";
import type { Clock } from "@lanthorn/runtime";
import type { Target } from "./target-policy.ts";

/** What came of one request. */
export type Answer =
  | { readonly status: number; readonly retryAfter: string | undefined; readonly excerpt: string; readonly responseTimeMs: number }
  | Failure;

/** There was no answer: why, as a stable code and words. */
interface Failure {
  readonly status: null;
  readonly code: "timeout" | "connection" | "tls" | "stopped";
  readonly message: string;
}

type MaybeStale = Answer | { readonly wasStale: true };

/** Sends webhook requests over HTTP and HTTPS. It connects to checked addresses only. A failed connection is an `Answer` too. */
export interface Sender {
  /**
   * Posts a body. Redirects are not followed. Of the answer's body at most 1 KiB is read, for at most 1 s.
   * @param request.timeLimitMs For all of it, from the connection to the answer.
   * @param request.addresses The only ones that are connected to, whatever the host's name means by then.
   * @param request.stop Gives the request up; its outcome is then unknown.
   */
  post(request: {
    readonly target: Target;
    readonly addresses: readonly string[];
    readonly headers: Readonly<Record<string, string>>;
    readonly body: Buffer;
    readonly timeLimitMs: number;
    readonly stop: AbortSignal;
  }): Promise<Answer>;
  /** Closes connections that are kept for the next request. */
  close(): void;
}

const EXCERPT_BYTES = 1024;
/** The status says whether a delivery arrived; nobody waits long for the words after it. */
const EXCERPT_WAIT_MS = 1000;
/** Below the five seconds after which many servers (Node's own) close an idle connection. */
const IDLE_MS = 4000;
/** Receivers whose connections are kept; more are closed, the one least lately used first. */
const KEPT_AGENTS = 500;

/** @param options.ca Certificates to trust beside the usual ones, in PEM. */
export function createSender(deps: { readonly clock: Clock }, options: { readonly ca: readonly string[] | null }): Sender {
  const agents = new Map<string, HttpAgent | HttpsAgent>();

  /** One for each host and set of checked addresses: a kept connection is never to an address that was not checked now. */
  const agentFor = ({ url }: Target, addresses: readonly string[]) => {
    const key = `${url.origin} ${addresses.join(" ")}`;
    const known = agents.get(key);
    const settings = {
      keepAlive: true, maxSockets: 4, maxFreeSockets: 2, timeout: IDLE_MS, lookup: pinnedLookup(addresses), autoSelectFamily: true,
    };
    const trusted = options.ca && { ca: [...rootCertificates, ...options.ca] };
    const agent = known ?? (url.protocol === "https:" ? new HttpsAgent({ ...settings, ...trusted }) : new HttpAgent(settings));
    agents.delete(key);
    agents.set(key, agent);
    if (agents.size > KEPT_AGENTS) {
      const [oldest, idle] = agents.entries().next().value as [string, HttpAgent | HttpsAgent];
      agents.delete(oldest);
      closeWhenIdle(idle);
    }
    return agent;
  };

  const once = (post: Parameters<Sender["post"]>[0]): Promise<MaybeStale> => new Promise((resolve) => {
    const { target, addresses, headers, body, timeLimitMs, stop } = post;
    const startedAt = deps.clock.monotonic();
    const { url } = target;
    const request: ClientRequest = (url.protocol === "https:" ? httpsRequest : httpRequest)({
      host: target.host, port: portOf(url), path: `${url.pathname}${url.search}`, method: "POST", agent: agentFor(target, addresses),
      headers: { host: url.host, ...headers, "content-length": body.length },
      ...(isIP(target.host) === 0 && { servername: target.host }),
    });
    const done = (answer: MaybeStale) => {
      cancel();
      stop.removeEventListener("abort", onStop);
      resolve(answer);
    };
    const fail = (code: Failure["code"], message: string) => {
      done({ status: null, code, message });
      request.destroy();
    };
    const cancel = deps.clock.after(timeLimitMs, () => fail("timeout", "no answer in time"));
    const onStop = () => fail("stopped", "the collector stopped");
    stop.addEventListener("abort", onStop);
    request.on("response", (response) => {
      cancel();
      const responseTimeMs = Math.round(deps.clock.monotonic() - startedAt);
      const waitMs = Math.min(EXCERPT_WAIT_MS, Math.max(1, timeLimitMs - responseTimeMs));
      readExcerpt(response, deps.clock, waitMs, (excerpt) => {
        done({ status: response.statusCode ?? 0, retryAfter: response.headers["retry-after"], excerpt, responseTimeMs });
      });
    });
    // A receiver that wants to speak another protocol has not taken the delivery.
    request.on("upgrade", (_, socket) => {
      socket.destroy();
      fail("connection", "the receiver switched protocols");
    });
    request.on("error", (error: NodeJS.ErrnoException) => {
      // Also comes after the answer, when the rest of its body is cut off: `done` has been called by then.
      if (request.reusedSocket && STALE.has(error.code ?? "")) done({ wasStale: true });
      else fail(isTlsError(error) ? "tls" : "connection", error.code ?? error.message);
    });
    request.end(body);
  });

  return {
    async post(request) {
      const startedAt = deps.clock.monotonic();
      const first = await once(request);
      if (!("wasStale" in first)) return first;
      // The receiver closed the kept connection just as it was used again, which says nothing about the delivery.
      const second = await once({ ...request, timeLimitMs: Math.max(1, request.timeLimitMs - (deps.clock.monotonic() - startedAt)) });
      return "wasStale" in second ? { status: null, code: "connection", message: "ECONNRESET" } : second;
    },
    close() {
      for (const agent of agents.values()) agent.destroy();
      agents.clear();
    },
  };
}

const STALE: ReadonlySet<string> = new Set(["ECONNRESET", "EPIPE"]);

/** Answers with the checked addresses only, in the shape that is asked for. */
function pinnedLookup(addresses: readonly string[]): LookupFunction {
  const records = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_, { all }, callback) => {
    const first = records[0];
    if (all) callback(null, records);
    else callback(first ? null : new Error("no address"), first?.address ?? "", first?.family);
  };
}

/** Calls `onExcerpt` once with the beginning of the body as text; what is not read by then is cut off with its connection. */
function readExcerpt(response: IncomingMessage, clock: Clock, waitMs: number, onExcerpt: (excerpt: string) => void): void {
  const chunks: Buffer[] = [];
  let length = 0;
  let ended = false;
  const end = () => {
    if (ended) return;
    ended = true;
    cancel();
    onExcerpt(toText(Buffer.concat(chunks).subarray(0, EXCERPT_BYTES)));
  };
  const cut = () => {
    end();
    response.destroy();
  };
  const cancel = clock.after(waitMs, cut);
  response.on("data", (chunk: Buffer) => {
    chunks.push(chunk);
    length += chunk.length;
    if (length > EXCERPT_BYTES) cut();
  });
  for (const event of ["end", "error", "close"]) response.on(event, end);
}

/** Without NUL, which PostgreSQL takes in no text, and without the half of a character at the end. */
function toText(bytes: Buffer): string {
  return bytes.toString("utf8").replace(/(?<!�)�+$/, "").replaceAll("\0", "�");
}

function isTlsError({ code = "" }: NodeJS.ErrnoException): boolean {
  return /^(ERR_TLS|ERR_SSL|CERT_|UNABLE_TO|DEPTH_ZERO|SELF_SIGNED|HOSTNAME_|EPROTO)/.test(code);
}

function portOf({ port, protocol }: URL): number {
  if (port !== "") return Number(port);
  return protocol === "https:" ? 443 : 80;
}

function closeWhenIdle(agent: HttpAgent | HttpsAgent): void {
  for (const sockets of Object.values(agent.freeSockets)) for (const socket of sockets ?? []) socket.destroy();
  // Connections in use end with their request: without this they would be kept, by an agent that nobody knows any more.
  agent.maxFreeSockets = 0;
}
