import type { PcapFetching } from "@lanthorn/contract";
import { type Clock, describeError, type Log, toInstant } from "@lanthorn/runtime";
import type { Audit } from "../../gateway/audit.ts";
import type { Actor } from "../../gateway/environment.ts";
import { ApiError, notFound } from "../../gateway/errors.ts";
import { badRequest } from "../../gateway/route.ts";
import type { ByteRange } from "./files/sealed-content.ts";
import type { SealedFiles } from "./files/sealed-files.ts";
import type { ProbeCommands } from "./probe-commands.ts";
import { parseRange } from "./range.ts";
import { downloadName, toAudited } from "./records.ts";
import type { SiteCaptureSettings } from "./site-settings.ts";
import type { PcapRow, PcapsStore } from "./store/pcaps-store.ts";

/** A file, or a range of it, that is being read. */
export interface PcapDownload {
  readonly name: string;
  readonly size: number;
  readonly sha256: string;
  /** Null for the whole. */
  readonly range: ByteRange | null;
  readonly bytes: AsyncGenerator<Uint8Array>;
}

/** An upload of which nothing has come for so long is asked for again. */
const STUCK_MS = 120_000;

/** What a request for a file says beside the file. */
export interface DownloadRequest {
  readonly reason: string | undefined;
  readonly range: string | undefined;
  readonly ifRange: string | undefined;
}

/** What somebody tried in vain. */
export interface RefusedAttempt {
  readonly action: string;
  /** Of the capture, live view or site, as it was asked for; empty where none was. */
  readonly id: string;
  readonly status: number;
  readonly reason: string | null;
}

/** Contents of captures, for who may see packets. */
export interface PcapDownloads {
  /**
   * Begins to read a file. One that lies at the probe is sent for; how far it is comes back instead.
   * @throws ApiError NOT_FOUND, BAD_REQUEST without the reason that the site demands, 416 for a range behind the end, CONFLICT for one that is
   * still recorded, SERVICE_UNAVAILABLE while the probe is away.
   */
  open(actor: Actor, id: string, request: DownloadRequest): Promise<PcapDownload | { readonly fetching: PcapFetching }>;
  /** Notes a try that was refused or failed, with the file's SHA-256 where the tenant has such a file. */
  refused(actor: Actor, attempt: RefusedAttempt): Promise<void>;
}

/** Each download and each failed try is in the audit log, with who, why, which range and the file's SHA-256. */
export function createPcapDownloads(deps: {
  readonly store: PcapsStore; readonly sealed: SealedFiles; readonly settings: Pick<SiteCaptureSettings, "of">;
  readonly commands: Pick<ProbeCommands, "ask">; readonly audit: Audit; readonly clock: Pick<Clock, "now">; readonly log: Log;
}): PcapDownloads {
  const { store, audit, clock, log } = deps;
  const note = (actor: Actor, action: string, row: PcapRow, after: object) =>
    store.transaction((trx) => audit(trx, { actor, action, target: { type: "pcap", id: row.id }, before: null, after: { ...toAudited(row), ...after } }));

  const fetch = async (actor: Actor, row: PcapRow): Promise<{ readonly fetching: PcapFetching }> => {
    const upload = await store.upload(row.probe_id, row.id);
    if (row.state === "at_probe" || isStuck(row, upload, clock.now())) {
      await deps.commands.ask({ tenantId: actor.tenantId, probeId: row.probe_id }, "pcap_fetch", { pcap_id: row.id }, "pcap_id").catch(async (error: unknown) => {
        if (error instanceof ApiError && error.code === "NOT_FOUND") {
          await store.setState(row.id, ["at_probe", "uploading"], { state: "expired", detail: error.message.slice(0, 512) }, toInstant(clock.now()));
        }
        throw error;
      });
      await store.setState(row.id, ["at_probe"], { state: "uploading", detail: row.detail }, toInstant(clock.now()));
    }
    return { fetching: { id: row.id, state: "uploading", size_bytes: row.size_bytes, received_bytes: upload?.received ?? 0 } };
  };

  return {
    async open(actor, id, { reason, range: wanted, ifRange }) {
      const row = await store.byId(actor.tenantId, id);
      if (!row) throw notFound("capture");
      if (reason === undefined && (await deps.settings.of(row.site_id)).require_reason) {
        throw badRequest([{ path: ["reason"], message: "the site demands a reason for each download: send it as ?reason= or in the header X-Reason" }]);
      }
      if (row.stored_at === null || row.key_sealed === null) {
        checkFetchable(row);
        const answer = await fetch(actor, row);
        await note(actor, "pcap.fetch", row, { reason: reason ?? null });
        return answer;
      }
      const size = row.stored_bytes;
      const range = ifRange === undefined || ifRange === `"${row.sha256}"` ? parseRange(wanted, size) : null;
      if (range === "unsatisfiable") {
        throw new ApiError("BAD_REQUEST", `the file has ${size} bytes`, { status: 416, headers: { "content-range": `bytes */${size}` }, details: { size_bytes: size } });
      }
      const bytes = await deps.sealed.open({ id, size }, row.key_sealed, range ?? { from: 0, to: size });
      if (!bytes) throw notFound("file any more: it is missing in the collector's directory of captures");
      await note(actor, "pcap.download", row, { reason: reason ?? null, ...(range && { from: range.from, to: range.to }) });
      return { name: downloadName(row), size, sha256: row.sha256, range, bytes: logged(bytes, log, id) };
    },
    async refused(actor, { action, id, status, reason }) {
      const row = id === "" ? null : await store.byId(actor.tenantId, id);
      if (row) return note(actor, action, row, { status, reason });
      return store.transaction((trx) => audit(trx, { actor, action, target: { type: "pcap", id }, before: null, after: { status, reason } }));
    },
  };
}

/** The download breaks off at what is damaged; the log says why. */
async function* logged(bytes: AsyncGenerator<Uint8Array>, log: Log, id: string): AsyncGenerator<Uint8Array> {
  try {
    yield* bytes;
  } catch (error) {
    log.error({ pcap_id: id, reason: describeError(error) }, "the file of a capture cannot be read to its end");
    throw error;
  }
}

/** Nothing has come for a while: the probe may have lost the file, or may have to be asked again. */
function isStuck(row: PcapRow, upload: Awaited<ReturnType<PcapsStore["upload"]>>, now: number): boolean {
  if (upload !== null && upload.state !== "open") return false;
  return now - Math.max(Date.parse(row.updated_at), Date.parse(upload?.updated_at ?? row.updated_at)) > STUCK_MS;
}

function checkFetchable({ state, detail }: PcapRow): void {
  if (state === "at_probe" || state === "uploading") return;
  if (state === "failed" || state === "expired") throw new ApiError("NOT_FOUND", `there is no file: ${detail || state}`, { details: { state } });
  throw new ApiError("CONFLICT", "the capture is not finished: stop it, or wait", { details: { state } });
}
