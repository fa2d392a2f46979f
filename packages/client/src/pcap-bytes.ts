import { PcapFetching } from "@lanthorn/contract";
import { ClientError } from "./errors.ts";
import { parseJson } from "./json.ts";
import { createRestClient } from "./rest.ts";
import type { TransportOptions } from "./transport.ts";

/** Bytes of a capture's file, or how far it is on its way from the probe. */
export type PcapBytes =
  /** Ask again after so many seconds. */
  | { readonly kind: "waiting"; readonly seconds: number; readonly receivedBytes: number; readonly sizeBytes: number }
  /** From the byte `from` of `sizeBytes` on, to the end. `sha256` is of the whole, in hexadecimal. */
  | { readonly kind: "bytes"; readonly from: number; readonly sizeBytes: number; readonly sha256: string; readonly body: ReadableStream<Uint8Array> };

/** Where to go on, and why the packets are read. */
export interface PcapBytesOptions {
  /** The first byte that is wanted. The answer may begin earlier, where the file is another one. */
  readonly from?: number;
  /** Of the file that is gone on with. */
  readonly sha256?: string;
  readonly reason?: string | undefined;
}

/**
 * Downloads a capture's file, or the rest of it.
 * @throws ClientError as every call.
 * @see RFC 9110 section 14.2
 */
export async function readPcapBytes(options: TransportOptions, id: string, { from = 0, sha256, reason }: PcapBytesOptions = {}): Promise<PcapBytes> {
  let [status, headers]: [number, { get(name: string): string | null }] = [0, { get: () => null }];
  const range: Record<string, string> = from === 0 ? {} : { range: `bytes=${from}-`, ...(sha256 === undefined ? {} : { "if-range": `"${sha256}"` }) };
  const client = createRestClient({
    ...options,
    async fetch(url, init) {
      const answer = await options.fetch(url, { ...init, headers: { ...init.headers, ...range } });
      ({ status, headers } = answer);
      return answer;
    },
  });
  const body = await client.downloadPcap(id, { reason });
  if (status === 202) {
    const fetching = PcapFetching.safeParse(parseJson(await new Response(body).text()));
    if (!fetching.success) throw notAnAnswer(status);
    return {
      kind: "waiting", seconds: Number(headers.get("retry-after") ?? 3), receivedBytes: fetching.data.received_bytes, sizeBytes: fetching.data.size_bytes,
    };
  }
  const [, first = "0", total = headers.get("content-length") ?? ""] = /^bytes (\d+)-\d+\/(\d+)$/.exec(headers.get("content-range") ?? "") ?? [];
  const tag = /^"([0-9a-f]{64})"$/.exec(headers.get("etag") ?? "")?.[1];
  if (tag === undefined || total === "") throw notAnAnswer(status);
  return { kind: "bytes", from: Number(first), sizeBytes: Number(total), sha256: tag, body };
}

function notAnAnswer(status: number): ClientError {
  return new ClientError("not-an-answer", `the download was answered with status ${status} and headers that are not Lanthorn's`, { status });
}
