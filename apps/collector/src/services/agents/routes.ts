import { z } from "@hono/zod-openapi";
import {
  EnrollmentToken, EnrollmentTokenCreate, EnrollRequest, EnrollResponse, Id, IdPageQuery, listEnvelope, Probe, RenewRequest, RenewResponse,
} from "@lanthorn/contract";
import { actorOf, identityOf, probeOf } from "../../gateway/environment.ts";
import { toAnswer } from "../../gateway/page.ts";
import { createRouter, declareRoute, json } from "../../gateway/route.ts";
import type { AgentsService } from "./service.ts";

const createToken = declareRoute("agents:write", {
  method: "post",
  path: "/agents/tokens",
  summary: "Make a token that enrolls one probe",
  request: { body: { required: true, content: json(EnrollmentTokenCreate) } },
  responses: { 201: { description: "The token, shown this once", content: json(EnrollmentToken) } },
});

const enroll = declareRoute("anyone", {
  method: "post",
  path: "/agents/enroll",
  summary: "Enroll a probe",
  description: "The enrollment token in the body is the credential.",
  request: { body: { required: true, content: json(EnrollRequest) } },
  responses: { 201: { description: "The probe's identity", content: json(EnrollResponse) } },
});

const renew = declareRoute("probe", {
  method: "post",
  path: "/agents/renew",
  summary: "Renew a probe's certificate",
  request: { body: { required: true, content: json(RenewRequest) } },
  responses: { 200: { description: "A new certificate; the old one counts until it ends", content: json(RenewResponse) } },
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

const revoke = declareRoute("agents:write", {
  method: "post",
  path: "/agents/probes/{probe_id}/revoke",
  summary: "Revoke a probe's certificate and end its session",
  request: { params: Params },
  responses: { 204: { description: "Revoked; its session has ended" } },
});

/** `/agents/…`: enrollment, and the probes' records. */
export function agentsRoutes(service: AgentsService) {
  const router = createRouter();
  router.openapi(createToken, async (c) => c.json(await service.createToken(actorOf(c), c.req.valid("json")), 201));
  router.openapi(enroll, async (c) => {
    const { hostname: host } = new URL(c.req.url);
    const identity = await service.enroll(c.req.valid("json"), { address: c.env.peer.address, host });
    return c.json(identity, 201, { location: `/api/v1/agents/probes/${identity.probe_id}` });
  });
  router.openapi(renew, async (c) => c.json(await service.renew({ id: probeOf(c), address: c.env.peer.address }, c.req.valid("json")), 200));
  router.openapi(list, async (c) => c.json(toAnswer(await service.list(identityOf(c).tenantId, c.req.valid("query"))), 200));
  router.openapi(read, async (c) => c.json(await service.read(identityOf(c).tenantId, c.req.valid("param").probe_id), 200));
  router.openapi(revoke, async (c) => {
    await service.revoke(actorOf(c), c.req.valid("param").probe_id);
    return c.body(null, 204);
  });
  return router;
}
