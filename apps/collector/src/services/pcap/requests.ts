import type { ErrorCode, Pcap, PcapExport, PcapStart } from "@lanthorn/contract";
import { type Clock, createId, describeError, type Log, toInstant } from "@lanthorn/runtime";
import * as z from "zod";
import type { Audit } from "../../gateway/audit.ts";
import type { Actor } from "../../gateway/environment.ts";
import { ApiError, notFound } from "../../gateway/errors.ts";
import { chooseProbe } from "./choose-probe.ts";
import type { ProbeCommands } from "./probe-commands.ts";
import { markNoted, unavailable } from "./refusals.ts";
import { toAudited, toPcap } from "./records.ts";
import type { CommandedProbe, PcapCommandsStore } from "./store/commands-store.ts";
import type { PcapRow, PcapsStore } from "./store/pcaps-store.ts";

/** Captures that people have probes make. */
export interface PcapRequests {
  /**
   * Starts a capture; it runs when the promise resolves.
   * @throws ApiError BAD_REQUEST with the probe's words, as the filter's compiler's; CONFLICT where its configuration does not allow it;
   * NOT_FOUND; SERVICE_UNAVAILABLE while no probe is there.
   */
  start(actor: Actor, order: PcapStart): Promise<Pcap>;
  /** Has a file cut from what was recorded continuously. @throws ApiError as `start`. */
  export(actor: Actor, order: PcapExport): Promise<Pcap>;
  /** Ends a capture; what it has becomes its file. @throws ApiError NOT_FOUND; CONFLICT for one that does not run. */
  stop(actor: Actor, id: string): Promise<Pcap>;
}

/** What requests of captures need. */
export interface PcapRequestsDependencies {
  readonly store: PcapsStore;
  readonly commandsStore: PcapCommandsStore;
  readonly commands: ProbeCommands;
  readonly audit: Audit;
  readonly clock: Pick<Clock, "now">;
  readonly log: Log;
}

/** A probe that refuses so has begun nothing. */
const TAKEN_BACK: ReadonlySet<string> = new Set(["BAD_REQUEST", "CONFLICT", "NOT_FOUND"] satisfies readonly ErrorCode[]);

/** Nothing is counted before a probe has counted. */
export const NO_COUNTERS = { received: 0, dropped_by_kernel: 0, dropped_by_probe: 0, left_out: 0 };

const Limit = z.int().min(0).optional().catch(undefined);
/** What of the limits the probe says it keeps to: its own may be lower. */
const Granted = z.object({ seconds: Limit, packets: Limit, bytes: Limit });

/** @returns The limits as stored, the lower ones of those that were asked for and those that the probe keeps to. */
function lowered(limits: string | null, granted: z.infer<typeof Granted>): string | null {
  if (limits === null) return null;
  const asked = JSON.parse(limits) as NonNullable<Pcap["limits"]>;
  const least = (one: number | null, other: number | undefined) => (one === null ? null : Math.min(one, other ?? one));
  return JSON.stringify({
    seconds: least(asked.seconds, granted.seconds), packets: least(asked.packets, granted.packets), bytes: least(asked.bytes, granted.bytes),
  });
}

/** Each request and each refusal of it is in the audit log before the probe hears of it. */
export function createPcapRequests(deps: PcapRequestsDependencies): PcapRequests {
  const { store, commands, audit, clock, log } = deps;
  const now = () => toInstant(clock.now());

  const add = async (actor: Actor, probe: CommandedProbe, action: string, given: Partial<PcapRow>): Promise<PcapRow> => {
    const at = now();
    const row: PcapRow = {
      id: createId(), tenant_id: actor.tenantId, site_id: probe.site_id, probe_id: probe.id, trigger: "request", state: "requested", detail: "", is_cut: 0,
      file_name: "", size_bytes: 0, sha256: "", packets: 0, started_at: null, finished_at: null, interfaces: "[]", filter: "", snap_length: 0,
      headers_only: 0, counters: JSON.stringify(NO_COUNTERS), alert_ids: "[]", macs: "[]", ips: "[]", summary: null, limits: null, requested_by: actor.name,
      happened_at: at, created_at: at, updated_at: at, locked_by: null, locked_at: null, lock_reason: null, stored_at: null, stored_bytes: 0,
      key_sealed: null, deleted_at: null, deletion_heard: 0, ...given,
    };
    await store.add(row, (trx) => audit(trx, { actor, action, target: { type: "pcap", id: row.id }, before: null, after: { ...toAudited(row), limits: given.limits } }));
    return row;
  };
  const begin = async (actor: Actor, row: PcapRow, action: string, ask: () => Promise<unknown>): Promise<Pcap> => {
    let granted: z.infer<typeof Granted>;
    try {
      granted = Granted.parse(await ask());
    } catch (error) {
      await store.transaction((trx) => audit(trx, {
        actor, action: `${action}.refused`, target: { type: "pcap", id: row.id }, before: null, after: { ...toAudited(row), reason: describeError(error) },
      }));
      // A probe that refused has nothing; one that was silent may have begun, and says so when it is back.
      if (error instanceof ApiError && TAKEN_BACK.has(error.code)) await store.takeBack(row.id);
      else await store.setState(row.id, ["requested"], { state: "failed", detail: describeError(error).slice(0, 512) }, now());
      throw markNoted(error);
    }
    const limits = lowered(row.limits, granted);
    if (limits !== null && limits !== row.limits) await store.setLimits(row.id, limits);
    await store.setState(row.id, ["requested"], { state: "recording", detail: "" }, now());
    log.info({ pcap_id: row.id, probe_id: row.probe_id }, "a probe captures by request");
    return toPcap(await store.byId(row.tenant_id, row.id) ?? row);
  };

  return {
    async start(actor, order) {
      const probe = await chooseProbe(deps.commandsStore, actor.tenantId, order);
      const { interface: name, filter, seconds, packets, bytes, snap_length: snapLength, headers_only: isHeadersOnly } = order;
      const row = await add(actor, probe, "pcap.start", {
        filter, snap_length: snapLength, headers_only: isHeadersOnly ? 1 : 0, interfaces: JSON.stringify(name === null ? [] : [name]),
        limits: JSON.stringify({ seconds, packets, bytes }),
      });
      return begin(actor, row, "pcap.start", () => commands.ask({ tenantId: actor.tenantId, probeId: probe.id }, "pcap_start", {
        pcap_id: row.id, interface: name, filter, seconds, packets, bytes, snap_length: snapLength, headers_only: isHeadersOnly,
      }, "filter"));
    },
    async export(actor, order) {
      const probe = await chooseProbe(deps.commandsStore, actor.tenantId, order);
      const { from, to, host, peer, side, filter, bytes } = order;
      const row = await add(actor, probe, "pcap.export", { trigger: "export", filter, limits: JSON.stringify({ seconds: null, packets: null, bytes }) });
      return begin(actor, row, "pcap.export", () => commands.ask({ tenantId: actor.tenantId, probeId: probe.id }, "pcap_export", {
        pcap_id: row.id, from, to, host, peer, side, filter, bytes,
      }, "filter"));
    },
    async stop(actor, id) {
      const row = await store.byId(actor.tenantId, id);
      if (!row) throw notFound("capture");
      if (row.state !== "requested" && row.state !== "recording") throw new ApiError("CONFLICT", "the capture does not run any more", { details: { state: row.state } });
      await store.transaction((trx) => audit(trx, { actor, action: "pcap.stop", target: { type: "pcap", id }, before: toAudited(row), after: null }));
      const { running } = await commands.ask({ tenantId: actor.tenantId, probeId: row.probe_id }, "pcap_stop", { pcap_id: id }, "pcap_id");
      if (running === false) {
        const after = await store.byId(actor.tenantId, id);
        if (after?.state !== "recording") return toPcap(after ?? row);
        await store.setState(id, ["recording"], { state: "failed", detail: "the probe does not know this capture, as after a restart" }, now());
      }
      const after = await store.byId(actor.tenantId, id);
      if (!after) throw unavailable("the capture was deleted meanwhile");
      return toPcap(after);
    },
  };
}
