import { workspaceOperations } from "@lanthorn/contract";
import { actorOf, identityOf } from "../../gateway/environment.ts";
import { endpointsOf } from "../../gateway/endpoint.ts";
import { toAnswer } from "../../gateway/page.ts";
import type { ChangesService } from "./changes.ts";
import type { MapPinsService } from "./pins.ts";
import type { PreferencesService } from "./preferences.ts";
import type { Views } from "./views.ts";

const { endpoint, routes } = endpointsOf<{
  readonly views: Views; readonly preferences: PreferencesService; readonly pins: MapPinsService;
  readonly changes: ChangesService;
}>();

/** `/views`, `/me/preferences`, `/changes` and `/topology/pins`. */
export const workspaceRoutes = routes(
  endpoint("signed-in", workspaceOperations.listViews, {
    summary: "List saved views", description: "Your own, and those that others share.", answer: "Views in the order in which they were made",
  }, async (c, { views }) => c.json(toAnswer(await views.list(identityOf(c), c.req.valid("query"))), 200)),
  endpoint("signed-in", workspaceOperations.createView, {
    summary: "Save a view", description: "A user has at most 100.",
    example: { list: "devices", name: "Printers of the lab", filter: "type:printer tag:lab", sort: "-last_seen", columns: ["ip", "hostname"], shared: false },
    answer: "The view",
  }, async (c, { views }) => {
    const view = await views.create({ identity: identityOf(c), actor: actorOf(c) }, c.req.valid("json"));
    return c.json(view, 201, { location: `/api/v1/views/${view.id}` });
  }),
  endpoint("signed-in", workspaceOperations.readView, {
    summary: "Read a saved view", answer: "The view",
  }, async (c, { views }) => c.json(await views.read(identityOf(c), c.req.valid("param").view_id), 200)),
  endpoint("signed-in", workspaceOperations.updateView, {
    summary: "Change a saved view", description: "Fields left out stay. Your own; with the scope `users:write` a shared one of anybody.", answer: "The view",
  }, async (c, { views }) => {
    const caller = { identity: identityOf(c), actor: actorOf(c) };
    return c.json(await views.update(caller, c.req.valid("param").view_id, c.req.valid("json")), 200);
  }),
  endpoint("signed-in", workspaceOperations.deleteView, {
    summary: "Delete a saved view", description: "Your own; with the scope `users:write` a shared one of anybody.", answer: "Deleted",
  }, async (c, { views }) => {
    await views.remove({ identity: identityOf(c), actor: actorOf(c) }, c.req.valid("param").view_id);
    return c.body(null, 204);
  }),
  endpoint("signed-in", workspaceOperations.readPreferences, {
    summary: "Read your preferences", answer: "Preferences; what was never chosen is as it is by default",
  }, async (c, { preferences }) => c.json(await preferences.read(identityOf(c)), 200)),
  endpoint("signed-in", workspaceOperations.updatePreferences, {
    summary: "Change your preferences", description: "Fields left out stay. A change of `last_seen` alone is not in the audit log.", example: { theme: "dark", zone: "utc" }, answer: "Preferences",
  }, async (c, { preferences }) => c.json(await preferences.update({ identity: identityOf(c), actor: actorOf(c) }, c.req.valid("json")), 200)),
  endpoint("signed-in", workspaceOperations.countChanges, {
    summary: "Count what changed since a moment",
    description: "Devices, alerts, vulnerabilities, configurations and probes, of the whole tenant and of each site. What the event log has is counted as far back as it is kept.",
    answer: "Numbers",
  }, async (c, { changes }) => c.json(await changes.count(identityOf(c), c.req.valid("query")), 200)),
  endpoint("devices:read", workspaceOperations.readMapPins, {
    summary: "Read where the nodes of a site's map are pinned", description: "The same for all users of the tenant.", answer: "The pins",
  }, async (c, { pins }) => c.json(await pins.read(identityOf(c).tenantId, c.req.valid("param").site_id), 200)),
  endpoint("devices:write", workspaceOperations.updateMapPins, {
    summary: "Pin the nodes of a site's map", description: "All pins, in place of those that it has. With `If-Match` nobody else's are lost.",
    example: { pins: [{ node: "01989f2e-7c11-7aa0-b3c4-5d6e7f809103", x: 120, y: 40 }] }, answer: "The pins",
  }, async (c, { pins }) => c.json(await pins.update(actorOf(c), c.req.valid("param").site_id, c.req.valid("json")), 200)),
);
