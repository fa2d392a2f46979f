import { createBackoff, describeError, type Log } from "@lanthorn/runtime";
import type { FileBegin } from "@lanthorn/contract/uplink";
import type { CollectorRequests } from "../identity/collector-requests.ts";
import type { Pace } from "./pace.ts";
import { sendFile, type Sent } from "./send-file.ts";
import type { Spool } from "./spool.ts";

/** Sends the files of the spool, one after the other, slower than events. */
export interface FileSender {
  /** Ends at once; what was not sent is sent after the next start. */
  close(): Promise<void>;
}

/** How often the spool is read: other programs put files into it. */
const CHECK_EVERY_MS = 2000;
const RETRY_FIRST_MS = 2000;
const RETRY_LONGEST_MS = 600_000;

/** @param deps.pace How fast files may go. */
export function createFileSender(deps: {
  readonly spool: Spool;
  readonly requests: Pick<CollectorRequests, "send">;
  readonly pace: Pace;
  readonly random: () => number;
  readonly log: Log;
}): FileSender {
  const { spool, pace, log } = deps;
  const stopper = new AbortController();
  const { signal } = stopper;
  const backoff = createBackoff({ firstMs: RETRY_FIRST_MS, longestMs: RETRY_LONGEST_MS, random: deps.random });
  let lastReason = "";

  /** @returns How long to wait before the next. */
  async function settle(file: FileBegin, sent: Sent): Promise<number> {
    const facts = { file_id: file.id, kind: file.kind, bytes: file.size };
    if (sent.kind === "later") {
      // A collector may be away for days: one line for each new reason.
      if (sent.reason !== lastReason) log.warn({ ...facts, reason: sent.reason }, "a file could not be sent; trying again until it is");
      lastReason = sent.reason;
      return Math.max(RETRY_FIRST_MS + backoff.next(), (sent.afterSeconds ?? 0) * 1000);
    }
    lastReason = "";
    backoff.reset();
    await spool.remove(file.id);
    if (sent.kind === "received") log.info(facts, "the collector has the file");
    else log.error({ ...facts, reason: sent.reason }, "the collector refused the file; it is removed");
    return 0;
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      let waitMs = CHECK_EVERY_MS;
      try {
        const file = (await spool.list())[0];
        if (file) {
          await pace.proceed(0, signal);
          let pieces = 0;
          waitMs = await settle(file, await sendFile(file, {
            path: spool.path(file.id), requests: deps.requests, signal,
            async proceed(bytes) {
              // The one before was taken: the next failure is a new one.
              if ((pieces += 1) > 1) backoff.reset();
              await pace.proceed(bytes, signal);
            },
          }));
        }
      } catch (error) {
        if (signal.aborted) return;
        log.error({ reason: describeError(error) }, "the files to be sent cannot be read; trying again");
        waitMs = RETRY_FIRST_MS + backoff.next();
      }
      await pace.wait(waitMs, signal).catch(() => {});
    }
  }
  const ended = run();
  return {
    async close() {
      stopper.abort();
      await ended;
    },
  };
}
