import * as z from "zod";
import { EnrollRequest, EnrollResponse, RenewRequest, RenewResponse } from "../../uplink/enrollment.ts";
import { Id } from "../../values.ts";
import { ProbeHealth } from "../../uplink/messages.ts";
import { IdPageQuery, listEnvelope } from "../envelopes.ts";
import {
  EnrollmentToken, EnrollmentTokenCreate, EnrollmentTokenRecord, Probe, ProbeHealthQuery, ProbeSettings, ProbeSettingsUpdate,
  ProbeUpdate,
} from "../agents.ts";
import { operations } from "../operation.ts";

const OfToken = z.object({ token_id: Id });
const OfProbe = z.object({ probe_id: Id });

/** Probes, from their enrollment to their revocation. */
export const agentsOperations = operations({
  createEnrollmentToken: { target: "POST /agents/tokens", body: EnrollmentTokenCreate, status: 201, answer: EnrollmentToken },
  readEnrollmentToken: { target: "GET /agents/tokens/{token_id}", params: OfToken, status: 200, answer: EnrollmentTokenRecord },
  /** The enrollment token in the body is the credential. */
  enrollProbe: { target: "POST /agents/enroll", body: EnrollRequest, status: 201, answer: EnrollResponse },
  /** With the probe's own certificate. */
  renewProbeCertificate: { target: "POST /agents/renew", body: RenewRequest, status: 200, answer: RenewResponse },
  listProbes: { target: "GET /agents/probes", query: IdPageQuery, status: 200, answer: listEnvelope(Probe) },
  readProbe: { target: "GET /agents/probes/{probe_id}", params: OfProbe, status: 200, answer: Probe },
  listEnrollmentTokens: { target: "GET /agents/tokens", query: IdPageQuery, status: 200, answer: listEnvelope(EnrollmentTokenRecord) },
  deleteEnrollmentToken: { target: "DELETE /agents/tokens/{token_id}", params: OfToken, status: 204 },
  renameProbe: { target: "PUT /agents/probes/{probe_id}", params: OfProbe, body: ProbeUpdate, status: 200, answer: Probe },
  listProbeHealth: {
    target: "GET /agents/probes/{probe_id}/health", params: OfProbe, query: ProbeHealthQuery, status: 200,
    answer: listEnvelope(ProbeHealth),
  },
  readProbeConfiguration: { target: "GET /agents/probes/{probe_id}/configuration", params: OfProbe, status: 200, answer: ProbeSettings },
  updateProbeConfiguration: {
    target: "PUT /agents/probes/{probe_id}/configuration", params: OfProbe, body: ProbeSettingsUpdate, status: 200, answer: ProbeSettings,
  },
  revokeProbe: { target: "POST /agents/probes/{probe_id}/revoke", params: OfProbe, status: 204 },
});
