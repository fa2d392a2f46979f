import { type List, OPERATIONS } from "@lanthorn/contract";
import { type Calls, callsOf } from "./calls.ts";
import { createTransport, type Query, type TransportOptions } from "./transport.ts";

/** Every operation of the collector's REST interface, by its name in the contract's table and typed by its schemas. */
export type RestClient = Calls<typeof OPERATIONS>;

/**
 * A typed client of the collector's REST interface.
 * @throws ClientError from every call: the collector's code, `unreachable`, or `not-an-answer` for a body of another shape.
 */
export function createRestClient(options: TransportOptions): RestClient {
  return callsOf(OPERATIONS, createTransport(options));
}

/** A record, and the entity tag of its state for `ifMatch`; null for what has none, as a list. */
export interface Tagged<T> {
  readonly record: T;
  readonly etag: string | null;
}

/**
 * Reads a record with its entity tag.
 * @param read One call of the client that it is given.
 * @throws ClientError as the call.
 * @see RFC 9110 section 8.8.3
 */
export async function readTagged<T>(options: TransportOptions, read: (client: RestClient) => Promise<T>): Promise<Tagged<T>> {
  let etag: string | null = null;
  const record = await read(createRestClient({
    ...options,
    async fetch(url, init) {
      const answer = await options.fetch(url, init);
      etag = answer.headers.get("etag");
      return answer;
    },
  }));
  return { record, etag };
}

/** Reads a list to its end through `next_cursor`, one page after the other. */
export async function* readAll<T>(readPage: (query: Query) => Promise<List<T>>, query: Query = {}): AsyncGenerator<T> {
  let cursor: string | null = null;
  do {
    const page: List<T> = await readPage({ ...query, per_page: 1000, ...(cursor === null ? {} : { cursor }) });
    yield* page.data;
    cursor = page.meta.next_cursor;
  } while (cursor !== null);
}
