import type { AnomalyModel, DeviceBehaviour, LearnedBehaviour, Lifecycle } from "@lanthorn/contract";
import type { Answer } from "../answer.ts";
import { collect } from "../collect.ts";
import type { Connection } from "../connection.ts";
import { findDeviceId } from "../device-id.ts";
import { CliError } from "../errors.ts";
import { shortTime } from "../short-time.ts";
import { EIGHTHS, write } from "./anomalies.ts";
import { plainText } from "./ids.ts";

type Rest = Pick<Connection, "rest">;

/** What is changed of what was learned. */
export type ModelChange = "freeze" | "unfreeze" | "reset";

const MOST_ON_A_PAGE = 200;
/** Features that say most, in the order in which they are shown. */
const SHOWN = ["flows", "bytes_out", "bytes_in", "peers", "names", "failed_flows"];
const ACCESS_PORT = "it is at an access port: of other devices only presence, DHCP and other broadcasts are learned";
const KINDS = [["peers", "Hosts"], ["ports", "Ports"], ["names", "Names"]] as const;

/** What is usual for a device, by hour, with whom it usually speaks. @throws CliError `not-found`. */
export async function showBehaviour({ rest }: Rest, device: string): Promise<Answer> {
  const behaviour = await rest.readDeviceBehaviour(await findDeviceId(rest, device));
  const text = behaviour.probes.length === 0 ? "the device's site has no probe" : behaviour.probes.flatMap(linesOf).map(plainText).join("\n");
  return { json: behaviour, text };
}

/** The devices that a probe knows, with the state of each. @throws CliError `not-found`. */
export async function listModelDevices({ rest }: Rest, probe: string, lifecycle: Lifecycle | undefined): Promise<Answer> {
  const id = await findProbe(rest, probe);
  const all = await collect((query) => rest.listAnomalyModelDevices(id, { ...query, per_page: MOST_ON_A_PAGE, ...(lifecycle !== undefined && { lifecycle }) }));
  const rows = all.map((one) => [plainText(one.device), one.lifecycle, shortTime(one.lifecycle_since), String(one.hours_learned), plainText(one.group)]);
  return { json: all, table: { heading: ["DEVICE", "STATE", "SINCE", "HOURS LEARNED", "DEVICES LIKE IT"], rows } };
}

/** Freezes, unfreezes or resets a device at the probes that know it, or all that a probe knows. @throws CliError `not-found`; `bad-option`. */
export async function changeModel({ rest }: Rest, change: ModelChange, { device, probe }: { readonly device?: string | undefined; readonly probe?: string | undefined }): Promise<Answer> {
  if (device === undefined && probe === undefined) throw new CliError("bad-option", "name a device, or a probe with --probe for all devices that it knows; see: lanthorn anomalies models");
  const deviceId = device === undefined ? undefined : await findDeviceId(rest, device);
  const probes = probe === undefined ? await knowing(rest, deviceId ?? "") : [await findProbe(rest, probe)];
  const body = deviceId === undefined ? {} : { device_id: deviceId };
  const done = [];
  for (const id of probes) done.push(await (change === "reset" ? rest.resetAnomalyModel(id, body) : rest.freezeAnomalyModel(id, { ...body, is_frozen: change === "freeze" })));
  const devices = done.reduce((sum, one) => sum + one.devices, 0);
  const what = { freeze: "frozen: compared, and not learned", unfreeze: "learned again", reset: "forgotten, and learned anew" }[change];
  return { json: done, text: devices === 0 ? "no probe knows the device" : device === undefined ? `${devices} devices are ${what}` : `${plainText(device)} is ${what}` };
}

async function knowing(rest: Connection["rest"], deviceId: string): Promise<readonly string[]> {
  const { probes } = await rest.readDeviceBehaviour(deviceId);
  return probes.filter(({ behaviour }) => behaviour !== null).map(({ probe_id: id }) => id);
}

async function findProbe(rest: Connection["rest"], name: string): Promise<string> {
  const models: readonly AnomalyModel[] = await collect((query) => rest.listAnomalyModels(query));
  const [found, ...others] = models.filter(({ probe_id: id, name: known }) => id === name || known === name);
  if (!found) throw new CliError("not-found", `there is no probe ${JSON.stringify(name)}; see: lanthorn anomalies models`);
  if (others.length > 0) throw new CliError("not-found", `${others.length + 1} probes have the name ${JSON.stringify(name)}; give the id of one: ${[found, ...others].map(({ probe_id: id }) => id).join(", ")}`);
  return found.probe_id;
}

function linesOf({ name, problem, other_hosts: otherHosts, behaviour }: DeviceBehaviour["probes"][number]): readonly string[] {
  if (problem !== null) return [`${name}: ${problem}`];
  if (behaviour === null) return [`${name}: it does not know the device`];
  const { device, lifecycle, lifecycle_since: since, known_since: known, hours_learned: hours, unusual_since: unusual, relearned_until: relearned, group, is_group_known: isGroupKnown } = behaviour;
  return [
    `${name}: ${device} is ${lifecycle} since ${shortTime(since)}, known since ${shortTime(known)}, ${hours} hours learned`,
    ...(group === "" ? [] : [`devices like it: ${group}${isGroupKnown ? "" : " (too little is known of them yet)"}`]),
    ...(otherHosts === "none" ? [ACCESS_PORT] : []),
    ...(unusual === null ? [] : [`something unusual goes on since ${shortTime(unusual)}: nothing is learned meanwhile`]),
    ...(relearned === null ? [] : [`learned anew until ${shortTime(relearned)}`]),
    "", ...plotsOf(behaviour),
    ...KINDS.flatMap(([kind, title]) => (behaviour[kind].length === 0 ? [] : ["", `${title}, and in which share of its hours:`, ...behaviour[kind].map((one) => `${`${Math.round(100 * one.share)} %`.padStart(6)}  ${one.name}`)])),
  ];
}

/** A row of bars for each feature and kind of day; an hour that was never learned is a dot. */
function plotsOf({ features, days }: LearnedBehaviour): readonly string[] {
  const rows = SHOWN.flatMap((name) => features.filter((feature) => feature.name === name)).flatMap(({ name, workdays, weekends }) => {
    const most = Math.max(...workdays.usual, ...weekends.usual, Number.MIN_VALUE);
    const bars = (usual: readonly number[], seen: readonly number[]) => usual.map((value, hour) => ((seen[hour] ?? 0) === 0 ? "·" : EIGHTHS[Math.ceil((8 * value) / most)] ?? " ")).join("");
    return [`${name.padEnd(14)}${bars(workdays.usual, days.workdays)}  ${bars(weekends.usual, days.weekends)}  ${write(name, most)} at most`];
  });
  return ["usual in an hour, 0 to 23 UTC:", `${"".padEnd(14)}${"working days".padEnd(24)}  weekends`, ...rows];
}
