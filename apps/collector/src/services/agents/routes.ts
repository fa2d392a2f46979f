import { agentsOperations } from "@lanthorn/contract";
import { actorOf, identityOf, probeOf } from "../../gateway/environment.ts";
import { toAnswer } from "../../gateway/page.ts";
import { endpointsOf } from "../../gateway/endpoint.ts";
import type { AgentsService } from "./service.ts";
import type { SettingsService } from "./settings-service.ts";

const { endpoint, routes } = endpointsOf<{
  readonly service: AgentsService;
  readonly settings: SettingsService;
}>();

/** `/agents/…`: enrollment, and the probes' records. */
export const agentsRoutes = routes(
  endpoint("agents:write", agentsOperations.createEnrollmentToken, {
    "x-secret": "made", summary: "Create a token that enrolls one probe", answer: "The token, shown only in this answer",
  }, async (c, { service }) => {
    const token = await service.createToken(actorOf(c), c.req.valid("json"));
    return c.json(token, 201, { location: `/api/v1/agents/tokens/${token.id}` });
  }),
  endpoint("agents:read", agentsOperations.readEnrollmentToken, {
    summary: "Read an enrollment token's record",
    description: "Without the token itself. An unused token stays for a day after it expires.", answer: "The record",
  }, async (c, { service }) => c.json(await service.readToken(identityOf(c).tenantId, c.req.valid("param").token_id), 200)),
  endpoint("anyone", agentsOperations.enrollProbe, {
    "x-secret": "shown", summary: "Enroll a probe", description: "The enrollment token in the body is the credential.",
    answer: "The probe's identity",
  }, async (c, { service }) => {
    const { hostname: host } = new URL(c.req.url);
    const identity = await service.enroll(c.req.valid("json"), { address: c.env.peer.address, host });
    return c.json(identity, 201, { location: `/api/v1/agents/probes/${identity.probe_id}` });
  }),
  endpoint("probe", agentsOperations.renewProbeCertificate, {
    "x-secret": "shown", summary: "Renew a probe's certificate",
    description: "Asked with the current certificate, or with the one before until the new one was first used: a probe that did not get the "
    + "answer asks again.",
    answer: "A new certificate; the old one is valid until the new one is first used",
  }, async (c, { service }) => {
    const { address, probePublicKey: key } = c.env.peer;
    return c.json(await service.renew({ id: probeOf(c), key, address }, c.req.valid("json")), 200);
  }),
  endpoint("agents:read", agentsOperations.listProbes, {
    summary: "List probes", answer: "Probes in the order of their enrollment",
  }, async (c, { service }) => c.json(toAnswer(await service.list(identityOf(c).tenantId, c.req.valid("query"))), 200)),
  endpoint("agents:read", agentsOperations.readProbe, {
    summary: "Read a probe", answer: "The probe",
  }, async (c, { service }) => c.json(await service.read(identityOf(c).tenantId, c.req.valid("param").probe_id), 200)),
  endpoint("agents:read", agentsOperations.listEnrollmentTokens, {
    summary: "List enrollment tokens",
    description: "The tokens themselves are not shown again. An unused token stays in the list for a day after it expires.",
    answer: "Tokens, newest first",
  }, async (c, { service }) => c.json(toAnswer(await service.listTokens(identityOf(c).tenantId, c.req.valid("query"))), 200)),
  endpoint("agents:write", agentsOperations.deleteEnrollmentToken, {
    summary: "Delete an enrollment token", answer: "Deleted",
  }, async (c, { service }) => {
    await service.removeToken(actorOf(c), c.req.valid("param").token_id);
    return c.body(null, 204);
  }),
  endpoint("agents:write", agentsOperations.renameProbe, {
    summary: "Rename a probe", answer: "The probe",
  }, async (c, { service }) => c.json(await service.rename(actorOf(c), c.req.valid("param").probe_id, c.req.valid("json").name), 200)),
  endpoint("agents:read", agentsOperations.listProbeHealth, {
    summary: "List a probe's health reports",
    description: "One report for every five minutes of the last week. The newest report is in the probe's record.",
    answer: "Health reports, newest first",
  }, async (c, { service }) =>
    c.json(toAnswer(await service.health(identityOf(c).tenantId, c.req.valid("param").probe_id, c.req.valid("query"))), 200)),
  endpoint("agents:read", agentsOperations.readProbeConfiguration, {
    summary: "Read a probe's configuration",
    description: "The site's settings, overridden by the probe's own, and the revision that the probe uses.",
    answer: "The probe's configuration",
  }, async (c, { settings }) => c.json(await settings.read(identityOf(c).tenantId, c.req.valid("param").probe_id), 200)),
  endpoint("agents:write", agentsOperations.updateProbeConfiguration, {
    summary: "Change a probe's configuration",
    description: "Fields left out stay; null restores the site's. The probe gets it at once, or when it reconnects. It can only "
    + "narrow what the probe's own file allows.",
    example: { sweep: { packets_per_second: 20 } }, answer: "The probe's configuration",
  }, async (c, { settings }) =>
    c.json(await settings.update(actorOf(c), c.req.valid("param").probe_id, c.req.valid("json")), 200)),
  endpoint("agents:write", agentsOperations.revokeProbe, {
    summary: "Revoke a probe", answer: "Revoked, and its session has ended",
  }, async (c, { service }) => {
    await service.revoke(actorOf(c), c.req.valid("param").probe_id);
    return c.body(null, 204);
  }),
);
