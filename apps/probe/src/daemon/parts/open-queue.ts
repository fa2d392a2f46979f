import { join } from "node:path";
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

/** @param onAppended There is something to send. @throws As `openProbeDatabase`. */
export function openQueue(context: RoundContext, inheritance: Inheritance | null, onAppended: () => void): Queue {
  const { configuration, clock, log, lifecycle } = context;
  const database = openProbeDatabase(join(configuration.data_dir, "probe.db"), {
    clock, log, owner: context.identity().probe_id, ...(inheritance ? { distrust: inheritance.reason } : {}),
  });
  lifecycle.onClose("database", () => database.close());
  const outbox = createOutbox({
    db: database.db, clock, log, onAppended,
    budgetBytes: configuration.queue.disk_budget_bytes,
    onCorrupt: (error) => context.finish({ kind: "corrupt", reason: describeError(error) }),
    quarantined: database.quarantined,
    ...(inheritance ? { carry: inheritance.carry } : {}),
  });
  lifecycle.onClose("outbox", () => outbox.close());
  return { db: database.db, outbox };
}
