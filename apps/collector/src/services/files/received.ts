import type { List, ProbeFile } from "@lanthorn/contract";
import type { Audit } from "../../gateway/audit.ts";
import type { Actor } from "../../gateway/environment.ts";
import { forbidden, notFound } from "../../gateway/errors.ts";
import { type IdPage, pageById } from "../../gateway/page.ts";
import type { FileFolder } from "./folder.ts";
import type { FileRow, FilesStore } from "./store.ts";

/** Files that probes have sent, for operators. */
export interface ReceivedFiles {
  /** In the order of their ids, which is that in which the probe made them. @throws ApiError NOT_FOUND for no probe of the tenant. */
  list(tenantId: string, probeId: string, page: IdPage): Promise<List<ProbeFile>>;
  /**
   * A whole file; that it is read is in the audit log.
   * @throws ApiError NOT_FOUND for no probe of the tenant, and for a file that is not there or not whole; FORBIDDEN for a capture, which
   * another scope gives.
   */
  open(actor: Actor, probeId: string, id: string): Promise<{ readonly content: AsyncGenerator<Uint8Array>; readonly file: ProbeFile }>;
}

/** @param deps.audit A file is what a network said: who reads it is noted. */
export function createReceivedFiles(deps: {
  readonly store: Pick<FilesStore, "find" | "list" | "count" | "probeExists" | "transaction">;
  readonly folder: Pick<FileFolder, "read">;
  readonly audit: Audit;
}): ReceivedFiles {
  const { store, folder, audit } = deps;
  const checkProbe = async (tenantId: string, probeId: string): Promise<void> => {
    if (!(await store.probeExists(tenantId, probeId))) throw notFound("probe");
  };
  return {
    async list(tenantId, probeId, page) {
      await checkProbe(tenantId, probeId);
      return pageById(page, {
        read: (rows) => store.list(tenantId, probeId, rows), count: () => store.count(tenantId, probeId), show: toFile,
      });
    },
    async open(actor, probeId, id) {
      await checkProbe(actor.tenantId, probeId);
      const row = await store.find(probeId, id);
      if (row?.kind === "capture") {
        await store.transaction((trx) => audit(trx, {
          actor, action: "probe_file.download.refused", target: { type: "probe", id: probeId }, before: null, after: toFile(row),
        }));
        throw forbidden("captures are downloaded at /pcap/{pcap_id}/download", "pcap:download");
      }
      const content = row?.state === "received" ? await folder.read({ probeId, id }) : null;
      if (!row || content === null) throw notFound("whole file of this probe");
      const file = toFile(row);
      await store.transaction((trx) =>
        audit(trx, { actor, action: "probe_file.download", target: { type: "probe", id: probeId }, before: null, after: file }));
      return { content, file };
    },
  };
}

function toFile({ id, probe_id, kind, size, sha256, received, state, created_at, updated_at }: FileRow): ProbeFile {
  // What a capture was made of has come all the same.
  return { id, probe_id, kind, size, sha256, received, state: state === "taken" ? "received" : state as ProbeFile["state"], created_at, updated_at };
}
