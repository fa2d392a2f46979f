import { parseJson } from "@lanthorn/runtime";
import * as z from "zod";
import { badRequest } from "./route.ts";

/** Where a list went on: the last row's value of the sorted field, and its id. */
export interface Position {
  readonly value: string;
  readonly id: string;
}

const Cursor = z.tuple([z.string(), z.string().max(400), z.uuid()]);

/** One word for `meta.next_cursor`. It holds the sort, since it means nothing under another one. */
export function formatCursor(sort: string, { value, id }: Position): string {
  return Buffer.from(JSON.stringify([sort, value, id])).toString("base64url");
}

/** @throws ApiError BAD_REQUEST for what is no cursor of this sort. */
export function parseCursor(sort: string, text: string): Position {
  const parsed = Cursor.safeParse(parseJson(Buffer.from(text, "base64url").toString()));
  if (!parsed.success) throw badRequest([{ path: ["cursor"], message: "not a cursor of this list" }]);
  const [madeFor, value, id] = parsed.data;
  if (madeFor !== sort) throw badRequest([{ path: ["cursor"], message: `made for sort=${madeFor}` }]);
  return { value, id };
}
