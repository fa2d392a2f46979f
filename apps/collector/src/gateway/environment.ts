import type { Role } from "@lanthorn/contract";
import type { Context } from "hono";
import { ApiError } from "./errors.ts";

/** Who is at the other end of a connection, as the listener knows it. */
export interface Peer {
  /** The client's address; behind a trusted proxy the one that the proxy names. */
  readonly address: string;
  /** Whether the connection is TLS. */
  readonly secure: boolean;
  /** The probe whose valid client certificate, signed by this collector's CA, the connection has. It may since be revoked. */
  readonly probeId: string | null;
}

/** The bearer of a valid token, with the role that the user has now. */
export interface Identity {
  readonly userId: string;
  readonly username: string;
  readonly tenantId: string;
  readonly role: Role;
  readonly scopes: ReadonlySet<string>;
  readonly tokenId: string;
  /** Milliseconds since the epoch. */
  readonly issuedAt: number;
  readonly expiresAt: number;
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

/** What every route of the gateway and its services finds in its context. */
export interface GatewayEnvironment {
  Bindings: { readonly peer: Peer };
  Variables: {
    readonly requestId: string;
    /** Null without credentials; a text says why those that were sent do not count. */
    readonly identity: Identity | string | null;
    /** What was answered when the time limit was over, though the work goes on. */
    readonly lateness?: Error;
  };
}

/** The bearer of the request's token. A route whose access is a scope or `signed-in` always has one. */
export function identityOf(c: Context<GatewayEnvironment>): Identity {
  const { identity } = c.var;
  if (identity === null || identity === undefined) throw new ApiError("UNAUTHORIZED", "send a token: Authorization: Bearer <access_token>");
  if (typeof identity === "string") throw new ApiError("UNAUTHORIZED", identity);
  return identity;
}

/** Who writes, for the audit log: the bearer of the request's token. @throws ApiError UNAUTHORIZED without one. */
export function actorOf(c: Context<GatewayEnvironment>): Actor {
  const { userId, username, tenantId } = identityOf(c);
  return { type: "user", id: userId, name: username, tenantId, address: c.env.peer.address };
}

/** The probe whose certificate the connection has. A route whose access is `probe` always has one. */
export function probeOf(c: Context<GatewayEnvironment>): string {
  const { probeId } = c.env.peer;
  if (probeId === null) throw new ApiError("UNAUTHORIZED", "send a client certificate of an enrolled probe");
  return probeId;
}
