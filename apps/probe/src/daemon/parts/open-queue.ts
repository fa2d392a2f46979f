import { join } from "node:path";
import type { ProbeEvent } from "@lanthorn/contract/uplink";
import { describeError } from "@lanthorn/runtime";
import type { Database } from "better-sqlite3";
import { openProbeDatabase } from "../../queue/database.ts";
import { createOutbox, type Outbox } from "../../queue/outbox.ts";
import type { Inheritance, RoundContext } from "./round-context.ts";

/** The probe's state and its queue of events, in one database. */
export interface Queue {
  readonly db: Database;
  readonly outbox: Outbox;
}

/**
 * @param hooks.onAppended There is something to send.
 * @param hooks.onEvent Called with each event when it is appended; what it is part of may still be rolled back, and is then appended again.
 * @throws As `openProbeDatabase`.
 */
export function openQueue(context: RoundContext, inheritance: Inheritance | null, hooks: {
  readonly onAppended: () => void; readonly onEvent: (event: ProbeEvent) => void;
}): Queue {
  const { configuration, clock, log, lifecycle } = context;
  const database = openProbeDatabase(join(configuration.data_dir, "probe.db"), {
    clock, log, owner: context.identity().probe_id, ...(inheritance ? { distrust: inheritance.reason } : {}),
  });
  lifecycle.onClose("database", () => database.close());
  const outbox = createOutbox({
    db: database.db, clock, log, onAppended: hooks.onAppended,
    budgetBytes: configuration.queue.disk_budget_bytes,
    onCorrupt: (error) => context.finish({ kind: "corrupt", reason: describeError(error) }),
    quarantined: database.quarantined,
    ...(inheritance ? { carry: inheritance.carry } : {}),
  });
  lifecycle.onClose("outbox", () => outbox.close());
  return {
    db: database.db,
    outbox: {
      ...outbox,
      append(events) {
        outbox.append(events);
        for (const event of events) hooks.onEvent(event);
      },
    },
  };
}
