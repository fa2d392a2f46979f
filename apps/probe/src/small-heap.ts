import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { Clock } from "@lanthorn/runtime";

/** The start is over: code is loaded, the vendor registry is read, the first sweep is sent. */
const FIRST_MS = 15_000;
/** A collection takes some 30 ms, so this costs 0.005 % of a core. */
const PERIOD_MS = 600_000;
/** Who has this much to do is not stopped for a collection; of a core. */
const BUSY_SHARE = 0.1;
const LOOK_MS = 1000;

/**
 * Keeps the heap at what is in use. Left alone, V8 sizes it for speed: the young generation stays at 33 MB after the burst
 * of the start, and an idle process has no reason to collect the 12 MB of buffers that reading the vendor registry left.
 * Measured on the lab's LAN, before the daemon was one bundle: 104 MB resident for minutes without this, 86 MB with it.
 *
 * What the start leaves lies scattered: a collection that does not move what lives gives few pages back. To move it takes memory for a moment, so
 * V8's own collections, which come when there is much to do, do not.
 *
 * To be called before the bulk of the code is loaded. The flags exist in Node 20; V8 says so on standard error, and
 * goes on, where one does not.
 * @param options.firstMs When the start is over; null for who calls `collect` himself then.
 * @param options.growthPercent By how much the heap may grow over what a collection left before the next one: V8 chooses where nothing is said.
 * @param options.dropsCode What was compiled for the start and was not run again since goes too, as it would after five collections, which an idle process does
 * not have in a day; it is compiled again where it is run again. It takes two collections more.
 * @param options.atFirst What else is to be done when the start is over.
 * @param options.isPatient Later collections wait for a second in which the process has little to do: it stands still for 30 to 130 ms each time.
 */
export function keepHeapSmall(
  clock: Clock,
  { firstMs = FIRST_MS, growthPercent, dropsCode = false, atFirst = () => {}, isPatient = false }: {
    readonly firstMs?: number | null; readonly growthPercent?: number; readonly dropsCode?: boolean; readonly atFirst?: () => void; readonly isPatient?: boolean;
  } = {},
): { readonly collect: () => void } {
  setFlagsFromString("--semi-space-growth-factor=1");
  if (growthPercent !== undefined) setFlagsFromString(`--heap-growing-percent=${growthPercent}`);
  setFlagsFromString("--expose-gc");
  // The flag shows in contexts made after it.
  const collectGarbage = runInNewContext("gc") as () => void;
  const dropCode = () => {
    setFlagsFromString("--bytecode-old-age=1");
    for (let time = 0; time < 2; time += 1) collectGarbage();
    setFlagsFromString("--bytecode-old-age=5");
  };
  const collect = () => {
    if (dropsCode) dropCode();
    setFlagsFromString("--compact-on-every-full-gc");
    collectGarbage();
    setFlagsFromString("--no-compact-on-every-full-gc");
  };
  if (firstMs !== null) {
    clock.after(firstMs, () => {
      collect();
      atFirst();
    });
  }
  clock.every(PERIOD_MS, isPatient ? () => collectWhenIdle(clock, collect) : collect);
  return { collect };
}

function collectWhenIdle(clock: Clock, collect: () => void): void {
  const before = process.cpuUsage();
  clock.after(LOOK_MS, () => {
    const { user, system } = process.cpuUsage(before);
    if (user + system < LOOK_MS * 1000 * BUSY_SHARE) collect();
    else collectWhenIdle(clock, collect);
  });
}
