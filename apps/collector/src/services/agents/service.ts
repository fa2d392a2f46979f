import { createHash, randomBytes } from "node:crypto";
import {
  type ENROLL_REFUSALS, type EnrollmentToken, type EnrollResponse, formatEnrollmentToken, type List, parseEnrollmentToken, type Probe,
  ProbeHealth,
  type RenewResponse,
} from "@lanthorn/contract";
import { type Clock, createId, type Log, toInstant } from "@lanthorn/runtime";
import type { Authority } from "../../certificates/authority.ts";
import { ApiError, notFound, rateLimited } from "../../gateway/errors.ts";
import type { RateLimiter, Tier } from "../../gateway/rate-limit.ts";
import type { AgentsStore, ProbeRow, TokenRow } from "./store.ts";

export interface AgentsService {
  /** The token is shown in the answer and nowhere else: what is kept is its hash. */
  createToken(
    by: { readonly tenantId: string; readonly userId: string }, token: { readonly site_id: string; readonly ttl_seconds: number },
  ): Promise<EnrollmentToken>;
  /** @param from.address The client's, by which attempts are limited; `host` the name by which it reached the collector. */
  enroll(
    request: { readonly token: string; readonly certificate_request: string; readonly name: string },
    from: { readonly address: string; readonly host: string },
  ): Promise<EnrollResponse>;
  /** @param probeId As the connection's own certificate says. */
  renew(probeId: string, request: { readonly certificate_request: string }): Promise<RenewResponse>;
  list(
    tenantId: string, page: { readonly page: number; readonly per_page: number; readonly cursor?: string | undefined },
  ): Promise<List<Probe>>;
  read(tenantId: string, probeId: string): Promise<Probe>;
  /** From here on the probe is let in nowhere; its live session has ended when the promise resolves. */
  revoke(tenantId: string, probeId: string): Promise<void>;
}

interface AgentsDependencies {
  readonly store: AgentsStore;
  readonly authority: Pick<Authority, "certificate" | "pin" | "issueToProbe">;
  /** Where the broker is, for a probe that reached the collector under `host`. */
  readonly mqttUrl: (host: string) => string;
  /** After a revocation was committed: ends the live session. */
  readonly onRevoked: (probeId: string) => Promise<void>;
  readonly limiter: RateLimiter;
  readonly clock: Clock;
  readonly log: Log;
}

/** Each attempt may cost a signature; a person who enrolls a rack of probes from one address stays below. */
const ENROLL_ATTEMPTS: Tier = { perMinute: 30, burst: 5 };

export function createAgentsService(deps: AgentsDependencies): AgentsService {
  const { store, authority, clock } = deps;
  const now = () => toInstant(clock.now());

  return {
    async createToken({ tenantId, userId }, { site_id, ttl_seconds }) {
      if (!(await store.siteExists(tenantId, site_id))) throw notFound("site");
      const id = createId();
      const secret = randomBytes(32).toString("base64url");
      const expires_at = toInstant(clock.now() + ttl_seconds * 1000);
      await store.createToken({
        id, tenant_id: tenantId, site_id, secret_sha256: hashOf(secret), created_by: userId, created_at: now(), expires_at, used_at: null,
        probe_id: null,
      });
      return { id, token: formatEnrollmentToken({ secret, caPin: authority.pin }), site_id, expires_at };
    },

    async enroll(request, { address, host }) {
      const allowance = deps.limiter.take(`enroll ${address}`, ENROLL_ATTEMPTS);
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
      const isEnrolled = await store.enroll(token.id, {
        id: probeId, tenant_id: token.tenant_id, site_id: token.site_id, name: request.name, enrolled_at: enrolledAt, revoked_at: null,
        certificate_serial: issued.serial, certificate_expires_at: toInstant(issued.expiresAt), version: "", state: "enrolled",
        silent_since: null, last_heard_at: null, run_id: null, health: null,
      });
      if (!isEnrolled) throw refuseToken(token.expires_at <= enrolledAt ? "token-expired" : "token-used");
      logEnrolled(deps.log, probeId, token, address);
      return {
        probe_id: probeId, tenant_id: token.tenant_id, site_id: token.site_id, certificate: issued.certificate,
        ca_certificate: authority.certificate, mqtt_url: deps.mqttUrl(host),
      };
    },

    async renew(probeId, request) {
      if (!(await store.admit(probeId))) throw new ApiError("UNAUTHORIZED", "this probe is revoked");
      const issued = await issue(authority, probeId, request.certificate_request);
      const isRenewed = await store.renew(probeId, { serial: issued.serial, expiresAt: toInstant(issued.expiresAt) });
      if (!isRenewed) throw new ApiError("UNAUTHORIZED", "this probe is revoked");
      deps.log.info({ probe_id: probeId, certificate_serial: issued.serial }, "certificate renewed");
      return { certificate: issued.certificate, ca_certificate: authority.certificate };
    },

    async list(tenantId, { page, per_page: perPage, cursor }) {
      const rows = await store.listProbes(tenantId, { from: cursor ?? (page - 1) * perPage, limit: perPage + 1 });
      const data = rows.slice(0, perPage);
      const nextCursor = rows.length > perPage ? (data.at(-1)?.id ?? null) : null;
      return {
        data: data.map(toProbe), meta: { page, per_page: perPage, total: await store.countProbes(tenantId), next_cursor: nextCursor },
      };
    },

    async read(tenantId, probeId) {
      const row = await store.probeById(tenantId, probeId);
      if (!row) throw notFound("probe");
      return toProbe(row);
    },

    async revoke(tenantId, probeId) {
      if (!(await store.revoke(tenantId, probeId, now()))) throw notFound("probe");
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
  return new ApiError("UNAUTHORIZED", `the enrollment token ${words[reason]}; make a new one`, { details: { reason } });
}

function logEnrolled(log: Log, probeId: string, token: TokenRow, address: string): void {
  log.info({ probe_id: probeId, site_id: token.site_id, enrollment_id: token.id, address }, "probe enrolled");
}

function hashOf(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}

const STATES: ReadonlySet<string> = new Set(["enrolled", "online", "silent"] satisfies Probe["state"][]);

function toProbe(row: ProbeRow): Probe {
  const health = row.health === null ? null : ProbeHealth.safeParse(JSON.parse(row.health));
  return {
    id: row.id, name: row.name, site_id: row.site_id, version: row.version, enrolled_at: row.enrolled_at, last_heard_at: row.last_heard_at,
    state: row.revoked_at === null && STATES.has(row.state) ? (row.state as Probe["state"]) : "revoked",
    certificate_expires_at: row.certificate_expires_at, watermark: row.watermark ?? 0, refused: JSON.parse(row.refused) as Probe["refused"],
    health: health?.success ? health.data : null,
  };
}
