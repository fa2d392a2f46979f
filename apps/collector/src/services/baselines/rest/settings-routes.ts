import { baselinesOperations } from "@lanthorn/contract";
import { endpointsOf } from "../../../gateway/endpoint.ts";
import { actorOf, identityOf } from "../../../gateway/environment.ts";
import { toAnswer } from "../../../gateway/page.ts";
import type { AcceptancesService } from "./acceptances.ts";
import type { DifferencesService } from "./differences.ts";
import type { TemplatesService } from "./templates.ts";
import type { WindowsService } from "./windows.ts";

const { endpoint, routes } = endpointsOf<{
  readonly differences: DifferencesService; readonly acceptances: AcceptancesService; readonly templates: TemplatesService; readonly windows: WindowsService;
}>();

/** What is below `/baselines` with a fixed name: differences, acceptances, templates, windows. They come before `/baselines/{baseline_id}`. */
export const settingsRoutes = routes(
  endpoint("devices:read", baselinesOperations.listBaselineDifferences, {
    summary: "List differences from baselines",
    description: "What is there and what was expected, newest first. Only open differences, unless `state` says otherwise.", answer: "The differences",
  }, async (c, { differences }) => c.json(toAnswer(await differences.list(identityOf(c).tenantId, c.req.valid("query"))), 200)),
  endpoint("devices:read", baselinesOperations.readBaselineDifference, {
    summary: "Read a difference", answer: "The difference, before and after",
  }, async (c, { differences }) => c.json(await differences.read(identityOf(c).tenantId, c.req.valid("param").difference_id), 200)),
  endpoint("alerts:write", baselinesOperations.acceptBaselineDifference, {
    summary: "Accept a difference",
    description: "Says that what differs is right: for the device, for every device with a tag, or for every device of the site. The difference and its "
    + "alert end at once, those of the other devices within a minute. The baseline itself does not change: when the acceptance expires or is deleted, "
    + "what still differs is reported again. Only the same change is accepted: another value is a new difference. A tenant has at most 10000 acceptances.",
    example: { for: "site", reason: "the new monitoring agent", expires_at: "2027-12-31T00:00:00.000Z" }, answer: "The acceptance",
  }, async (c, { differences }) => c.json(await differences.accept(actorOf(c), c.req.valid("param").difference_id, c.req.valid("json")), 201)),
  endpoint("devices:read", baselinesOperations.listBaselineAcceptances, {
    summary: "List acceptances", answer: "Acceptances that have not expired, oldest first",
  }, async (c, { acceptances }) => c.json(toAnswer(await acceptances.list(identityOf(c).tenantId, c.req.valid("query"))), 200)),
  endpoint("alerts:write", baselinesOperations.deleteBaselineAcceptance, {
    summary: "Delete an acceptance", answer: "Deleted: what still differs is reported again within a minute",
  }, async (c, { acceptances }) => {
    await acceptances.remove(actorOf(c), c.req.valid("param").acceptance_id);
    return c.body(null, 204);
  }),
  endpoint("devices:read", baselinesOperations.listBaselineTemplates, {
    summary: "List templates", answer: "Templates, oldest first",
  }, async (c, { templates }) => c.json(toAnswer(await templates.list(identityOf(c).tenantId, c.req.valid("query"))), 200)),
  endpoint("devices:write", baselinesOperations.createBaselineTemplate, {
    summary: "Add a template",
    description: "Ports and services that all devices with a tag are to have: there they are not new, and they are reported when they are gone. Give the facts, "
    + "or a device whose baseline has them. A template has at most 500 facts, a tenant at most 1000 templates.",
    example: {
      name: "Web servers", tag: "web", facts: [{ kind: "port", key: "tcp/443", value: "open" }, { kind: "service", key: "tcp/443", value: "https nginx" }],
    },
    answer: "The template",
  }, async (c, { templates }) => {
    const made = await templates.create(actorOf(c), c.req.valid("json"));
    return c.json(made, 201, { location: `/api/v1/baselines/templates/${made.id}` });
  }),
  endpoint("devices:read", baselinesOperations.readBaselineTemplate, {
    summary: "Read a template", answer: "The template",
  }, async (c, { templates }) => c.json(await templates.read(identityOf(c).tenantId, c.req.valid("param").template_id), 200)),
  endpoint("devices:write", baselinesOperations.updateBaselineTemplate, {
    summary: "Change a template", description: "Fields left out stay. `facts` replaces all facts of the template.",
    example: { facts: [{ kind: "port", key: "tcp/443", value: "open" }] }, answer: "The template",
  }, async (c, { templates }) => c.json(await templates.update(actorOf(c), c.req.valid("param").template_id, c.req.valid("json")), 200)),
  endpoint("devices:write", baselinesOperations.deleteBaselineTemplate, {
    summary: "Delete a template", answer: "Deleted: its facts do not count any more",
  }, async (c, { templates }) => {
    await templates.remove(actorOf(c), c.req.valid("param").template_id);
    return c.body(null, 204);
  }),
  endpoint("devices:read", baselinesOperations.listBaselineWindows, {
    summary: "List maintenance windows", answer: "Windows that are not over, oldest first",
  }, async (c, { windows }) => c.json(toAnswer(await windows.list(identityOf(c).tenantId, c.req.valid("query"))), 200)),
  endpoint("alerts:write", baselinesOperations.createBaselineWindow, {
    summary: "Add a maintenance window",
    description: "While it lasts, differences of the site, of one device, or of the devices with a tag are not reported. After a window with the effect `hold`, "
    + "what still differs is reported. In a window with the effect `learn`, what differs becomes part of the baseline. A window ends within 366 days; a "
    + "tenant has at most 1000.",
    example: {
      site_id: "01939f6e-2a10-7c3e-8f00-000000000001", begins_at: "2026-11-20T22:00:00.000Z", ends_at: "2026-11-21T02:00:00.000Z", effect: "hold",
      reason: "new switches",
    },
    answer: "The window",
  }, async (c, { windows }) => c.json(await windows.create(actorOf(c), c.req.valid("json")), 201)),
  endpoint("alerts:write", baselinesOperations.deleteBaselineWindow, {
    summary: "Delete a maintenance window", answer: "Deleted: what still differs is reported within a minute",
  }, async (c, { windows }) => {
    await windows.remove(actorOf(c), c.req.valid("param").window_id);
    return c.body(null, 204);
  }),
);
