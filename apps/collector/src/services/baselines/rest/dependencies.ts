import type { Clock } from "@lanthorn/runtime";
import type { EventLog } from "../../../events/log.ts";
import type { Audit } from "../../../gateway/audit.ts";
import type { BaselinesStore } from "../store/handles.ts";

/** What people's reading and changing of baselines needs. */
export interface RestDependencies {
  readonly store: BaselinesStore;
  readonly audit: Audit;
  readonly clock: Pick<Clock, "now">;
  readonly log: Pick<EventLog, "append">;
  /** To be called after events of a tenant were committed. */
  readonly published: (tenantId: string, fromSeq: number) => void;
}
