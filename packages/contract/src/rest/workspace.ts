import * as z from "zod";
import { Id, Instant } from "../values.ts";
import { IdPageQuery } from "./envelopes.ts";
import { PlainText, withoutControls } from "./plain-text.ts";

/** Lists of which views can be saved. */
export const ViewSubject = z.enum(["devices", "alerts"]);
export type ViewSubject = z.infer<typeof ViewSubject>;

const fields = {
  name: PlainText(120).min(1).describe("The view's name, at most 120 characters."),
  filter: PlainText(2000).describe("The list's filter, in its filter language. Empty for all."),
  sort: z.string().max(64).regex(/^-?[a-z_]*$/, "must be a field of the list, with or without -").describe("The list's order, as its `sort` takes it. Empty for its own."),
  columns: z.array(z.string().min(1).max(64).regex(/^[a-z0-9_]+$/, "must be names of columns")).max(64).describe("Names of the columns, in their order. Empty for the usual ones."),
  shared: z.boolean().describe("Whether everybody of the tenant sees it. To share one takes the scope to change what it lists: `devices:write` or `alerts:write`."),
};

/** A saved view of a list: filter, order and columns. */
export const View = z.object({
  id: Id.describe("The view's id."),
  list: ViewSubject.describe("The list that it is of."),
  ...fields,
  owner: z.object({ id: Id.describe("The user's id."), username: z.string().describe("The user's name.") })
    .describe("The user who made it, with whom it is deleted."),
  is_own: z.boolean().describe("Whether it is the caller's own."),
  created_at: Instant.describe("When it was made."),
  updated_at: Instant.describe("When it was changed last."),
});
export type View = z.infer<typeof View>;

/** A view to be saved. */
export const ViewCreate = z.strictObject({
  list: ViewSubject.describe("The list that it is of."), name: fields.name, filter: fields.filter.default(""), sort: fields.sort.default(""),
  columns: fields.columns.default([]), shared: fields.shared.default(false),
});
export type ViewCreate = z.infer<typeof ViewCreate>;

/** Fields left out stay. */
export const ViewUpdate = z.strictObject(fields).partial();
export type ViewUpdate = z.infer<typeof ViewUpdate>;

/** One's own views, and those that are shared. */
export const ViewsQuery = IdPageQuery.extend({ list: ViewSubject.optional().describe("Only views of this list.") });
export type ViewsQuery = z.infer<typeof ViewsQuery>;

const defaultView = (list: string) => Id.nullable().describe(`The view with which the list of ${list} begins. Null for none.`);
const DefaultViews = z.object({ devices: defaultView("devices"), alerts: defaultView("alerts") });

const Columns = z.object({ devices: fields.columns.describe("Names of the columns of the list of devices, in their order. Empty for the usual ones.") });

/** How a person wants to see things, in every browser. */
export const Preferences = z.object({
  theme: z.enum(["system", "light", "dark"]).describe("Colors: those of the system, light or dark."),
  zone: z.enum(["local", "utc", "site"]).describe("The zone in which times are shown: the browser's, UTC, or the site's."),
  single_keys: z.boolean().describe("Whether single keys are shortcuts."),
  site_id: Id.nullable().describe("The site with which pages begin. Null for all."),
  default_views: DefaultViews.describe("The views with which lists begin."),
  columns: Columns.describe("Which columns lists have, where no view says it."),
  last_seen: Instant.nullable().describe("When the person last looked at what changed. Null while that is not known."),
});
export type Preferences = z.infer<typeof Preferences>;

/** Fields left out stay. */
export const PreferencesUpdate = z.strictObject({
  theme: Preferences.shape.theme, zone: Preferences.shape.zone, single_keys: Preferences.shape.single_keys, site_id: Preferences.shape.site_id,
  last_seen: Preferences.shape.last_seen.describe("When the person last looked at what changed. A moment that is yet to come counts as now."),
  default_views: z.strictObject(DefaultViews.shape).partial().describe("The views with which lists begin. Those left out stay."),
  columns: z.strictObject(Columns.shape).partial().describe("Which columns lists have. Lists left out stay."),
}).partial();
export type PreferencesUpdate = z.infer<typeof PreferencesUpdate>;

/** A map has its infrastructure, and seldom more than some hundred switches of a site. */
const MAX_PINS = 1000;
const Coordinate = z.number().min(-1_000_000).max(1_000_000);

const Pins = z.array(z.object({
  node: withoutControls(z.string().min(1).max(512)).describe("The node's `id` in the topology."),
  x: Coordinate.describe("Where it is from left to right, in the map's own units."),
  y: Coordinate.describe("Where it is from top to bottom."),
})).max(MAX_PINS).refine((pins) => new Set(pins.map(({ node }) => node)).size === pins.length, "must have each node once");

/** Where people have put the nodes of a site's map. */
export const MapPins = z.object({
  site_id: Id.describe("The site."),
  pins: Pins.describe(`Nodes with their places, at most ${MAX_PINS}. Others are laid out around them.`),
  updated_by: z.string().nullable().describe("Name of the user who changed them last. Null while nobody has."),
  updated_at: Instant.nullable().describe("When they were changed last. Null while they were not."),
});
export type MapPins = z.infer<typeof MapPins>;

/** All pins of the map, in place of those that it has. */
export const MapPinsUpdate = z.strictObject({ pins: Pins.describe(`All nodes that have a place, at most ${MAX_PINS}. An empty list unpins all.`) });
export type MapPinsUpdate = z.infer<typeof MapPinsUpdate>;
