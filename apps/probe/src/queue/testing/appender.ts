import { silentLog, systemClock, toInstant } from "@lanthorn/runtime";
import { openProbeDatabase } from "../database.ts";
import { createOutbox } from "../outbox.ts";

/** Appends events until it is killed, each named after its sequence, printing the sequence once `append` has returned. */
const { db } = openProbeDatabase(process.argv[2] ?? "", { clock: systemClock, log: silentLog });
const outbox = createOutbox({ db, clock: systemClock, log: silentLog, budgetBytes: 1e9, onAppended: () => undefined });
const append = () => {
  const seq = outbox.state().lastSeq + 1;
  outbox.append([{ type: "error", occurred_at: toInstant(systemClock.now()), data: { code: "test", message: String(seq) } }]);
  process.stdout.write(`${seq}\n`);
  setImmediate(append);
};
append();
