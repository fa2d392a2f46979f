import { z } from "@hono/zod-openapi";
import {
  EnrollmentToken, EnrollmentTokenCreate, EnrollmentTokenRecord, EnrollRequest, EnrollResponse, Id, IdPageQuery, listEnvelope, Probe,
  ProbeHealth, ProbeHealthQuery, ProbeSettings, ProbeSettingsUpdate, ProbeUpdate, RenewRequest, RenewResponse,
} from "@lanthorn/contract";
import { actorOf, identityOf, probeOf } from "../../gateway/environment.ts";
import { toAnswer } from "../../gateway/page.ts";
import { createRouter, declareRoute, json, jsonBody } from "../../gateway/route.ts";
import type { AgentsService } from "./service.ts";
import type { SettingsService } from "./settings-service.ts";

const createToken = declareRoute("agents:write", {
  method: "post",
  path: "/agents/tokens",
  "x-secret": "made",
  operationId: "createEnrollmentToken",
  summary: "Create a token that enrolls one probe",
  request: { body: jsonBody(EnrollmentTokenCreate) },
  responses: { 201: { description: "The token, shown only in this answer", content: json(EnrollmentToken) } },
});

const listTokens = declareRoute("agents:read", {
  method: "get",
  path: "/agents/tokens",
  operationId: "listEnrollmentTokens",
  summary: "List enrollment tokens",
  description: "The tokens themselves are not shown again. An unused token stays in the list for a day after it expires.",
  request: { query: IdPageQuery },
  responses: { 200: { description: "Tokens, newest first", content: json(listEnvelope(EnrollmentTokenRecord)) } },
});

const TokenParams = z.object({ token_id: Id });

const readToken = declareRoute("agents:read", {
  method: "get",
  path: "/agents/tokens/{token_id}",
  operationId: "readEnrollmentToken",
  summary: "Read an enrollment token's record",
  description: "Without the token itself. An unused token stays for a day after it expires.",
  request: { params: TokenParams },
  responses: { 200: { description: "The record", content: json(EnrollmentTokenRecord) } },
});

const removeToken = declareRoute("agents:write", {
  method: "delete",
  path: "/agents/tokens/{token_id}",
  operationId: "deleteEnrollmentToken",
  summary: "Delete an enrollment token",
  request: { params: TokenParams },
  responses: { 204: { description: "Deleted" } },
});

const enroll = declareRoute("anyone", {
  method: "post",
  path: "/agents/enroll",
  "x-secret": "shown",
  operationId: "enrollProbe",
  summary: "Enroll a probe",
  description: "The enrollment token in the body is the credential.",
  request: { body: jsonBody(EnrollRequest) },
  responses: { 201: { description: "The probe's identity", content: json(EnrollResponse) } },
});

const renew = declareRoute("probe", {
  method: "post",
  path: "/agents/renew",
  "x-secret": "shown",
  operationId: "renewProbeCertificate",
  summary: "Renew a probe's certificate",
  description: "Asked with the current certificate, or with the one before until the new one was first used: a probe that did not get the "
    + "answer asks again.",
  request: { body: jsonBody(RenewRequest) },
  responses: { 200: { description: "A new certificate; the old one is valid until the new one is first used", content: json(RenewResponse) } },
});

const list = declareRoute("agents:read", {
  method: "get",
  path: "/agents/probes",
  operationId: "listProbes",
  summary: "List probes",
  request: { query: IdPageQuery },
  responses: { 200: { description: "Probes in the order of their enrollment", content: json(listEnvelope(Probe)) } },
});

const Params = z.object({ probe_id: Id });

const read = declareRoute("agents:read", {
  method: "get",
  path: "/agents/probes/{probe_id}",
  operationId: "readProbe",
  summary: "Read a probe",
  request: { params: Params },
  responses: { 200: { description: "The probe", content: json(Probe) } },
});

const update = declareRoute("agents:write", {
  method: "put",
  path: "/agents/probes/{probe_id}",
  operationId: "renameProbe",
  summary: "Rename a probe",
  request: { params: Params, body: jsonBody(ProbeUpdate) },
  responses: { 200: { description: "The probe", content: json(Probe) } },
});

const health = declareRoute("agents:read", {
  method: "get",
  path: "/agents/probes/{probe_id}/health",
  operationId: "listProbeHealth",
  summary: "List a probe's health reports",
  description: "One report for every five minutes of the last week. The newest report is in the probe's record.",
  request: { params: Params, query: ProbeHealthQuery },
  responses: { 200: { description: "Health reports, newest first", content: json(listEnvelope(ProbeHealth)) } },
});

const readSettings = declareRoute("agents:read", {
  method: "get",
  path: "/agents/probes/{probe_id}/configuration",
  operationId: "readProbeConfiguration",
  summary: "Read a probe's configuration",
  description: "The site's settings, overridden by the probe's own, and the revision that the probe uses.",
  request: { params: Params },
  responses: { 200: { description: "The probe's configuration", content: json(ProbeSettings) } },
});

const updateSettings = declareRoute("agents:write", {
  method: "put",
  path: "/agents/probes/{probe_id}/configuration",
  operationId: "updateProbeConfiguration",
  summary: "Change a probe's configuration",
  description: "Fields left out stay; null restores the site's. The probe gets it at once, or when it reconnects. It can only "
    + "narrow what the probe's own file allows.",
  request: { params: Params, body: jsonBody(ProbeSettingsUpdate, { sweep: { packets_per_second: 20 } }) },
  responses: { 200: { description: "The probe's configuration", content: json(ProbeSettings) } },
});

const revoke = declareRoute("agents:write", {
  method: "post",
  path: "/agents/probes/{probe_id}/revoke",
  operationId: "revokeProbe",
  summary: "Revoke a probe",
  request: { params: Params },
  responses: { 204: { description: "Revoked, and its session has ended" } },
});

/** `/agents/…`: enrollment, and the probes' records. */
export function agentsRoutes(service: AgentsService, settings: SettingsService) {
  const router = createRouter();
  router.openapi(createToken, async (c) => {
    const token = await service.createToken(actorOf(c), c.req.valid("json"));
    return c.json(token, 201, { location: `/api/v1/agents/tokens/${token.id}` });
  });
  router.openapi(readToken, async (c) => c.json(await service.readToken(identityOf(c).tenantId, c.req.valid("param").token_id), 200));
  router.openapi(enroll, async (c) => {
    const { hostname: host } = new URL(c.req.url);
    const identity = await service.enroll(c.req.valid("json"), { address: c.env.peer.address, host });
    return c.json(identity, 201, { location: `/api/v1/agents/probes/${identity.probe_id}` });
  });
  router.openapi(renew, async (c) => {
    const { address, probePublicKey: key } = c.env.peer;
    return c.json(await service.renew({ id: probeOf(c), key, address }, c.req.valid("json")), 200);
  });
  router.openapi(list, async (c) => c.json(toAnswer(await service.list(identityOf(c).tenantId, c.req.valid("query"))), 200));
  router.openapi(read, async (c) => c.json(await service.read(identityOf(c).tenantId, c.req.valid("param").probe_id), 200));
  router.openapi(listTokens, async (c) => c.json(toAnswer(await service.listTokens(identityOf(c).tenantId, c.req.valid("query"))), 200));
  router.openapi(removeToken, async (c) => {
    await service.removeToken(actorOf(c), c.req.valid("param").token_id);
    return c.body(null, 204);
  });
  router.openapi(
    update, async (c) => c.json(await service.rename(actorOf(c), c.req.valid("param").probe_id, c.req.valid("json").name), 200),
  );
  router.openapi(
    health,
    async (c) => c.json(toAnswer(await service.health(identityOf(c).tenantId, c.req.valid("param").probe_id, c.req.valid("query"))), 200),
  );
  router.openapi(readSettings, async (c) => c.json(await settings.read(identityOf(c).tenantId, c.req.valid("param").probe_id), 200));
  router.openapi(updateSettings, async (c) =>
    c.json(await settings.update(actorOf(c), c.req.valid("param").probe_id, c.req.valid("json")), 200));
  router.openapi(revoke, async (c) => {
    await service.revoke(actorOf(c), c.req.valid("param").probe_id);
    return c.body(null, 204);
  });
  return router;
}
