import { createRestClient, type Fetch, type RestClient } from "@lanthorn/client";
import type { Clock } from "@lanthorn/runtime";
import { Agent, fetch } from "undici";
import type { Session, SessionStore } from "./session.ts";

/** A refresh this long before the end keeps a login alive for whoever uses it every day. */
const REFRESH_WHEN_LEFT_MS = 12 * 3_600_000;

/** A `fetch` that trusts `ca` (PEM) alone, or the system's authorities where it is null. */
export function createFetch(ca: string | null): Fetch {
  const dispatcher = new Agent({ connect: ca === null ? {} : { ca } });
  return (url, init) => fetch(url, { ...init, dispatcher });
}

/** What a command gets: the client, the login that it speaks for, and where its answer goes. */
export interface Connection {
  readonly rest: RestClient;
  readonly session: Session;
}

/**
 * Opens the kept login, with a fresh token where the old one will end soon.
 * @throws CliError `not-logged-in`, ClientError from the collector.
 */
export async function openConnection(deps: { readonly store: SessionStore; readonly clock: Clock }): Promise<Connection> {
  let session = deps.store.read();
  const rest = createRestClient({ url: session.url, token: () => session.access_token, fetch: createFetch(session.ca) });
  const leftMs = session.expires_at - deps.clock.now();
  if (leftMs > 0 && leftMs < REFRESH_WHEN_LEFT_MS) {
    const token = await rest.refreshToken();
    session = { ...session, access_token: token.access_token, expires_at: deps.clock.now() + token.expires_in * 1000 };
    deps.store.write(session);
  }
  return { rest, session };
}
