import { createLiveClient, type LiveClient, type RestClient } from "@lanthorn/client";
import type { StreamFrame } from "@lanthorn/contract";
import { clock } from "../clock.ts";

/** A row of the page: an event, or a word on the stream itself. */
export type LiveRow = StreamFrame | { readonly seq: number; readonly note: string; readonly timestamp: string };

/** More would fill the tab's memory; what is older is in the log. */
const MAX_ROWS = 5000;
const BEFORE = "15m";
const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 30_000;

/** What follows the stream, and keeps the last rows of it. */
export interface Follower {
  /** The newest last. Another array whenever something has come. */
  rows(): readonly LiveRow[];
  state(): "connecting" | "connected" | "disconnected" | "refused";
  subscribe(listener: () => void): () => void;
  close(): void;
}

/**
 * Follows the event stream by single-use tickets and resumes where it was. Whoever listens is called once a frame at most, however many
 * events come.
 */
export function followEvents(options: { readonly rest: RestClient; readonly url: string; readonly siteId: string | undefined }): Follower {
  let kept: readonly LiveRow[] = [];
  let fresh: LiveRow[] = [];
  let state: ReturnType<Follower["state"]> = "connecting";
  let frame = 0;
  let tries = 0;
  let lastSeq = 0;
  const listeners = new Set<() => void>();
  const draw = () => {
    frame ||= requestAnimationFrame(() => {
      frame = 0;
      if (fresh.length > 0) kept = [...kept, ...fresh].slice(-MAX_ROWS);
      fresh = [];
      for (const listener of listeners) listener();
    });
  };
  const add = (row: LiveRow) => {
    fresh.push(row);
    // A tab that is not seen draws no frames.
    if (fresh.length > MAX_ROWS) fresh = fresh.slice(-MAX_ROWS);
    draw();
  };
  const note = (text: string) => add({ seq: lastSeq, note: text, timestamp: new Date(clock.now()).toISOString() });
  let live: LiveClient | null = null;
  let isClosed = false;
  const begin = (since: number | null) => {
    if (!isClosed) live = createLiveClient({ ...stream, since });
  };
  const stream: Omit<Parameters<typeof createLiveClient>[0], "since"> = {
    url: options.url, clock,
    ticket: async () => (await options.rest.createStreamTicket()).ticket,
    ...(options.siteId === undefined ? {} : { siteId: options.siteId }),
    connect: (url) => new WebSocket(url),
    backoff: {
      next: () => Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** tries++),
      reset() {
        tries = 0;
      },
    },
    onFrame(event) {
      lastSeq = event.seq;
      add(event);
    },
    onState(next) {
      if (next === "connected" && state === "disconnected") note("connected again; what came in between follows");
      if (next === "disconnected" && state === "connected") note("the connection is lost; it is tried again");
      state = next;
      draw();
    },
    onClosed(reason) {
      state = "refused";
      note(`the stream has ended: ${reason}`);
    },
  };
  // What came just before, so that the page does not begin empty; the stream goes on where that ends.
  const beginAfterLog = async () => {
    const page = await options.rest.listEvents({ since: BEFORE, per_page: 1000, site_id: options.siteId }).catch(() => null);
    if (isClosed) return;
    for (const { event, id, seq, timestamp, data: said, device_id } of page?.data ?? []) {
      if (event !== null) add({ event, id, seq, timestamp, data: { ...said, device_id } });
    }
    lastSeq = page?.meta.position ?? 0;
    begin(page?.meta.position ?? null);
  };
  void beginAfterLog();
  return {
    rows: () => kept,
    state: () => state,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close() {
      isClosed = true;
      live?.close();
      cancelAnimationFrame(frame);
    },
  };
}
