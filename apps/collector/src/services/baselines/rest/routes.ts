import { baselinesOperations, MAX_BASELINE_FACTS } from "@lanthorn/contract";
import { endpointsOf } from "../../../gateway/endpoint.ts";
import { actorOf, identityOf } from "../../../gateway/environment.ts";
import { toAnswer } from "../../../gateway/page.ts";
import type { BaselineEditor } from "./change-baselines.ts";
import type { BaselineJudge } from "./judge-baselines.ts";
import type { BaselineReader } from "./read-baselines.ts";

const { endpoint, routes } = endpointsOf<{ readonly reader: BaselineReader; readonly editor: BaselineEditor; readonly judge: BaselineJudge }>();

/** `/baselines` and `/baselines/{baseline_id}`. */
export const baselinesRoutes = routes(
  endpoint("devices:read", baselinesOperations.listBaselines, {
    summary: "List baselines",
    description: "What is normal of sites and of devices, without the facts. Every site has one baseline, and every device has one. The collector makes "
    + "them when it first knows something of the site or the device. Oldest first.",
    answer: "The baselines",
  }, async (c, { reader }) => c.json(toAnswer(await reader.list(identityOf(c).tenantId, c.req.valid("query"))), 200)),
  endpoint("devices:read", baselinesOperations.readBaseline, {
    summary: "Read a baseline", description: "Without its facts, which have a list of their own.", answer: "The baseline",
  }, async (c, { reader }) => c.json(await reader.read(identityOf(c).tenantId, c.req.valid("param").baseline_id), 200)),
  endpoint("devices:write", baselinesOperations.updateBaseline, {
    summary: "Change a baseline's settings",
    description: "Fields left out stay. `expected` is for a device. `missing_minutes` and `severities` are for a site and count for its devices. The "
    + "comparison uses the new settings within a minute.",
    example: { missing_minutes: 30, severities: { certificate: "off", port: "high" } }, answer: "The baseline",
  }, async (c, { editor }) => c.json(await editor.update(actorOf(c), c.req.valid("param").baseline_id, c.req.valid("json")), 200)),
  endpoint("devices:read", baselinesOperations.listBaselineFacts, {
    summary: "List a baseline's facts", description: "Each with where it comes from and when it was last looked for. By kind and key.",
    answer: "The facts",
  }, async (c, { reader }) => c.json(toAnswer(await reader.facts(identityOf(c).tenantId, c.req.valid("param").baseline_id, c.req.valid("query"))), 200)),
  endpoint("devices:write", baselinesOperations.editBaselineFacts, {
    summary: "Set and remove facts by hand",
    description: "Sets facts that are right and removes those that are not. Learning does not change the facts that you set. A baseline has at most "
    + `${MAX_BASELINE_FACTS} facts. Facts of presence are learned only.`,
    example: { set: [{ kind: "gateway", key: "192.0.2.1", value: "00:1b:21:aa:bb:07" }], remove: [], reason: "the new firewall" },
    answer: "The baseline",
  }, async (c, { editor }) => c.json(await editor.edit(actorOf(c), c.req.valid("param").baseline_id, c.req.valid("json")), 200)),
  endpoint("devices:write", baselinesOperations.approveBaseline, {
    summary: "Approve a baseline",
    description: "Says that the baseline is right. A baseline that is learning ends its learning: from now on, differences are reported. A frozen baseline "
    + "stays frozen. `take_differences` makes what differs now part of the baseline; those differences and their alerts end within a minute. "
    + "`devices` does the same with every device of the site, which takes some seconds at a large one.",
    example: { take_differences: true, reason: "checked after the move" }, answer: "The baseline",
  }, async (c, { judge }) => c.json(await judge.approve(actorOf(c), c.req.valid("param").baseline_id, c.req.valid("json")), 200)),
  endpoint("devices:write", baselinesOperations.freezeBaseline, {
    summary: "Freeze a baseline",
    description: "Nothing becomes part of the baseline by itself any more. What a scan looks at for the first time is then reported as well.",
    answer: "The baseline",
  }, async (c, { judge }) => c.json(await judge.freeze(actorOf(c), c.req.valid("param").baseline_id), 200)),
  endpoint("devices:write", baselinesOperations.unfreezeBaseline, {
    summary: "Unfreeze a baseline", description: "It is active again: what is looked at for the first time becomes part of it.", answer: "The baseline",
  }, async (c, { judge }) => c.json(await judge.unfreeze(actorOf(c), c.req.valid("param").baseline_id), 200)),
  endpoint("devices:write", baselinesOperations.resetBaseline, {
    summary: "Reset a baseline",
    description: "Forgets all facts, also those that were set by hand, and learns again. Settings, acceptances and templates stay. Differences and their "
    + "alerts end within a minute. `devices` does the same with every device of the site, which takes some seconds at a large one.",
    example: { learning_minutes: 1440, devices: false, reason: "the office moved" }, answer: "The baseline, learning",
  }, async (c, { judge }) => c.json(await judge.reset(actorOf(c), c.req.valid("param").baseline_id, c.req.valid("json")), 200)),
);
