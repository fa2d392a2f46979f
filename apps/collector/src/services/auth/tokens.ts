import { createPublicKey, type KeyObject } from "node:crypto";
import { ROLE_SCOPES, ROLES, type Role } from "@lanthorn/contract";
import { type Clock, createId } from "@lanthorn/runtime";
import { errors, jwtVerify, SignJWT } from "jose";
import * as z from "zod";

interface TokenSubject {
  readonly userId: string;
  readonly tenantId: string;
  readonly role: Role;
  /** The user's tokens count from this instant on; it may lie a little ahead. */
  readonly tokensValidFrom: string;
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

/** Access tokens as signed JWTs. @see RFC 7519 */
export interface Tokens {
  issue(subject: TokenSubject): Promise<{ readonly token: string; readonly expiresInSeconds: number }>;
  /** What it says, or in words why the token does not count. Only its own signature and times are looked at. */
  read(token: string): Promise<TokenClaims | string>;
}

/** What signs: a secret of at least 32 bytes (RFC 7518 section 3.2), or an Ed25519 private key (RFC 8037). */
export type TokenKey = { readonly secret: Uint8Array } | { readonly privateKey: KeyObject };

/** Longer than any that we issue; the scopes of an administrator take about 600 bytes. */
const MAX_TOKEN_LENGTH = 4096;

const Claims = z.object({
  sub: z.uuid(), tenant: z.uuid(), role: z.enum(ROLES), scope: z.string(), jti: z.string().min(1).max(64), iat: z.number(), exp: z.number(),
});

/**
 * Signs with HS256 for a secret, with EdDSA for an Ed25519 key, and accepts that one algorithm only.
 * @see RFC 7519, RFC 8037 section 3.1
 */
export function createTokens(deps: {
  readonly key: TokenKey;
  readonly lifetimeSeconds: number;
  readonly clock: Pick<Clock, "now">;
}): Tokens {
  const { algorithm, signingKey, verifyingKey } = keysOf(deps.key);
  return {
    async issue({ userId, tenantId, role, tokensValidFrom }) {
      // A claim's time has whole seconds. A token that follows a password change within its second belongs after it.
      const issuedAt = Math.max(Math.floor(deps.clock.now() / 1000), Math.ceil(Date.parse(tokensValidFrom) / 1000));
      const token = await new SignJWT({ tenant: tenantId, role, scope: ROLE_SCOPES[role].join(" ") })
        .setProtectedHeader({ alg: algorithm, typ: "JWT" })
        .setSubject(userId).setJti(createId()).setIssuedAt(issuedAt).setExpirationTime(issuedAt + deps.lifetimeSeconds)
        .sign(signingKey);
      return { token, expiresInSeconds: deps.lifetimeSeconds };
    },

    async read(token) {
      if (token.length > MAX_TOKEN_LENGTH) return "the token is not valid";
      try {
        const { payload } = await jwtVerify(token, verifyingKey, {
          algorithms: [algorithm], currentDate: new Date(deps.clock.now()), requiredClaims: ["sub", "jti", "iat", "exp"],
        });
        const { sub: userId, tenant: tenantId, jti: tokenId, iat, exp } = Claims.parse(payload);
        return { userId, tenantId, tokenId, issuedAt: iat * 1000, expiresAt: exp * 1000 };
      } catch (error) {
        return error instanceof errors.JWTExpired ? "the token has expired" : "the token is not valid";
      }
    },
  };
}

/**
 * One algorithm for each kind of key, pinned: a token that names another, or none, is refused before its signature is looked at.
 * @see RFC 8725 section 3.1
 */
function keysOf(key: TokenKey) {
  if ("secret" in key) return { algorithm: "HS256", signingKey: key.secret, verifyingKey: key.secret };
  return { algorithm: "EdDSA", signingKey: key.privateKey, verifyingKey: createPublicKey(key.privateKey) };
}

/** From when on tokens count if all that were issued until now are to end: the next whole second, and after the last such moment. */
export function nextTokensValidFrom(before: string, now: number): string {
  return new Date(Math.max(Math.floor(now / 1000) * 1000, Date.parse(before)) + 1000).toISOString();
}
