/** HTTP/1: heads of requests and responses, and the beginning of bodies where it is asked for. @see RFC 9112 */
import type { InspectionLimits } from "../inspection-limits.ts";
import { createBodyReader, type HttpBodyReader } from "./http/body.ts";
import { framingOfRequest, framingOfResponse } from "./http/framing.ts";
import { findHeadEnd, type HttpRequestHead, type HttpResponseHead, parseRequestHead, parseResponseHead, valuesOf } from "./http/head.ts";
import { createRequestQueue, type HttpAnswered } from "./http/request-queue.ts";
import { mayStartWith } from "./latin1.ts";
import type { Hold, Intake, MessageOrigin, StreamParser } from "./stream-parser.ts";
import { countLineEnds } from "./text-lines.ts";

interface HttpOrigin extends MessageOrigin {
  readonly protocol: "http";
}

/** A request, a response, or the beginning of a body. */
export type HttpMessage =
  | (HttpOrigin & { readonly kind: "request" } & HttpRequestHead)
  /** `request` is null where it was not seen. */
  | (HttpOrigin & { readonly kind: "response"; readonly request: HttpAnswered | null } & HttpResponseHead)
  /** The beginning of a body, without chunk sizes; `isWhole` when there is no more of it. Still compressed, where it was sent so. */
  | (HttpOrigin & { readonly kind: "body"; readonly of: "request" | "response"; readonly bytes: Uint8Array; readonly isWhole: boolean });

const MAX_HEAD_BYTES = 64 * 1024;
/** Stretches without a head, behind a gap or garbage, before a side is given up. */
const MAX_LOST = 64;

/** Of the side's credit: short fields are many objects in few bytes. */
const FIELD_COST = 12;

/** @returns The parser of one connection. */
export function createHttpParser(emit: (message: HttpMessage) => void, hold: Hold, limits: Pick<InspectionLimits, "httpBody">): StreamParser {
  const waiting = createRequestQueue(hold);
  const bodies: [HttpBodyReader | null, HttpBodyReader | null] = [null, null];
  const lost = [0, 0];
  let releasedTo: "" | "any" = "";

  function beginBody(intake: Intake, of: "request" | "response", framing: ReturnType<typeof framingOfRequest>): void {
    if (framing.kind === "none") return;
    bodies[intake.side] = createBodyReader(framing, limits.httpBody, hold, (bytes, isWhole, at) => {
      emit({ protocol: "http", kind: "body", of, side: intake.side, at, bytes, isWhole });
    });
  }

  function onRequest(intake: Intake, head: HttpRequestHead, at: number): void {
    waiting.add(head);
    emit({ protocol: "http", kind: "request", side: intake.side, at, ...head });
    beginBody(intake, "request", framingOfRequest(head));
  }

  function onResponse(intake: Intake, head: HttpResponseHead, at: number): void {
    const isFinal = head.status >= 200 || head.status === 101;
    const request = isFinal ? waiting.take() : waiting.first();
    emit({ protocol: "http", kind: "response", side: intake.side, at, request, ...head });
    const isTunnel = request?.method === "CONNECT" && head.status >= 200 && head.status < 300;
    if (isTunnel || (head.status === 101 && valuesOf(head.headers, "upgrade").length > 0)) releasedTo = "any";
    else beginBody(intake, "response", framingOfResponse(head, request?.method ?? null));
  }

  /** Bytes that are no head: they are dropped up to the end of what is there, where a head may begin. */
  function lose(intake: Intake, bytes: Uint8Array): number {
    lost[intake.side] = (lost[intake.side] ?? 0) + 1;
    intake.isOver = (lost[intake.side] ?? 0) > MAX_LOST;
    waiting.clear();
    return bytes.length;
  }

  function readHead(intake: Intake, bytes: Uint8Array, at: number): number {
    const blank = countLineEnds(bytes);
    if (blank > 0) return blank;
    const isResponse = mayStartWith(bytes, "HTTP/1.");
    if (!isResponse && !isUpperCase(bytes[0] as number)) return lose(intake, bytes);
    const { end, from, lines } = findHeadEnd(bytes, intake.scanned);
    intake.credit -= lines * FIELD_COST;
    if (end < 0 || end > MAX_HEAD_BYTES) {
      intake.scanned = from;
      return end < 0 && bytes.length < MAX_HEAD_BYTES ? 0 : lose(intake, bytes);
    }
    const bytesOfHead = bytes.subarray(0, end);
    const response = isResponse ? parseResponseHead(bytesOfHead) : null;
    const request = isResponse ? null : parseRequestHead(bytesOfHead);
    if (response) onResponse(intake, response, at);
    else if (request) onRequest(intake, request, at);
    else return lose(intake, bytes);
    return end;
  }

  return {
    maxPendingBytes: MAX_HEAD_BYTES,
    get releasedTo() {
      return releasedTo;
    },
    read(intake, bytes, at) {
      const body = bodies[intake.side];
      if (!body) return readHead(intake, bytes, at);
      const taken = body.read(intake, bytes, at);
      if (body.isOver || taken < 0) bodies[intake.side] = dropBody(body);
      return taken < 0 ? lose(intake, bytes) : taken;
    },
    gap(intake) {
      bodies[intake.side] = dropBody(bodies[intake.side]);
      waiting.clear();
      return true;
    },
    end(at) {
      for (const body of bodies) body?.end(at);
    },
  };
}

function dropBody(body: HttpBodyReader | null): null {
  body?.drop();
  return null;
}

function isUpperCase(byte: number): boolean {
  return byte >= 0x41 && byte <= 0x5a;
}
