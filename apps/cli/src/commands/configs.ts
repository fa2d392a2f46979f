import type { ConfigVersion } from "@lanthorn/contract";
import type { Answer } from "../answer.ts";
import { collect } from "../collect.ts";
import type { Connection } from "../connection.ts";
import { findDeviceId } from "../device-id.ts";
import { CliError } from "../errors.ts";
import { type Input, readText } from "../input.ts";

/** Newest first. @param device Its address, hostname, MAC or id, as everywhere here. */
export async function listVersions({ rest }: Connection, device: string): Promise<Answer> {
  return answer(await versionsOf({ rest }, await findDeviceId(rest, device)));
}

/** @param number Null for the newest. @param reveal With what is secret, which the audit log tells of. */
export async function showVersion(
  { rest }: Connection, device: string, number: number | null, { reveal }: { readonly reveal: boolean },
): Promise<Answer> {
  const deviceId = await findDeviceId(rest, device);
  const { id } = await findVersion({ rest }, deviceId, number);
  const version = await (reveal ? rest.revealDeviceConfiguration(deviceId, id) : rest.readDeviceConfiguration(deviceId, id));
  return { json: version, text: printableText(version.content) };
}

/** Between two versions; the last change unless it is said. */
export async function showDiff(
  { rest }: Connection, device: string, options: { readonly from?: number; readonly to?: number; readonly reveal: boolean },
): Promise<Answer> {
  const { from, to, reveal } = options;
  const deviceId = await findDeviceId(rest, device);
  const between = { ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
  const diff = await (reveal ? rest.revealDeviceConfigurationDiff(deviceId, between) : rest.compareDeviceConfigurations(deviceId, between));
  return { json: diff, text: printableText(diff.diff) || `versions ${diff.from} and ${diff.to} are equal` };
}

/** @param file The running configuration; `-` for standard input. */
export async function uploadVersion(
  { rest }: Connection, device: string, file: string, options: { readonly changedBy?: string; readonly comment?: string },
  input: Pick<Input, "readAll">,
): Promise<Answer> {
  const { changedBy, comment } = options;
  const content = await readText(file, input);
  const version = await rest.uploadDeviceConfiguration(await findDeviceId(rest, device), {
    content, ...(changedBy !== undefined && { changed_by: changedBy }), ...(comment !== undefined && { comment }),
  });
  return { ...answer([version]), json: version };
}

/** @param device Its address, hostname, MAC or id. @throws CliError `not-found` for a device or a version that is not there. */
export async function deleteVersion({ rest }: Connection, device: string, number: number): Promise<Answer> {
  const deviceId = await findDeviceId(rest, device);
  const { id } = await findVersion({ rest }, deviceId, number);
  await rest.deleteDeviceConfiguration(deviceId, id);
  return { json: { id, state: "deleted" }, text: `deleted version ${number}` };
}

const versionsOf = ({ rest }: Pick<Connection, "rest">, deviceId: string) => collect((query) => rest.listDeviceConfigurations(deviceId, query));

/** @throws CliError `not-found`. */
async function findVersion(connection: Pick<Connection, "rest">, deviceId: string, number: number | null): Promise<ConfigVersion> {
  const versions = await versionsOf(connection, deviceId);
  const found = number === null ? versions[0] : versions.find(({ version }) => version === number);
  if (found) return found;
  throw new CliError(
    "not-found",
    number === null ? "it has no stored version"
      : `there is no version ${number}; stored versions: ${versions.map(({ version }) => version).join(", ") || "none"}`,
  );
}

/** A device's own text, without what would move the cursor. */
function printableText(text: string): string {
  return text.replaceAll(/(?!\n|\t)\p{Cc}/gu, "?").trimEnd();
}

function answer(versions: readonly ConfigVersion[]): Answer {
  return {
    json: versions,
    table: {
      heading: ["VERSION", "CAPTURED", "LINES", "CHANGE", "BY", "COMMENT", "ID"],
      rows: versions.map((one) => [
        String(one.version), one.captured_at, String(one.lines), `+${one.lines_added} -${one.lines_removed}`, one.changed_by || "-",
        one.comment || "-", one.id,
      ]),
    },
  };
}
