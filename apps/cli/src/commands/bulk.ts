import { AlertBulkChange, type BulkResult, DeviceBulkChange } from "@lanthorn/contract";
import type * as z from "zod";
import type { Answer } from "../answer.ts";
import type { Connection } from "../connection.ts";
import { CliError } from "../errors.ts";
import { parseExpiry } from "../options/expiry.ts";

type Rest = Pick<Connection, "rest">;

/** What is done to devices that a filter leaves. */
export interface DeviceChangeOptions {
  readonly filter: string;
  /** How many they are to be; left out, nothing is changed. */
  readonly expect?: number;
  readonly addTag?: readonly string[];
  readonly removeTag?: readonly string[];
  readonly type?: string;
  readonly vendor?: string;
  readonly delete?: boolean;
}

/** Changes all devices that a filter leaves, or says how many they are. @throws CliError `bad-option` for a change that is none. */
export async function changeDevices({ rest }: Rest, options: DeviceChangeOptions): Promise<Answer> {
  const { filter, expect, addTag, removeTag, type, vendor } = options;
  const change = checked(DeviceBulkChange, {
    ...(addTag && { add_tags: [...addTag] }), ...(removeTag && { remove_tags: [...removeTag] }), ...(type !== undefined && { device_type: type }),
    ...(vendor !== undefined && { vendor }), ...(options.delete && { delete: true }),
  });
  if (expect === undefined) return preview("devices", (await rest.listDevices({ filter, per_page: 1 })).meta.total);
  return answer(await rest.changeDevices({ filter, expected_count: expect, change }));
}

/** What is done to alerts that a filter leaves. */
export interface AlertChangeOptions {
  readonly filter: string;
  /** How many they are to be; left out, nothing is changed. */
  readonly expect?: number;
  readonly status?: "acknowledged" | "resolved";
  /** Instead of `status`: a duration or a moment. */
  readonly mute?: string;
  readonly note?: string;
}

/**
 * Acknowledges, resolves or mutes all alerts that a filter leaves, or says how many they are.
 * @param now Milliseconds since the epoch. @throws CliError `bad-option` for a change that is none.
 */
export async function changeAlerts({ rest }: Rest, { filter, expect, status, mute, note }: AlertChangeOptions, now: number): Promise<Answer> {
  const change = checked(AlertBulkChange, {
    ...(status !== undefined && { status }), ...(mute !== undefined && { muted_until: parseExpiry(mute, now, "--mute") }), ...(note !== undefined && { note }),
  });
  if (expect === undefined) return preview("alerts", (await rest.listAlerts({ filter, per_page: 1 })).meta.total);
  return answer(await rest.changeAlerts({ filter, expected_count: expect, change }));
}

function checked<T>(schema: z.ZodType<T>, change: object): T {
  const parsed = schema.safeParse(change);
  const [wrong] = parsed.error?.issues ?? [];
  if (!parsed.success) throw new CliError("bad-option", `${wrong?.path.join(".") || "change"}: ${wrong?.message ?? ""}`);
  return parsed.data;
}

function preview(what: string, count: number): Answer {
  return { json: { count }, text: `${count} ${what} match; nothing was changed. Change them with: --expect ${count}` };
}

function answer(result: BulkResult): Answer {
  const { matched, changed, unchanged, gone } = result;
  const rest = [unchanged > 0 ? `${unchanged} were so already or cannot be so` : "", gone > 0 ? `${gone} are gone` : ""].filter((text) => text !== "");
  return { json: result, text: `changed ${changed} of ${matched}${rest.map((text) => `; ${text}`).join("")}` };
}
