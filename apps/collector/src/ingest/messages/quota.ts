import type { Clock } from "@lanthorn/runtime";

/** What bounds each probe, so that none can fill the disk, the memory or the time of all. */
export interface QuotaLimits {
  /** What its batches may cost in the long run: see `costOf`. Four minutes of it may come at once. */
  readonly bytesPerMinute: number;
  /** How long a probe that has spent it is held back; past that, or where it is 0, it gets `not-ready` and sends again later. */
  readonly maxHoldMs: number;
}

/** Who may send now. Probes that send no more than they may cost nothing but a number each. */
export interface Quota {
  /**
   * Before a message is looked at: not more of one probe may wait at a time than a well-behaved one ever sends.
   * @returns To be called when it is done with; null where it is one too many.
   */
  enter(probeId: string, bytes: number): (() => void) | null;
  /** Before a batch is read. @returns Whether it may be, now or after it was held back; else the probe is to send it again later. */
  mayRead(probeId: string): boolean | Promise<boolean>;
  /** After a batch was read. */
  charge(probeId: string, cost: number): void;
  /** Whether what of the probe's next batch cannot be read is kept as it came. */
  mayKeepRejected(probeId: string): boolean;
  /** After a batch was committed. @param bytes What of it was kept though it cannot be read. */
  chargeRejected(probeId: string, bytes: number): void;
  /** Whether the probe may send one more message that is no batch. */
  maySpeak(probeId: string): boolean;
  /** Lets nobody wait any more. */
  close(): void;
}

/** Four times what a busy site tells in its busiest minute; held back for less than the 15 s after which a probe sends its batch again. */
export const DEFAULT_QUOTA: QuotaLimits = { bytesPerMinute: 64e6, maxHoldMs: 10_000 };
/** A probe has one batch on its way, that one perhaps twice, its health and some replies. */
const MAX_WAITING_MESSAGES = 32;
const MAX_WAITING_BYTES = 4 * 1024 * 1024;
/** A probe tells its health twice a minute, and replies once to each command. */
const MESSAGES_PER_MINUTE = 240;
const BURST_MINUTES = 4;
/** What a probe sends that nobody can read is kept to be looked into: a few megabytes show as much as a disk full of it. */
const REJECTED_BYTES_PER_MINUTE = 100e3;
const REJECTED_BYTES_AT_ONCE = 4e6;
/** An event's row with its keys and times, and its part in what it changes. */
const EVENT_COST = 500;
/** An event is stored in the log, and again as evidence, history or results. */
const COPIES = 2;
/** Buckets that have run full again say nothing; they are dropped when there are this many. */
const MAX_BUCKETS = 4096;

/** About what a batch adds to the database, in bytes. @param jsonBytes Of the batch, decompressed. */
export function costOf(batch: { readonly jsonBytes: number; readonly events: number }): number {
  return batch.jsonBytes * COPIES + batch.events * EVENT_COST;
}

/** Counts in this process only, each probe for itself: 32 messages that wait, 240 a minute that are no batch, and the bytes of `limits`. */
export function createQuota({ clock }: { readonly clock: Pick<Clock, "monotonic" | "after"> }, limits: QuotaLimits): Quota {
  const bytes = createBuckets(clock, { perMinute: limits.bytesPerMinute, burst: limits.bytesPerMinute * BURST_MINUTES });
  const messages = createBuckets(clock, { perMinute: MESSAGES_PER_MINUTE, burst: MESSAGES_PER_MINUTE });
  const rejected = createBuckets(clock, { perMinute: REJECTED_BYTES_PER_MINUTE, burst: REJECTED_BYTES_AT_ONCE });
  const waiting = new Map<string, { messages: number; bytes: number }>();
  const held = new Set<() => void>();
  let isClosed = false;

  const wait = (ms: number) => new Promise<void>((resolve) => {
    const release = () => {
      cancel();
      held.delete(release);
      resolve();
    };
    const cancel = clock.after(ms, release);
    held.add(release);
  });

  return {
    enter(probeId, size) {
      const own = waiting.get(probeId) ?? { messages: 0, bytes: 0 };
      if (own.messages >= MAX_WAITING_MESSAGES || (own.messages > 0 && own.bytes + size > MAX_WAITING_BYTES)) return null;
      own.messages += 1;
      own.bytes += size;
      waiting.set(probeId, own);
      return () => {
        own.messages -= 1;
        own.bytes -= size;
        if (own.messages === 0) waiting.delete(probeId);
      };
    },
    mayRead(probeId) {
      const waitMs = bytes.waitMs(probeId);
      if (waitMs === 0) return true;
      if (waitMs > limits.maxHoldMs || isClosed) return false;
      return wait(waitMs).then(() => !isClosed);
    },
    charge: (probeId, cost) => bytes.spend(probeId, cost),
    mayKeepRejected: (probeId) => rejected.waitMs(probeId) === 0,
    chargeRejected(probeId, kept) {
      if (kept > 0) rejected.spend(probeId, kept);
    },
    maySpeak(probeId) {
      const may = messages.waitMs(probeId) === 0;
      if (may) messages.spend(probeId, 1);
      return may;
    },
    close() {
      isClosed = true;
      for (const release of held) release();
    },
  };
}

/** A bucket for each probe: it may be overdrawn once, and is then waited for until it holds something again. */
interface Buckets {
  waitMs(probeId: string): number;
  spend(probeId: string, amount: number): void;
}

function createBuckets(
  clock: Pick<Clock, "monotonic">, { perMinute, burst }: { readonly perMinute: number; readonly burst: number },
): Buckets {
  const perMs = perMinute / 60_000;
  const buckets = new Map<string, { level: number; at: number }>();
  const levelOf = (bucket: { readonly level: number; readonly at: number } | undefined) =>
    (bucket === undefined ? burst : Math.min(burst, bucket.level + (clock.monotonic() - bucket.at) * perMs));
  return {
    waitMs(probeId) {
      const level = levelOf(buckets.get(probeId));
      return level > 0 ? 0 : Math.ceil(-level / perMs) + 1;
    },
    spend(probeId, amount) {
      const level = levelOf(buckets.get(probeId)) - amount;
      buckets.set(probeId, { level, at: clock.monotonic() });
      if (buckets.size <= MAX_BUCKETS) return;
      for (const [id, bucket] of buckets) if (levelOf(bucket) >= burst) buckets.delete(id);
    },
  };
}
