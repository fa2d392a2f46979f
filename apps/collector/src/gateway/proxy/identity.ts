import { ROLES } from "@lanthorn/contract";
import type { Clock } from "@lanthorn/runtime";
import { jwtVerify, SignJWT } from "jose";
import * as z from "zod";
import type { Identity, Peer } from "../environment.ts";

/** The header in which the gateway tells a service who asks: a JWT, signed with the secret that the two share. */
export const IDENTITY_HEADER = "x-lanthorn-identity";

/** Long enough for a clock that is a little off, too short to be kept. */
const LIFETIME_SECONDS = 60;
const ISSUER = "lanthorn-gateway";

/** The caller, as a service gets it. Either may be null: an endpoint for anyone, a user, a probe. */
export interface Caller {
  readonly identity: Identity | null;
  readonly peer: Peer;
  readonly requestId: string;
}

const Claims = z.object({
  sub: z.string(),
  kind: z.enum(["user", "key", "probe"]),
  jti: z.string(),
  addr: z.string(),
  name: z.string().default(""),
  tenant: z.string().default(""),
  role: z.enum(ROLES).default("viewer"),
  scope: z.string().default(""),
  /** Of a probe's certificate. */
  spki: z.string().optional(),
  key: z.object({ id: z.string(), name: z.string() }).nullable().default(null),
  iat: z.number(),
  exp: z.number(),
});

/** @returns The header's value; null for who showed no credentials. */
export async function signCaller(
  caller: Caller, to: { readonly service: string; readonly secret: Uint8Array; readonly clock: Pick<Clock, "now"> },
): Promise<string | null> {
  const claims = claimsOf(caller);
  if (!claims) return null;
  const now = Math.floor(to.clock.now() / 1000);
  return new SignJWT({ ...claims, addr: caller.peer.address, rid: caller.requestId }).setProtectedHeader({ alg: "HS256", typ: "JWT" })
    .setIssuer(ISSUER).setAudience(to.service).setIssuedAt(now).setExpirationTime(now + LIFETIME_SECONDS).sign(to.secret);
}

function claimsOf({ identity, peer }: Caller) {
  if (identity) {
    const { userId, username, tenantId, role, scopes, key, tokenId } = identity;
    return {
      sub: userId, kind: key ? "key" : "user", jti: tokenId, name: username, tenant: tenantId, role, scope: [...scopes].join(" "), key,
    };
  }
  return peer.probeId === null ? null : { sub: peer.probeId, kind: "probe", jti: peer.probeId, spki: peer.probePublicKey };
}

/**
 * Reads who asks, on the side of the service.
 * @returns In words why it does not count, for a header that no gateway has signed with this secret, or too long ago.
 */
export async function readCaller(
  header: string, options: { readonly secret: Uint8Array; readonly clock: Pick<Clock, "now"> },
): Promise<{ readonly identity: Identity | null; readonly peer: Omit<Peer, "secure"> } | string> {
  try {
    const { payload } = await jwtVerify(header, options.secret, {
      algorithms: ["HS256"], issuer: ISSUER, currentDate: new Date(options.clock.now()), clockTolerance: LIFETIME_SECONDS,
      requiredClaims: ["aud"],
    });
    const { sub, kind, jti, addr, name, tenant, role, scope, spki, key, iat, exp } = Claims.parse(payload);
    if (kind === "probe") return { identity: null, peer: { address: addr, probeId: sub, ...(spki !== undefined && { probePublicKey: spki }) } };
    const identity = {
      userId: sub, username: name, tenantId: tenant, role, scopes: new Set(scope.split(" ")), key, tokenId: jti, issuedAt: iat * 1000,
      expiresAt: exp * 1000,
    };
    return { identity, peer: { address: addr, probeId: null } };
  } catch {
    return "this gateway is not trusted here";
  }
}
