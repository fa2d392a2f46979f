import type { RestClient } from "@lanthorn/client";
import { createRequest } from "../../apps/collector/src/certificates/testing/request.ts";
import { createSimulatedProbe, type SimulatedProbe } from "../system/simulated-probe.ts";

/** Enrolls a probe of the first site that says what it is given, and connects it. */
export async function enrollProbe(rest: RestClient, mqttUrl: string): Promise<SimulatedProbe> {
  const [site] = (await rest.listSites({ per_page: 1 })).data;
  const { token } = await rest.createEnrollmentToken({ site_id: site?.id ?? "" });
  const { key, request } = await createRequest();
  const identity = await rest.enrollProbe({ token, certificate_request: request, name: "bench" });
  const probe = createSimulatedProbe({
    host: "127.0.0.1", port: Number(new URL(mqttUrl).port), ca: identity.ca_certificate, key, certificate: identity.certificate, tenantId: identity.tenant_id, probeId: identity.probe_id,
  });
  probe.open();
  return probe;
}
