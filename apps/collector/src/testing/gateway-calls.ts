import type { ErrorEnvelope } from "@lanthorn/contract";

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
  const request = async (path: string, init: RequestInit): Promise<Answer> => {
    const response = await fetch(`${url}${path}`, init);
    const text = await response.text();
    const body = (text === "" ? null : JSON.parse(text)) as { readonly error?: ErrorEnvelope["error"] } | null;
    return { status: response.status, headers: response.headers, body: body as never, error: body?.error as ErrorEnvelope["error"] };
  };
  return {
    request,
    get: (path, token) => request(path, { headers: token === undefined ? {} : { authorization: `Bearer ${token}` } }),
    call: (method, path, credential, body) => request(path, {
      method,
      headers: { ...credentialHeader(credential), ...(body === undefined ? {} : { "content-type": "application/json" }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }),
  };
}

function credentialHeader(credential: string | null): Record<string, string> {
  if (credential === null) return {};
  return credential.startsWith("svc_live_") ? { "x-api-key": credential } : { authorization: `Bearer ${credential}` };
}
