import {
  type AnomalyModelChange, type AnomalyModelDevicesQuery, type AnomalyModelFreeze, type AnomalyModelReset, type BEHAVIOUR_COMMANDS, BehaviourChangeReply, BehaviourListReply, BehaviourReply, type CommandData,
  type DeviceBehaviour, type LearnedDevice, type List, MAX_BEHAVIOUR_NAMES, type Reply,
} from "@lanthorn/contract";
import type { Audit } from "../../gateway/audit.ts";
import type { Actor } from "../../gateway/environment.ts";
import { ApiError, notFound } from "../../gateway/errors.ts";
import { pageById } from "../../gateway/page.ts";
import { toModel } from "./service.ts";
import type { AnomaliesStore, WatchingProbe } from "./store.ts";

/** Has a probe carry out a command. @param about The field of the request that a refusal is about. @throws ApiError in the probe's words: it is away, refuses, or does not answer. */
export type AskProbe = <T extends keyof typeof BEHAVIOUR_COMMANDS>(
  probe: { readonly tenantId: string; readonly probeId: string }, type: T, data: CommandData<T>, about: string,
) => Promise<Reply["data"]>;

/** What probes learned of devices. It stays there: each is asked. */
export interface LearnedService {
  /** @throws ApiError NOT_FOUND. */
  read(tenantId: string, deviceId: string): Promise<DeviceBehaviour>;
  /** @throws ApiError NOT_FOUND; SERVICE_UNAVAILABLE where the probe is away or its answer cannot be read; CONFLICT where it does not watch. */
  list(tenantId: string, probeId: string, query: AnomalyModelDevicesQuery): Promise<List<LearnedDevice>>;
  /** @throws ApiError as `list`. */
  freeze(actor: Actor, probeId: string, change: AnomalyModelFreeze): Promise<AnomalyModelChange>;
  /** @throws ApiError as `list`. */
  reset(actor: Actor, probeId: string, change: AnomalyModelReset): Promise<AnomalyModelChange>;
}

/** More than a site has: each is sent a command. */
const MAX_PROBES = 16;
const NOT_WATCHING = "it does not watch the behavior of devices: it reads no traffic ([traffic] in its configuration), or has not reported yet";

/** A schema of a reply's data. */
interface Shape<T> {
  safeParse(data: unknown): { readonly success: true; readonly data: T } | { readonly success: false };
}

/** A change of what a probe learned. */
interface Change<C extends keyof typeof BEHAVIOUR_COMMANDS> {
  readonly command: C;
  /** As the audit log names it. */
  readonly action: string;
  /** @param devices Their names at the probe; null for all. */
  readonly data: (devices: string[] | null) => CommandData<C>;
}

/** No failure of this collector's: the probe answers something else than was asked for. */
const unreadable = () => new ApiError("SERVICE_UNAVAILABLE", "its answer cannot be read", { isOrdinary: true });

/** Whether devices come in the order of their names, each behind the one before: the last is the next page's cursor, and no client is to be led in circles. */
function isAscending(devices: readonly LearnedDevice[], behind: number | string): boolean {
  const names = [...(typeof behind === "string" ? [behind] : []), ...devices.map(({ device }) => device)];
  return names.every((name, index) => index === 0 || name > (names[index - 1] ?? ""));
}

/** @param deps.ask Asks a probe. */
export function createLearnedService({ store, audit, ask }: { readonly store: AnomaliesStore; readonly audit: Audit; readonly ask: AskProbe }): LearnedService {
  const deviceOf = async (tenantId: string, deviceId: string) => {
    const device = await store.device(tenantId, deviceId, MAX_BEHAVIOUR_NAMES);
    if (!device) throw notFound("device");
    return device;
  };

  /** Asks a probe, which may be anybody's by now. @throws ApiError as `ask`; SERVICE_UNAVAILABLE for an answer of another shape. */
  async function read<T, C extends keyof typeof BEHAVIOUR_COMMANDS>(shape: Shape<T>, ...question: Parameters<typeof ask<C>>): Promise<T> {
    const answer = shape.safeParse(await ask<C>(...question));
    if (!answer.success) throw unreadable();
    return answer.data;
  }

  async function readOne(tenantId: string, probe: WatchingProbe, names: readonly string[]): Promise<DeviceBehaviour["probes"][number]> {
    const { state, other_hosts: otherHosts } = toModel(probe);
    const about = { probe_id: probe.id, name: probe.name, other_hosts: otherHosts };
    if (state === null) return { ...about, problem: NOT_WATCHING, behaviour: null };
    if (names.length === 0) return { ...about, problem: null, behaviour: null };
    try {
      const { behaviour } = await read(BehaviourReply, { tenantId, probeId: probe.id }, "behaviour_read", { devices: [...names] }, "device_id");
      return { ...about, problem: null, behaviour };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return { ...about, problem: error.message, behaviour: null };
    }
  }

  /** What is meant: null for all devices of the probe. @throws ApiError NOT_FOUND where probe or device are not the tenant's, or not of one site. */
  async function namesFor(tenantId: string, probeId: string, deviceId: string | undefined): Promise<string[] | null> {
    const [probe] = await store.probes(tenantId, { probeId });
    if (!probe) throw notFound("probe");
    if (deviceId === undefined) return null;
    const device = await deviceOf(tenantId, deviceId);
    if (device.siteId !== probe.site_id) throw notFound("device");
    return [...device.names];
  }

  /** Has a probe change what it learned. Noted before it is done: who asked for it is known also where the probe does not answer. */
  async function change<C extends "behaviour_freeze" | "behaviour_reset">(
    actor: Actor, probeId: string, wanted: AnomalyModelFreeze | AnomalyModelReset, { command, action, data }: Change<C>,
  ): Promise<AnomalyModelChange> {
    const devices = await namesFor(actor.tenantId, probeId, wanted.device_id);
    await store.transaction((trx) => audit(trx, { actor, action, target: { type: "anomaly_model", id: probeId }, before: null, after: { ...wanted } }));
    if (devices?.length === 0) return { probe_id: probeId, devices: 0 };
    const done = await read(BehaviourChangeReply, { tenantId: actor.tenantId, probeId }, command, data(devices), "device_id");
    return { probe_id: probeId, devices: done.devices };
  }

  return {
    async read(tenantId, deviceId) {
      const { siteId, names } = await deviceOf(tenantId, deviceId);
      const probes = (await store.probes(tenantId, { siteId })).slice(0, MAX_PROBES);
      return { device_id: deviceId, site_id: siteId, probes: await Promise.all(probes.map((probe) => readOne(tenantId, probe, names))) };
    },

    async list(tenantId, probeId, query) {
      if ((await store.probes(tenantId, { probeId })).length === 0) throw notFound("probe");
      let total = 0;
      return pageById(query, {
        async read({ from, limit }) {
          const reply = await read(BehaviourListReply, { tenantId, probeId }, "behaviour_list", { lifecycles: query.lifecycle ?? null, behind: from, limit }, "lifecycle");
          if (!isAscending(reply.devices, from)) throw unreadable();
          total = reply.total;
          return reply.devices.map((one) => ({ id: one.device, one }));
        },
        count: () => Promise.resolve(total), show: ({ one }) => one,
      });
    },

    freeze: (actor, probeId, wanted) => change(actor, probeId, wanted, {
      command: "behaviour_freeze", action: "anomaly_models.freeze", data: (devices) => ({ devices, is_frozen: wanted.is_frozen }),
    }),
    reset: (actor, probeId, wanted) => change(actor, probeId, wanted, { command: "behaviour_reset", action: "anomaly_models.reset", data: (devices) => ({ devices }) }),
  };
}
