import type { Fetch } from "@lanthorn/client";
import { Agent, fetch } from "undici";
import type { CollectorTrust } from "./collector-trust.ts";

/** A `fetch` with the trust that the pin has found, and with the probe's certificate where it has one. */
export interface CollectorFetch {
  readonly fetch: Fetch;
  close(): Promise<void>;
}

const CONNECT_TIMEOUT_MS = 10_000;

/**
 * Node's own `fetch` cannot be given a CA or a client certificate; undici, which it is made of, can.
 * @param onDate Called with each answer's `Date`, in milliseconds since the epoch.
 */
export function createCollectorFetch(options: {
  readonly trust: CollectorTrust;
  readonly client?: { readonly certificate: string; readonly key: string };
  readonly onDate?: (at: number) => void;
}): CollectorFetch {
  const { trust, client } = options;
  const agent = new Agent({
    connect: {
      timeout: CONNECT_TIMEOUT_MS,
      minVersion: "TLSv1.2",
      ...(client ? { cert: client.certificate, key: client.key } : {}),
      // A pinned CA is the collector's own and certifies its servers only, whose names may be any address of the site's.
      ...(trust.ca === null ? {} : { ca: trust.ca, checkServerIdentity: () => undefined }),
    },
  });
  return {
    async fetch(url, init) {
      const response = await fetch(url, { ...init, redirect: "error", dispatcher: agent });
      const at = Date.parse(response.headers.get("date") ?? "");
      if (Number.isFinite(at)) options.onDate?.(at);
      return response;
    },
    close: () => agent.close(),
  };
}
