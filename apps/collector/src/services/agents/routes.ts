import { z } from "@hono/zod-openapi";
import {
  EnrollmentToken, EnrollmentTokenCreate, EnrollRequest, EnrollResponse, Id, listEnvelope, PageQuery, Probe, RenewRequest, RenewResponse,
} from "@lanthorn/contract";
import { identityOf, probeOf } from "../../gateway/environment.ts";
import { createRouter, declareRoute, json } from "../../gateway/route.ts";
import type { AgentsService } from "./service.ts";

const createToken = declareRoute("agents:write", {
  method: "post",
  path: "/agents/tokens",
  request: { body: { required: true, content: json(EnrollmentTokenCreate) } },
  responses: { 201: { description: "The token, shown this once", content: json(EnrollmentToken) } },
});

const enroll = declareRoute("anyone", {
  method: "post",
  path: "/agents/enroll",
  description: "The enrollment token in the body is the credential.",
  request: { body: { required: true, content: json(EnrollRequest) } },
  responses: { 201: { description: "The probe's identity", content: json(EnrollResponse) } },
});

const renew = declareRoute("probe", {
  method: "post",
  path: "/agents/renew",
  request: { body: { required: true, content: json(RenewRequest) } },
  responses: { 200: { description: "A new certificate; the old one counts until it ends", content: json(RenewResponse) } },
});

const list = declareRoute("agents:read", {
  method: "get",
  path: "/agents/probes",
  request: { query: PageQuery.extend({ cursor: Id.optional() }) },
  responses: { 200: { description: "Probes in the order of their enrollment", content: json(listEnvelope(Probe)) } },
});

const Params = z.object({ probe_id: Id });

const read = declareRoute("agents:read", {
  method: "get",
  path: "/agents/probes/{probe_id}",
  request: { params: Params },
  responses: { 200: { description: "The probe", content: json(Probe) } },
});

const revoke = declareRoute("agents:write", {
  method: "post",
  path: "/agents/probes/{probe_id}/revoke",
  request: { params: Params },
  responses: { 204: { description: "Revoked; its session has ended" } },
});

/** `/agents/…`: enrollment, and the probes' records. */
export function agentsRoutes(service: AgentsService) {
  const router = createRouter();
  router.openapi(createToken, async (c) => c.json(await service.createToken(identityOf(c), c.req.valid("json")), 201));
  router.openapi(enroll, async (c) => {
    const { hostname: host } = new URL(c.req.url);
    const identity = await service.enroll(c.req.valid("json"), { address: c.env.peer.address, host });
    return c.json(identity, 201, { location: `/api/v1/agents/probes/${identity.probe_id}` });
  });
  router.openapi(renew, async (c) => c.json(await service.renew(probeOf(c), c.req.valid("json")), 200));
  router.openapi(list, async (c) => {
    const { data, meta } = await service.list(identityOf(c).tenantId, c.req.valid("query"));
    return c.json({ data: [...data], meta }, 200);
  });
  router.openapi(read, async (c) => c.json(await service.read(identityOf(c).tenantId, c.req.valid("param").probe_id), 200));
  router.openapi(revoke, async (c) => {
    await service.revoke(identityOf(c).tenantId, c.req.valid("param").probe_id);
    return c.body(null, 204);
  });
  return router;
}
