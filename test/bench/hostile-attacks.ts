import { configDiff, failedLogins, jsonBombs, refreshedTokens, replays } from "./hostile-attacks-requests.ts";
import { heldConnections, streams } from "./hostile-attacks-connections.ts";
import { alertStorm, compression, macFlood, pumpedTexts, queueIds, qos2 } from "./hostile-attacks-probe.ts";
import type { Attack } from "./hostile-means.ts";

/** Every attack by its name, in the order in which they are made. */
export const ATTACKS: Readonly<Record<string, Attack>> = {
  "json-bombs": jsonBombs,
  "held-connections": heldConnections,
  streams,
  "queue-ids": queueIds,
  qos2,
  compression,
  "alert-storm": alertStorm,
  "mac-flood": macFlood,
  "pumped-texts": pumpedTexts,
  "refreshed-tokens": refreshedTokens,
  "config-diff": configDiff,
  "failed-logins": failedLogins,
  replays,
};
