import { type ClientRequest, type IncomingMessage, request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import type { Duplex } from "node:stream";
import { rootCertificates } from "node:tls";
import { type Clock, describeError } from "@lanthorn/runtime";
import type { ResolveHost } from "../../../deliveries/sending/resolve.ts";
import type { Target, TargetPolicy } from "../../../deliveries/sending/target-policy.ts";
import { FeedFailure } from "../failure.ts";
import { openTunnel, type Proxy } from "./tunnel.ts";

/** Asks sources of feeds. */
export interface FeedClient {
  /**
   * One GET, over at most 5 redirects: never from https to http, and never to an address that the deployment does not allow.
   * @param request.secrets Headers for the source itself: they go to no other origin.
   * @returns An answer of any status, whose body ends with an error when nothing came for a minute.
   * @throws FeedFailure
   */
  get(request: {
    readonly url: string; readonly headers: Readonly<Record<string, string>>; readonly secrets?: Readonly<Record<string, string>>;
    readonly stop: AbortSignal;
  }): Promise<IncomingMessage>;
  /** The addresses of the server that a URL of any scheme names. @throws FeedFailure where the deployment does not allow one of them. */
  addressesOf(url: URL): Promise<readonly string[]>;
}

const MAX_REDIRECTS = 5;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** To the head of an answer: NVD takes up to half a minute for a page. */
const ANSWER_MS = 120_000;
const IDLE_MS = 60_000;

/** @param options.ca Certificates to trust beside the usual ones, in PEM. @param options.proxy It looks names up and connects, instead of us. */
export function createFeedClient(
  deps: { readonly clock: Clock; readonly policy: TargetPolicy; readonly resolve: ResolveHost; readonly userAgent: string },
  options: { readonly ca: readonly string[] | null; readonly proxy: Proxy | null },
): FeedClient {
  const { clock, policy } = deps;
  const ca = options.ca && [...rootCertificates, ...options.ca];

  const tunnelTo = async (proxy: Proxy, url: URL, stop: AbortSignal): Promise<Duplex> => {
    const late = new AbortController();
    const cancel = clock.after(ANSWER_MS, () => late.abort());
    try {
      return await openTunnel(proxy, url, { ca, stop: AbortSignal.any([stop, late.signal]) });
    } catch (error) {
      throw late.signal.aborted && !stop.aborted ? new FeedFailure("stalled", "the proxy does not answer in time") : error;
    } finally {
      cancel();
    }
  };

  const allowedOf = async (target: Target): Promise<readonly string[]> => {
    const found = target.address === null ? await deps.resolve(target.host).catch(() => []) : [target.address];
    if (found.length === 0) throw new FeedFailure("unreachable", "the name of its server cannot be resolved");
    const checked = policy.check(target, found);
    if (typeof checked === "string") throw refused(checked);
    return checked.addresses;
  };

  const connectionTo = async (target: Target, stop: AbortSignal): Promise<{ readonly socket: Duplex } | { readonly lookup: LookupFunction }> => {
    return options.proxy ? { socket: await tunnelTo(options.proxy, target.url, stop) } : { lookup: pinned(await allowedOf(target)) };
  };

  const once = async (url: URL, headers: Readonly<Record<string, string>>, stop: AbortSignal): Promise<IncomingMessage> => {
    const target = policy.parse(url.href);
    if (typeof target === "string") throw refused(target);
    const connection = await connectionTo(target, stop);
    return new Promise((resolve, reject) => {
      const isPlain = url.protocol === "http:";
      const via = "socket" in connection ? { createConnection: () => connection.socket } : { lookup: connection.lookup, autoSelectFamily: true };
      const request: ClientRequest = (isPlain || "socket" in connection ? httpRequest : httpsRequest)({
        host: target.host, port: url.port === "" ? (isPlain ? 80 : 443) : Number(url.port), path: `${url.pathname}${url.search}`,
        headers: { host: url.host, "user-agent": deps.userAgent, ...headers }, agent: false, signal: stop,
        ...via, ...(isIP(target.host) === 0 && { servername: target.host }), ...(ca && { ca }),
      });
      const cancel = clock.after(ANSWER_MS, () => request.destroy(new FeedFailure("stalled", "its server does not answer in time")));
      request.on("response", (response) => {
        cancel();
        watchIdle(response, clock);
        resolve(response);
      });
      request.on("error", (error) => {
        cancel();
        reject(stop.aborted ? stopped() : error instanceof FeedFailure ? error : unreachable(error));
      });
      request.end();
    });
  };

  return {
    addressesOf(url) {
      const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
      return allowedOf({ url, host, address: isIP(host) === 0 ? null : host });
    },
    async get({ url: text, headers, secrets = {}, stop }) {
      let url = new URL(text);
      const { origin } = url;
      for (let hop = 0; hop <= MAX_REDIRECTS; hop += 1) {
        if (stop.aborted) throw stopped();
        const response = await once(url, { ...headers, ...(url.origin === origin && secrets) }, stop);
        const { location } = response.headers;
        if (!REDIRECTS.has(response.statusCode ?? 0) || location === undefined) return response;
        response.destroy();
        if (!URL.canParse(location, url.href)) throw new FeedFailure("redirects", "its server redirects to what is no URL");
        const next = new URL(location, url.href);
        if (url.protocol === "https:" && next.protocol !== "https:") throw new FeedFailure("redirects", "its server redirects from https to http");
        url = next;
      }
      throw new FeedFailure("redirects", `its server redirects more than ${MAX_REDIRECTS} times`);
    },
  };
}

/** What is thrown when the collector stops. */
export function stopped(): FeedFailure {
  return new FeedFailure("stopped", "the collector was stopped meanwhile");
}

/** Ends an answer in which nothing comes any more. */
function watchIdle(response: IncomingMessage, clock: Clock): void {
  let cancel = () => {};
  const begin = () => {
    cancel();
    cancel = clock.after(IDLE_MS, () => response.destroy(new FeedFailure("stalled", "its server stopped sending")));
  };
  begin();
  response.on("data", begin).once("close", () => cancel());
  response.pause();
}

function pinned(addresses: readonly string[]): LookupFunction {
  const records = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_, { all }, callback) => {
    const [first] = records;
    if (all) callback(null, records);
    else callback(first ? null : new Error("no address"), first?.address ?? "", first?.family);
  };
}

function refused(why: string): FeedFailure {
  return new FeedFailure("refused", `its URL ${why.replaceAll("webhooks.allow", "the configuration of feeds")}`);
}

function unreachable(cause: Error): FeedFailure {
  return new FeedFailure("unreachable", `its server cannot be reached: ${(cause as NodeJS.ErrnoException).code ?? describeError(cause)}`, { cause });
}
