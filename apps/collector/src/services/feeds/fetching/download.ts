import { createHash, type Hash } from "node:crypto";
import { open, rename, rm, stat } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { dirname } from "node:path";
import { type Clock, syncFolder } from "@lanthorn/runtime";
import { parseRetryAfter } from "../../../deliveries/worker/schedule.ts";
import type { FeedFile } from "../definition.ts";
import { FeedFailure } from "../failure.ts";
import { type FeedClient, stopped } from "./client.ts";

/** What a server gave for asking whether anything is new. */
export interface Validators {
  readonly etag?: string;
  readonly lastModified?: string;
}

/** A file that was downloaded whole; null where the server has nothing new. */
export type Download = { readonly file: FeedFile; readonly validators: Validators; readonly sha256: string } | null;

interface DownloadRequest {
  readonly url: string;
  /** Where it lies when it is whole; until then beside that, with `.part`. */
  readonly path: string;
  readonly name: string;
  readonly maxBytes: number;
  readonly validators: Validators;
  /** Asks for it packed, where its server can. */
  readonly isPackable?: boolean;
  readonly secrets?: Readonly<Record<string, string>>;
  readonly onBytes: (bytes: number, total: number | null) => void;
  readonly stop: AbortSignal;
}

interface Part {
  readonly validators: Validators;
  bytes: number;
  hash: Hash;
}

const MAX_BREAKS = 5;

/**
 * Downloads a file, if it is not the one that `validators` are of. After a break it goes on where that was, where the server can; else
 * it begins again. It takes its place by renaming when it is whole, so what was there before stays until then.
 * @throws FeedFailure
 */
export async function download(deps: { readonly client: FeedClient; readonly clock: Pick<Clock, "now"> }, request: DownloadRequest): Promise<Download> {
  const part: Part = { validators: {}, bytes: 0, hash: createHash("sha256") };
  let current = part;
  for (let breaks = 0; ; breaks += 1) {
    try {
      const response = await deps.client.get({
        url: request.url, headers: headersFor(request, current), stop: request.stop, ...(request.secrets && { secrets: request.secrets }),
      });
      const begun = beginOf(response, request, current, deps.clock.now());
      if (begun === null) return null;
      current = begun;
      await append(response, request, current);
      return await finish(response, request, current);
    } catch (error) {
      const hasBroken = error instanceof FeedFailure && (error.code === "truncated" || error.code === "stalled") && current.bytes > 0;
      if (!hasBroken || breaks === MAX_BREAKS || strongest(current.validators) === null) {
        await rm(`${request.path}.part`, { force: true });
        throw error;
      }
    }
  }
}

function headersFor({ validators, isPackable }: DownloadRequest, part: Part): Record<string, string> {
  const encoding = { "accept-encoding": isPackable === true ? "gzip" : "identity" };
  const range = strongest(part.validators);
  if (part.bytes > 0 && range !== null) return { ...encoding, range: `bytes=${part.bytes}-`, "if-range": range };
  return {
    ...encoding, ...(validators.etag !== undefined && { "if-none-match": validators.etag }),
    ...(validators.lastModified !== undefined && { "if-modified-since": validators.lastModified }),
  };
}

/** @returns Null where nothing is new. @throws FeedFailure for an answer that is none. */
function beginOf(response: IncomingMessage, request: DownloadRequest, part: Part, now: number): Part | null {
  const { statusCode: status = 0, headers } = response;
  const rest = () => response.destroy();
  if (status === 304 && Object.keys(request.validators).length > 0) {
    rest();
    return null;
  }
  if (status === 206 && headers["content-range"]?.startsWith(`bytes ${part.bytes}-`) === true) return part;
  if (status !== 200) {
    rest();
    const retryAfterMs = parseRetryAfter(headers["retry-after"], now);
    if (status === 429 || status === 503 || status === 403) {
      throw new FeedFailure("rate-limited", `its server answers ${status}`, { retryAfterMs });
    }
    throw new FeedFailure(status >= 500 ? "unreachable" : "status", `its server answers ${status}`, { retryAfterMs });
  }
  const { etag, "last-modified": lastModified } = headers;
  return {
    validators: { ...(etag !== undefined && etag.length < 512 && { etag }), ...(lastModified !== undefined && lastModified.length < 64 && { lastModified }) },
    bytes: 0, hash: createHash("sha256"),
  };
}

/** Writes what comes behind what is there. */
async function append(response: IncomingMessage, { path, maxBytes, onBytes, stop }: DownloadRequest, part: Part): Promise<void> {
  const length = response.headers["content-length"];
  const total = length === undefined ? null : part.bytes + Number(length);
  if (total !== null && total > maxBytes) {
    response.destroy();
    throw tooLarge(maxBytes);
  }
  const file = await open(`${path}.part`, part.bytes === 0 ? "w" : "a", 0o640);
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      if (part.bytes + chunk.length > maxBytes) throw tooLarge(maxBytes);
      await file.writeFile(chunk);
      part.hash.update(chunk);
      part.bytes += chunk.length;
      onBytes(part.bytes, total);
    }
    await file.sync();
  } catch (error) {
    if (stop.aborted) throw stopped();
    if (error instanceof FeedFailure) throw error;
    if ((error as NodeJS.ErrnoException).syscall !== undefined && (error as NodeJS.ErrnoException).code !== "ECONNRESET") throw error;
    throw new FeedFailure("truncated", "its server closed the connection in the middle", { cause: error });
  } finally {
    response.destroy();
    await file.close();
  }
  if (!response.complete || (total !== null && part.bytes !== total)) throw new FeedFailure("truncated", "its server sent less than it said");
}

async function finish({ headers }: IncomingMessage, { path, name }: DownloadRequest, part: Part): Promise<Download> {
  const isGzip = headers["content-encoding"] === "gzip" && !name.endsWith(".gz");
  const place = isGzip ? `${path}.gz` : path;
  await rename(`${path}.part`, place);
  await syncFolder(dirname(path));
  return {
    file: { name: isGzip ? `${name}.gz` : name, path: place, bytes: part.bytes, packing: isGzip ? "gzip" : packingOf(name) },
    validators: part.validators, sha256: part.hash.digest("hex"),
  };
}

/** How a file is packed, by its name. */
export function packingOf(name: string): FeedFile["packing"] {
  return name.endsWith(".gz") ? "gzip" : name.endsWith(".zip") ? "zip" : name.endsWith(".xz") ? "xz" : "none";
}

/** Whether a file that was fetched before is still as long as it was. */
export async function isThere({ path, bytes }: Pick<FeedFile, "path" | "bytes">): Promise<boolean> {
  return stat(path).then(({ size }) => size === bytes, () => false);
}

/** A weak tag promises no bytes. @see RFC 9110 section 13.1.5 */
function strongest({ etag, lastModified }: Validators): string | null {
  return etag !== undefined && !etag.startsWith("W/") ? etag : lastModified ?? null;
}

function tooLarge(maxBytes: number): FeedFailure {
  return new FeedFailure("too-large", `it is larger than the ${Math.round(maxBytes / 1e6)} MB that it may have`);
}
