import type { EventData } from "@lanthorn/contract";
import { type Clock, describeError, type Log, toInstant } from "@lanthorn/runtime";
import type { Transaction } from "kysely";
import type { Schema } from "../../../db/schema.ts";
import type { EventLog } from "../../../events/log.ts";
import { createJob, type Job } from "../../../jobs/job.ts";
import type { ImportStore, ReceivedPcap } from "../store/import-store.ts";
import type { PcapRow } from "../store/pcaps-store.ts";
import type { CaptureStore } from "./capture-store.ts";
import type { SealedFiles } from "./sealed-files.ts";

/** Files that probes have sent, as far as they lie on this machine. */
export interface ProbeContents {
  /** The content of a file that is whole and verified; null where it is not here. */
  read(file: { readonly probeId: string; readonly id: string }): Promise<AsyncIterable<Uint8Array> | null>;
  remove(file: { readonly probeId: string; readonly id: string }): Promise<void>;
}

/** Makes captures of files that have come and of what was said of them. */
export interface PcapImport {
  readonly job: Job<void>;
  /** Runs the job soon, as when something that it waits for has come. */
  nudge(): void;
}

const RUN_EVERY_MS = 15_000;
/** Long enough for the transaction that nudges to be committed. */
const NUDGE_MS = 100;
const AT_ONCE = 20;
/** After this an upload has begun, however many files wait at the probe; one that begins later is an upload again. */
const UPLOAD_BEGINS_MS = 600_000;
/** Left on the disk for others. */
const RESERVE_BYTES = 256 * 1024 * 1024;

/** @param deps.onStored Called when a site has one more file. */
export function createPcapImport(deps: {
  readonly store: ImportStore; readonly files: CaptureStore; readonly sealed: SealedFiles; readonly contents: () => ProbeContents;
  readonly log: Pick<EventLog, "append">; readonly published: (tenantId: string, fromSeq: number) => void;
  readonly onStored: (siteId: string) => Promise<void>; readonly clock: Clock; readonly logger: Log;
}): PcapImport {
  const { store, files, sealed, clock, logger } = deps;
  const now = () => toInstant(clock.now());

  async function take({ row, file }: ReceivedPcap): Promise<void> {
    const name = { probeId: row.probe_id, id: row.id };
    const fault = row.deleted_at !== null ? "" : faultOf(row, file);
    if (fault === "") await store.drop(row.probe_id, row.id);
    if (fault !== null) {
      if (fault !== "") await store.settle(row, { state: "failed", detail: fault, updated_at: now() }, "failed", () => Promise.resolve());
      return deps.contents().remove(name);
    }
    const content = await deps.contents().read(name);
    // Another replica has it, which takes it.
    if (!content) return;
    if ((await files.free()) < file.size + RESERVE_BYTES) throw new Error("the disk of the captures is full");
    const { keySealed, sha256, draft } = await sealed.put({ id: row.id, size: file.size }, content);
    let fromSeq: number | null = null;
    try {
      if (sha256 !== file.sha256) throw new Error(`the file of the capture ${row.id} changed on the disk`);
      // With the row that has its key: another collector that shares the folder may have taken it meanwhile, under another key.
      await store.settle(row, storedAs(keySealed, file.size, now()), "taken", async (trx) => {
        fromSeq = (await append(trx, row)).fromSeq;
        await draft.keep();
      });
    } finally {
      await draft.discard();
    }
    if (fromSeq === null) return;
    await deps.contents().remove(name);
    deps.published(row.tenant_id, fromSeq);
    logger.info({ pcap_id: row.id, probe_id: row.probe_id, bytes: file.size }, "stored a capture");
    await deps.onStored(row.site_id);
  }

  const append = (trx: Transaction<Schema>, row: PcapRow) => {
    const at = now();
    return deps.log.append(trx, row.tenant_id, [{
      type: "pcap_ready", data: readyOf(row), siteId: row.site_id, probeId: row.probe_id, deviceId: null, queueId: null, probeSeq: null,
      occurredAt: at, receivedAt: at,
    }]);
  };

  const job = createJob({ clock, log: logger }, {
    name: "pcap-import", everyMs: RUN_EVERY_MS, who: "each replica", failure: "captures could not be stored, trying again in some seconds",
    async run(stopped) {
      await store.endUploads(toInstant(clock.now() - UPLOAD_BEGINS_MS), now());
      // One that cannot be stored, or lies on another machine, must not keep the others from it.
      for (let page = await store.received({ after: "", limit: AT_ONCE }); page.length > 0;) {
        for (const one of page) {
          if (stopped.aborted) return;
          await take(one).catch((error: unknown) => logger.error({ pcap_id: one.row.id, reason: describeError(error) }, "a capture could not be stored; trying again"));
        }
        page = await store.received({ after: page.at(-1)?.row.id ?? "", limit: AT_ONCE });
      }
    },
  });
  let isNudged = false;
  return {
    job,
    nudge() {
      if (isNudged) return;
      isNudged = true;
      clock.after(NUDGE_MS, () => {
        isNudged = false;
        void job.runSoon();
      });
    },
  };
}

/** @returns Why the file is not the one that was announced; null where it is. */
function faultOf(row: PcapRow, { size, sha256 }: ReceivedPcap["file"]): string | null {
  if (row.sha256 === sha256 && row.size_bytes === size) return null;
  return `the probe sent another file than it had announced: ${size} bytes, SHA-256 ${sha256}`;
}

function storedAs(keySealed: string, size: number, at: string): Partial<PcapRow> {
  return { state: "ready", key_sealed: keySealed, stored_at: at, stored_bytes: size, updated_at: at };
}

function readyOf(row: PcapRow): EventData<"pcap_ready"> {
  const at = row.started_at ?? row.created_at;
  return {
    pcap_id: row.id, file_name: row.file_name, size_bytes: row.size_bytes, packets: row.packets, started_at: at, finished_at: row.finished_at ?? at,
    filter: row.filter, reason: row.requested_by === null ? row.trigger : `${row.trigger} by ${row.requested_by}`.slice(0, 255),
  };
}
