import type { IncomingMessage } from "node:http";
import { FeedFailure } from "../failure.ts";
import type { FetchContext } from "./context.ts";

const MAX_SUM_BYTES = 4096;

/** What a source says of a file in another one beside it. */
export interface Sum {
  readonly sha256: string;
  /** Whether it is the sum of the unpacked text, as NVD gives it. */
  readonly isUnpacked: boolean;
}

/**
 * Reads the sum beside a file: NVD's `.meta` in place of `.json.gz`, or `.sha256` behind the name.
 * @returns Null where there is none, which a sum's source decides: what cannot be compared is judged by its records.
 * @throws FeedFailure where a sum is there and cannot be read.
 */
export async function fetchSum({ client, stop }: Pick<FetchContext, "client" | "stop">, url: string): Promise<Sum | null> {
  const isMeta = /\/nvdcve-2\.0-\w{1,16}\.json\.gz$/.test(url);
  const response = await client.get({ url: isMeta ? url.replace(/\.json\.gz$/, ".meta") : `${url}.sha256`, headers: {}, stop });
  if (response.statusCode === 404 || response.statusCode === 403) {
    response.destroy();
    return null;
  }
  const text = await readText(response);
  const found = (isMeta ? /^sha256:([0-9a-f]{64})\s*$/im : /^([0-9a-f]{64})(?:\s|$)/i).exec(text)?.[1];
  if (response.statusCode !== 200 || found === undefined) throw new FeedFailure("malformed", "the sum beside it cannot be read");
  return { sha256: found.toLowerCase(), isUnpacked: isMeta };
}

async function readText(response: IncomingMessage): Promise<string> {
  let text = "";
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      text += chunk.toString("latin1");
      if (text.length > MAX_SUM_BYTES) throw new FeedFailure("malformed", "the sum beside it is too long");
    }
  } catch (error) {
    throw error instanceof FeedFailure ? error : new FeedFailure("truncated", "its server closed the connection in the middle", { cause: error });
  }
  return text;
}
