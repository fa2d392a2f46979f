import { guardsOperations } from "@lanthorn/contract";
import { actorOf, identityOf } from "../../gateway/environment.ts";
import { toAnswer } from "../../gateway/page.ts";
import { endpointsOf } from "../../gateway/endpoint.ts";
import type { CoverageService } from "./coverage.ts";
import type { GuardExceptions } from "./exceptions.ts";
import type { GuardLearning } from "./learning.ts";
import type { GuardsService } from "./service.ts";

const { endpoint, routes } = endpointsOf<{
  readonly guards: GuardsService;
  readonly exceptions: GuardExceptions;
  readonly learning: GuardLearning;
  readonly coverage: CoverageService;
}>();

/** `/sites/{site_id}/coverage`, `/sites/{site_id}/guards` and what is below it. */
export const guardsRoutes = routes(
  endpoint("agents:read", guardsOperations.readSiteGuards, {
    summary: "Read a site's guards",
    description: "What the site's probes watch for attacks by (false DHCP servers, ARP spoofing and the like), and how each probe's guards are.",
    answer: "The guards",
  }, async (c, { guards }) => c.json(await guards.read(identityOf(c).tenantId, c.req.valid("param").site_id), 200)),
  endpoint("agents:write", guardsOperations.updateSiteGuards, {
    summary: "Change a site's guards",
    description: "Fields left out stay. The site's probes get the settings at once, or when they reconnect. A list is added to that of the probe's own "
    + "file. What that file turns off stays off; `roaming_gateways` holds where the site or the file says so.",
    example: { dhcp_servers: ["192.0.2.1", "192.0.2.2"], quiet_seconds: 600 }, answer: "The guards",
  }, async (c, { guards }) => c.json(await guards.update(actorOf(c), c.req.valid("param").site_id, c.req.valid("json")), 200)),
  endpoint("agents:read", guardsOperations.readSiteCoverage, {
    summary: "Read what a site's probes can see",
    description: "What of the network reaches each probe, for what its detectors are therefore blind, and what to change on the switch. Probes report it "
    + "every 30 seconds.",
    answer: "What each probe sees, and what its detectors can see by that",
  }, async (c, { coverage }) => c.json(await coverage.read(identityOf(c).tenantId, c.req.valid("param").site_id), 200)),
  endpoint("agents:write", guardsOperations.learnSiteGuards, {
    summary: "Have a site's probes learn anew what is normal",
    description: "Begins the learning period of the site's probes again, as after a change of the network. What they learned before stays. What contradicts "
    + "itself is not learned, and is reported even then. A probe that does not answer within 30 seconds does not do it.",
    answer: "The probes were asked",
  }, async (c, { learning }) => c.json(await learning.learn(actorOf(c), c.req.valid("param").site_id), 202)),
  endpoint("alerts:read", guardsOperations.listGuardExceptions, {
    summary: "List a site's exceptions from its guards", answer: "Exceptions that have not expired, oldest first",
  }, async (c, { exceptions }) =>
    c.json(toAnswer(await exceptions.list(identityOf(c).tenantId, c.req.valid("param").site_id, c.req.valid("query"))), 200)),
  endpoint("alerts:read", guardsOperations.readGuardException, {
    summary: "Read an exception", answer: "The exception",
  }, async (c, { exceptions }) => {
    const { site_id: siteId, exception_id: exceptionId } = c.req.valid("param");
    return c.json(await exceptions.read(identityOf(c).tenantId, siteId, exceptionId), 200);
  }),
  endpoint("alerts:write", guardsOperations.createGuardException, {
    summary: "Add an exception",
    description: "What matches it is not reported any more by the site's probes, and makes no alerts; one that is open ends after the quiet time of the guards. Every "
    + "part that is given must match. A site has at most 1000 exceptions.",
    example: {
      kind: "arp_spoofing", ip: "192.0.2.16/28", mac: "00:00:5e:00:01:07", reason: "the firewalls' virtual address",
      expires_at: "2026-12-31T00:00:00.000Z",
    },
    answer: "The exception",
  }, async (c, { exceptions }) => {
    const { site_id: siteId } = c.req.valid("param");
    const made = await exceptions.add(actorOf(c), siteId, c.req.valid("json"));
    return c.json(made, 201, { location: `/api/v1/sites/${siteId}/guards/exceptions/${made.id}` });
  }),
  endpoint("alerts:write", guardsOperations.deleteGuardException, {
    summary: "Delete an exception", answer: "Deleted: what matched it is reported again",
  }, async (c, { exceptions }) => {
    const { site_id: siteId, exception_id: exceptionId } = c.req.valid("param");
    await exceptions.remove(actorOf(c), siteId, exceptionId);
    return c.body(null, 204);
  }),
);
