import * as z from "zod";
import { Id } from "../../values.ts";
import { Changes, ChangesQuery } from "../changes.ts";
import { listEnvelope } from "../envelopes.ts";
import { operations } from "../operation.ts";
import { MapPins, MapPinsUpdate, Preferences, PreferencesUpdate, View, ViewCreate, ViewsQuery, ViewUpdate } from "../workspace.ts";

const OfView = z.object({ view_id: Id });
const OfSite = z.object({ site_id: Id });

/** How people look at things: saved views, preferences, what changed since they looked last, and where they have put the nodes of a map. */
export const workspaceOperations = operations({
  listViews: { target: "GET /views", query: ViewsQuery, status: 200, answer: listEnvelope(View) },
  createView: { target: "POST /views", body: ViewCreate, status: 201, answer: View },
  readView: { target: "GET /views/{view_id}", params: OfView, status: 200, answer: View },
  updateView: { target: "PUT /views/{view_id}", params: OfView, body: ViewUpdate, status: 200, answer: View },
  deleteView: { target: "DELETE /views/{view_id}", params: OfView, status: 204 },
  readPreferences: { target: "GET /me/preferences", status: 200, answer: Preferences },
  updatePreferences: { target: "PUT /me/preferences", body: PreferencesUpdate, status: 200, answer: Preferences },
  /** What changed since a moment, in numbers. */
  countChanges: { target: "GET /changes", query: ChangesQuery, status: 200, answer: Changes },
  readMapPins: { target: "GET /topology/pins/{site_id}", params: OfSite, status: 200, answer: MapPins },
  updateMapPins: { target: "PUT /topology/pins/{site_id}", params: OfSite, body: MapPinsUpdate, status: 200, answer: MapPins },
});
