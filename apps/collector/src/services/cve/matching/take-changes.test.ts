import { createId } from "@lanthorn/runtime";
import { expect, test } from "vitest";
import { createAllowance } from "./allowance.ts";
import { versionOf } from "./evidence.ts";
import { addSoftware, findSoftware } from "./store/match-rows.ts";
import { takeChanges } from "./take-changes.ts";
import { openMatchWorld } from "./testing/match-world.ts";

const WAITING = 100;

test("what changes while many devices wait is matched before them, and all are matched in the end", async () => {
  const world = await openMatchWorld();
  try {
    const { db, reads } = world.gateway;
    const software = (version: string) => [{ port: 22, vendor: "OpenBSD", product: "OpenSSH", product_version: version }];
    for (let number = 0; number < WAITING; number += 1) await world.addDevice(`10.0.0.${number + 1}`, software(`1.${number}`));
    const order: string[] = [];
    let isWoken = false;
    const judging = {
      begin: () => {}, again: async () => true,
      async add(all: readonly { readonly text: string; readonly fingerprint: string }[]) {
        const rows = all.map(({ text, fingerprint }) => ({
          id: createId(), fingerprint, evidence: text, product: "openbsd:openssh", lineage: "", generation: 0, basis: "", judged_at: "", is_reported: 1,
        }));
        await db.transaction().execute((trx) => addSoftware(trx, rows));
        if (order.length === 0) {
          await world.clock.advance(1000);
          await world.addDevice("10.0.1.1", software("2.0"));
          isWoken = true;
        }
        order.push(...all.map(({ text }) => versionOf(text)));
        // Some may have been added already, among the newest.
        return findSoftware(db, all.map(({ fingerprint }) => fingerprint));
      },
    };
    const deps = { db, reads, clock: world.clock, judging, allowance: createAllowance(world.clock), isWoken: () => isWoken && !(isWoken = false) };
    const failures: unknown[] = [];
    await takeChanges(deps, { stopped: new AbortController().signal, failed: (error) => failures.push(error) });
    expect(failures).toEqual([]);
    expect(order.indexOf("2.0")).toBeLessThan(WAITING / 2);
    expect(new Set(order).size).toBe(WAITING + 1);
    expect((await db.selectFrom("software_changes").selectAll().execute())).toEqual([]);
    expect((await db.selectFrom("service_software").select("id").where("until", "is", null).execute()).length).toBe(WAITING + 1);
  } finally {
    await world.stop();
  }
});
