import { X509Certificate } from "node:crypto";
import { join } from "node:path";
import { type Clock, type Log, readTextFile } from "@lanthorn/runtime";
import type { Authority, KeyAndCertificate } from "./authority.ts";
import { writeSecretFile } from "../sealing/secret-file.ts";
import { createJob, type Job } from "../jobs/job.ts";
import { sanList } from "./names.ts";

/** The certificate that this collector's own listeners show. */
export interface ServerCertificate {
  current(): KeyAndCertificate;
  /** Calls back with each new certificate; a listener takes it over with `setSecureContext`. */
  onChange(listener: (certificate: KeyAndCertificate) => void): void;
  /** Renews it in time. */
  readonly job: Job<void>;
}

/** Time to notice and mend before clients begin to refuse it. */
const RENEW_BEFORE_MS = 30 * 86_400_000;
const CHECK_EVERY_MS = 3_600_000;
const FILE = "server.pem";

/**
 * Opens the server certificate in `dataDir`, made or made anew when it is missing, unreadable, not by this authority, within
 * 30 days of its end, or lacks one of `names()`. Looks again every hour: addresses come and go. A name that is no longer
 * there does no harm and stays until the next one, or containers that start and stop would renew it all day.
 */
export async function openServerCertificate(deps: {
  readonly authority: Authority;
  readonly dataDir: string;
  readonly names: () => readonly string[];
  readonly clock: Clock;
  readonly log: Log;
}): Promise<ServerCertificate> {
  const path = join(deps.dataDir, FILE);
  const listeners: ((certificate: KeyAndCertificate) => void)[] = [];
  const renew = async () => {
    const issued = await deps.authority.issueToServer(deps.names());
    writeSecretFile(path, `${issued.key}${issued.certificate}`, { replace: true });
    return issued;
  };
  const isGood = (pair: KeyAndCertificate) => isUsable(pair, deps.authority, deps.names(), deps.clock.now());

  const kept = splitPem(readTextFile(path) ?? "");
  let current = kept && isGood(kept) ? kept : await renew();
  const check = async () => {
    if (isGood(current)) return;
    current = await renew();
    deps.log.info({ names: sanList(deps.names()).map((name) => name.value) }, "server certificate renewed");
    for (const listener of listeners) listener(current);
  };
  const job = createJob(deps, {
    name: "server-certificate", everyMs: CHECK_EVERY_MS, who: "each replica",
    failure: "the server certificate could not be renewed, trying again in an hour", run: check,
  });
  return {
    current: () => current,
    onChange: (listener) => void listeners.push(listener),
    job,
  };
}

function splitPem(text: string): KeyAndCertificate | null {
  const at = text.indexOf("-----BEGIN CERTIFICATE-----");
  return at > 0 ? { key: text.slice(0, at), certificate: text.slice(at) } : null;
}

function isUsable(pair: KeyAndCertificate, authority: Authority, names: readonly string[], now: number): boolean {
  try {
    const certificate = new X509Certificate(pair.certificate);
    const has = sanList(names).every(({ type, value }) =>
      (type === "ip" ? certificate.checkIP(value) : certificate.checkHost(value, { wildcards: false })) !== undefined);
    const isOurs = certificate.verify(new X509Certificate(authority.certificate).publicKey);
    return has && isOurs && Date.parse(certificate.validTo) - now > RENEW_BEFORE_MS;
  } catch {
    return false;
  }
}
