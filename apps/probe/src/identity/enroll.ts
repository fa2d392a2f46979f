import { ClientError, createRestClient, type Fetch } from "@lanthorn/client";
import { parseEnrollmentToken } from "@lanthorn/contract/uplink";
import type { Clock } from "@lanthorn/runtime";
import { ProbeError, type ProbeErrorCode } from "../errors.ts";
import { createKeyAndRequest } from "./certificate-request.ts";
import { createCollectorFetch } from "./collector-fetch.ts";
import { type CollectorTrust, findTrust } from "./collector-trust.ts";
import { type Identity, readIdentity, writeIdentity } from "./identity.ts";
import { checkIssued } from "./issued.ts";
import { unreachable } from "./unreachable.ts";

/** More than this, and times in events mislead; a certificate made just now may not be good yet. */
const CLOCK_SKEW_MS = 5 * 60_000;

const CLOCK_CHECK_TIMEOUT_MS = 15_000;

/**
 * Makes this machine a probe of a collector: finds the collector that made the token, makes a key here, has it certified
 * and keeps what comes back. The token is spent only after the trust and the clocks were found good.
 * @param options.force Replaces an earlier enrollment.
 * @throws ProbeError with a code for each way in which it can fail.
 */
export async function enroll(options: {
  readonly collectorUrl: string;
  readonly token: string;
  readonly name: string;
  readonly dataDir: string;
  readonly force: boolean;
  readonly clock: Pick<Clock, "now">;
}): Promise<Identity> {
  const token = parseEnrollmentToken(options.token);
  if (!token) {
    throw new ProbeError("token-malformed", "this is not a whole enrollment token (lt1.….…); copy all of it (lanthorn probes token create)");
  }
  const url = parseUrl(options.collectorUrl);
  if (!options.force) refuseSecondEnrollment(options.dataDir);

  const trust = await findTrust(url, token.caPin);
  const collector = createCollectorFetch({ trust, onDate: (at) => checkClock(at, options.clock.now()) });
  try {
    await readClock(url, collector.fetch);
    const { privateKey, certificateRequest } = await createKeyAndRequest(options.name);
    const client = createRestClient({ url: url.origin, token: () => null, fetch: collector.fetch });
    const answer = await client.enrollProbe({ token: options.token.trim(), certificate_request: certificateRequest, name: options.name })
      .catch((error: unknown) => Promise.reject(explain(error, url)));
    checkIssued({
      certificate: answer.certificate, caCertificate: answer.ca_certificate, caPin: token.caPin, privateKey, probeId: answer.probe_id,
      now: options.clock.now(),
    });
    const identity = toIdentity(options.name, url, trust, answer, privateKey);
    keep(options.dataDir, identity);
    return identity;
  } finally {
    await collector.close();
  }
}

function parseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (!url || url.hostname === "") {
    throw new ProbeError("insecure-url", `${JSON.stringify(text)} is not a collector's address: use https://HOST:PORT`);
  }
  return url;
}

function refuseSecondEnrollment(dataDir: string): void {
  const identity = readIdentity(dataDir);
  if (identity) {
    throw new ProbeError(
      "already-enrolled", `this machine is already probe ${identity.probe_id} of ${identity.collector_url}; use --force to replace it`,
    );
  }
}

/** Any answer tells the time, so an unhealthy collector is no reason to stop here. */
async function readClock(url: URL, fetch: Fetch): Promise<void> {
  try {
    await (await fetch(`${url.origin}/api/health`, { method: "GET", headers: {}, signal: AbortSignal.timeout(CLOCK_CHECK_TIMEOUT_MS) }))
      .text();
  } catch (error) {
    throw error instanceof ProbeError ? error : unreachable(url, error);
  }
}

function checkClock(theirs: number, ours: number): void {
  const offMs = ours - theirs;
  if (Math.abs(offMs) <= CLOCK_SKEW_MS) return;
  const off = `${Math.round(Math.abs(offMs) / 1000)} seconds ${offMs > 0 ? "ahead of" : "behind"}`;
  throw new ProbeError(
    "clock-skew", `this machine's clock is ${off} the collector's: set it (timedatectl), then try again; the token is still valid`,
  );
}

const REFUSALS: Readonly<Record<string, readonly [ProbeErrorCode, string]>> = {
  "token-unknown": ["token-unknown", "the collector does not know this token: create one there (lanthorn probes token create)"],
  "token-used": ["token-used", "this token was already used; each enrolls one probe: create another (lanthorn probes token create)"],
  "token-expired": ["token-expired", "this token has expired: create another (lanthorn probes token create)"],
};

function explain(error: unknown, url: URL): unknown {
  if (!(error instanceof ClientError)) return error;
  if (error.code === "unreachable") return error.cause instanceof ProbeError ? error.cause : unreachable(url, error);
  if (error.code === "not-an-answer") {
    return new ProbeError("not-a-collector", `${url.host} does not answer like a Lanthorn collector`, { cause: error });
  }
  const { reason } = (error.details ?? {}) as { readonly reason?: unknown };
  const [code, message] = (typeof reason === "string" ? REFUSALS[reason] : undefined) ?? [
    "refused", `the collector refused: ${error.message}`,
  ];
  return new ProbeError(code, message, { cause: error });
}

function toIdentity(
  name: string, url: URL, trust: CollectorTrust, answer: Awaited<ReturnType<ReturnType<typeof createRestClient>["enrollProbe"]>>,
  privateKey: string,
): Identity {
  return {
    probe_id: answer.probe_id, tenant_id: answer.tenant_id, site_id: answer.site_id, name,
    collector_url: url.origin, trust: trust.kind, mqtt_url: answer.mqtt_url,
    private_key: privateKey, certificate: answer.certificate, ca_certificate: answer.ca_certificate,
  };
}

function keep(dataDir: string, identity: Identity): void {
  try {
    writeIdentity(dataDir, identity);
  } catch (cause) {
    throw new ProbeError(
      "storage-unavailable", `cannot write the identity under ${dataDir}; check its owner and the free space, then enroll with a new token`,
      { cause },
    );
  }
}
