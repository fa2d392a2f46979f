import { X509Certificate } from "node:crypto";
import { ClientError, createRestClient } from "@lanthorn/client";
import type { Clock } from "@lanthorn/runtime";
import { ProbeError } from "../errors.ts";
import { createKeyAndRequest } from "./certificate-request.ts";
import { createCollectorFetch } from "./collector-fetch.ts";
import { pinOf } from "./collector-trust.ts";
import { readIdentity, writeIdentity } from "./identity.ts";
import { checkIssued } from "./issued.ts";
import { unreachable } from "./unreachable.ts";

/**
 * Gets a new certificate for a new key, and keeps both. The old ones stand until the new ones are on the disk.
 * @param options.collectorUrl Instead of the one that the probe was enrolled at.
 * @returns When the new certificate ends, milliseconds since the epoch.
 * @throws ProbeError
 */
export async function renew(
  options: { readonly dataDir: string; readonly collectorUrl: string | null; readonly clock: Pick<Clock, "now"> },
): Promise<number> {
  const identity = readIdentity(options.dataDir);
  if (!identity) throw new ProbeError("not-enrolled", "this machine is not enrolled: there is nothing to renew");
  const url = new URL(options.collectorUrl ?? identity.collector_url);
  const collector = createCollectorFetch({
    trust: { kind: identity.trust, ca: identity.trust === "pinned" ? identity.ca_certificate : null },
    client: { certificate: identity.certificate, key: identity.private_key },
  });
  try {
    const { privateKey, certificateRequest } = await createKeyAndRequest(identity.probe_id);
    const answer = await createRestClient({ url: url.origin, token: () => null, fetch: collector.fetch }).renewProbeCertificate({ certificate_request: certificateRequest })
      .catch((error: unknown) => Promise.reject(error instanceof ClientError && error.code !== "unreachable"
        ? new ProbeError("refused", `the collector refused the renewal: ${error.message}`, { cause: error })
        : unreachable(url, error)));
    checkIssued({
      certificate: answer.certificate, caCertificate: answer.ca_certificate, caPin: pinOf(new X509Certificate(identity.ca_certificate)),
      privateKey, probeId: identity.probe_id, now: options.clock.now(),
    });
    writeIdentity(options.dataDir, {
      ...identity, private_key: privateKey, certificate: answer.certificate, ca_certificate: answer.ca_certificate,
    });
    return Date.parse(new X509Certificate(answer.certificate).validTo);
  } finally {
    await collector.close();
  }
}
