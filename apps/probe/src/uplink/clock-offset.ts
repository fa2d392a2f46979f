import type { Acknowledgement } from "@lanthorn/contract/uplink";

/** How far the collector's clock is ahead of ours, learned from the times in its acknowledgements. */
export interface ClockOffset {
  /**
   * @param receivedAt Our wall clock at the acknowledgement's arrival, in milliseconds since the epoch.
   * @param tookMs Time since the batch was sent, by a clock that nobody sets.
   */
  addSample(ack: Acknowledgement, receivedAt: number, tookMs: number): void;
  /** Milliseconds, positive where the collector is ahead; null while nothing recent is known. */
  offsetMs(monotonicMs: number): number | null;
}

const SAMPLES = 8;
/** A quartz drifts about 50 ms in this time; what is older says less than that. */
const MAX_AGE_MS = 15 * 60_000;
/** More between the two clocks than waiting for the event loop explains: our wall clock was set in between. */
const JUMP_MS = 250;

/**
 * As in the Network Time Protocol, the sample with the shortest way there and back is believed: its error is at most half of that.
 * @see RFC 5905 section 8, and section 10 for the choice among samples
 */
export function createClockOffset(monotonic: () => number): ClockOffset {
  let samples: { readonly offset: number; readonly roundTrip: number; readonly at: number }[] = [];
  return {
    addSample(ack, receivedAt, tookMs) {
      if (ack.batch_sent_at === null) return;
      const [t0, t1, t2] = [ack.batch_sent_at, ack.received_at, ack.sent_at]
        .map((instant) => Date.parse(instant)) as [number, number, number];
      if (Math.abs(receivedAt - t0 - tookMs) > JUMP_MS) {
        samples = [];
        return;
      }
      const roundTrip = receivedAt - t0 - (t2 - t1);
      if (!Number.isFinite(roundTrip) || roundTrip < -JUMP_MS) return;
      samples = [...samples.slice(1 - SAMPLES), { offset: (t1 - t0 + (t2 - receivedAt)) / 2, roundTrip, at: monotonic() }];
    },
    offsetMs(monotonicMs) {
      const recent = samples.filter((sample) => monotonicMs - sample.at <= MAX_AGE_MS);
      return recent.toSorted((a, b) => a.roundTrip - b.roundTrip)[0]?.offset ?? null;
    },
  };
}
