import { createHash } from "node:crypto";
import { open } from "node:fs/promises";
import { type FileBegin, FileProgress, type FileRefusal, PIECE_MAX_BYTES } from "@lanthorn/contract/uplink";
import * as z from "zod";
import { ProbeError } from "../errors.ts";
import type { CollectorAnswer, CollectorRequests } from "../identity/collector-requests.ts";

/** How an attempt to send a file ended. */
export type Sent =
  | { readonly kind: "received" }
  /** The collector never takes it. */
  | { readonly kind: "refused"; readonly reason: string }
  /** Not now. `afterSeconds` is what the collector asked for. */
  | { readonly kind: "later"; readonly reason: string; readonly afterSeconds: number | null };

/** Of an answer to a piece: a few hundred bytes are usual. */
const MAX_ANSWER_BYTES = 65_536;
/** Begun again from the collector's offset so often without getting further, something is wrong that time may heal. */
const MAX_STEPS_BACK = 8;
const FINAL: ReadonlySet<string> = new Set(["file-too-large", "given-up", "other-file"] satisfies FileRefusal[]);

const Refusal = z.object({
  error: z.object({
    code: z.string(), message: z.string(),
    details: z.object({ reason: z.string().optional(), offset: z.int().min(0).optional() }).nullable().catch(null),
  }),
});

/**
 * Sends one file, from where the collector has it on.
 * @param deps.proceed Waits until the next piece may go; rejects when the sending is to end.
 */
export async function sendFile(file: FileBegin, deps: {
  readonly path: string;
  readonly requests: Pick<CollectorRequests, "send">;
  readonly proceed: (bytes: number) => Promise<void>;
  readonly signal: AbortSignal;
}): Promise<Sent> {
  const ask = (method: "POST" | "PUT", path: string, body?: Uint8Array | object) => deps.requests.send({
    method, path: `/api/v1/agents/files${path}`, maxAnswerBytes: MAX_ANSWER_BYTES, ...(body === undefined ? {} : { body }),
  }, deps.signal).catch((error: unknown): string => {
    if (deps.signal.aborted || !(error instanceof ProbeError)) throw error;
    return error.message;
  });
  let answer = await ask("POST", "", file);
  let stepsBack = 0;
  for (;;) {
    const step = typeof answer === "string" ? { later: answer, afterSeconds: null } : readAnswer(answer);
    if ("refused" in step) return { kind: "refused", reason: step.refused };
    if ("later" in step) return { kind: "later", reason: step.later, afterSeconds: step.afterSeconds };
    if (step.state === "received") return { kind: "received" };
    if (step.isBack && (stepsBack += 1) > MAX_STEPS_BACK) return { kind: "later", reason: "the collector keeps requesting the same piece", afterSeconds: null };
    if (step.offset >= file.size) {
      answer = await ask("POST", `/${file.id}/finish`);
      continue;
    }
    const piece = await readPiece(deps.path, step.offset, Math.min(PIECE_MAX_BYTES, file.size - step.offset));
    if (piece === null) return { kind: "refused", reason: "it is shorter now than when it was added" };
    await deps.proceed(piece.length);
    const digest = createHash("sha256").update(piece).digest("hex");
    answer = await ask("PUT", `/${file.id}/content?offset=${step.offset}&sha256=${digest}`, piece);
  }
}

type Step =
  | { readonly state: "open" | "received"; readonly offset: number; readonly isBack: boolean }
  | { readonly refused: string }
  | { readonly later: string; readonly afterSeconds: number | null };

function readAnswer({ status, body, retryAfterSeconds }: CollectorAnswer): Step {
  const json = parse(body);
  if (status === 200) {
    const progress = FileProgress.safeParse(json);
    return progress.success ? { ...progress.data, isBack: false } : { later: "the collector's answer cannot be read", afterSeconds: null };
  }
  const refusal = Refusal.safeParse(json);
  if (!refusal.success) return { later: `the collector answers ${status}`, afterSeconds: retryAfterSeconds };
  const { message, details } = refusal.data.error;
  if (details?.reason !== undefined && FINAL.has(details.reason)) return { refused: message };
  if (details?.offset !== undefined) return { state: "open", offset: details.offset, isBack: true };
  return { later: `the collector answers ${status}: ${message.slice(0, 300)}`, afterSeconds: retryAfterSeconds };
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    return null;
  }
}

/** @returns Null where the file ends before. */
async function readPiece(path: string, offset: number, length: number): Promise<Buffer | null> {
  const file = await open(path, "r");
  try {
    const piece = Buffer.alloc(length);
    let at = 0;
    while (at < length) {
      const { bytesRead } = await file.read(piece, at, length - at, offset + at);
      if (bytesRead === 0) return null;
      at += bytesRead;
    }
    return piece;
  } finally {
    await file.close();
  }
}
