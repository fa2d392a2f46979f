import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { Batch, BATCH_MAX_BYTES, PAYLOAD_MAX_BYTES } from "@lanthorn/contract";
import { readJson } from "./read-json.ts";

const decompress = promisify(gunzip);

/** Why a payload is no batch; the code is the one that the acknowledgement carries. */
export interface BatchRefusal {
  readonly ok: false;
  readonly code: "not-a-batch" | "too-large";
  readonly message: string;
}

/**
 * What a payload may become. A batch of many hosts' states shrinks to a fifteenth, one of nothing but repetitions to a thousandth: who is
 * refused here sends the same in smaller batches.
 */
const MAX_RATIO = 100;
const ANY_RATIO_BYTES = 512 * 1024;

/** A batch that was read, and the length of its JSON in bytes. */
export interface DecodedBatch {
  readonly ok: true;
  readonly batch: Batch;
  readonly jsonBytes: number;
}

/**
 * Reads the payload of a probe's `events`: a batch as JSON, or gzip of it. Decompression stops at `BATCH_MAX_BYTES`, and at a hundred
 * times the payload's own length, so a small payload cannot become a large one here. Only for gzip is there anything to wait for. Never
 * rejects.
 */
export function decodeBatch(payload: Buffer): DecodedBatch | BatchRefusal | Promise<DecodedBatch | BatchRefusal> {
  if (payload.length > PAYLOAD_MAX_BYTES) return refuse("too-large", `the payload is larger than ${PAYLOAD_MAX_BYTES} bytes`);
  return payload[0] === 0x1f && payload[1] === 0x8b ? decodeGzip(payload) : parseBatch(payload);
}

async function decodeGzip(payload: Buffer): Promise<DecodedBatch | BatchRefusal> {
  const most = Math.min(BATCH_MAX_BYTES, Math.max(ANY_RATIO_BYTES, payload.length * MAX_RATIO));
  let bytes: Buffer;
  try {
    bytes = await decompress(payload, { maxOutputLength: most });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") {
      return refuse("too-large", `the batch is larger than ${most} bytes`);
    }
    return refuse("not-a-batch", "the payload begins like gzip but is not valid gzip");
  }
  return parseBatch(bytes);
}

function parseBatch(bytes: Buffer): DecodedBatch | BatchRefusal {
  const value = readJson(bytes);
  if (value === undefined) return refuse("not-a-batch", "the payload is not JSON");
  const batch = Batch.safeParse(value);
  if (!batch.success) {
    const issue = batch.error.issues[0];
    return refuse("not-a-batch", issue ? `${issue.path.join(".")}: ${issue.message}`.slice(0, 256) : "the payload is not a batch");
  }
  let previous = batch.data.after;
  for (const { seq } of batch.data.events) {
    if (seq <= previous) return refuse("not-a-batch", `sequence ${seq} is not higher than ${previous}`);
    previous = seq;
  }
  return { ok: true, batch: batch.data, jsonBytes: bytes.length };
}

function refuse(code: BatchRefusal["code"], message: string): BatchRefusal {
  return { ok: false, code, message };
}
