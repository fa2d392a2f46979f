import { ROLE_SCOPES, ROLES, type Role } from "@lanthorn/contract";
import type { Clock } from "@lanthorn/runtime";
import { createId } from "@lanthorn/runtime";
import { errors, jwtVerify, SignJWT } from "jose";
import { z } from "zod";

export interface TokenSubject {
  readonly userId: string;
  readonly tenantId: string;
  readonly role: Role;
}

/** What a token says, which counts only as far as its user still is what it says. */
export interface TokenClaims {
  readonly userId: string;
  readonly tenantId: string;
  readonly tokenId: string;
  /** Milliseconds since the epoch. */
  readonly issuedAt: number;
  readonly expiresAt: number;
}

export interface Tokens {
  issue(subject: TokenSubject): Promise<{ readonly token: string; readonly expiresInSeconds: number }>;
  /** What it says, or in words why the token does not count. Only its own signature and times are looked at. */
  read(token: string): Promise<TokenClaims | string>;
}

/** Pinned: a token that names another algorithm, or none, is refused before its signature is looked at. @see RFC 8725 section 3.1 */
const ALGORITHM = "HS256";

/** Longer than any that we issue; the scopes of an administrator take about 600 bytes. */
const LONGEST_TOKEN = 4096;

const Claims = z.object({
  sub: z.uuid(), tenant: z.uuid(), role: z.enum(ROLES), scope: z.string(), jti: z.string().min(1).max(64), iat: z.number(), exp: z.number(),
});

/** @param deps.secret At least 32 bytes (RFC 7518 section 3.2). */
export function createTokens(deps: { readonly secret: Uint8Array; readonly lifetimeSeconds: number; readonly clock: Clock }): Tokens {
  return {
    async issue({ userId, tenantId, role }) {
      const issuedAt = Math.floor(deps.clock.now() / 1000);
      const token = await new SignJWT({ tenant: tenantId, role, scope: ROLE_SCOPES[role].join(" ") })
        .setProtectedHeader({ alg: ALGORITHM, typ: "JWT" })
        .setSubject(userId).setJti(createId()).setIssuedAt(issuedAt).setExpirationTime(issuedAt + deps.lifetimeSeconds)
        .sign(deps.secret);
      return { token, expiresInSeconds: deps.lifetimeSeconds };
    },

    async read(token) {
      if (token.length > LONGEST_TOKEN) return "the token is not valid";
      try {
        const { payload } = await jwtVerify(token, deps.secret, {
          algorithms: [ALGORITHM], currentDate: new Date(deps.clock.now()), requiredClaims: ["sub", "jti", "iat", "exp"],
        });
        const claims = Claims.parse(payload);
        return {
          userId: claims.sub, tenantId: claims.tenant, tokenId: claims.jti, issuedAt: claims.iat * 1000, expiresAt: claims.exp * 1000,
        };
      } catch (error) {
        return error instanceof errors.JWTExpired ? "the token has expired" : "the token is not valid";
      }
    },
  };
}
