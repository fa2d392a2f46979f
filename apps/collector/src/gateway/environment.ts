import type { Role } from "@lanthorn/contract";
import type { Context, Next } from "hono";
import type { Connection } from "./http/connections.ts";
import { ApiError } from "./errors.ts";

/** How long a connection without a valid credential may wait for its next request. Browsers ask for a page's files within this. */
export const STRANGER_KEEP_ALIVE_SECONDS = 5;

/** Who is at the other end of a connection, as the listener knows it. */
export interface Peer {
  /** The client's address; behind a trusted proxy the one that the proxy names. */
  readonly address: string;
  /** Whether the connection is TLS. */
  readonly secure: boolean;
  /** The probe whose valid client certificate, signed by this collector's CA, the connection has. It may since be revoked. */
  readonly probeId: string | null;
  /** The key of its certificate: SubjectPublicKeyInfo in Base64. */
  readonly probePublicKey?: string;
}

/** The bearer of a valid token or API key, with the role that the user has now. */
export interface Identity {
  readonly userId: string;
  readonly username: string;
  readonly tenantId: string;
  readonly role: Role;
  /** What the user's role stands for now; of a key, what of its own scopes is among them. */
  readonly scopes: ReadonlySet<string>;
  /** The API key that was sent; null for a token. The user is then its maker. */
  readonly key: { readonly id: string; readonly name: string } | null;
  /** The token's `jti`, or the key's id. */
  readonly tokenId: string;
  /** Milliseconds since the epoch. */
  readonly issuedAt: number;
  /** Null for a key without an end. */
  readonly expiresAt: number | null;
}

/** Whether credentials were sent that count; null stands for none, a text for why those that were sent do not. */
export function isIdentity(identity: Identity | string | null | undefined): identity is Identity {
  return typeof identity === "object" && identity !== null;
}

/** Who does something, as the audit log remembers it. */
export interface Actor {
  readonly type: "user" | "key" | "probe" | "system";
  readonly id: string;
  readonly name: string;
  readonly tenantId: string;
  /** Where the request came from; empty for what the collector does by itself. */
  readonly address: string;
}

/** Who asks, and as what the audit log knows it. */
export interface Caller {
  readonly identity: Identity;
  readonly actor: Actor;
}

/**
 * How an answer comes by the secret in it. `made`: the request makes it, and it is shown this once (an API key), so the same
 * request again must not make another. `shown`: the secret was there before (a reveal), or each request is to give a new one
 * (a ticket), so the same request again is done and audited again.
 */
export type SecretAnswer = "made" | "shown";

/** Does a request that has an `Idempotency-Key` once. `secret` is null for an answer that may be kept. */
export type DoOnce = (c: Context<GatewayEnvironment>, next: Next, secret: SecretAnswer | null) => Promise<Response | undefined>;

/**
 * Reads the record that a request is about, as the GET of its path answers it.
 * @returns Its JSON; null where the path has no GET.
 * @throws ApiError NOT_FOUND as that GET.
 */
export type ReadRecord = (c: Context<GatewayEnvironment>) => Promise<string | null>;

/** What every route of the gateway and its services finds in its context. */
export interface GatewayEnvironment {
  Bindings: {
    readonly peer: Peer;
    /** Over which the request came; missing where there is none, as in a test that calls the app itself. */
    readonly connection?: Pick<Connection, "kind" | "known">;
  };
  Variables: {
    readonly requestId: string;
    /** Null without credentials; a text says why those that were sent do not count. */
    readonly identity: Identity | string | null;
    /** Reads the record that the request is about, whatever the caller may read. */
    readonly readRecord: ReadRecord;
    /** The gateway reads for itself, to compare a record: the caller's access to another route was checked. */
    readonly isOwnRead?: boolean;
    /** What was answered when the time limit was over, though the work goes on. */
    readonly lateness?: Error;
    /** What a route of this gateway does its requests once with. */
    readonly doOnce: DoOnce;
    /** The answer goes out as it is: its length could tell of a secret in it, or it is another service's. */
    readonly isPlain?: boolean;
  };
}

/** The bearer of the request's token or key. A route whose access is a scope, `signed-in` or `known` always has one. */
export function identityOf(c: Context<GatewayEnvironment>): Identity {
  const { identity } = c.var;
  if (identity === null || identity === undefined) {
    throw new ApiError("UNAUTHORIZED", "send a token: Authorization: Bearer <access_token>, or an API key: X-API-Key: <key>");
  }
  if (typeof identity === "string") throw new ApiError("UNAUTHORIZED", identity);
  return identity;
}

/** Who writes, for the audit log: the bearer of the request's token or key. @throws ApiError UNAUTHORIZED without one. */
export function actorOf(c: Context<GatewayEnvironment>): Actor {
  const { userId, username, tenantId, key } = identityOf(c);
  const { address } = c.env.peer;
  if (key) return { type: "key", id: key.id, name: key.name, tenantId, address };
  return { type: "user", id: userId, name: username, tenantId, address };
}

/** The probe whose certificate the connection has. A route whose access is `probe` always has one. */
export function probeOf(c: Context<GatewayEnvironment>): string {
  const { probeId } = c.env.peer;
  if (probeId === null) throw new ApiError("UNAUTHORIZED", "send a client certificate of an enrolled probe");
  return probeId;
}
