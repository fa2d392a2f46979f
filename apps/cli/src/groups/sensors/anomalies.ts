import { type Command, Option } from "commander";
import { ANOMALY_KINDS, type Lifecycle, LIFECYCLES } from "@lanthorn/contract";
import { type AnomalyListOptions, listAnomalies, listModels, listNormal, type NormalOptions, sayNormal, showAnomaly, takeBackNormal } from "../../commands/anomalies.ts";
import { changeModel, listModelDevices, type ModelChange, showBehaviour } from "../../commands/behaviour.ts";
import type { GroupDependencies } from "../group.ts";

/** `anomalies …`. */
export function addAnomalyCommands(program: Command, { answering, clock }: GroupDependencies): void {
  const anomalies = program.command("anomalies").description("what devices do that is not usual for them");
  answering(
    anomalies.command("list", { isDefault: true }).description("list anomalies, the newest first").option("--site <site>", "at one site, by its name or id").option("--device <device>", "of a device, by its name, address, MAC or id")
      .addOption(new Option("--kind <kind>", "only this kind").choices(ANOMALY_KINDS)).option("--since <when>", "from then on: 24h (ago) or 2026-11-20T08:00:00Z").option("--until <when>", "before then")
      .option("--all", "also what is normal, and what was beyond the day's budget of alerts", false).option("--limit <count>", "at most this many, up to 1000", "50"),
    (connection, options: AnomalyListOptions) => listAnomalies(connection, options),
  );
  answering(anomalies.command("show <id>").description("show what explains it, with a plot of the hours before"), (connection, id: string) => showAnomaly(connection, id));
  answering(
    anomalies.command("normal <id>").description("say that it is normal: it is reported no more, and its alert is resolved").option("--group", "for all devices like it, not only for this one", false)
      .option("--until <when>", "until when: 8h, 30d or 2026-12-31").option("--reason <text>", "why, for who reads it later", ""),
    (connection, id: string, options: NormalOptions) => sayNormal(connection, id, options, clock.now()),
  );
  answering(anomalies.command("accepted").description("list what is said to be normal").option("--site <site>", "at one site, by its name or id"), (connection, options: { site?: string }) => listNormal(connection, options.site));
  answering(anomalies.command("unlearn <id>").description("take back what was said to be normal"), (connection, id: string) => takeBackNormal(connection, id));
  answering(anomalies.command("models").description("list how many devices probes know, and which are still learned"), (connection) => listModels(connection));
  answering(
    anomalies.command("devices <probe>").description("list the devices that a probe knows, with the state of each").addOption(new Option("--state <state>", "only in this state").choices(LIFECYCLES)),
    (connection, probe: string, options: { state?: Lifecycle }) => listModelDevices(connection, probe, options.state),
  );
  answering(anomalies.command("behaviour <device>").description("show what is usual for a device: by hour, and its hosts, ports and names"), (connection, device: string) => showBehaviour(connection, device));
  for (const [change, what] of MODEL_CHANGES) {
    answering(anomalies.command(`${change} [device]`).description(what).option("--probe <probe>", "at this probe only, by its name or id; without a device all that it knows"),
      (connection, device: string | undefined, options: { probe?: string }) => changeModel(connection, change, { device, ...options }));
  }
}

const MODEL_CHANGES: readonly (readonly [ModelChange, string])[] = [
  ["freeze", "keep what is usual for a device as it is: it is compared, and not learned"],
  ["unfreeze", "learn a frozen device again"],
  ["reset", "forget what is usual for a device, and learn it anew"],
];
