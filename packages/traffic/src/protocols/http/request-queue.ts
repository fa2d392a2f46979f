/** Requests that wait for their answers, which come in the same order. @see RFC 9112 section 9.3 */
import type { Hold } from "../stream-parser.ts";
import type { HttpRequestHead } from "./head.ts";

/** What a response answers: of the target at most 1024 characters. */
export type HttpAnswered = Pick<HttpRequestHead, "host" | "method" | "target">;

/** Those of one connection. */
export interface RequestQueue {
  add(head: HttpAnswered): void;
  /** The request that is answered next; null where it was not seen. */
  first(): HttpAnswered | null;
  /** As `first`, and takes it away. */
  take(): HttpAnswered | null;
  clear(): void;
}

/** More are taken as not seen. */
const MAX_PIPELINED = 64;
const MAX_TARGET = 1024;
const MAX_HOST = 255;
/** What an entry costs beside its texts. */
const OVERHEAD_BYTES = 160;

/** @param hold Is called with what waits. */
export function createRequestQueue(hold: Hold): RequestQueue {
  const waiting: HttpAnswered[] = [];

  function take(): HttpAnswered | null {
    const request = waiting.shift() ?? null;
    if (request) hold(-costOf(request));
    return request;
  }

  return {
    add({ host, method, target }) {
      if (waiting.length >= MAX_PIPELINED) return;
      const request = { host: host === null ? null : copyOf(host, MAX_HOST), method: copyOf(method, MAX_HOST), target: copyOf(target, MAX_TARGET) };
      waiting.push(request);
      hold(costOf(request));
    },
    first: () => waiting[0] ?? null,
    take,
    clear() {
      while (waiting.length > 0) take();
    },
  };
}

/** A part of a text would keep all of it in memory: the whole head. */
function copyOf(text: string, length: number): string {
  return Buffer.from(text.slice(0, length), "latin1").toString("latin1");
}

function costOf({ host, method, target }: HttpAnswered): number {
  return OVERHEAD_BYTES + method.length + target.length + (host?.length ?? 0);
}
