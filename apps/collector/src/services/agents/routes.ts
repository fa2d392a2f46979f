import { z } from "@hono/zod-openapi";
import {
  EnrollmentToken, EnrollmentTokenCreate, EnrollmentTokenRecord, EnrollRequest, EnrollResponse, Id, IdPageQuery, listEnvelope, Probe,
  ProbeHealth, ProbeHealthQuery, ProbeSettings, ProbeSettingsUpdate, ProbeUpdate, RenewRequest, RenewResponse,
} from "@lanthorn/contract";
import { actorOf, identityOf, probeOf } from "../../gateway/environment.ts";
import { toAnswer } from "../../gateway/page.ts";
import { endpointsOf } from "../../gateway/endpoint.ts";
import { jsonBody } from "../../gateway/route.ts";
import type { AgentsService } from "./service.ts";
import type { SettingsService } from "./settings-service.ts";

const TokenParams = z.object({ token_id: Id });

const Params = z.object({ probe_id: Id });

const { endpoint, routes } = endpointsOf<{
  readonly service: AgentsService;
  readonly settings: SettingsService;
}>();

/** `/agents/…`: enrollment, and the probes' records. */
export const agentsRoutes = routes(
  endpoint("agents:write", "POST /agents/tokens", {
    "x-secret": "made", operationId: "createEnrollmentToken", summary: "Create a token that enrolls one probe",
    body: jsonBody(EnrollmentTokenCreate), answer: [201, "The token, shown only in this answer", EnrollmentToken],
  }, async (c, { service }) => {
    const token = await service.createToken(actorOf(c), c.req.valid("json"));
    return c.json(token, 201, { location: `/api/v1/agents/tokens/${token.id}` });
  }),
  endpoint("agents:read", "GET /agents/tokens/{token_id}", {
    operationId: "readEnrollmentToken", summary: "Read an enrollment token's record",
    description: "Without the token itself. An unused token stays for a day after it expires.", params: TokenParams,
    answer: [200, "The record", EnrollmentTokenRecord],
  }, async (c, { service }) => c.json(await service.readToken(identityOf(c).tenantId, c.req.valid("param").token_id), 200)),
  endpoint("anyone", "POST /agents/enroll", {
    "x-secret": "shown", operationId: "enrollProbe", summary: "Enroll a probe",
    description: "The enrollment token in the body is the credential.", body: jsonBody(EnrollRequest),
    answer: [201, "The probe's identity", EnrollResponse],
  }, async (c, { service }) => {
    const { hostname: host } = new URL(c.req.url);
    const identity = await service.enroll(c.req.valid("json"), { address: c.env.peer.address, host });
    return c.json(identity, 201, { location: `/api/v1/agents/probes/${identity.probe_id}` });
  }),
  endpoint("probe", "POST /agents/renew", {
    "x-secret": "shown", operationId: "renewProbeCertificate", summary: "Renew a probe's certificate",
    description: "Asked with the current certificate, or with the one before until the new one was first used: a probe that did not get the "
    + "answer asks again.",
    body: jsonBody(RenewRequest), answer: [200, "A new certificate; the old one is valid until the new one is first used", RenewResponse],
  }, async (c, { service }) => {
    const { address, probePublicKey: key } = c.env.peer;
    return c.json(await service.renew({ id: probeOf(c), key, address }, c.req.valid("json")), 200);
  }),
  endpoint("agents:read", "GET /agents/probes", {
    operationId: "listProbes", summary: "List probes", query: IdPageQuery,
    answer: [200, "Probes in the order of their enrollment", listEnvelope(Probe)],
  }, async (c, { service }) => c.json(toAnswer(await service.list(identityOf(c).tenantId, c.req.valid("query"))), 200)),
  endpoint("agents:read", "GET /agents/probes/{probe_id}", {
    operationId: "readProbe", summary: "Read a probe", params: Params, answer: [200, "The probe", Probe],
  }, async (c, { service }) => c.json(await service.read(identityOf(c).tenantId, c.req.valid("param").probe_id), 200)),
  endpoint("agents:read", "GET /agents/tokens", {
    operationId: "listEnrollmentTokens", summary: "List enrollment tokens",
    description: "The tokens themselves are not shown again. An unused token stays in the list for a day after it expires.",
    query: IdPageQuery, answer: [200, "Tokens, newest first", listEnvelope(EnrollmentTokenRecord)],
  }, async (c, { service }) => c.json(toAnswer(await service.listTokens(identityOf(c).tenantId, c.req.valid("query"))), 200)),
  endpoint("agents:write", "DELETE /agents/tokens/{token_id}", {
    operationId: "deleteEnrollmentToken", summary: "Delete an enrollment token", params: TokenParams, answer: [204, "Deleted"],
  }, async (c, { service }) => {
    await service.removeToken(actorOf(c), c.req.valid("param").token_id);
    return c.body(null, 204);
  }),
  endpoint("agents:write", "PUT /agents/probes/{probe_id}", {
    operationId: "renameProbe", summary: "Rename a probe", params: Params, body: jsonBody(ProbeUpdate), answer: [200, "The probe", Probe],
  }, async (c, { service }) => c.json(await service.rename(actorOf(c), c.req.valid("param").probe_id, c.req.valid("json").name), 200)),
  endpoint("agents:read", "GET /agents/probes/{probe_id}/health", {
    operationId: "listProbeHealth", summary: "List a probe's health reports",
    description: "One report for every five minutes of the last week. The newest report is in the probe's record.", params: Params,
    query: ProbeHealthQuery, answer: [200, "Health reports, newest first", listEnvelope(ProbeHealth)],
  }, async (c, { service }) =>
    c.json(toAnswer(await service.health(identityOf(c).tenantId, c.req.valid("param").probe_id, c.req.valid("query"))), 200)),
  endpoint("agents:read", "GET /agents/probes/{probe_id}/configuration", {
    operationId: "readProbeConfiguration", summary: "Read a probe's configuration",
    description: "The site's settings, overridden by the probe's own, and the revision that the probe uses.", params: Params,
    answer: [200, "The probe's configuration", ProbeSettings],
  }, async (c, { settings }) => c.json(await settings.read(identityOf(c).tenantId, c.req.valid("param").probe_id), 200)),
  endpoint("agents:write", "PUT /agents/probes/{probe_id}/configuration", {
    operationId: "updateProbeConfiguration", summary: "Change a probe's configuration",
    description: "Fields left out stay; null restores the site's. The probe gets it at once, or when it reconnects. It can only "
    + "narrow what the probe's own file allows.",
    params: Params, body: jsonBody(ProbeSettingsUpdate, { sweep: { packets_per_second: 20 } }),
    answer: [200, "The probe's configuration", ProbeSettings],
  }, async (c, { settings }) =>
    c.json(await settings.update(actorOf(c), c.req.valid("param").probe_id, c.req.valid("json")), 200)),
  endpoint("agents:write", "POST /agents/probes/{probe_id}/revoke", {
    operationId: "revokeProbe", summary: "Revoke a probe", params: Params, answer: [204, "Revoked, and its session has ended"],
  }, async (c, { service }) => {
    await service.revoke(actorOf(c), c.req.valid("param").probe_id);
    return c.body(null, 204);
  }),
);
