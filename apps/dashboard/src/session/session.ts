import { ClientError, createRestClient, type Fetch, readTagged, type RestClient, type Tagged, type TransportOptions } from "@lanthorn/client";
import type { TokenResponse } from "@lanthorn/contract";
import { createPace, type Pace } from "./pace.ts";

/** A person's login. The token is in the memory of this page; the browser keeps it for the next page in a cookie that no script can read. */
export interface Session {
  readonly rest: RestClient;
  /** Reads a record with the entity tag of its state. @throws ClientError as the call. */
  readTagged<T>(read: (rest: RestClient) => Promise<T>): Promise<Tagged<T>>;
  /** @returns A client whose writes are refused with `CONFLICT` where the record is in another state by now. */
  ifMatch(etag: string | null): RestClient;
  /** Where the collector is, without a slash at the end. */
  readonly url: string;
  /** `starting` until it is known whether the browser keeps a session, `leaving` from a logout until the collector has heard of it, `unheard` where it has not: the browser would go on with the session. */
  state(): "starting" | "in" | "leaving" | "unheard" | "out" | "ended";
  /** Until when requests wait for the API's limit of a minute, in milliseconds since the epoch; 0 where none does. */
  heldUntil(): number;
  subscribe(listener: () => void): () => void;
  /** Goes on with the session that the browser keeps, where it keeps one. */
  resume(): Promise<void>;
  /** Until the browser keeps the session. @throws ClientError as the call. */
  login(username: string, password: string): Promise<void>;
  /** To be tried again where it stays unheard. */
  logout(): Promise<void>;
}

/** How long before its end a token is replaced, in parts of its life. */
const REFRESH_AT = 0.5;

interface SessionDependencies {
  /** Where the collector is; the paths of the API are below it. */
  readonly url: string;
  /** @param init.keepalive Whether the request goes on when its page is left. */
  readonly fetch: (url: string, init: Parameters<Fetch>[1] & { readonly keepalive?: boolean }) => ReturnType<Fetch>;
  readonly now: () => number;
  /** @returns What calls the task off. */
  readonly after: (delayMs: number, task: () => void) => () => void;
}

/** The session of a page, which begins as `starting`. */
export function createSession(deps: SessionDependencies): Session {
  let token: string | null = null;
  /** That of a logout of which the collector has not heard. */
  let left: string | null = null;
  let state: ReturnType<Session["state"]> = "starting";
  let cancelRefresh = () => {};
  const listeners = new Set<() => void>();
  const notify = () => {
    for (const listener of listeners) listener();
  };
  const pace = createPace({ ...deps, onHeld: notify });
  const enter = (next: typeof state, nextToken: string | null) => {
    if (nextToken === null) cancelRefresh();
    state = next;
    token = nextToken;
    pace.renew();
    notify();
  };
  const options = transportOf(deps, { token: () => token, pace, onRefused: () => enter("ended", null) });
  const rest = createRestClient(options);
  const hold = (answer: TokenResponse) => {
    cancelRefresh();
    cancelRefresh = deps.after(answer.expires_in * 1000 * REFRESH_AT, () => void refresh());
    enter("in", answer.access_token);
  };
  /** Without it the next page asks for the password, and nothing else is lost. */
  const keep = (answer: TokenResponse) => clientOf(deps, answer.access_token).keepSession().catch(() => undefined);
  const refresh = async (last = token) => {
    try {
      const answer = await rest.refreshToken();
      // Who has logged out meanwhile stays so.
      if (token !== last) return;
      hold(answer);
      await keep(answer);
    } catch (error) {
      if (token === last && !isRefused(error)) cancelRefresh = deps.after(60_000, () => void refresh());
    }
  };

  return {
    rest, url: deps.url,
    readTagged: (read) => readTagged(options, read),
    ifMatch: (etag) => createRestClient({ ...options, ifMatch: () => etag }),
    state: () => state, heldUntil: pace.heldUntil,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async resume() {
      const { token: kept } = await rest.resumeSession().catch(() => ({ token: null }));
      return kept ? hold(kept) : enter("out", null);
    },
    async login(username, password) {
      const answer = await rest.login({ username, password });
      // Who loads the page again as soon as it is there goes on.
      await keep(answer);
      hold(answer);
    },
    async logout() {
      // The page forgets the token at once, whether or not the collector hears of it.
      left = token ?? left;
      enter("leaving", null);
      // A token that is refused has ended by itself.
      const isHeard = await clientOf(deps, left).logout().then(() => true).catch(isRefused);
      if (isHeard) left = null;
      enter(isHeard ? "out" : "unheard", null);
    },
  };
}

/** How requests of the page go out: each in its turn, and the answers say how many more may. */
function transportOf({ url, fetch }: SessionDependencies, { token, pace, onRefused }: {
  readonly token: () => string | null; readonly pace: Pick<Pace, "take" | "answered">; readonly onRefused: () => void;
}): TransportOptions {
  return {
    url, token,
    async turn() {
      // Who logs in waits for nobody.
      if (token() === null) return;
      await pace.take();
      if (token() === null) throw new ClientError("UNAUTHORIZED", "you have logged out meanwhile", { status: 401 });
    },
    async fetch(target, init) {
      const isOfSession = () => token() !== null && init.headers["authorization"] === `Bearer ${token()}`;
      const answer = await fetch(target, init).catch((error: unknown) => {
        if (isOfSession()) pace.answered(null);
        throw error;
      });
      if (!isOfSession()) return answer;
      pace.answered(answer.headers);
      // The token has ended, or was revoked. A login that is refused is no end of one.
      if (answer.status === 401) onRefused();
      return answer;
    },
  };
}

/** A client with a token that is not the page's yet, or no more. */
function clientOf({ url, fetch }: SessionDependencies, token: string | null): RestClient {
  return createRestClient({ url, token: () => token, fetch: (target, init) => fetch(target, { ...init, keepalive: true }) });
}

/** Whether a token no longer counts. */
function isRefused(error: unknown): boolean {
  return error instanceof ClientError && error.status === 401;
}
