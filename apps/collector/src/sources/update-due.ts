/** Asks sources that are due, some at a time: one whose server is slow, or trickles on purpose, holds no other tenant's. */
import type { Clock } from "@lanthorn/runtime";
import type { SourceRow } from "./fetch-source.ts";

/** What asks them. */
export interface DueUpdates {
  /**
   * Until none is due and none is being asked; what becomes due meanwhile is asked, too.
   * @param stop Nothing more is begun. @throws What an update or `due` throws, when the others have ended.
   */
  run(stop: AbortSignal): Promise<void>;
  /** Others may be due now. */
  wake(): void;
}

/** At once. Each may have a file of some dozen megabytes in memory while it is read. */
const MAX_AT_ONCE = 4;
/** Of one server: one that is slow leaves places to others, one that is not is not asked by everybody at once. */
const MAX_OF_SERVER = 2;

/**
 * At most one source of a tenant is asked at a time.
 * @param deps.due Those that are due now, the most urgent first. @param deps.update Asks one, and settles when it is due again.
 * @param deps.look Between two looks in a long run. @param deps.lookEveryMs How often it is looked whether others are due.
 */
export function createDueUpdates<R extends SourceRow>({ due, update, look, clock, lookEveryMs }: {
  readonly due: () => Promise<readonly R[]>; readonly update: (row: R, stop: AbortSignal) => Promise<unknown>; readonly look: () => Promise<void>;
  readonly clock: Pick<Clock, "after">; readonly lookEveryMs: number;
}): DueUpdates {
  let rouse = () => {};
  let isRoused = false;
  const wake = () => {
    isRoused = true;
    rouse();
  };
  /** @returns Whether nothing happened until the next look. */
  const rest = async (): Promise<boolean> => {
    if (isRoused) return false;
    return new Promise<boolean>((resolve) => {
      const cancel = clock.after(lookEveryMs, () => resolve(true));
      rouse = () => {
        cancel();
        resolve(false);
      };
    });
  };
  return {
    wake,
    async run(stop) {
      const asked = new Map<string, R>();
      const failures: unknown[] = [];
      const begin = async (row: R): Promise<void> => {
        asked.set(row.id, row);
        try {
          await update(row, stop);
        } catch (error) {
          failures.push(error);
        }
        asked.delete(row.id);
        wake();
      };
      for (;;) {
        isRoused = false;
        const rows = stop.aborted || failures.length > 0 ? [] : await due().catch((error: unknown) => (failures.push(error), []));
        for (const row of rows) if (mayBegin(row, [...asked.values()])) void begin(row);
        if (asked.size === 0) break;
        if (await rest()) await look().catch((error: unknown) => failures.push(error));
      }
      if (failures.length > 0) throw failures[0];
    },
  };
}

function mayBegin(row: SourceRow, asked: readonly SourceRow[]): boolean {
  if (asked.length >= MAX_AT_ONCE || asked.some((one) => one.tenant_id === row.tenant_id)) return false;
  const server = serverOf(row);
  return server === null || asked.filter((one) => serverOf(one) === server).length < MAX_OF_SERVER;
}

/** Null for what is read from a file. */
function serverOf({ kind, place }: SourceRow): string | null {
  return kind === "url" && URL.canParse(place) ? new URL(place).hostname : null;
}
