import { PCAP_WATCH_SECONDS, type PcapWatch, PcapWatchReply, type PcapWatchStart } from "@lanthorn/contract";
import { type Clock, createId, describeError, toInstant } from "@lanthorn/runtime";
import type { Audit } from "../../gateway/audit.ts";
import type { Actor } from "../../gateway/environment.ts";
import { notFound } from "../../gateway/errors.ts";
import { badRequest } from "../../gateway/route.ts";
import { chooseProbe } from "./choose-probe.ts";
import type { ProbeCommands } from "./probe-commands.ts";
import { markNoted, unavailable } from "./refusals.ts";
import type { SiteCaptureSettings } from "./site-settings.ts";
import type { PcapCommandsStore, WatchRow } from "./store/commands-store.ts";
import type { PcapsStore } from "./store/pcaps-store.ts";

/** Live views of packets. */
export interface PcapWatches {
  /** @throws ApiError as a capture's start; BAD_REQUEST without the reason that the site demands. */
  start(actor: Actor, order: PcapWatchStart): Promise<PcapWatch>;
  /** What has come since. @throws ApiError NOT_FOUND for one that is over or is another user's. */
  read(actor: Actor, id: string, page: { readonly after: number; readonly limit: number }): Promise<PcapWatch>;
  /** @throws ApiError NOT_FOUND. */
  end(actor: Actor, id: string): Promise<void>;
}

/** Frames of the first answer: it comes as soon as the view has begun. */
const FIRST_LIMIT = 100;

/** Each view that is begun is in the audit log, with its filter and reason; so is one that is refused. */
export function createPcapWatches(deps: {
  readonly store: PcapCommandsStore; readonly pcaps: Pick<PcapsStore, "transaction">; readonly commands: Pick<ProbeCommands, "ask">;
  readonly settings: Pick<SiteCaptureSettings, "of">; readonly audit: Audit; readonly clock: Pick<Clock, "now">;
}): PcapWatches {
  const { store, audit, clock } = deps;
  const now = () => toInstant(clock.now());

  const ask = async (row: WatchRow, after: number, limit: number): Promise<PcapWatch> => {
    const data = await deps.commands.ask({ tenantId: row.tenant_id, probeId: row.probe_id }, "pcap_watch", {
      watch_id: row.id, interface: row.interface, filter: row.filter, after, limit, snap_length: row.snap_length,
    }, after === 0 ? "filter" : "after");
    const reply = PcapWatchReply.safeParse(data);
    if (!reply.success) throw unavailable("the probe answered with something else than frames");
    return { id: row.id, site_id: row.site_id, probe_id: row.probe_id, ...reply.data };
  };
  const own = async (actor: Actor, id: string): Promise<WatchRow> => {
    const row = await store.watch(actor.tenantId, id);
    const isOver = row !== null && clock.now() - Date.parse(row.used_at) > PCAP_WATCH_SECONDS * 1000;
    // Going on with it would be another view, without a reason and without a record.
    if (isOver) await store.removeWatch(id);
    if (isOver || row?.actor_id !== actor.id) throw notFound("live view: it ends when it is not read for half a minute");
    return row;
  };

  return {
    async start(actor, order) {
      const { interface: name, filter, snap_length: snapLength, reason } = order;
      const probe = await chooseProbe(store, actor.tenantId, order);
      const isReasonMissing = reason === undefined && (await deps.settings.of(probe.site_id)).require_reason;
      const row: WatchRow = {
        id: createId(), tenant_id: actor.tenantId, site_id: probe.site_id, probe_id: probe.id, actor_id: actor.id, interface: name, filter,
        snap_length: snapLength, used_at: now(),
      };
      const note = (action: string, more: object) => deps.pcaps.transaction((trx) => audit(trx, {
        actor, action, target: { type: "probe", id: probe.id }, before: null, after: { watch_id: row.id, interface: name, filter, reason: reason ?? null, ...more },
      }));
      if (isReasonMissing) {
        await note("pcap.watch.refused", { refused: "no reason" });
        throw markNoted(badRequest([{ path: ["reason"], message: "the site demands a reason for each live view" }]));
      }
      // Before the probe shows anything.
      await note("pcap.watch", {});
      const first = await ask(row, 0, FIRST_LIMIT).catch(async (error: unknown) => {
        await note("pcap.watch.refused", { refused: describeError(error) });
        throw markNoted(error);
      });
      await store.addWatch(row);
      return first;
    },
    async read(actor, id, { after, limit }) {
      const row = await own(actor, id);
      await store.useWatch(id, now());
      return ask(row, after, limit);
    },
    async end(actor, id) {
      const row = await own(actor, id);
      await deps.pcaps.transaction((trx) => audit(trx, { actor, action: "pcap.watch.end", target: { type: "probe", id: row.probe_id }, before: { watch_id: id }, after: null }));
      await store.removeWatch(id);
      // A probe that does not hear it ends the view by itself.
      void ask(row, 0, 0).catch(() => undefined);
    },
  };
}
