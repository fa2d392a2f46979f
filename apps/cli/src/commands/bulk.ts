import { type AlertBulkChange, type BulkResult, DeviceBulkChange } from "@lanthorn/contract";
import type { Answer } from "../answer.ts";
import type { Connection } from "../connection.ts";
import { CliError } from "../errors.ts";

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
  const change = DeviceBulkChange.safeParse({
    ...(addTag && { add_tags: [...addTag] }), ...(removeTag && { remove_tags: [...removeTag] }), ...(type !== undefined && { device_type: type }),
    ...(vendor !== undefined && { vendor }), ...(options.delete && { delete: true }),
  });
  const [wrong] = change.error?.issues ?? [];
  if (!change.success) throw new CliError("bad-option", `${wrong?.path.join(".") || "change"}: ${wrong?.message ?? ""}`);
  if (expect === undefined) return preview("devices", (await rest.listDevices({ filter, per_page: 1 })).meta.total);
  return answer(await rest.changeDevices({ filter, expected_count: expect, change: change.data }));
}

/** Acknowledges or resolves all alerts that a filter leaves, or says how many they are. */
export async function changeAlerts(
  { rest }: Rest, status: AlertBulkChange["status"], { filter, expect }: { readonly filter: string; readonly expect?: number },
): Promise<Answer> {
  if (expect === undefined) return preview("alerts", (await rest.listAlerts({ filter, per_page: 1 })).meta.total);
  return answer(await rest.changeAlerts({ filter, expected_count: expect, change: { status } }));
}

function preview(what: string, count: number): Answer {
  return { json: { count }, text: `${count} ${what} match; nothing was changed. Change them with: --expect ${count}` };
}

function answer(result: BulkResult): Answer {
  const { matched, changed, unchanged, gone } = result;
  const rest = [unchanged > 0 ? `${unchanged} were so already or cannot be so` : "", gone > 0 ? `${gone} are gone` : ""].filter((text) => text !== "");
  return { json: result, text: `changed ${changed} of ${matched}${rest.map((text) => `; ${text}`).join("")}` };
}
