import { EVENT_TYPES, EVENTS, type EventType } from "@lanthorn/contract";
import { describe, expect, test } from "vitest";
import { createDeliveryReaction } from "./deliveries/reaction.ts";
import { REACTION_ORDER, REACTIONS, type ServiceReactions } from "./reactions.ts";
import { alertEvent, createAlertReaction } from "./services/alerts/reaction/reaction.ts";
import { createAnomaliesReaction } from "./services/anomalies/reaction.ts";
import { createAnomaliesStore } from "./services/anomalies/store.ts";
import { createQueriesReaction } from "./services/dns/queries/reaction.ts";
import { createHoneypotReaction } from "./services/honeypots/sessions/reaction.ts";
import { createIdsReaction } from "./services/ids/noise/reaction.ts";
import { createNoiseStore } from "./services/ids/noise/store.ts";
import { createPcapReaction } from "./services/pcap/reaction.ts";
import { scanReaction } from "./services/scans/reaction.ts";
import { neighborReaction } from "./services/topology/neighbor-reaction.ts";
import { switchReaction } from "./services/topology/switch-reaction.ts";

/** Nothing is read or written here. */
const NO_DATABASE = {} as Parameters<typeof createNoiseStore>[0];
const reactions: ServiceReactions = {
  intrusions: createIdsReaction({ store: createNoiseStore(NO_DATABASE), clock: { now: () => 0 } }), anomalies: createAnomaliesReaction({ store: createAnomaliesStore(NO_DATABASE), clock: { now: () => 0 } }),
  honeypots: createHoneypotReaction({ seal: String, open: () => null }), alerts: createAlertReaction({ maxOpen: 1 }), neighbors: neighborReaction, switches: switchReaction, scans: scanReaction,
  pcaps: createPcapReaction({ quota: { dayRecords: 1, records: 1 }, nudge: () => undefined }), queries: createQueriesReaction({ keepDays: 1 }), deliveries: createDeliveryReaction(),
};
const rowsOf = (name: string) => EVENT_TYPES.filter((type) => (REACTIONS[type].reactions as readonly string[]).includes(name));

describe("the table of reactions", () => {
  test.each(REACTION_ORDER)("gives %s the events that it knows, and no other", (name) => {
    const known: readonly string[] = reactions[name].types;
    expect(EVENT_TYPES.filter((type) => known.includes(type))).toEqual(rowsOf(name));
    expect(reactions[name].types.length).toBeGreaterThan(0);
  });

  test("has a row for each event of the contract, and a projection for each that a probe sends", () => {
    expect(Object.keys(REACTIONS).toSorted()).toEqual(EVENT_TYPES.toSorted());
    const projected = EVENT_TYPES.filter((type) => "projection" in REACTIONS[type]);
    expect(projected).toEqual(EVENT_TYPES.filter((type) => EVENTS[type].from === "probe"));
  });

  test("lists reactions in the order in which they run", () => {
    for (const type of EVENT_TYPES) {
      const listed: readonly string[] = REACTIONS[type].reactions;
      expect([type, ...listed]).toEqual([type, ...REACTION_ORDER.filter((name) => listed.includes(name))]);
    }
  });

  test("lets nothing that alerts raise raise an alert again", () => {
    const row = { resolved_by: null } as Parameters<typeof alertEvent>[0];
    const raised: readonly EventType[] = [alertEvent(row, "", "").type, alertEvent({ ...row, resolved_by: "x" }, "", "").type];
    expect(raised).toEqual(["alert_created", "alert_resolved"]);
    expect(raised.filter((type) => (REACTIONS[type].reactions as readonly string[]).includes("alerts"))).toEqual([]);
  });
});
