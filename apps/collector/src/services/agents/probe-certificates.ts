import { type ENROLL_REFUSALS, type EnrollResponse, parseEnrollmentToken, type RenewResponse } from "@lanthorn/contract";
import { type Clock, createId, type Log, toInstant } from "@lanthorn/runtime";
import type { Authority } from "../../certificates/authority.ts";
import { publicKeyOf } from "../../certificates/peer.ts";
import type { Audit } from "../../gateway/audit.ts";
import { ApiError, rateLimited } from "../../gateway/errors.ts";
import type { RateLimiter, Tier } from "../../gateway/limits/rate-limit.ts";
import { hashOfSecret } from "./enrollment-tokens.ts";
import type { AgentsStore, TokenRow } from "./store.ts";

/** Probes get certificates, renew them, and are let in with them. */
export interface ProbeCertificates {
  /**
   * The tenant of a probe that may connect with this key; null for one that is revoked, unknown, or whose key was superseded. The first use
   * of a renewed key ends the sessions of the one before.
   * @param key Of its certificate, SubjectPublicKeyInfo in Base64.
   */
  admit(probeId: string, key: string): Promise<{ readonly tenantId: string } | null>;
  /** @param from.address The client's, by which attempts are limited; `host` the name by which it reached the collector. */
  enroll(
    request: { readonly token: string; readonly certificate_request: string; readonly name: string },
    from: { readonly address: string; readonly host: string },
  ): Promise<EnrollResponse>;
  /**
   * @param probe As the connection's own certificate says, with its key, and where it comes from.
   * @throws ApiError UNAUTHORIZED for a probe that is revoked, and for a key that was superseded.
   */
  renew(
    probe: { readonly id: string; readonly key: string | undefined; readonly address: string },
    request: { readonly certificate_request: string },
  ): Promise<RenewResponse>;
}

/** What giving certificates to probes needs. */
export interface ProbeCertificatesDependencies {
  readonly store: AgentsStore;
  readonly audit: Audit;
  readonly authority: Pick<Authority, "certificate" | "pin" | "issueToProbe">;
  /** Where the broker is, for a probe that reached the collector under `host`. */
  readonly mqttUrl: (host: string) => string;
  /** A renewed key was used for the first time: ends the sessions of the probe's other keys. */
  readonly onSuperseded: (probeId: string, key: string) => void;
  readonly limiter: RateLimiter;
  readonly clock: Pick<Clock, "now">;
  readonly log: Log;
}

/** Each attempt may cost a signature; a person who enrolls a rack of probes from one address stays below. */
const ENROLL_ATTEMPTS: Tier = { perMinute: 30, burst: 5 };

/** Enrolls probes, renews their certificates, and says which of their keys may come in. */
export function probeCertificates(deps: ProbeCertificatesDependencies): ProbeCertificates {
  const { store, audit, authority, clock } = deps;
  const now = () => toInstant(clock.now());
  const admit = async (probeId: string, key: string) => {
    const admitted = await store.admit(probeId, key);
    if (admitted?.supersedes === true) deps.onSuperseded(probeId, key);
    return admitted;
  };

  return {
    admit,

    async enroll(request, { address, host }) {
      const allowance = await deps.limiter.take(`enroll ${address}`, ENROLL_ATTEMPTS);
      if (!allowance.allowed) throw rateLimited("too many enrollments from this address", allowance.retryAfterMs);
      const parts = parseEnrollmentToken(request.token);
      const token = parts && parts.caPin === authority.pin ? await store.tokenBySecret(hashOfSecret(parts.secret)) : null;
      if (!token) throw refuseToken("token-unknown");
      if (token.used_at !== null) throw refuseToken("token-used");
      if (token.expires_at <= now()) throw refuseToken("token-expired");
      const probeId = createId();
      // Before the token is used up: a request that cannot be honoured leaves it good.
      const issued = await issue(authority, probeId, request.certificate_request);
      const enrolledAt = now();
      const isEnrolled = await store.transaction(async (trx) => {
        const isFirst = await store.enroll(trx, token.id, {
          id: probeId, tenant_id: token.tenant_id, site_id: token.site_id, name: request.name, enrolled_at: enrolledAt, revoked_at: null,
          certificate_serial: issued.serial, certificate_expires_at: toInstant(issued.expiresAt), version: "", state: "enrolled",
          public_key: publicKeyOf(issued.certificate),
          silent_since: null, last_heard_at: null, run_id: null, health: null,
        });
        if (!isFirst) return false;
        await audit(trx, {
          actor: { type: "probe", id: probeId, name: request.name, tenantId: token.tenant_id, address },
          action: "probe.enroll", target: { type: "probe", id: probeId }, before: null,
          after: { name: request.name, site_id: token.site_id, enrollment_token_id: token.id, certificate_serial: issued.serial },
        });
        return true;
      });
      if (!isEnrolled) throw refuseToken(token.expires_at <= enrolledAt ? "token-expired" : "token-used");
      logEnrolled(deps.log, probeId, token, address);
      return {
        probe_id: probeId, tenant_id: token.tenant_id, site_id: token.site_id, certificate: issued.certificate,
        ca_certificate: authority.certificate, mqtt_url: deps.mqttUrl(host),
      };
    },

    async renew({ id: probeId, key, address }, request) {
      if (key === undefined || !(await admit(probeId, key))) throw refuseProbe();
      const issued = await issue(authority, probeId, request.certificate_request);
      await store.transaction(async (trx) => {
        const expiresAt = toInstant(issued.expiresAt);
        const probe = await store.renew(trx, probeId, {
          serial: issued.serial, expiresAt, publicKey: publicKeyOf(issued.certificate), previousPublicKey: key,
        });
        if (!probe) throw refuseProbe();
        await audit(trx, {
          actor: { type: "probe", id: probeId, name: probe.name, tenantId: probe.tenant_id, address },
          action: "probe.renew", target: { type: "probe", id: probeId }, before: null,
          after: { certificate_serial: issued.serial, certificate_expires_at: expiresAt },
        });
      });
      deps.log.info({ probe_id: probeId, certificate_serial: issued.serial }, "certificate renewed");
      return { certificate: issued.certificate, ca_certificate: authority.certificate };
    },
  };
}

async function issue(authority: ProbeCertificatesDependencies["authority"], probeId: string, request: string) {
  const result = await authority.issueToProbe(probeId, request);
  if (result.ok) return result.issued;
  const reason: (typeof ENROLL_REFUSALS)[number] = "bad-certificate-request";
  throw new ApiError("BAD_REQUEST", `certificate_request: ${result.message}`, { details: { reason } });
}

function refuseToken(reason: Exclude<(typeof ENROLL_REFUSALS)[number], "bad-certificate-request">): ApiError {
  const words = { "token-unknown": "is not known here", "token-used": "has been used", "token-expired": "has expired" };
  return new ApiError("UNAUTHORIZED", `the enrollment token ${words[reason]}; create a new one`, { details: { reason } });
}

function refuseProbe(): ApiError {
  return new ApiError("UNAUTHORIZED", "this probe is revoked, or its certificate was superseded by a newer one: enroll it again");
}

function logEnrolled(log: Log, probeId: string, token: TokenRow, address: string): void {
  log.info({ probe_id: probeId, site_id: token.site_id, enrollment_id: token.id, address }, "probe enrolled");
}
