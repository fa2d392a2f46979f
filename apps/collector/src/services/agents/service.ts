import { createHash, randomBytes } from "node:crypto";
import {
  type ENROLL_REFUSALS, type EnrollmentToken, type EnrollmentTokenRecord, type EnrollResponse, formatEnrollmentToken, type List,
  momentToInstant, parseEnrollmentToken, type Probe, type ProbeHealth, type ProbeHealthQuery, type RenewResponse,
} from "@lanthorn/contract";
import { type Clock, createId, type Log, toInstant } from "@lanthorn/runtime";
import type { Authority } from "../../certificates/authority.ts";
import { publicKeyOf } from "../../certificates/peer.ts";
import type { Audit } from "../../gateway/audit.ts";
import type { Actor } from "../../gateway/environment.ts";
import { ApiError, notFound, rateLimited } from "../../gateway/errors.ts";
import { type IdPage, pageById } from "../../gateway/page.ts";
import type { RateLimiter, Tier } from "../../gateway/rate-limit.ts";
import { toHealth, toProbe, toTokenRecord } from "./records.ts";
import type { AgentsStore, TokenRow } from "./store.ts";

export interface AgentsService {
  /**
   * The tenant of a probe that may connect with this key; null for one that is revoked, unknown, or whose key was superseded. The first use
   * of a renewed key ends the sessions of the one before.
   * @param key Of its certificate, SubjectPublicKeyInfo in Base64.
   */
  admit(probeId: string, key: string): Promise<{ readonly tenantId: string } | null>;
  /** The token is shown in the answer and nowhere else: what is kept is its hash. */
  createToken(actor: Actor, token: { readonly site_id: string; readonly ttl_seconds: number }): Promise<EnrollmentToken>;
  /** @param from.address The client's, by which attempts are limited; `host` the name by which it reached the collector. */
  enroll(
    request: { readonly token: string; readonly certificate_request: string; readonly name: string },
    from: { readonly address: string; readonly host: string },
  ): Promise<EnrollResponse>;
  /** Newest first; those that ran out are there for a day. */
  listTokens(tenantId: string, page: IdPage): Promise<List<EnrollmentTokenRecord>>;
  /** @throws ApiError NOT_FOUND, also a day after it ran out unused. */
  readToken(tenantId: string, tokenId: string): Promise<EnrollmentTokenRecord>;
  /** It is good for nothing from here on. @throws ApiError NOT_FOUND; CONFLICT for one that was used. */
  removeToken(actor: Actor, tokenId: string): Promise<void>;
  /**
   * @param probe As the connection's own certificate says, with its key, and where it comes from.
   * @throws ApiError UNAUTHORIZED for a probe that is revoked, and for a key that was superseded.
   */
  renew(
    probe: { readonly id: string; readonly key: string | undefined; readonly address: string },
    request: { readonly certificate_request: string },
  ): Promise<RenewResponse>;
  list(tenantId: string, page: IdPage): Promise<List<Probe>>;
  read(tenantId: string, probeId: string): Promise<Probe>;
  /** @throws ApiError NOT_FOUND. */
  rename(actor: Actor, probeId: string, name: string): Promise<Probe>;
  /** Samples of every few minutes, newest first. @throws ApiError NOT_FOUND. */
  health(tenantId: string, probeId: string, query: ProbeHealthQuery): Promise<List<ProbeHealth>>;
  /** From here on the probe is let in nowhere; its live session has ended when the promise resolves. */
  revoke(actor: Actor, probeId: string): Promise<void>;
}

interface AgentsDependencies {
  readonly store: AgentsStore;
  readonly audit: Audit;
  readonly authority: Pick<Authority, "certificate" | "pin" | "issueToProbe">;
  /** Where the broker is, for a probe that reached the collector under `host`. */
  readonly mqttUrl: (host: string) => string;
  /** After a revocation was committed: ends the live session. */
  readonly onRevoked: (probeId: string) => Promise<void>;
  /** A renewed key was used for the first time: ends the sessions of the probe's other keys. */
  readonly onSuperseded: (probeId: string, key: string) => void;
  readonly limiter: RateLimiter;
  readonly clock: Clock;
  readonly log: Log;
}

/** Each attempt may cost a signature; a person who enrolls a rack of probes from one address stays below. */
const ENROLL_ATTEMPTS: Tier = { perMinute: 30, burst: 5 };

/** Whoever made one sees that it ran out. */
const TOKEN_SHOWN_MS = 86_400_000;

export function createAgentsService(deps: AgentsDependencies): AgentsService {
  const { store, audit, authority, clock } = deps;
  const now = () => toInstant(clock.now());
  const read = async (tenantId: string, probeId: string): Promise<Probe> => {
    const row = await store.probeById(tenantId, probeId);
    if (!row) throw notFound("probe");
    return toProbe(row);
  };

  const admit = async (probeId: string, key: string) => {
    const admitted = await store.admit(probeId, key);
    if (admitted?.supersedes === true) deps.onSuperseded(probeId, key);
    return admitted;
  };

  return {
    admit,

    async createToken(actor, { site_id, ttl_seconds }) {
      const { tenantId } = actor;
      if (!(await store.siteExists(tenantId, site_id))) throw notFound("site");
      const id = createId();
      const secret = randomBytes(32).toString("base64url");
      const expires_at = toInstant(clock.now() + ttl_seconds * 1000);
      await store.transaction(async (trx) => {
        await store.createToken(trx, {
          id, tenant_id: tenantId, site_id, secret_sha256: hashOf(secret), created_by: actor.id, created_at: now(), expires_at,
          used_at: null, probe_id: null,
        });
        const target = { type: "enrollment_token", id };
        await audit(trx, { actor, action: "enrollment_token.create", target, before: null, after: { site_id, expires_at } });
      });
      return { id, token: formatEnrollmentToken({ secret, caPin: authority.pin }), site_id, expires_at };
    },

    async enroll(request, { address, host }) {
      const allowance = await deps.limiter.take(`enroll ${address}`, ENROLL_ATTEMPTS);
      if (!allowance.allowed) throw rateLimited("too many enrollments from this address", allowance.retryAfterMs);
      const parts = parseEnrollmentToken(request.token);
      const token = parts && parts.caPin === authority.pin ? await store.tokenBySecret(hashOf(parts.secret)) : null;
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

    listTokens: (tenantId, page) => pageById(page, {
      read: (rows) => store.listTokens(tenantId, toInstant(clock.now() - TOKEN_SHOWN_MS), rows),
      count: () => store.countTokens(tenantId, toInstant(clock.now() - TOKEN_SHOWN_MS)), show: toTokenRecord,
    }),

    async readToken(tenantId, tokenId) {
      const row = await store.tokenById(tenantId, toInstant(clock.now() - TOKEN_SHOWN_MS), tokenId);
      if (!row) throw notFound("enrollment token");
      return toTokenRecord(row);
    },

    removeToken: (actor, tokenId) => store.transaction(async (trx) => {
      const token = await store.removeToken(trx, actor.tenantId, tokenId);
      if (!token) throw notFound("enrollment token");
      if (token.used_at !== null) {
        throw new ApiError("CONFLICT", "the token was used: revoke its probe instead", { details: { probe_id: token.probe_id } });
      }
      const target = { type: "enrollment_token", id: tokenId };
      const { site_id, expires_at } = token;
      await audit(trx, { actor, action: "enrollment_token.delete", target, before: { site_id, expires_at }, after: null });
    }),

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

    list: (tenantId, page) => pageById(page, {
      read: (rows) => store.listProbes(tenantId, rows), count: () => store.countProbes(tenantId), show: toProbe,
    }),

    read,

    async rename(actor, probeId, name) {
      await store.transaction(async (trx) => {
        const before = await store.rename(trx, actor.tenantId, probeId, name);
        if (before === null) throw notFound("probe");
        await audit(trx, {
          actor, action: "probe.update", target: { type: "probe", id: probeId }, before: { name: before }, after: { name },
        });
      });
      return read(actor.tenantId, probeId);
    },

    async health(tenantId, probeId, { since, until, ...page }) {
      await read(tenantId, probeId);
      const instant = (moment: string | undefined) => (moment === undefined ? undefined : momentToInstant(moment, clock.now()));
      const period = { since: instant(since), until: instant(until) };
      return pageById(page, {
        read: (rows) => store.listHealth(probeId, period, rows), count: () => store.countHealth(probeId, period), show: toHealth,
      });
    },

    async revoke(actor, probeId) {
      const at = now();
      await store.transaction(async (trx) => {
        const probe = await store.revoke(trx, actor.tenantId, probeId, at);
        if (!probe) throw notFound("probe");
        if (probe.revoked_at !== at) return;
        const { name } = probe;
        await audit(trx, {
          actor, action: "probe.revoke", target: { type: "probe", id: probeId }, before: { name, revoked_at: null },
          after: { name, revoked_at: at },
        });
      });
      await deps.onRevoked(probeId);
      deps.log.info({ probe_id: probeId }, "probe revoked");
    },
  };
}

async function issue(authority: AgentsDependencies["authority"], probeId: string, request: string) {
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

function hashOf(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}
