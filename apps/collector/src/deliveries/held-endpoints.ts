import { describeError } from "@lanthorn/runtime";
import { ALL_LANES, createEndpoint, type Endpoint, type EndpointDependencies } from "./endpoint.ts";
import type { DeliveryStore, WebhookRow } from "./store.ts";

/** The webhooks that this process sends to. */
export interface HeldEndpoints {
  find(id: string): Endpoint | undefined;
  count(): number;
  ids(): readonly string[];
  /** Those that send nothing now. */
  idle(): readonly string[];
  /** Begins to send to a webhook that is claimed. */
  adopt(row: WebhookRow): Endpoint;
  /** Begins to send to webhooks that were claimed just now, whatever is due of them. */
  take(rows: readonly WebhookRow[]): void;
  /** Sends nothing further to a webhook that is not ours any more; an attempt that is under way ends by itself. */
  drop(id: string): void;
  /** Reads a webhook anew that was changed. Never rejects. @param workerId Who sends to it while it is ours. */
  refresh(id: string, workerId: string): Promise<void>;
  /** Resolves when nothing is under way, of dropped ones either. */
  settled(): Promise<void>;
}

/** @param deps.store Reads webhooks too. */
export function createHeldEndpoints(
  deps: EndpointDependencies & { readonly store: Pick<DeliveryStore, "next" | "webhook"> },
): HeldEndpoints {
  const endpoints = new Map<string, Endpoint>();
  /** Not ours any more, but with an attempt under way. */
  const ending = new Set<Endpoint>();
  const adopt = (row: WebhookRow) => {
    const endpoint = createEndpoint(deps, row);
    endpoints.set(row.id, endpoint);
    return endpoint;
  };
  const drop = (id: string) => {
    const endpoint = endpoints.get(id);
    if (!endpoint) return;
    endpoint.update(null);
    endpoints.delete(id);
    ending.add(endpoint);
    void endpoint.settled().then(() => ending.delete(endpoint));
  };
  return {
    find: (id) => endpoints.get(id),
    count: () => endpoints.size,
    ids: () => [...endpoints.keys()],
    idle: () => [...endpoints].filter(([, endpoint]) => endpoint.isIdle()).map(([id]) => id),
    adopt,
    take(rows) {
      for (const row of rows) adopt(row).wake(ALL_LANES);
    },
    drop,
    async refresh(id, workerId) {
      try {
        const row = await deps.store.webhook(id);
        if (row?.worker_id === workerId) endpoints.get(id)?.update(row);
        else drop(id);
      } catch (error) {
        deps.log.error({ webhook_id: id, reason: describeError(error) }, "a changed webhook could not be read");
      }
    },
    settled: async () => void (await Promise.all([...endpoints.values(), ...ending].map((endpoint) => endpoint.settled()))),
  };
}
