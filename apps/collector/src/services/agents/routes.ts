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
  summary: "Make a token that enrolls one probe",
  request: { body: jsonBody(EnrollmentTokenCreate) },
  responses: { 201: { description: "The token, shown this once", content: json(EnrollmentToken) } },
});

const listTokens = declareRoute("agents:read", {
  method: "get",
  path: "/agents/tokens",
  summary: "List the enrollment tokens",
  description: "What they are is not known here any more. Those that ran out unused are there for a day.",
  request: { query: IdPageQuery },
  responses: { 200: { description: "Tokens, newest first", content: json(listEnvelope(EnrollmentTokenRecord)) } },
});

const TokenParams = z.object({ token_id: Id });

const readToken = declareRoute("agents:read", {
  method: "get",
  path: "/agents/tokens/{token_id}",
  summary: "Read an enrollment token's record",
  description: "Without the token itself. One that ran out unused is there for a day.",
  request: { params: TokenParams },
  responses: { 200: { description: "The record", content: json(EnrollmentTokenRecord) } },
});

const removeToken = declareRoute("agents:write", {
  method: "delete",
  path: "/agents/tokens/{token_id}",
  summary: "Delete an enrollment token that was not used",
  request: { params: TokenParams },
  responses: { 204: { description: "It enrolls nothing any more" } },
});

const enroll = declareRoute("anyone", {
  method: "post",
  path: "/agents/enroll",
  "x-secret": "shown",
  summary: "Enroll a probe",
  description: "The enrollment token in the body is the credential.",
  request: { body: jsonBody(EnrollRequest) },
  responses: { 201: { description: "The probe's identity", content: json(EnrollResponse) } },
});

const renew = declareRoute("probe", {
  method: "post",
  path: "/agents/renew",
  "x-secret": "shown",
  summary: "Renew a probe's certificate",
  description: "Asked with the current certificate, or with the one before until the new one was first used: a probe that did not get the "
    + "answer asks again.",
  request: { body: jsonBody(RenewRequest) },
  responses: { 200: { description: "A new certificate; the old one counts until the new one is first used", content: json(RenewResponse) } },
});

const list = declareRoute("agents:read", {
  method: "get",
  path: "/agents/probes",
  summary: "List the probes",
  request: { query: IdPageQuery },
  responses: { 200: { description: "Probes in the order of their enrollment", content: json(listEnvelope(Probe)) } },
});

const Params = z.object({ probe_id: Id });

const read = declareRoute("agents:read", {
  method: "get",
  path: "/agents/probes/{probe_id}",
  summary: "Read a probe",
  request: { params: Params },
  responses: { 200: { description: "The probe", content: json(Probe) } },
});

const update = declareRoute("agents:write", {
  method: "put",
  path: "/agents/probes/{probe_id}",
  summary: "Rename a probe",
  request: { params: Params, body: jsonBody(ProbeUpdate) },
  responses: { 200: { description: "The probe", content: json(Probe) } },
});

const health = declareRoute("agents:read", {
  method: "get",
  path: "/agents/probes/{probe_id}/health",
  summary: "Read how a probe was",
  description: "A sample of every five minutes, for a week. The newest one of all is in the probe's own record.",
  request: { params: Params, query: ProbeHealthQuery },
  responses: { 200: { description: "Samples, newest first", content: json(listEnvelope(ProbeHealth)) } },
});

const readSettings = declareRoute("agents:read", {
  method: "get",
  path: "/agents/probes/{probe_id}/configuration",
  summary: "Read what a probe is told",
  description: "The site's settings with the probe's own over them, and which revision of it the probe says that it goes by.",
  request: { params: Params },
  responses: { 200: { description: "The probe's configuration", content: json(ProbeSettings) } },
});

const updateSettings = declareRoute("agents:write", {
  method: "put",
  path: "/agents/probes/{probe_id}/configuration",
  summary: "Change what a probe is told",
  description: "Fields left out stay; null goes back to the site's. The probe is told at once, or when it comes back; it can only be told "
    + "to do less than its own file lets it.",
  request: { params: Params, body: jsonBody(ProbeSettingsUpdate, { sweep: { packets_per_second: 20 } }) },
  responses: { 200: { description: "The probe's configuration", content: json(ProbeSettings) } },
});

const revoke = declareRoute("agents:write", {
  method: "post",
  path: "/agents/probes/{probe_id}/revoke",
  summary: "Revoke a probe's certificate and end its session",
  request: { params: Params },
  responses: { 204: { description: "Revoked; its session has ended" } },
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
