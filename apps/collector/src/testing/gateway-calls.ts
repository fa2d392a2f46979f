import type { ErrorEnvelope } from "@lanthorn/contract";
import { type Exchanged, exchange } from "./exchange.ts";

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: never;
  readonly error: ErrorEnvelope["error"];
}

/** Requests to a gateway as a test makes them. */
export interface GatewayCalls {
  readonly get: (path: string, token?: string) => Promise<Answer>;
  readonly request: (path: string, init: RequestInit) => Promise<Answer>;
  /** With JSON there and back; the credential is a token, or an API key by how it begins. */
  readonly call: (method: string, path: string, credential: string | null, body?: unknown) => Promise<Answer>;
}

export function createGatewayCalls(url: string): GatewayCalls {
  const send: typeof exchange = (path, sent) => exchange(`${url}${path}`, sent);
  return {
    async request(path, init) {
      const response = await fetch(`${url}${path}`, init);
      return answerOf({ status: response.status, headers: response.headers, text: await response.text() });
    },
    get: async (path, token) => answerOf(await send(path, {
      method: "GET", headers: token === undefined ? {} : { authorization: `Bearer ${token}` }, body: undefined,
    })),
    call: async (method, path, credential, body) => answerOf(await send(path, {
      method,
      headers: { ...credentialHeader(credential), ...(body === undefined ? {} : { "content-type": "application/json" }) },
      body: body === undefined ? undefined : JSON.stringify(body),
    })),
  };
}

function answerOf({ status, headers, text }: Exchanged): Answer {
  const body = (text === "" ? null : JSON.parse(text)) as { readonly error?: ErrorEnvelope["error"] } | null;
  return { status, headers, body: body as never, error: body?.error as ErrorEnvelope["error"] };
}

function credentialHeader(credential: string | null): Record<string, string> {
  if (credential === null) return {};
  return credential.startsWith("svc_live_") ? { "x-api-key": credential } : { authorization: `Bearer ${credential}` };
}
