import type { ProbeEvent } from "@lanthorn/contract/uplink";
import { createFakeClock } from "@lanthorn/runtime";
import { describe, expect, test } from "vitest";
import { emptyFacts } from "./advert.ts";
import { createNeighborAnnouncer } from "./neighbor-announcer.ts";
import type { Neighbor } from "./neighbor-table.ts";
import { createEventBudget } from "./event-budget.ts";

const neighbor = (n: number): Neighbor => ({
  key: `sw${n}`, protocol: "lldp", localInterface: "lan0", sourceMac: "00:11:22:33:44:55", ttlSeconds: 120,
  facts: emptyFacts({ chassis_id: `sw${n}`, chassis_id_type: "local", port_id: "1", port_id_type: "local" }),
  // It was heard for eleven minutes before there was room in the budget.
  firstHeardAt: 0, heardAt: 660_000, seenAt: 0, endsAt: 1e9, reported: null, reportedAt: Number.NEGATIVE_INFINITY, pauseMs: 0, gone: null,
});

function open(isDiskFull = false) {
  const events: ProbeEvent[] = [];
  const announcer = createNeighborAnnouncer({
    store: { load: () => [], save: () => undefined, remove: () => undefined }, budget: createEventBudget(), clock: createFakeClock(),
    interfaceName: "lan0",
    publisher: {
      publish(more) {
        if (!isDiskFull) events.push(...more);
        return !isDiskFull;
      },
      publishAnyway: () => undefined,
    },
  });
  return { events, announcer };
}

describe("announcing neighbors", () => {
  test("newcomers that waited spend the budget of newcomers, and leave that of known neighbors alone", () => {
    const { events, announcer } = open();
    const known = neighbor(0);
    expect(announcer.announce(known, 660_000)).toBe("published");
    const outcomes = Array.from({ length: 200 }, (_, n) => announcer.announce(neighbor(n + 1), 661_000));
    expect(outcomes.filter((outcome) => outcome === "over-budget")).toHaveLength(200 - 119);
    known.facts = { ...known.facts, system_name: "renamed" };
    expect(announcer.announce(known, 720_500)).toBe("published");
    expect(events.at(-1)?.data).toMatchObject({ chassis_id: "sw0", changed: ["system_name"] });
  });

  test("what the disk did not take waits, and is not marked as reported", () => {
    const one = neighbor(1);
    expect(open(true).announcer.announce(one, 660_000)).toBe("waiting");
    expect(one.reported).toBeNull();
  });
});
